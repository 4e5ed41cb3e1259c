"""The step that lets a baseline answer: what it writes, what it records, and how it goes on after a kill."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from graphs import MEMBERS, PROMPTS, SIZES, question, said
from recorded import wherever

from slmcollab.artifacts import ArtifactError, digest, read_json, read_jsonl, write_json, write_problems
from slmcollab.generation.calls import EVAL, SEARCH, read_calls, write_calls
from slmcollab.generation.requests import STOP, Request, Response
from slmcollab.graph import evaluation
from slmcollab.graph.evaluation import SearchFiles
from slmcollab.protocol import collaboration
from slmcollab.protocol.invocation import Address, RunNames, describe_call
from slmcollab.protocol.record import StageJob, TeamFiles
from slmcollab.protocol.response import Parsed
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.search.workflow import START
from slmcollab.steps import answer_with_baseline
from slmcollab.teams import mad

NUM_QUESTIONS, PER_WAVE = 5, 2
NOTHING = SearchFiles()
AFLOW = {"method": "aflow", "settings": {"temperature": 0.9}}
OUTPUTS = ("calls", "trajectories", "answers", "run")
CELL = {
    "benchmark": "toy",
    "dtype": "float32",
    "equality": "number",
    "generation": {"questions_per_batch": PER_WAVE},
    "graph": {"retries": 1, "max_new_tokens": 9, "top_p": 0.95},
    "method": "mad",
    "models": [f"model-{slot}" for slot in SIZES],
    "numeric_threads": 1,
    "samples": 1,
    "settings": {"rounds": 2, "first_temperature": 0.9, "temperature": 0.3},
    "sizes": {"model-a1": 1.7},
    "slots": list(SIZES),
    "stage": "eval",
    "system": "debate",
}


class Drawn:
    """A backend whose answers follow from a request's seed; stops at its `stop`-th round."""

    def __init__(self, stop=None):
        self.rounds, self.stop = 0, stop

    def generate(self, requests, decoding):
        self.rounds += 1
        if self.rounds == self.stop:
            raise KeyboardInterrupt
        texts = [said(request.seed % 3) if request.seed % 5 else "no tags" for request in requests]
        return [Response(text, 7, len(text), STOP) for text in texts]


@pytest.fixture
def team(tmp_path, monkeypatch):
    """Return the files of a team whose backend is `Drawn`, and a way to let it answer into a folder."""
    manifests = []
    for slot, size in SIZES.items():
        manifests.append(tmp_path / slot / "manifest.json")
        write_json(manifests[-1], {"id": slot, "revision": "1", "num_parameters": int(size * 1e9), "files": []})
    write_problems(tmp_path / "problems", [question(f"n{number}!").problem for number in range(NUM_QUESTIONS)])
    files = TeamFiles(manifests, tmp_path / "problems", PROMPTS / "mad.txt")

    def answer(folder, backend, *, seed=0, found=NOTHING, files=files, **changes):
        monkeypatch.setattr(collaboration, "open_backend", lambda *_: contextlib.nullcontext(backend))
        stage = StageJob(json.dumps(CELL | changes), "c", seed, files, tmp_path / folder / "kept", "7")
        answer_with_baseline.main(stage=stage, found=found, **{name: tmp_path / folder / name for name in OUTPUTS})
        return tmp_path / folder

    return SimpleNamespace(files=files, answer=answer, folder=tmp_path)


def made(folder):
    return {name: wherever(folder / name) for name in OUTPUTS}


def test_what_is_written(team):
    out = team.answer("out", Drawn())
    calls, found, rows = read_calls(out / "calls"), read_trajectories(out / "trajectories"), read_jsonl(out / "answers")
    assert [row["id"] for row in rows] == [one.problem for one in found] == [f"n{i}!" for i in range(NUM_QUESTIONS)]
    assert all(len(one.steps) == 6 for one in found)
    assert len(calls) > 6 * NUM_QUESTIONS  # some are retries
    assert {(call.run, call.method, call.benchmark, call.phase) for call in calls} == {
        ("toy/debate/seed0/eval", "debate", "toy", EVAL)
    }
    assert {call.agent: (call.model, call.model_b) for call in calls} == {
        slot: (f"model-{slot}", size) for slot, size in SIZES.items()
    }
    record = read_json(out / "run")
    assert record["outputs"] == {name: digest(out / name) for name in ("calls", "trajectories", "answers")}
    assert (record["cell"], record["code"], record["seed"]) == (CELL, "c", 0)
    assert (record["before"], record["searched"]) == (None, None)
    assert record["inputs"].keys() == {*(f"manifest/model-{slot}" for slot in SIZES), "problems", "prompt"}
    assert not (out / "kept").exists()


def test_a_run_that_was_killed_ends_the_same(team):
    straight = team.answer("straight", first := Drawn())
    # Waves of 2, 2 and 1 questions, each of at least 2 rounds: the fourth round is not of the first wave's.
    for stop in range(1, first.rounds + 1):
        with pytest.raises(KeyboardInterrupt):
            team.answer(f"stopped{stop}", Drawn(stop))
        out = team.answer(f"stopped{stop}", second := Drawn())
        assert made(out) == made(straight)
        assert (second.rounds < first.rounds) == (stop > 4)


