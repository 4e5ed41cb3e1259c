"""MAGRPO: six calls, and one advantage for all responses of an episode."""

from collections import Counter

import pytest
from graphs import MEMBERS, SIZES, TEAM, play, said
from learners import PROBLEMS, PROMPT, make_arena, make_learner

from slmcollab.generation.requests import STOP, Response
from slmcollab.graph.nodes import Question
from slmcollab.marl.learner import Learner
from slmcollab.teams import magrpo

RIGHT = {"n 0": 2, "n 1": 1}
QUESTIONS = [Question(problem, 0, 7) for problem in PROBLEMS[:2]]


class Turns:
    """All agents say the same: of n0 the answers are 1, 1, 0, 0 in its four episodes, of n1 they are 1, 0, 0, 0."""

    def generate(self, requests, decoding):
        seen, found = Counter(), []
        for request in requests:
            task = next(name for name in RIGHT if f"What is {name}" in request.messages[-1]["content"])
            episode = seen[task] // 3
            seen[task] += 1
            found.append(Response(said(int(episode < RIGHT[task])), 7, 2, STOP, (6, 7)))
        return found


def test_two_rounds_are_six_calls_as_at_evaluation():
    method = magrpo.build({"rounds": 2})
    (episode,), backend = play(method, {"q": {slot: [1, 2] for slot in SIZES}}, PROMPT)
    assert backend.asked == [["a1", "a2", "a3"]] * 2
    assert make_learner("magrpo", {"rounds": 2}).method == method
    assert method.final(TEAM, episode.said).answer == "2"


def test_an_episodes_advantage_is_that_of_its_team_and_goes_to_every_response():
    learner = make_learner("magrpo")
    assert isinstance(learner, Learner)
    with make_arena(Turns(), MEMBERS) as arena:
        harvest = learner.harvest(arena, QUESTIONS)
    assert [outcome.value for outcome in harvest.outcomes] == [1, 1, 0, 0, 1, 0, 0, 0]
    assert len(harvest.samples) == 8 * 6
    found = {}
    for sample in harvest.samples:
        found.setdefault((sample.asked.call.qid, sample.asked.call.sample), []).append((sample.reward, sample.credit))
    # n0: mean 0.5; n1: mean 0.25. Groups never mix questions.
    expected = {
        **{("n0", at): (float(at < 2), 0.5 if at < 2 else -0.5) for at in range(4)},
        **{("n1", at): (float(at < 1), 0.75 if at < 1 else -0.25) for at in range(4)},
    }
    assert found == {key: [value] * 6 for key, value in expected.items()}
    assert Counter(sample.asked.call.agent for sample in harvest.samples) == dict.fromkeys(SIZES, 16)


def test_advantages_may_be_standardised_and_held():
    # n1: 1, 0, 0, 0 has the sample deviation 0.5: 0.75 / 0.5001 and -0.25 / 0.5001; n0's 0.57735: 0.86588.
    with make_arena(Turns(), MEMBERS) as arena:
        free = make_learner("magrpo", standardise=True).harvest(arena, QUESTIONS)
        held = make_learner("magrpo", standardise=True, max_advantage=1.0).harvest(arena, QUESTIONS)
    values = sorted({round(sample.credit, 4) for sample in free.samples})
    assert values == pytest.approx([-0.8659, -0.4999, 0.8659, 1.4997], abs=1e-4)
    assert max(sample.credit for sample in held.samples) == 1.0
