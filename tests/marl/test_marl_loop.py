"""Iterations of a team that learns: what is drawn, that it learns, and that a killed run ends the same."""

from dataclasses import replace
from statistics import fmean

import pytest
import torch
from learners import PROBLEMS, SLOTS, loop_settings, make_arena, make_learner, make_policies

from slmcollab.marl.loop import draw_questions, summarise, train_team

METHODS = ("magrpo", "maporl", "at_grpo")
FEWER = {"magrpo": {"episodes": 2}, "maporl": {"episodes": 2}, "at_grpo": {"branches": 2}}


class Interrupted:
    """A backend that stops at its `stop`-th round."""

    def __init__(self, policies, stop=None):
        self.policies, self.stop, self.rounds = policies, stop, 0

    def generate(self, requests, decoding):
        self.rounds += 1
        if self.rounds == self.stop:
            raise KeyboardInterrupt
        return self.policies.generate(requests, decoding)


def learn(members, name, folder, *, seed=0, stop=None, save_every=100, iterations=20, changes=None, **settings):
    policies = make_policies(members, name)
    backend = Interrupted(policies, stop)
    how = loop_settings(iterations=iterations, **settings)
    with make_arena(backend, members) as arena:
        kept = {"seed": seed, "folder": folder, "save_every": save_every}
        history, calls = train_team(make_learner(name, **(changes or {})), arena, policies, PROBLEMS, how, **kept)
    return policies, history, calls, backend


@pytest.mark.parametrize("name", METHODS)
def test_the_reward_rises(members, tmp_path, name):
    how = {"epochs": 2, "mini_batches": 2} if name == "maporl" else {"rate": 0.06}
    _, history, _, _ = learn(members, name, tmp_path, changes={"kl": 0.0}, iterations=15, prompts=2, **how)
    rewards = [row["mean_reward"] for row in history]
    assert fmean(rewards[:2]) < 0.4
    assert fmean(rewards[-5:]) > fmean(rewards[:2]) + 0.3
    assert all(row[f"{slot}/ratio_first"] == 0.0 for row in history for slot in SLOTS)
    assert all(row["num_unjudged"] == 0 for row in history)


@pytest.mark.parametrize(("name", "rounds"), [("magrpo", 2), ("maporl", 2), ("at_grpo", 6)])
def test_a_run_that_is_killed_in_any_iteration_ends_with_the_same_bits(members, tmp_path, name, rounds):
    """rounds: of the backend in one iteration; a checkpoint is kept after the second of the four."""
    how = {"iterations": 4, "prompts": 1, "save_every": 2, "warmup": 3, "changes": FEWER[name]}
    how |= {"epochs": 2, "mini_batches": 2} if name == "maporl" else {}
    straight, history, calls, backend = learn(members, name, tmp_path / "straight", **how)
    assert backend.rounds == 4 * rounds
    for iteration in range(4):
        folder = tmp_path / f"killed-in-{iteration}"
        with pytest.raises(KeyboardInterrupt):
            learn(members, name, folder, stop=iteration * rounds + 2, **how)
        policies, again, same, second = learn(members, name, folder, **how)
        assert second.rounds == (4 - iteration // 2 * 2) * rounds
        assert again == history
        assert [list(row) for row in again] == [list(row) for row in history]  # columns, too
        assert same == calls
        for slot, policy in policies.slots.items():
            assert all(map(torch.equal, policy.weights, straight.slots[slot].weights))


def test_a_checkpoint_that_is_not_whole_or_of_another_run_is_not_read(members, tmp_path):
    how = {"iterations": 3, "prompts": 2, "save_every": 1}
    learn(members, "magrpo", tmp_path / "run", **how)
    (kept,) = (tmp_path / "run").glob("checkpoint-*")
    assert kept.name == "checkpoint-2"
    assert learn(members, "magrpo", tmp_path / "run", **how)[3].rounds == 2
    (tmp_path / "run").rename(tmp_path / "other")
    assert learn(members, "magrpo", tmp_path / "other", **how)[3].rounds == 6
    state = next((tmp_path / "other").glob("checkpoint-2/state.pt"))
    state.write_bytes(state.read_bytes()[:-1])
    assert learn(members, "magrpo", tmp_path / "other", **how)[3].rounds == 6


def test_another_seed_learns_something_else_and_the_same_the_same(members, tmp_path):
    def learned(name, seed):
        policies, _, calls, _ = learn(members, "magrpo", tmp_path / name, seed=seed, iterations=2)
        return torch.cat([weight.flatten() for weight in policies.slots["a2"].weights]), calls

    weights, calls = learned("one", 0)
    again, same = learned("two", 0)
    others, another = learned("three", 1)
    assert torch.equal(weights, again)
    assert calls == same
    assert not torch.equal(weights, others)
    assert not {call.seed for call in calls} & {call.seed for call in another}


def test_questions_are_drawn_without_replacement_until_all_were_drawn():
    drawn = [draw_questions(PROBLEMS, 4, iteration, seed=3) for iteration in range(6)]  # 24 of 6: four times each
    flat = [(one.problem.id, one.sample) for questions in drawn for one in questions]
    assert len(set(flat)) == 24
    for visit in range(4):
        assert {name for name, sample in flat[6 * visit : 6 * visit + 6] if sample == visit} == {
            f"n{i}" for i in range(6)
        }
    orders = [[name for name, _ in flat[6 * visit : 6 * visit + 6]] for visit in range(4)]
    assert len(set(map(tuple, orders))) > 1
    assert draw_questions(PROBLEMS, 4, 3, seed=3) == drawn[3]
    assert [draw_questions(PROBLEMS, 4, i, seed=4) for i in range(6)] != drawn
    with pytest.raises(ValueError, match="no problem"):
        draw_questions([], 4, 0, seed=3)


def test_the_learning_rate_grows_and_stays():
    assert [loop_settings(warmup=5).scale(i) for i in range(7)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1, 1])
    assert loop_settings(warmup=0).scale(0) == 1.0


