"""MAPoRL: nine calls, and each answer earns what the discussion makes of it."""

import pytest
from graphs import MEMBERS, SIZES, TEAM, play, said
from learners import PROBLEMS, PROMPT, make_arena, make_learner

from slmcollab.generation.requests import STOP, Response
from slmcollab.graph.nodes import Question
from slmcollab.marl.arena import Arena
from slmcollab.marl.learner import Learner
from slmcollab.marl.objectives import Ppo
from slmcollab.teams import maporl

QUESTION = Question(PROBLEMS[0], 0, 7)
# Right are: a1 of round 0, a1 and a2 of round 1, and all of round 2.
SAID = {"a1": [1, 1, 1], "a2": [2, 1, 1], "a3": ["broken", 3, 1]}
LED = {"a1": [0, 1, 1], "a2": [0, 0, 1], "a3": [0, 0, 1]}  # right are: none, a1, all


class Script:
    def __init__(self, texts):
        self.texts = {slot: iter(each) for slot, each in texts.items()}

    def generate(self, requests, decoding):
        texts = [next(self.texts[request.slot]) for request in requests]
        return [Response(text if isinstance(text, str) else said(text), 7, 2, STOP, (6, 7)) for text in texts]


def harvest(texts=SAID, **changes):
    learner = make_learner("maporl", {"rounds": 3}, episodes=1, **changes)
    with make_arena(Script(texts), MEMBERS) as arena:
        return learner.harvest(arena, [QUESTION])


def credits(found):
    return {sample.asked.node.name: sample.credit for sample in found.samples}


def test_three_rounds_are_nine_calls_as_at_evaluation():
    method = maporl.build({"rounds": 3})
    (episode,), backend = play(method, {"q": {slot: [1, 2, 3] for slot in SIZES}}, PROMPT)
    assert backend.asked == [["a1", "a2", "a3"]] * 3
    assert method.final(TEAM, episode.said).answer == "3"
    learner = make_learner("maporl", {"rounds": 3})
    assert isinstance(learner, Learner)
    assert learner.method == method
    assert learner.objective == Ppo(0.2, 0.02, 0.1, 0.2, 1.0, 0.95)


def test_each_answer_earns_its_own_verdict_and_what_follows():
    # Means of rounds 1 and 2: 2/3, 1. S(0, a) = (s + 0.3 · 2/3 + 0.09) / 1.39; S(1, a) = (s + 0.3) / 1.3.
    found = harvest()
    assert credits(found) == pytest.approx(
        {
            **{"a1-0": 1.29 / 1.39, "a2-0": 0.29 / 1.39, "a3-0": 0.29 / 1.39},
            **{"a1-1": 1.0, "a2-1": 1.0, "a3-1": 0.3 / 1.3},
            **{"a1-2": 1.0, "a2-2": 1.0, "a3-2": 1.0},
        }
    )
    assert [outcome.value for outcome in found.outcomes] == [1.0]
    assert all(sample.reward == sample.credit for sample in found.samples)
    assert [sample.asked.call.text for sample in found.samples][2] == "broken"  # it learns, too


@pytest.mark.parametrize(
    ("texts", "official_sign", "earned"),
    [
        # s: [1 0 0], [1 1 0], [1 1 1]. Round 1: a1's peers go from 1/2 to 1, no change; a2 became right, its peers
        # (1, 0) at 1/2: nothing; they go from 1/2 to 1: nothing. a3 stays wrong, its peers stay right. Round 2: a3
        # became right where its peers were right: a0 = 1. Nobody's influence is paid: the sign changes nothing.
        (SAID, False, {"a3-2": 1.0}),
        (SAID, True, {"a3-2": 1.0}),
        # s: [0 0 0], [1 0 0], [1 1 1]. Round 1: a1 became right where its peers were wrong: a1 = 2; it is right, and
        # they go from 0 to 1: a3 = 8, so 2 + 8, with the official sign 2 - 8. a2 and a3 stay wrong, their peers are at
        # 1/2. Round 2: a1 stays right; a2 and a3 became right where their peers were at 1/2: nothing.
        (LED, False, {"a1-1": 10.0}),
        (LED, True, {"a1-1": -6.0}),
    ],
)
def test_the_bonus_is_added_with_either_sign(texts, official_sign, earned):
    plain = credits(harvest(texts))
    found = credits(harvest(texts, bonus=[1.0, 2.0, 4.0, 8.0], official_sign=official_sign))
    assert {name: found[name] - plain[name] for name in plain} == pytest.approx(dict.fromkeys(plain, 0.0) | earned)


def test_an_episode_of_which_an_answer_is_not_known_is_left_out(monkeypatch):
    judge = Arena.judge

    def forgetful(self, answers, problems):
        return [
            None if answer == "3" else verdict
            for answer, verdict in zip(answers, judge(self, answers, problems), strict=True)
        ]

    monkeypatch.setattr(Arena, "judge", forgetful)
    found = harvest()
    assert found.samples == []
    assert [outcome.value for outcome in found.outcomes] == [1.0]  # the team's answer is known


def test_all_answers_are_graded_in_one_go(monkeypatch):
    asked, judge = [], Arena.judge

    def counted(self, answers, problems):
        asked.append(list(answers))
        return judge(self, answers, problems)

    monkeypatch.setattr(Arena, "judge", counted)
    harvest()
    assert asked == [["1", "2", "", "1", "1", "3", "1", "1", "1", "1"]]  # nine, and the team's
