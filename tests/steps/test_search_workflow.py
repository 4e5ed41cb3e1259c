"""The step that searches for a workflow: what it reads, what it writes, and what it refuses."""

import contextlib
import csv
import json

import pytest
from recorded import wherever
from workshop import PROBLEMS, PROMPT, SIZES, Workshop, chain

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json, write_problems, write_text
from slmcollab.generation.calls import read_calls
from slmcollab.protocol.record import StageJob, TeamFiles
from slmcollab.search import job
from slmcollab.steps import search_workflow
from slmcollab.teams import aflow

PROPOSALS = [chain(6), "x", chain(9)]
SEARCH = {"iterations": 3, "dev_questions": 8, "patience": 5, "exploration": 1.4, "failures": 2}
SEARCH |= {"max_characters": 500, "max_nodes": 6, "max_new_tokens": 99, "temperature": 0.7}
CELL = {
    "benchmark": "toy",
    "dtype": "float32",
    "equality": "words",
    "generation": {"backend": "local", "resident": "all", "batch_size": 8},
    "graph": {"retries": 1, "max_new_tokens": 9, "top_p": 0.95},
    "method": "aflow",
    "models": [f"model-{slot}" for slot in SIZES],
    "numeric_threads": 1,
    "optimiser": "large",
    "optimiser_size": None,
    "scoring": {"scorer": "qa", "time_limit_s": 1.0, "options": {}},
    "search": SEARCH,
    "settings": {"temperature": 0.9},
    "sizes": {},
    "slots": list(SIZES),
    "stage": "search",
    "system": "aflow",
}


@pytest.fixture
def team(tmp_path):
    """The files of a team, and the manifest of its optimiser; the models themselves are scripted."""
    manifests = []
    for name, size in [*SIZES.items(), ("optimiser", 14.0)]:
        manifests.append(tmp_path / name / "manifest.json")
        write_json(manifests[-1], {"id": name, "revision": "1", "num_parameters": int(size * 1e9), "files": []})
    write_problems(tmp_path / "dev.jsonl", PROBLEMS)
    write_text(tmp_path / "prompt.txt", "\n".join(f"[{name}]\n{text}" for name, text in PROMPT.sections.items()))
    return TeamFiles(manifests[:-1], tmp_path / "dev.jsonl", tmp_path / "prompt.txt"), manifests[-1]


def search(folder, team, monkeypatch, backend, cell=CELL, seed=0):
    @contextlib.contextmanager
    def opened(members, settings, dtype):
        assert [member.slot for member in members] == [*SIZES, "optimiser"]
        assert members[-1].model == "large"
        yield backend

    monkeypatch.setattr(job, "open_backend", opened)
    files, optimiser = team
    outputs = {name: folder / name for name in ("workflow", "search", "calls", "run")}
    stage = StageJob(json.dumps(cell), "abc", seed, files, folder / "checkpoints", "local")
    search_workflow.main(stage=stage, optimiser=optimiser, workers=1, **outputs)
    return {name: wherever(path) for name, path in outputs.items()}


def test_it_leaves_the_workflow_every_iteration_and_every_call(tmp_path, team, monkeypatch):
    backend = Workshop(PROPOSALS)
    search(tmp_path, team, monkeypatch, backend)
    method = aflow.build({"workflow": read_json(tmp_path / "workflow"), "temperature": 0.9})
    assert method.workflow.nodes[0].instruction == "skill 9"
    with (tmp_path / "search").open(newline="") as stream:
        outcomes = [(row["outcome"], row["best"]) for row in csv.DictReader(stream)]
    assert outcomes == [("accepted", "0"), ("accepted", "1"), ("rejected", "1"), ("accepted", "3")]
    calls = read_calls(tmp_path / "calls")
    assert len(calls) == 8 * 5 + 3 + 2 * 8 * 2
    assert {(call.run, call.method, call.phase) for call in calls} == {("toy/aflow/seed0/search", "aflow", "search")}
    assert {call.model_b for call in calls if call.agent == "optimiser"} == {14.0}
    record = read_json(tmp_path / "run")
    assert (record["cell"], record["code"], record["seed"]) == (CELL, "abc", 0)
    assert record["inputs"].keys() == {*(f"manifest/model-{slot}" for slot in SIZES), "problems", "prompt", "optimiser"}
    assert record["outputs"] == {name: digest(tmp_path / name) for name in ("workflow", "search", "calls")}
    assert not (tmp_path / "checkpoints").exists()


def test_it_asks_the_same_dev_questions_in_every_iteration_drawn_with_the_seed(tmp_path, team, monkeypatch):
    drawn = []
    for seed in (0, 1):
        search(tmp_path, team, monkeypatch, Workshop(PROPOSALS), seed=seed)
        asked = {}
        for call in read_calls(tmp_path / "calls"):
            if call.agent != "optimiser":
                asked.setdefault(call.id.split("/")[1], []).append(call.qid)
        (questions,) = {tuple(dict.fromkeys(ids)) for ids in asked.values()}
        assert len(questions) == 8
        assert list(questions) == sorted(questions)
        drawn.append(questions)
    assert drawn[0] != drawn[1]


def test_a_killed_job_ends_with_the_same_bytes(tmp_path, team, monkeypatch):
    straight = search(tmp_path / "straight", team, monkeypatch, Workshop(PROPOSALS))
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path / "killed", team, monkeypatch, Workshop(PROPOSALS, stop=8))
    second = Workshop(PROPOSALS)
    second.first = 2
    assert search(tmp_path / "killed", team, monkeypatch, second) == straight
    assert len(second.decodings) == 3  # the proposal of iteration 3, its two nodes


def test_what_another_job_had_kept_is_not_read(tmp_path, team, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path, team, monkeypatch, Workshop(PROPOSALS, stop=8))
    other = Workshop(PROPOSALS)
    search(tmp_path, team, monkeypatch, other, CELL | {"settings": {"temperature": 0.8}})
    assert len(other.decodings) == 3 + 3 + 1 + 3


def test_too_few_dev_questions_are_refused(tmp_path, team, monkeypatch):
    cell = CELL | {"search": SEARCH | {"dev_questions": 11}}
    with pytest.raises(ArtifactError, match=r"dev.jsonl: 10 problems, search.dev_questions asks for 11"):
        search(tmp_path, team, monkeypatch, Workshop(PROPOSALS), cell)


@pytest.mark.parametrize(("key", "value"), [("patience", 0), ("max_nodes", 1), ("dev_questions", 0)])
def test_settings_out_of_range_are_refused(tmp_path, team, monkeypatch, key, value):
    with pytest.raises(ValueError, match=f"search.{key}: {value} is less than"):
        search(tmp_path, team, monkeypatch, Workshop([]), CELL | {"search": SEARCH | {key: value}})
