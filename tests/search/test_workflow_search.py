"""The search: what is proposed, refused, measured and kept, with scripted models."""

import json

import pytest
from workshop import PROBLEMS, TEAM, Workshop, bench, chain, settings

from slmcollab.generation.calls import write_calls
from slmcollab.graph.nodes import Team
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score
from slmcollab.search import tree
from slmcollab.search.files import write_search, write_workflow
from slmcollab.search.grading import grade
from slmcollab.search.proposal import read_proposal
from slmcollab.search.search import find_workflow
from slmcollab.search.workflow import WorkflowError


@pytest.fixture
def grader():
    with Grader("qa", 1.0) as opened:
        yield opened


def search(folder, grader, proposals, **changes):
    backend = Workshop(proposals)
    return backend, *find_workflow(bench(backend, grader, **changes), folder / "kept")


def test_a_search_finds_the_best_workflow(tmp_path, grader):
    # n0 to n3 are solved at the start: 0.4. "half" against "gold4 half" has F1 2 * 1 * 0.5 / 1.5 = 2/3.
    proposals = [chain(6), chain(6, half=True), chain(8), chain(2), chain(8, half=True)]
    backend, trials, calls = search(tmp_path, grader, proposals, iterations=5)
    assert [(one.measured.accuracy, pytest.approx(one.measured.score)) for one in trials] == [
        (0.4, 0.4),
        (0.6, 0.6),
        (0.6, 0.6 + 0.4 * 2 / 3),
        (0.8, 0.8),
        (0.2, 0.2),
        (0.8, 0.8 + 0.2 * 2 / 3),
    ]
    assert tree.best(trials).iteration == 5
    assert [row["best"] for row in tree.rows(trials)] == [0, 1, 2, 3, 3, 5]
    # 10 questions by 5 nodes, then 5 times one proposal and 10 by 2; every one a call of the search, with its own id.
    assert len(calls) == len(backend.seen) == 50 + 5 * 21
    assert len({call.id for call in calls}) == len(calls)
    assert {call.phase for call in calls} == {"search"}
    assert calls[50].id == "search/01/proposal#0/0/0"
    assert (calls[50].agent, calls[50].model_b, calls[50].qid) == ("optimiser", 14.0, "proposal")
    assert (calls[51].id, calls[51].qid, calls[51].agent) == ("search/01/n0#0/0/0", "n0", "a1")


def test_temperatures_and_budgets_are_each_operators_own(tmp_path, grader):
    backend, _, _ = search(tmp_path, grader, [chain(6)], iterations=1)
    found = [(decoding.temperature, decoding.max_new_tokens) for decoding in backend.decodings]
    assert found == [(0.9, 9), (0.0, 9), (0.0, 9), (0.7, 99), (0.9, 9), (0.0, 9)]


def test_all_workflows_meet_the_same_random_numbers_and_proposals_their_own(tmp_path, grader):
    backend, _, _ = search(tmp_path, grader, [chain(6), chain(7)], iterations=2)
    firsts = [one.seed for one in backend.seen if one.messages[-1]["content"].startswith("S a1 What is n0?")]
    assert len(firsts) == 3
    assert len(set(firsts)) == 1
    assert len({one.seed for one in backend.seen if one.slot == "optimiser"}) == 2


def test_what_the_optimiser_reads(tmp_path, grader):
    backend, _, _ = search(tmp_path, grader, [chain(9, half=True), chain(9)], iterations=2, failures=3, exploration=0.0)
    first, second = [one.messages[-1]["content"] for one in backend.seen if one.slot == "optimiser"]
    assert '{"operator": "ensemble", "sees": [1, 2, 3]},' in first
    assert "| 40.0 40.0 10 |" in first
    assert first.count("-> nothing") == 3  # of six that failed
    assert "a1 (1.7 billion parameters), a2 (4 billion parameters), a3 (8 billion parameters) 6 500" in first
    assert "skill 9 half" in second
    assert "| 90.0 96.7 10 | What is n9? -> half |" in second


def test_no_prompt_holds_a_gold_answer_or_a_test(tmp_path, grader):
    backend, _, _ = search(tmp_path, grader, [chain(0), chain(0, half=True)], iterations=2)
    # Only what the team answered itself: n0 to n3 are gold as soon as somebody solves them.
    proposed = [one.messages[-1]["content"] for one in backend.seen if one.slot == "optimiser"]
    texts = [one.messages[-1]["content"] for one in backend.seen]
    assert len(proposed) == 2
    assert not [text for text in proposed if "gold" in text]
    assert not [text for text in texts if "hidden" in text or any(f"gold{i}" in text for i in range(4, 10))]