@pytest.mark.parametrize("name", ["iterations", "prompts", "epochs", "mini_batches", "micro_batch_size"])
def test_settings_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"learning.{name}: 0 is less than 1"):
        loop_settings(**{name: 0})


def test_responses_that_are_too_long_are_left_out_and_counted(members, tmp_path):
    policies = make_policies(members, "magrpo")
    # Drafts have 53 to 55 tokens with their prompts, revisions, which read three drafts, 97 and more.
    short = replace(loop_settings(iterations=1), max_tokens=70)
    with make_arena(policies, members) as arena:
        kept = {"seed": 0, "folder": tmp_path, "save_every": 9}
        (row,), _ = train_team(make_learner("magrpo"), arena, policies, PROBLEMS, short, **kept)
    assert (row["a1/num_examples"], row["a1/num_dropped"], row["a1/num_updates"]) == (16, 16, 1)
    assert row["a1/loss"] is not None


def test_the_record_of_a_slot_sums_counts_and_weighs_rewards():
    rows = [
        {"a1/num_examples": 1, "a1/num_dropped": 2, "a1/num_tokens": 3, "a1/num_updates": 1, "a1/mean_reward": 1.0},
        {"a1/num_examples": 3, "a1/num_dropped": 0, "a1/num_tokens": 4, "a1/num_updates": 2, "a1/mean_reward": 0.0},
    ]
    rows = [row | {"a1/loss": 0.5, "a2/num_examples": 99} for row in rows]
    assert summarise(rows, "a1") == {
        **{"num_examples": 4, "num_dropped": 2, "num_tokens": 7, "num_updates": 3},
        **{"mean_reward": 0.25, "loss_first": 0.5, "loss_last": 0.5},
    }


def test_what_could_not_be_judged_is_left_out_and_counted(members, tmp_path):
    for name in METHODS:
        policies = make_policies(members, name)
        with make_arena(policies, members, scorer="multipl_e") as arena:  # these problems are no programs: all raise
            kept = {"seed": 0, "folder": tmp_path / name, "save_every": 9}
            learner = make_learner(name)
            (row,), _ = train_team(learner, arena, policies, PROBLEMS, loop_settings(iterations=1), **kept)
        assert 0 < row["num_unjudged"] <= row["num_episodes"]
        # What is left are answers that nobody could read, of which it is known that they are not right.
        assert row["mean_reward"] in (None, 0.0)
        if name != "maporl":
            assert row["a1/credit_std"] in (None, 0.0)
