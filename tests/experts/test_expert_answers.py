"""Files of experts' answers: what is read back, what is refused, and answers without tags."""

import pytest

from slmcollab.artifacts import ArtifactError, Problem, write_jsonl
from slmcollab.experts.answers import make_row, read_answers
from slmcollab.scoring.bare import grade_both, tag_bare
from slmcollab.scoring.grader import Grader

PROBLEMS = [Problem(id=f"sums/{i}", question=f"{i}?", messages=[], answer=str(i)) for i in range(3)]
ROWS = [
    make_row("sums/0", "0", [16], ended=True),
    make_row("sums/1", "1, 1, 1", [17, 3, 17], ended=False),
    make_row("sums/2", "", [], ended=True, prompt_cut=True),
]


def test_the_token_that_ends_an_answer_is_counted_and_not_kept():
    said = {"completion": "0", "token_ids": [16], "num_tokens": 2}
    assert ROWS[0] == {"id": "sums/0", **said, "cut": False, "prompt_cut": False}
    assert (ROWS[1]["num_tokens"], ROWS[1]["cut"]) == (3, True)
    assert (ROWS[2]["num_tokens"], ROWS[2]["cut"], ROWS[2]["prompt_cut"]) == (1, False, True)


def test_what_is_written_is_read(tmp_path):
    write_jsonl(tmp_path / "answers.jsonl", ROWS)
    assert read_answers(tmp_path / "answers.jsonl", PROBLEMS) == ROWS


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:2], "2 answers to 3 problems"),
        ([*ROWS, ROWS[0]], "4 answers to 3 problems"),
        ([ROWS[0], ROWS[2], ROWS[1]], "sums/2 is out of place"),
        ([*ROWS[:2], ROWS[2] | {"id": "logic/2"}], "logic/2 is out of place"),
        ([{k: v for k, v in row.items() if k != "token_ids"} for row in ROWS], "not .*token_ids"),
        ([row | {"seed": 0} for row in ROWS], "seed.*, not"),
        ([row | {"cut": 0} for row in ROWS], "of an expert's answer"),
        ([{k: v for k, v in row.items() if k != "prompt_cut"} for row in ROWS], "not .*prompt_cut"),
        ([ROWS[0], ROWS[1] | {"num_tokens": 2}, ROWS[2]], "sums/1: num_tokens"),
        ([ROWS[0] | {"cut": True}, *ROWS[1:]], "sums/0: num_tokens"),
    ],
)
def test_other_files_are_refused(tmp_path, rows, message):
    write_jsonl(tmp_path / "answers.jsonl", rows)
    with pytest.raises(ArtifactError, match=rf"answers\.jsonl: .*{message}"):
        read_answers(tmp_path / "answers.jsonl", PROBLEMS)


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (" 7\n", "<answer>7</answer>"),
        ("", "<answer></answer>"),
        ("<think>7</think> 8", "<answer><think>7</think> 8</answer>"),
        ("It is <answer>7</answer>.", "It is <answer>7</answer>."),
        ("<answer>7", "<answer>7"),
        ("7</answer>", "7</answer>"),
        ("the answer is 7", "<answer>the answer is 7</answer>"),
    ],
)
def test_only_a_completion_without_answer_tags_is_all_answer(completion, expected):
    assert tag_bare(completion) == expected


def test_bare_answers_count_beside_the_rule():
    # By the rule the second alone is right; where what is bare is the answer, the first is too; the third never is.
    with Grader("exact", 10) as grader:
        scores, forgiving = grade_both(grader, ["0", "<answer>1</answer>", "two"], PROBLEMS)
    assert [score.correct for score in scores] == [False, True, False]
    assert [score.extracted for score in scores] == [None, "1", None]
    assert [score.correct for score in forgiving] == [True, True, False]