REFUSED = [
    ("no JSON at all", "not JSON (JSONDecodeError)"),
    ("[" * 400, "not JSON (RecursionError)"),
    ("[" * 501, "501 characters; allowed are 500"),
    ({"nodes": [{"operator": "solve"}]}, "1 nodes; allowed are 2 to 6"),
    ({"nodes": [{"operator": "solve"}] * 7}, "7 nodes; allowed are 2 to 6"),
    (chain(9, slot="a9"), "node 1: slot 'a9' is not one of a1, a2, a3"),
    (chain(9, **{"x" * 300: 1}), "node 1: key 'xxx"),
    ("!no tags", "no readable reply: malformed"),
]


@pytest.mark.parametrize(("proposal", "reason"), REFUSED)
def test_what_is_no_proposal_is_refused_with_its_reason(tmp_path, grader, proposal, reason):
    _, trials, calls = search(tmp_path, grader, [proposal], iterations=1)
    row = tree.rows(trials)[1]
    assert (row["outcome"], row["parent"], row["accuracy"], row["best"]) == ("rejected", 0, None, 0)
    assert row["reason"].startswith(reason if "Recursion" not in reason else "not JSON")
    assert len(row["reason"]) <= 200
    assert len(calls) == 50 + (2 if reason.startswith("no readable") else 1)  # a form that is broken is retried


def test_json_in_a_code_fence_is_read():
    found = read_proposal(f"```json\n{json.dumps(chain(9))}\n```", TEAM.slots, settings())
    assert [node.slot for node in found.nodes] == ["a1", None]
    with pytest.raises(WorkflowError, match="not JSON"):
        read_proposal(f"so: ```json\n{json.dumps(chain(9))}\n```", TEAM.slots, settings())


def test_json_that_is_nested_too_deep_is_refused():
    with pytest.raises(WorkflowError, match="not JSON"):
        read_proposal("[" * 200_000, TEAM.slots, settings(max_characters=200_000))


def test_no_workflow_is_measured_twice(tmp_path, grader):
    again = chain(6, slot="a1")  # the member that the round-robin gives it anyway
    rejected = chain(6, slot="a9")
    _, trials, calls = search(tmp_path, grader, [chain(6), again, rejected, rejected], iterations=4)
    assert [row["reason"] for row in tree.rows(trials)] == [
        None,
        None,
        "the same as iteration 1",
        *["node 1: slot 'a9' is not one of a1, a2, a3"] * 2,
    ]
    assert len(calls) == 50 + 21 + 3


def test_a_search_without_improvement_stops_early(tmp_path, grader):
    proposals = ["x", chain(6), "x", chain(5), chain(9)]
    backend, trials, _ = search(tmp_path, grader, proposals, iterations=5, patience=2)
    assert [row["outcome"] for row in tree.rows(trials)] == ["accepted", "rejected", "accepted", "rejected", "accepted"]
    assert tree.best(trials).iteration == 2
    assert sum(one.slot == "optimiser" for one in backend.seen) == 4


def test_open_texts_are_ranked_by_their_score_first(tmp_path, grader):
    # Accuracy and score: 0.4 and 0.4, 0.5 and 0.5, 0.1 and 0.1 + 0.9 * 2/3 = 0.7.
    team = Team(TEAM.sizes, None)
    _, trials, _ = search(tmp_path, grader, [chain(5), chain(1, half=True)], iterations=2, team=team)
    assert tree.best(trials).iteration == 2
    _, trials, _ = search(tmp_path / "words", grader, [chain(5), chain(1, half=True)], iterations=2)
    assert tree.best(trials).iteration == 1


def test_answers_of_which_nothing_is_known_count_as_wrong(grader, monkeypatch):
    verdicts = {
        "right": Score(1.0, True, ""),
        "wrong": Score(0.25, False, ""),
        "late": Score(0.0, False, "", "timed_out"),
        "absent": Score(0.0, False, "", "not_run: no compiler"),
        "broken": Score(0.0, False, "", "raised: ValueError: x"),
    }
    monkeypatch.setattr(grader, "grade", lambda answers, problems: [verdicts[answer] for answer in answers])
    found = grade(list(verdicts), PROBLEMS[:5], TEAM, grader)
    # (1 + 0) / 5 and (1 + 0.25) / 5: what nobody can check wins nothing.
    assert (found.accuracy, found.score, found.num_graded) == (0.2, 0.25, 2)
    assert found.failures == (("n1", "wrong"),)
    assert grade(["late", "absent"], PROBLEMS[:2], TEAM, grader) is None
    monkeypatch.setattr(grader.module, "RUNS_PROGRAMS", True, raising=False)
    # A program that runs out of time has failed, and is shown to the optimiser.
    found = grade(list(verdicts), PROBLEMS[:5], TEAM, grader)
    assert (found.accuracy, found.num_graded, found.failures[1]) == (0.2, 3, ("n2", "late"))


