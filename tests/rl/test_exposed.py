"""Features in the order of the problems, and features of other problems."""

import random

import pytest
import torch

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.experts.features import write_features
from slmcollab.rl.exposed import load_features, shuffled_rows


def split(*questions):
    return [Problem(f"p/{i}", question, [], None) for i, question in enumerate(questions)]


def write(path, rows):
    write_features(path, {"last_token": torch.tensor(rows)}, {}, [str(i) for i in range(len(rows))])
    return path


@pytest.mark.parametrize("seed", range(20))
def test_shuffled_rows_are_a_cycle_over_the_questions(seed):
    questions = ["a", "b", "a", "c", "b", "d"]
    rows = shuffled_rows(questions, random.Random(seed))
    given = [questions[row] for row in rows]
    assert all(own != other for own, other in zip(questions, given, strict=True))
    assert rows[0] == rows[2]  # a question gets the same row wherever it stands
    assert rows[1] == rows[4]
    assert set(rows) == {0, 1, 3, 5}  # each question's first row is used, none is left out
    # a cycle of all four: no question is back at itself before the fourth turn
    following = dict(zip(questions, given, strict=True))
    turn = ["a"]
    while following[turn[-1]] != "a":
        turn.append(following[turn[-1]])
    assert sorted(turn) == ["a", "b", "c", "d"]


def test_shuffled_rows_depend_on_the_generator_alone():
    questions = [str(i) for i in range(50)]
    assert shuffled_rows(questions, random.Random(1)) == shuffled_rows(questions, random.Random(1))
    assert shuffled_rows(questions, random.Random(1)) != shuffled_rows(questions, random.Random(2))


def test_one_question_cannot_be_shuffled():
    with pytest.raises(ValueError, match="among different questions, got 1"):
        shuffled_rows(["a", "a"], random.Random(0))


def test_rows_are_those_of_the_problems(tmp_path):
    paths = [write(tmp_path / "one", [[1.0], [2.0]]), write(tmp_path / "two", [[3.0, 4.0], [5.0, 6.0]])]
    one, two = load_features(paths, "last_token", split("a", "b"), None)
    assert (one.tolist(), two.tolist()) == ([[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]])
    one, two = load_features(paths, "last_token", split("a", "b"), random.Random(0))
    assert (one.tolist(), two.tolist()) == ([[2.0], [1.0]], [[5.0, 6.0], [3.0, 4.0]])


def test_files_that_do_not_fit_the_problems_are_refused(tmp_path):
    with pytest.raises(ArtifactError, match="2 rows of features for 3 problems"):
        load_features([write(tmp_path / "short", [[1.0], [2.0]])], "last_token", split("a", "b", "c"), None)
    with pytest.raises(ArtifactError, match="a row is zero"):
        load_features([write(tmp_path / "zero", [[1.0], [0.0]])], "last_token", split("a", "b"), None)
