"""The step that trains a baseline: what it writes, what it records, and how it goes on after a kill."""

import csv
import json
import shutil
from types import SimpleNamespace

import pytest
from graphs import PROMPTS, SIZES
from learners import OWN, PROBLEMS, ROUNDS, SLOTS, make_members
from recorded import wherever

from slmcollab.artifacts import digest, read_json, write_json, write_problems
from slmcollab.generation.backends import read_members
from slmcollab.generation.calls import read_calls
from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import Decoding, Request
from slmcollab.marl import loop
from slmcollab.protocol.record import StageJob, TeamFiles
from slmcollab.steps import train_baseline

OUTPUTS = ("adapters", "training", "history", "calls")
ITERATIONS, NUM_QUESTIONS = 3, 2
SHARED = {"iterations": ITERATIONS, "prompts": NUM_QUESTIONS, "warmup": 2, "temperature": 1.0, "top_p": 1.0}
SHARED |= {"micro_batch_size": 16, "max_tokens": 2000, "learning_rates": [0.02, 0.02, 0.02]}
SHARED |= {"epochs": 1, "mini_batches": 1}
FEWER = {"magrpo": {"episodes": 2}, "maporl": {"episodes": 2}, "at_grpo": {"branches": 2}}
CALLS = {"magrpo": 2 * 6, "maporl": 2 * 6, "at_grpo": 2 * 6}  # two episodes of two rounds; two branches of 3 + 2 + 1
CELL = {
    "benchmark": "toy",
    "dtype": "float32",
    "equality": "number",
    "generation": {"backend": "local", "resident": "all", "batch_size": 64, "questions_per_batch": 8},
    "graph": {"retries": 1, "max_new_tokens": 3, "top_p": 0.95},
    "lora": {"rank": 2, "alpha": 2, "dropout": 0.0, "target_modules": ["q_proj", "v_proj"]},
    "models": [f"model-{slot}" for slot in SLOTS],
    "numeric_threads": 1,
    "scoring": {"scorer": "gsm_hard", "time_limit_s": 1.0, "options": {}},
    "sizes": {},
    "slots": SLOTS,
    "stage": "trained",
}


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """Return the files of a team of tiny models."""
    root, manifests = tmp_path_factory.mktemp("team"), []
    for member in make_members(root / "models"):
        folder = root / member.slot
        shutil.copytree(member.folder, folder / "weights")
        size, manifest = int(SIZES[member.slot] * 1e9), folder / "manifest.json"
        write_json(manifest, {"id": member.slot, "revision": "1", "num_parameters": size, "files": []})
        manifests.append(manifest)
    write_problems(root / "train.jsonl", PROBLEMS)
    return TeamFiles(manifests, root / "train.jsonl", PROMPTS / "marl.txt")


def cell_of(method, **changes):
    learning = {**SHARED, **OWN[method], **FEWER[method]}
    return (
        CELL
        | {"method": method, "system": method, "settings": {"rounds": ROUNDS[method]}, "learning": learning}
        | changes
    )


def train(folder, team, cell, *, seed=0, save_every=2):
    named = {name: folder / name for name in OUTPUTS}
    stage = StageJob(json.dumps(cell), "c", seed, team, folder / "kept", "7")
    train_baseline.main(stage=stage, workers=1, save_every=save_every, **named)
    return SimpleNamespace(**named)


@pytest.mark.parametrize("method", list(OWN))
def test_what_is_written(tmp_path, team, method):
    cell = cell_of(method)
    out = train(tmp_path, team, cell)
    calls = read_calls(out.calls)
    first = [call for call in calls if call.retry_of is None]
    assert len(first) == ITERATIONS * NUM_QUESTIONS * CALLS[method]
    assert {(call.run, call.method, call.phase) for call in calls} == {(f"toy/{method}/seed0/trained", method, "train")}
    record = read_json(out.training)
    assert (record["cell"], record["code"], record["seed"], record["stage"]) == (cell, "c", 0, "trained")
    assert (record["num_prompts"], record["num_rollouts"]) == (ITERATIONS * NUM_QUESTIONS, len(calls))
    assert record["outputs"] == {name: digest(getattr(out, name)) for name in ("adapters", "calls", "history")}
    assert list(record["slots"]) == SLOTS
    for slot in record["slots"].values():
        assert slot["num_updates"] == ITERATIONS
        assert slot["num_examples"] == ITERATIONS * NUM_QUESTIONS * CALLS[method] // (6 if method == "at_grpo" else 3)
        assert {"mean_reward", "loss_first", "loss_last", "num_tokens", "num_dropped"} <= slot.keys()
    with out.history.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["iteration"] for row in rows] == ["1", "2", "3"]
    assert {"mean_reward", "accuracy", "a1/loss", "a3/kl", "a2/clip_share", "a1/anomaly_share"} <= rows[0].keys()
    assert not (tmp_path / "kept").exists()


def test_adapters_speak_in_the_backend_that_evaluates(tmp_path, team):
    fast = SHARED | OWN["magrpo"] | {"learning_rates": [0.3] * 3}
    out = train(tmp_path, team, cell_of("magrpo", learning=fast))
    told = {"slots": SLOTS, "models": CELL["models"], "sizes": {}}
    request = [Request(slot, PROBLEMS[0].messages, at) for at in range(20) for slot in SLOTS]
    said = []
    for adapters in ([], [out.adapters]):
        members = read_members(told, team.manifests, adapters)
        backend = LocalBackend(members, dtype="float32", resident="all", batch_size=8)
        said.append(backend.generate(request, Decoding(3, 1.0)))
    assert all(said[0][at::3] != said[1][at::3] for at in range(3))


@pytest.mark.parametrize("method", list(OWN))
def test_a_job_that_was_killed_ends_with_the_same_bytes(tmp_path, team, monkeypatch, method):
    straight, teach = train(tmp_path / "straight", team, cell_of(method)), loop._teach
    for stop in (2, 6, 9):  # of three slots in each of three iterations; a checkpoint is kept after the second
        left = iter(range(stop - 1))

        def stopping(*given, left=left, **how):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return teach(*given, **how)

        monkeypatch.setattr(loop, "_teach", stopping)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / str(stop), team, cell_of(method))
        monkeypatch.setattr(loop, "_teach", teach)
        again = train(tmp_path / str(stop), team, cell_of(method), save_every=1)
        assert all(wherever(getattr(again, name)) == wherever(getattr(straight, name)) for name in OUTPUTS)


def test_seeds_differ(tmp_path, team):
    outs = [train(tmp_path / str(seed), team, cell_of("magrpo"), seed=seed) for seed in (0, 1)]
    for name in OUTPUTS:
        assert wherever(getattr(outs[0], name)) != wherever(getattr(outs[1], name))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "maagrpo"}, "'maagrpo' is not one of .*magrpo"),
        ({"lora": CELL["lora"] | {"dropout": 0.1}}, "lora.dropout: 0.1 is not 0"),
        ({"learning": SHARED | OWN["magrpo"] | {"iterations": 0}}, "learning.iterations: 0 is less than 1"),
        ({"learning": SHARED | OWN["magrpo"] | {"learning_rates": [0.1]}}, "learning.learning_rates: 1 for 3 slots"),
    ],
)
def test_what_cannot_be_trained_is_refused(tmp_path, team, changes, message):
    with pytest.raises(ValueError, match=message):
        train(tmp_path, team, cell_of("magrpo") | changes)
