"""Every row of Table 1 of slices, run once on each toy benchmark."""

import csv
import json

import pytest
from checkout import REPOSITORY, Checkout, copy_checkout

from slmcollab.generation.calls import EVAL, SEARCH, TRAIN, read_calls

pytestmark = pytest.mark.slow
CONFIG = REPOSITORY / "tests/workflow/every_row.yaml"
BENCHMARKS = ("toy_musique", "toy_gsm_hard", "toy_math", "toy_multipl_e", "toy_conifer")
BASELINES = ("mad", "agentverse", "aflow", "gptswarm", "magrpo", "maporl", "at_grpo")
ROWS = ("qwen3_14b", "se_rl", "homo_mas", "homo_cl", *BASELINES, "cl")


@pytest.fixture(scope="module")
def every(tmp_path_factory, warm) -> Checkout:
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("every_row") / "slmcollab"), (CONFIG,), (warm,))
    checkout.snakemake("all")
    return checkout


@pytest.fixture(scope="module")
def rows(every) -> list[dict[str, str]]:
    with (every.run / "results/slices/table1.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_table1_has_twelve_rows_of_ten_metrics(rows):
    shown = {}
    for row in rows:
        shown.setdefault(row["method"], []).append(row)
    for benchmark in BENCHMARKS:
        assert tuple(dict.fromkeys(row["method"] for row in rows if row["benchmark"] == benchmark)) == ROWS
    pairs = {"accuracy", "f1", "weighted", "macro", "coverage", "explicit"}
    for method, found in shown.items():
        assert len([row for row in found if row["metric"] in pairs]) == 10, method
        assert all(row["n_seeds"] == "1" for row in found), method


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_row_answered_every_question(every, benchmark):
    for system in ROWS:
        folder = every.run / f"results/slices/{benchmark}/{system}/seed0/eval"
        answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
        scores = json.loads((folder / "scores.json").read_text())
        assert len(answers) == len(scores["problems"]) == (6 if benchmark == "toy_multipl_e" else 4)
        calls = [call for call in read_calls(folder / "calls.parquet") if call.phase == EVAL]
        assert {call.qid for call in calls} == {answer["id"] for answer in answers}
        unread = [answer["id"] for answer in answers if not answer["answer"]]
        assert not any(scores["problems"][name]["correct"] for name in unread)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_baselines_ask_as_often_as_their_method_says(every, benchmark):
    """Retries apart: 9, 7, 6, 9 and 3 calls a question; 1 + 4k of AgentVerse; a search is paid for before."""
    run = every.run / f"results/slices/{benchmark}"
    for system, number in {"mad": 9, "gptswarm": 7, "magrpo": 6, "maporl": 9, "at_grpo": 3}.items():
        assert first_calls(run / system) == {number}, system
    assert first_calls(run / "agentverse") <= {5, 9, 13}
    searched = read_calls(run / "aflow/seed0/search/calls.parquet")
    assert {call.phase for call in searched} == {SEARCH}
    evaluated = read_calls(run / "aflow/seed0/eval/calls.parquet")
    assert [call for call in evaluated if call.phase == SEARCH] == searched


def first_calls(system) -> set[int]:
    """Return the numbers of calls, retries apart, that questions took."""
    counts: dict[str, int] = {}
    for call in read_calls(system / "seed0/eval/calls.parquet"):
        counts[call.qid] = counts.get(call.qid, 0) + (call.retry_of is None)
    return set(counts.values())


@pytest.mark.parametrize("system", ["magrpo", "maporl", "at_grpo"])
def test_what_learns_changed_every_slot_in_two_iterations(every, system):
    for benchmark in BENCHMARKS:
        folder = every.run / f"results/slices/{benchmark}/{system}/seed0/trained"
        training = json.loads((folder / "training.json").read_text())
        assert set(training["slots"]) == {"a1", "a2", "a3"}
        with (folder / "history.csv").open() as stream:
            assert len(list(csv.DictReader(stream))) == 2
        assert {call.phase for call in read_calls(folder / "calls.parquet")} == {TRAIN}
        assert all((folder / "adapters" / slot / "adapter_model.safetensors").is_file() for slot in training["slots"])