def test_a_workflow_that_cannot_be_graded_is_refused_and_as_start_stops_the_search(tmp_path, grader, monkeypatch):
    true = Grader.grade
    absent = [Score(0.0, False, "", "not_run: no compiler")] * 10
    monkeypatch.setattr(grader, "grade", lambda answers, problems: absent)
    with pytest.raises(ValueError, match="toy/aflow/seed0/search: no answer to a dev question could be graded"):
        search(tmp_path, grader, [])
    given = iter([lambda *a: true(grader, *a), lambda *a: absent, lambda *a: true(grader, *a)])
    monkeypatch.setattr(grader, "grade", lambda *a: next(given)(*a))
    _, trials, calls = search(tmp_path / "second", grader, [chain(6), chain(7)], iterations=2)
    assert tree.rows(trials)[1]["reason"] == "no answer could be graded"
    assert len(calls) == 50 + 21 + 21


PROPOSALS = [chain(6), "x", chain(6), chain(9, half=True)]


def written(folder, grader, backend):
    trials, calls = find_workflow(bench(backend, grader, iterations=4), folder / "kept")
    write_workflow(folder / "workflow.json", trials)
    write_search(folder / "search.csv", trials)
    write_calls(folder / "calls.parquet", calls)
    return {name: (folder / name).read_bytes() for name in ("workflow.json", "search.csv", "calls.parquet")}


# The start asks the backend 3 times, iterations 3, 1, 1 and 3 times: the kill is in the middle of each, and at its end.
@pytest.mark.parametrize(("stop", "whole"), [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (7, 3), (8, 4), (10, 4)])
def test_a_killed_search_ends_with_the_same_bytes(tmp_path, grader, stop, whole):
    straight = written(tmp_path / "straight", grader, Workshop(PROPOSALS))
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "killed", grader, Workshop(PROPOSALS, stop))
    assert len(list((tmp_path / "killed/kept").glob("iteration-*"))) == whole
    second = Workshop(PROPOSALS)
    second.first = max(whole - 1, 0)
    assert written(tmp_path / "killed", grader, second) == straight
    assert len(second.decodings) == 11 - (0, 3, 6, 7, 8)[whole]


@pytest.mark.parametrize("name", ["trial.json", "calls.parquet", "complete.json"])
def test_an_iteration_that_is_not_whole_is_made_again(tmp_path, grader, name):
    straight = written(tmp_path, grader, Workshop(PROPOSALS))
    file = tmp_path / "kept/iteration-0004" / name
    file.write_bytes(file.read_bytes()[:-3])
    second = Workshop(PROPOSALS)
    second.first = 3
    assert written(tmp_path, grader, second) == straight
    assert len(second.decodings) == 3


def test_files_are_readable(tmp_path, grader):
    found = written(tmp_path, grader, Workshop(PROPOSALS))
    assert found["workflow.json"].decode() == (
        '{"nodes": [\n'
        '  {"operator": "solve", "sees": [], "slot": "a1", "instruction": "skill 9 half"},\n'
        '  {"operator": "extract", "sees": [1]}\n'
        "]}\n"
    )
    lines = found["search.csv"].decode().split("\n")
    assert lines[0] == (
        "iteration,parent,outcome,reason,num_nodes,accuracy,score,num_graded,best,best_accuracy,best_score"
    )
    assert lines[1] == "0,,accepted,,5,0.4,0.4,10,0,0.4,0.4"
    # UCB of the start and of iteration 1: 0.4 + 1.4 sqrt(ln 4 / 2) = 1.57, 0.6 + 1.4 sqrt(ln 4 / 1) = 2.25.
    assert lines[3] == "2,1,rejected,not JSON (JSONDecodeError),,,,,1,0.6,0.6"
    assert lines[4].startswith("3,1,rejected,the same as iteration 1,2,,,,1")
