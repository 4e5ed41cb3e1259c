"""What a trajectory answers, by hand, and which rows a reader refuses."""

import pytest

from slmcollab.artifacts import ArtifactError, write_jsonl
from slmcollab.protocol.answers import answer_rows, read_answers
from slmcollab.protocol.trajectory import Step, Trajectory


def steps(*spoken):
    return tuple(Step(slot, "text", "", answer, None) for slot, answer in spoken)


ENDED = Trajectory("p", 0, steps(("a1", "3"), ("a2", ""), ("a1", "4"), ("a3", "5")), "terminated")
BROKEN = Trajectory("q", 0, steps(("a1", "3"), ("a2", "")), "anomalies")
SILENT = Trajectory("r", 0, steps(("a2", "")), "anomalies")
ROWS = [
    {
        "id": "p",
        "answer": "5",
        "slot": "a3",
        "end": "terminated",
        "num_steps": 4,
        "candidates": [{"step": 0, "slot": "a1", "answer": "3"}, {"step": 2, "slot": "a1", "answer": "4"}],
    },
    {
        "id": "q",
        "answer": "3",
        "slot": "a1",
        "end": "anomalies",
        "num_steps": 2,
        "candidates": [{"step": 0, "slot": "a1", "answer": "3"}],
    },
    {"id": "r", "answer": "", "slot": None, "end": "anomalies", "num_steps": 1, "candidates": []},
]


def test_rows_by_hand(tmp_path):
    rows = answer_rows([ENDED, BROKEN, SILENT])
    assert rows == ROWS
    write_jsonl(tmp_path / "answers.jsonl", rows)
    assert read_answers(tmp_path / "answers.jsonl") == ROWS


def test_one_problem_has_one_answer(tmp_path):
    with pytest.raises(ValueError, match="one sample"):
        answer_rows([ENDED, Trajectory("p", 1, ENDED.steps, "terminated")])
    write_jsonl(tmp_path / "answers.jsonl", [ROWS[0], ROWS[0]])
    with pytest.raises(ArtifactError, match="there twice"):
        read_answers(tmp_path / "answers.jsonl")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"end": "stopped"}, "end 'stopped' is not one of terminated, step_limit, anomalies"),
        ({"answer": None}, "keys or types"),
        ({"more": 1}, "keys or types"),
        ({"answer": ""}, "slot 'a3' gave no answer"),
        ({"num_steps": 3}, r"steps \[0, 2\]: .* before the last of 3"),
        ({"candidates": [{"step": 0, "slot": "a1"}]}, "a candidate without"),
        ({"candidates": [{"step": 0, "slot": "a1", "answer": ""}]}, "a candidate is empty"),
        ({"candidates": ROWS[0]["candidates"][::-1]}, "they go up"),
    ],
)
def test_a_row_of_another_form_is_refused(tmp_path, change, fault):
    path = tmp_path / "answers.jsonl"
    write_jsonl(path, [ROWS[1], ROWS[0] | change])
    with pytest.raises(ArtifactError, match=f"answers.jsonl, row 2: .*{fault}"):
        read_answers(path)
