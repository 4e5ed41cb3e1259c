"""Joint episodes and trees by a script: who is asked, in which order, how often, and what is trained."""

from collections import Counter
from dataclasses import replace

import pytest
from graphs import MEMBERS, SIZES, play, said
from learners import PROBLEMS, PROMPT, make_arena

from slmcollab.generation.requests import STOP, Response
from slmcollab.graph.nodes import Question
from slmcollab.graph.rounds import Rounds
from slmcollab.graph.runner import GraphSettings
from slmcollab.marl.arena import Verdict, counted, grow_trees, joint_episodes
from slmcollab.scoring.grader import Grader
from slmcollab.teams.at_grpo import Turns

QUESTIONS = [Question(problem, 0, 7) for problem in PROBLEMS[:3]]


class Scripted:
    """Answers by a request's slot, what it reads and its seed; each round of requests is kept."""

    def __init__(self, answer=lambda request: said(request.seed % 3)):
        self.answer, self.rounds = answer, []

    def generate(self, requests, decoding):
        self.rounds.append(list(requests))
        texts = [self.answer(request) for request in requests]
        return [Response(text, 7, len(text), STOP, (1, 2)) for text in texts]


class Marks(Grader):
    """A grader that counts what it is asked."""

    asked = ()

    def grade(self, answers, problems):
        self.asked += tuple((answer, problem.id) for answer, problem in zip(answers, problems, strict=True))
        return super().grade(answers, problems)


def test_joint_episodes_of_all_questions_are_played_together():
    backend = Scripted()
    with make_arena(backend, MEMBERS) as arena:
        groups = joint_episodes(arena, Rounds(2), QUESTIONS, 4)
    assert [len(requests) for requests in backend.rounds] == [3 * 4 * 3] * 2  # a call of the backend for each round
    assert [[one.question.problem.id for one in group] for group in groups] == [[f"n{i}"] * 4 for i in range(3)]
    calls = [asked.call for group in groups for one in group for asked in one.asked]
    assert len(calls) == len({call.id for call in calls}) == 3 * 4 * 6
    assert {call.phase for call in calls} == {"train"}
    assert len({call.seed for call in calls}) == len(calls)


def test_no_two_visits_of_a_question_share_a_call():
    with make_arena(Scripted(), MEMBERS) as arena:
        ids = Counter()
        for visit in range(3):
            again = [Question(one.problem, visit, one.seed) for one in QUESTIONS]
            ids.update(
                a.call.id for group in joint_episodes(arena, Rounds(2), again, 4) for one in group for a in one.asked
            )
            trees = grow_trees(arena, Turns(1), again, turns=3, number=4)
            assert len({a.call.id for tree in trees for b in tree for one in b.episodes for a in one.asked}) == 3 * 24
        assert set(ids.values()) == {1}


