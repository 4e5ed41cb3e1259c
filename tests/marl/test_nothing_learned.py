"""Trainings that would end with untrained adapters end with an error; what a method leaves out by choice is none."""

from dataclasses import replace

import pytest
from learners import ANSWERS, PROBLEMS, WORDS, loop_settings, make_arena, make_learner, make_policies

from slmcollab.generation.requests import STOP, Response
from slmcollab.marl.learner import Harvest
from slmcollab.marl.loop import summarise, train_team

METHODS = ("magrpo", "maporl", "at_grpo")


class Readable:
    """A backend whose every response can be read."""

    def generate(self, requests, decoding):
        return [Response(ANSWERS[1], 7, 1, STOP, (WORDS.index(ANSWERS[1]),)) for _ in requests]


class Ungraded:
    """A learner of which, of the answers of iteration `number`, only the first `known` are graded, and none learned."""

    def __init__(self, learner, number, known):
        self.learner, self.objective, self.left, self.known = learner, learner.objective, number, known

    def harvest(self, arena, questions):
        found, self.left = self.learner.harvest(arena, questions), self.left - 1
        if self.left:
            return found
        outcomes = [outcome if at < self.known else None for at, outcome in enumerate(found.outcomes)]
        return Harvest(found.episodes, outcomes, [])


def train(members, folder, learner, settings, *, name="magrpo", backend=None, scorer="gsm_hard"):
    policies = make_policies(members, name)
    with make_arena(backend or policies, members, scorer=scorer) as arena:
        kept = {"seed": 0, "folder": folder, "save_every": 1}
        return train_team(learner, arena, policies, PROBLEMS, settings, **kept)[0]


@pytest.mark.parametrize("name", METHODS)
def test_no_answer_can_be_graded(members, tmp_path, name):
    # These problems are no programs: the scorer of programs raises at each.
    how = {"name": name, "backend": Readable(), "scorer": "multipl_e"}
    with pytest.raises(ValueError, match=r"iteration 1: no answer could be graded.* scorer are likely missing"):
        train(members, tmp_path, make_learner(name), loop_settings(iterations=1, prompts=1), **how)


def test_a_later_iteration_without_a_grade_is_refused_and_one_with_some_goes_on(members, tmp_path):
    settings = loop_settings(iterations=3, prompts=1)
    with pytest.raises(ValueError, match="iteration 2: no answer could be graded"):
        train(members, tmp_path / "none", Ungraded(make_learner("magrpo"), 2, known=0), settings)
    history = train(members, tmp_path / "some", Ungraded(make_learner("magrpo"), 2, known=1), settings)
    assert [row["num_unjudged"] for row in history] == [0, 3, 0]  # of four episodes
    assert [row["a1/num_updates"] for row in history] == [1, 0, 1]


def test_a_slot_of_which_every_response_is_too_long_is_refused(members, tmp_path):
    settings = replace(loop_settings(iterations=2, prompts=1), max_tokens=70)
    # The first turn, of a1, has 53 to 55 tokens with its prompt; the others read replies, and have 90 and more. Two
    # iterations of four branches.
    with pytest.raises(ValueError, match=r"slot a2 .*all 8 responses .* learning\.max_tokens"):
        train(members, tmp_path, make_learner("at_grpo"), settings, name="at_grpo")


def test_a_slot_that_the_method_does_not_train_is_no_error(members, tmp_path):
    settings = replace(loop_settings(iterations=1, prompts=1), max_tokens=70)
    (row,) = train(members, tmp_path, make_learner("at_grpo", train_turns=1), settings, name="at_grpo")
    assert (row["a1/num_updates"], row["a2/num_updates"], row["a2/loss"]) == (1, 0, None)
    assert summarise([row], "a2") == {
        **{"num_examples": 0, "num_dropped": 0, "num_tokens": 0, "num_updates": 0},
        **{"mean_reward": None, "loss_first": None, "loss_last": None},
    }
