"""Files of step scores and rewards: what does not belong to the trajectories is refused, with the file and the row."""

import pytest
from recorded import step, trajectory

from slmcollab.artifacts import ArtifactError, write_jsonl
from slmcollab.supervision.files import read_rewards, read_step_scores, write_rewards, write_step_scores

FOUND = [trajectory(step("a1", "a2"), step("a2", "terminate"), problem="q0")]


def test_what_is_written_is_read(tmp_path):
    write_step_scores(tmp_path / "s", {"q0#0": [(1.0, -0.5), (0.0, 1.0)]})
    assert read_step_scores(tmp_path / "s", FOUND) == {"q0#0": [(1.0, -0.5), (0.0, 1.0)]}
    write_rewards(tmp_path / "r", {"q0#0": [0.5, -1.0]}, {"q0#0": 1.0})
    assert read_rewards(tmp_path / "r", FOUND) == {"q0#0": [0.5, -1.0]}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"trajectory": "q1#0", "rewards": [0.0, 0.0]}], "'q1#0': not rewards of one of the 1 trajectories"),
        ([{"trajectory": "q0#0", "rewards": [0.0]}], "1 rewards for 2 steps"),
        (2 * [{"trajectory": "q0#0", "rewards": [0.0, 0.0]}], "there twice"),
        ([{"trajectory": "q0#0", "rewards": [0.0, 99]}], "not a number from -1 to 1"),
        ([{"trajectory": "q0#0", "rewards": [0.0, True]}], "not a number from -1 to 1"),
        ([{"trajectory": "q0#0", "rewards": [0.0, None]}], "not a number from -1 to 1"),
        ([{"trajectory": "q0#0"}], "not rewards of one"),
    ],
)
def test_rewards_that_do_not_fit_are_refused(tmp_path, rows, why):
    write_jsonl(tmp_path / "rewards", rows)
    with pytest.raises(ArtifactError, match=f"rewards: .*{why}"):
        read_rewards(tmp_path / "rewards", FOUND)


@pytest.mark.parametrize("steps", [[[0.0, 0.0], [0.0]], [[0.0, 0.0], [0.0, 1.5]], [[0.0, 0.0], "ab"]])
def test_step_scores_that_do_not_fit_are_refused(tmp_path, steps):
    write_jsonl(tmp_path / "scores", [{"trajectory": "q0#0", "steps": steps}])
    with pytest.raises(ArtifactError, match=r"scores: q0#0: not two numbers"):
        read_step_scores(tmp_path / "scores", FOUND)


def test_nan_is_no_number(tmp_path):
    (tmp_path / "r").write_text('{"rewards": [NaN, 0.0], "trajectory": "q0#0"}\n')
    with pytest.raises(ArtifactError, match="not a number from -1 to 1"):
        read_rewards(tmp_path / "r", FOUND)