@pytest.mark.parametrize(("turns", "branches", "calls"), [(3, 8, 48), (4, 2, 20), (1, 5, 5)])
def test_a_tree_takes_branches_times_turns_times_turns_plus_one_halves(turns, branches, calls):
    backend = Scripted()
    with make_arena(backend, MEMBERS) as arena:
        trees = grow_trees(arena, Turns(1, turns), QUESTIONS, turns=turns, number=branches)
    assert sum(map(len, backend.rounds)) == 3 * calls
    assert [len(requests) for requests in backend.rounds] == [3 * branches] * (turns * (turns + 1) // 2)
    for tree in trees:
        assert [len(branch.candidates) for branch in tree] == [branches] * turns
        assert [{one.node.name for one in branch.candidates} for branch in tree] == [
            {f"turn-{i}"} for i in range(turns)
        ]
        assert sum(len(one.asked) for branch in tree for one in branch.episodes) == calls


def test_candidates_of_a_turn_read_one_frozen_prompt():
    with make_arena(Scripted(), MEMBERS) as arena:
        trees = grow_trees(arena, Turns(1), QUESTIONS, turns=3, number=8)
    for tree in trees:
        for branch in tree:
            assert len({str(one.messages) for one in branch.candidates}) == 1
            assert len({one.call.agent for one in branch.candidates}) == 1
    first, second, third = (branch.candidates[0] for branch in trees[0])
    assert "Response of" not in str(first.messages)
    assert str(second.messages).count("Response of") == 1
    assert str(third.messages).count("Response of") == 2


def test_the_spine_goes_on_from_the_best_candidate():
    """Only a3's answer decides the vote here: a1 and a2 never agree. It is right where a1 said 1."""

    def answer(request):
        text = request.messages[-1]["content"]
        if request.slot == "a1":
            return said(request.seed % 2)
        if request.slot == "a2":
            return said(5)
        return said(1 if "Response of a1:\n<reasoning>so</reasoning><answer>1<" in text else 9)

    with make_arena(Scripted(answer), MEMBERS) as arena:
        trees = grow_trees(arena, Turns(1), QUESTIONS, turns=3, number=8)
    for drafts, second, third in trees:
        values = [outcome.value for outcome in drafts.outcomes]
        assert values == [float(one.call.answer == "1") for one in drafts.candidates]
        assert 0 < sum(values) < 8
        assert {episode.said["turn-0"].answer for episode in (*second.episodes, *third.episodes)} == {"1"}
        assert [outcome.value for outcome in third.outcomes] == [1.0] * 8


def test_ties_are_drawn_for_each_question_and_turn_and_are_the_same_again():
    def grow(number):
        with make_arena(Scripted(lambda request: said(f"9{request.seed}")), MEMBERS) as arena:
            trees = grow_trees(arena, Turns(1), [Question(p, 0, number) for p in PROBLEMS], turns=3, number=4)
        return [tuple(branch.best() for branch in tree[:2]) for tree in trees]

    assert grow(1) == grow(1)
    assert len(set(grow(1))) > 3
    assert grow(1) != grow(2)


def test_a_turn_none_of_whose_branches_is_known_still_goes_on():
    with make_arena(Scripted(), MEMBERS, scorer="multipl_e") as arena:  # these problems are no programs: all raise
        trees = grow_trees(arena, Turns(1), QUESTIONS, turns=2, number=3)
    assert {outcome for tree in trees for branch in tree for outcome in branch.outcomes} == {None}
    assert [len(tree) for tree in trees] == [2] * 3


def test_equal_answers_are_graded_once_and_none_is_never_right():
    problems = [PROBLEMS[0], PROBLEMS[0], PROBLEMS[1], PROBLEMS[1], PROBLEMS[0]]
    with make_arena(Scripted(), MEMBERS) as arena, Marks("gsm_hard", 1.0) as marks:
        found = replace(arena, grader=marks).judge(["1", "1", "1", "", "2"], problems)
    assert marks.asked == (("1", "n0"), ("1", "n1"), ("2", "n0"))
    right, wrong = Verdict(1.0, True), Verdict(0.0, False)
    assert found == [right, right, right, wrong, wrong]


def test_open_texts_earn_their_score():
    with make_arena(Scripted(), MEMBERS, equality=None, scorer="qa") as arena:
        (found,) = arena.judge(["1 2 3"], [PROBLEMS[0]])
    # One word of three is the answer: precision 1/3, recall 1, F1 1/2; accuracy asks for all.
    assert (found.value, found.correct) == (pytest.approx(0.5), False)
    with make_arena(Scripted(), MEMBERS, scorer="qa") as arena:
        assert arena.judge(["1 2 3"], [PROBLEMS[0]])[0].value == 0.0


def test_of_a_response_that_was_asked_for_again_the_last_attempt_counts():
    texts = {"q": {slot: ["broken", 1, "broken", "still broken"] for slot in SIZES}}
    settings = GraphSettings(max_new_tokens=9, top_p=1.0, retries=1)
    (episode,), _ = play(Rounds(2), texts, PROMPT, settings=settings)
    found = counted(episode)
    assert len(episode.asked) == 12
    assert [one.call.id.rpartition("/")[2] for one in found] == ["1"] * 6
    assert [one.call.text for one in found][3:] == ["still broken"] * 3  # it counts as any other
    assert all("was refused" in one.messages[-1]["content"] for one in found)
