"""AT-GRPO: turns one after the other, and a tree of candidates whose team outcome is their reward."""

from collections import Counter

import pytest
from graphs import MEMBERS, SIZES, TEAM, play, read, said
from learners import PROBLEMS, PROMPT, make_arena, make_learner

from slmcollab.generation.requests import STOP, Response
from slmcollab.graph.nodes import Question, Team
from slmcollab.marl.learner import Learner
from slmcollab.teams import at_grpo

QUESTIONS = [Question(problem, 0, 7) for problem in PROBLEMS[:2]]


class Drawn:
    def __init__(self):
        self.number = 0

    def generate(self, requests, decoding):
        self.number += len(requests)
        return [Response(said(request.seed % 2), 7, 2, STOP, (6, 7)) for request in requests]


class FirstRight:
    def generate(self, requests, decoding):
        return [Response(said(int(place == 0)), 7, 2, STOP, (6, 7)) for place, _ in enumerate(requests)]


@pytest.mark.parametrize(("rounds", "calls"), [(1, 3), (2, 6), (4, 12)])
def test_slots_take_turns(rounds, calls):
    (episode,), backend = play(at_grpo.build({"rounds": rounds}), {"q": {slot: [1] * rounds for slot in SIZES}}, PROMPT)
    assert backend.asked == [[slot] for slot in list(SIZES) * rounds]
    assert len(episode.asked) == calls
    assert [asked.call.round for asked in episode.asked] == list(range(calls))
    assert [asked.node.kind for asked in episode.asked] == ["draft"] + ["revise"] * (calls - 1)


def test_a_turn_sees_the_last_reply_of_each_slot():
    texts = {"a1": [11, 12], "a2": [21, 22], "a3": [31, 32]}
    (episode,), _ = play(at_grpo.build({"rounds": 2}), {"q": texts}, PROMPT)
    shown = {
        name: [part[:2] for part in text.split("</reasoning><answer>")[2:]] for name, text in read(episode).items()
    }
    assert shown == {
        **{"turn-0": [], "turn-1": ["11"], "turn-2": ["11", "21"]},
        **{"turn-3": ["11", "21", "31"], "turn-4": ["21", "31", "12"], "turn-5": ["31", "12", "22"]},
    }


def test_the_last_replies_vote_and_all_but_the_last_are_candidates():
    method = at_grpo.build({"rounds": 2})
    (episode,), _ = play(method, {"q": {"a1": [1, 5], "a2": [1, 5], "a3": [1, 7]}}, PROMPT)
    final = method.final(TEAM, episode.said)
    assert (final.answer, final.slot, final.num_steps) == ("5", "a2", 6)
    assert [reply.answer for reply in final.candidates] == ["1", "1", "1", "5", "5"]
    assert [reply.level for reply in final.candidates] == [0, 1, 2, 3, 4]
    assert method.final(Team(SIZES, None), episode.said).answer == "7"


def test_in_one_round_the_first_two_turns_are_intermediate_answers():
    method = at_grpo.build({"rounds": 1})
    (episode,), _ = play(method, {"q": {"a1": [3], "a2": [4], "a3": [4]}}, PROMPT)
    final = method.final(TEAM, episode.said)
    assert (final.answer, final.num_steps, [reply.answer for reply in final.candidates]) == ("4", 3, ["3", "4"])


def test_how_it_answers_does_not_say_how_it_learns():
    assert [make_learner("at_grpo", settings).method.turns for settings in ({}, {"rounds": 4})] == [3, 3]


@pytest.mark.parametrize(("turns", "speakers"), [(1, ["a1"]), (2, ["a1", "a2"]), (5, ["a1", "a2", "a3", "a1", "a2"])])
def test_training_may_have_fewer_turns(turns, speakers):
    method = make_learner("at_grpo", {"rounds": 4}, train_turns=turns).method
    (episode,), backend = play(method, {"q": {slot: [1, 2] for slot in SIZES}}, PROMPT)
    assert backend.asked == [[slot] for slot in speakers]
    assert method.final(TEAM, episode.said).num_steps == turns


def test_candidates_are_trained_and_what_continues_them_is_not():
    backend, learner = Drawn(), make_learner("at_grpo", branches=8)
    assert isinstance(learner, Learner)
    with make_arena(backend, MEMBERS) as arena:
        harvest = learner.harvest(arena, QUESTIONS)
    assert backend.number == 2 * 48
    assert len(harvest.episodes) == 2 * 3 * 8
    assert len(harvest.outcomes) == 2 * 8  # later turns start from a reply that was chosen
    assert Counter(sample.asked.node.name for sample in harvest.samples) == dict.fromkeys(
        ("turn-0", "turn-1", "turn-2"), 16
    )
    first = {episode.asked[0].call.id for episode in harvest.episodes}
    assert {sample.asked.call.id for sample in harvest.samples} == first


def test_a_candidates_advantage_is_among_those_of_its_question_turn_and_agent():
    with make_arena(Drawn(), MEMBERS) as arena:
        harvest = make_learner("at_grpo", branches=8).harvest(arena, QUESTIONS)
    groups = {}
    for sample in harvest.samples:
        groups.setdefault((sample.asked.call.qid, sample.asked.node.name), []).append(sample)
    assert len(groups) == 6
    for samples in groups.values():
        assert len({str(sample.asked.messages) for sample in samples}) == 1  # the frozen prompt
        rewards = [sample.reward for sample in samples]
        mean = sum(rewards) / 8
        deviation = (sum((reward - mean) ** 2 for reward in rewards) / 7) ** 0.5
        expected = [0.0 if deviation == 0 else (reward - mean) / (deviation + 1e-4) for reward in rewards]
        assert [sample.credit for sample in samples] == pytest.approx(expected)
    assert any(sample.credit for sample in harvest.samples)


@pytest.mark.parametrize(("limit", "credit"), [(None, 0.70701), (0.5, 0.5)])
def test_advantages_may_be_held(limit, credit):
    # Of two candidates the first is right: mean 1/2, sample deviation 0.70711; 0.5 / 0.70721 = 0.70701.
    with make_arena(FirstRight(), MEMBERS) as arena:
        harvest = make_learner("at_grpo", train_turns=1, branches=2, max_advantage=limit).harvest(arena, QUESTIONS[:1])
    assert [sample.reward for sample in harvest.samples] == [1.0, 0.0]
    assert [sample.credit for sample in harvest.samples] == pytest.approx([credit, -credit], abs=1e-5)


@pytest.mark.parametrize(("rounds", "turns", "key"), [(0, 3, "settings.rounds"), (1, 0, "learning.train_turns")])
def test_no_turns_are_refused(rounds, turns, key):
    with pytest.raises(ValueError, match=f"{key}: 0 is less than 1"):
        make_learner("at_grpo", {"rounds": rounds}, train_turns=turns)
