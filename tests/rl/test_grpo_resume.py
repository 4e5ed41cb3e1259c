"""A run that was stopped ends like one that was not."""

import pytest
from transformers import TrainerCallback

from slmcollab.checkpoints import MARKER
from slmcollab.rl import grpo
from slmcollab.rl.history import history_rows


class Stop(Exception):
    pass


class StopAt(TrainerCallback):
    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.step:
            raise Stop


def outcome(trainer, trained_weights):
    weights = {name: weight.tolist() for name, weight in trained_weights(trainer).items()}
    return weights, history_rows(trainer.state.log_history)


@pytest.mark.parametrize(("stop", "steps_left"), [(1, 6), (3, 4), (5, 2), (6, 2)])
def test_a_stopped_run_ends_like_one_that_was_not(build, graders, trained_weights, tmp_path, stop, steps_left):
    """Checkpoints are saved after steps 2 and 4; a run stopped at the end of a step has not saved that step."""
    options = {"max_steps": 6, "save_every": 2, "without_context_every": 2}
    straight = build(folder=tmp_path / "straight", **options)
    grpo.train(straight)
    first = build(folder=tmp_path / "stopped", **options)
    first.add_callback(StopAt(stop))
    with pytest.raises(Stop):
        grpo.train(first)
    grader = graders["digits"]()
    second = build(folder=tmp_path / "stopped", grader=grader, **options)
    grpo.train(second)
    assert len(grader.seen) == steps_left + steps_left // 2  # every second step has a probe
    assert outcome(second, trained_weights) == outcome(straight, trained_weights)


def test_the_reference_after_a_resume_is_still_the_bare_policy(build, tmp_path):
    """A reference that had become the loaded adapter would start at a KL of 0."""
    options = {"max_steps": 4, "save_every": 2}
    straight = build(folder=tmp_path / "straight", **options)
    grpo.train(straight)
    first = build(folder=tmp_path / "stopped", **options)
    first.add_callback(StopAt(3))
    with pytest.raises(Stop):
        grpo.train(first)
    second = build(folder=tmp_path / "stopped", **options)
    grpo.train(second)
    kls = [[entry["kl"] for entry in t.state.log_history if "kl" in entry] for t in (straight, second)]
    assert kls[0] == kls[1]
    assert kls[1][2] > 1e-3


def test_only_the_last_two_checkpoints_are_kept_each_with_its_marker(build, tmp_path):
    grpo.train(build(folder=tmp_path / "run", max_steps=5, save_every=1))
    kept = sorted(path.name for path in (tmp_path / "run").glob("checkpoint-*"))
    assert kept == ["checkpoint-4", "checkpoint-5"]
    assert all((tmp_path / "run" / name / MARKER).is_file() for name in kept)