def test_waves_change_nothing_and_seeds_do(team):
    first = team.answer("first", Drawn())
    together = team.answer("together", Drawn(), generation={"questions_per_batch": 99})
    other = team.answer("other", Drawn(), seed=1)
    for name in ("calls", "trajectories", "answers"):
        assert digest(together / name) == digest(first / name)
        assert digest(other / name) != digest(first / name)


def write_search(folder, workflow, calls=()):
    """Write what a search of such a workflow leaves into a folder."""
    paths = {name: folder / name for name in ("workflow", "calls", "run")}
    write_json(paths["workflow"], workflow)
    write_calls(paths["calls"], calls)
    write_json(paths["run"], {"outputs": {name: digest(paths[name]) for name in ("workflow", "calls")}, "told": 1})
    return SearchFiles(*([path] for path in paths.values()))


def test_what_a_search_found_is_used_recorded_and_counted(team, monkeypatch):
    given = {}
    module = SimpleNamespace(
        KINDS=mad.KINDS, build=lambda settings: given.update(settings) or mad.build(CELL["settings"])
    )
    monkeypatch.setattr(evaluation, "get", lambda kind, name: module)
    names = RunNames("toy/aflow/seed0/search", "aflow", "toy", SEARCH, 0)
    request, response = Request("a1", [], 3), Response("x", 1, 1, STOP)
    search = describe_call(names, MEMBERS[0], Address("dev", 0, 0, 0), request, response, Parsed("", "x"))
    found = write_search(team.folder / "search", {"nodes": [1]}, [search])
    out = team.answer("out", Drawn(), found=found, method="aflow", settings={"temperature": 0.9})
    assert given == {"temperature": 0.9, "workflow": {"nodes": [1]}}
    calls = read_calls(out / "calls")
    assert calls[0] == search
    assert {call.phase for call in calls[1:]} == {EVAL}
    record = read_json(out / "run")
    assert record["inputs"]["workflow"] == digest(team.folder / "search/workflow")
    assert record["inputs"]["search_calls"] == digest(team.folder / "search/calls")
    assert record["searched"] == read_json(team.folder / "search/run")
    assert record["searched"]["told"] == 1


def test_adapters_of_another_training_are_refused(team):
    start, before = team.folder / "adapters", team.folder / "training.json"
    for slot in SIZES:
        write_json(start / slot / "adapter.json", {})
    write_json(before, {"outputs": {"adapters": "else"}})
    files = TeamFiles(team.files.manifests, team.files.problems, team.files.prompt, [start], [before])
    with pytest.raises(ArtifactError, match="train them again"):
        team.answer("out", Drawn(), files=files)
    write_json(before, {"outputs": {"adapters": digest(start)}, "told": 1})
    out = team.answer("out", Drawn(), files=files)
    assert {call.agent: call.adapter for call in read_calls(out / "calls")} == {
        slot: (start / slot).as_posix() for slot in SIZES
    }
    assert read_json(out / "run")["before"]["told"] == 1


def test_a_method_that_there_is_not_is_named(team):
    with pytest.raises(ValueError, match=r"'maad' is not one of .*mad"):
        team.answer("out", Drawn(), method="maad")


@pytest.mark.parametrize("name", ["workflow", "calls"])
def test_files_of_another_search_are_refused(team, name):
    found = write_search(team.folder / "search", START)
    record = read_json(team.folder / "search/run")
    write_json(team.folder / "search/run", {"outputs": record["outputs"] | {name: "else"}})
    message = f"search/{name}: not the {name} that .*search/run records: search again"
    with pytest.raises(ArtifactError, match=message):
        found.read()
    with pytest.raises(ArtifactError, match=message):
        team.answer("out", Drawn(), found=found, **AFLOW)
    assert not (team.folder / "out").exists()


@pytest.mark.parametrize(
    ("workflow", "message"),
    [
        ([], "a workflow is"),
        ({"nodes": [{"operator": "vote"}]}, "node 1: operator is not one of solve"),
        ({"nodes": [{"operator": "solve", "slot": "a9"}]}, "node 1: slot 'a9' is not one of a1"),
    ],
)
def test_a_workflow_that_this_team_cannot_follow_names_its_file(team, workflow, message):
    found = write_search(team.folder / "search", workflow)
    with pytest.raises(ArtifactError, match=f"search/workflow: {message}"):
        team.answer("out", Drawn(), found=found, **AFLOW)


def test_a_fault_of_the_config_is_no_fault_of_a_file(team):
    with pytest.raises(ValueError, match="rounds: 0 is less than") as raised:
        team.answer("out", Drawn(), settings=CELL["settings"] | {"rounds": 0})
    assert not isinstance(raised.value, ArtifactError)
