"""Features in the order of the problems, and features of other problems."""

import random
from dataclasses import replace

import pytest
import torch

from slmcollab.artifacts import ArtifactError, Problem, write_json, write_jsonl
from slmcollab.experts.answers import make_row
from slmcollab.experts.features import write_features
from slmcollab.rl.exposed import best_expert, load_answers, load_embedding, load_features, shuffled_rows


def split(*questions):
    return [Problem(f"p/{i}", question, [], None) for i, question in enumerate(questions)]


def write(path, rows):
    header = {"expert": path.name, "id": "", "revision": "", "code": "", "truncated": "0"}
    write_features(path, {"last_token": torch.tensor(rows)}, header, [str(i) for i in range(len(rows))])
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
    one, two = load_features(paths, ["one", "two"], "last_token", split("a", "b"), None)
    assert (one.tolist(), two.tolist()) == ([[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]])
    one, two = load_features(paths, ["one", "two"], "last_token", split("a", "b"), random.Random(0))
    assert (one.tolist(), two.tolist()) == ([[2.0], [1.0]], [[5.0, 6.0], [3.0, 4.0]])


def test_files_that_do_not_fit_the_problems_are_refused(tmp_path):
    with pytest.raises(ArtifactError, match="2 rows of features for 3 problems"):
        load_features([write(tmp_path / "short", [[1.0], [2.0]])], ["short"], "last_token", split("a", "b", "c"), None)
    with pytest.raises(ArtifactError, match="a row is zero"):
        load_features([write(tmp_path / "zero", [[1.0], [0.0]])], ["zero"], "last_token", split("a", "b"), None)


def answered(path, *texts):
    rows = [make_row(f"p/{i}", text, [1, 2], ended=True) for i, text in enumerate(texts)]
    write_jsonl(path, rows)
    return path


def test_features_of_another_expert_are_refused(tmp_path):
    paths = [write(tmp_path / "one", [[1.0], [2.0]]), write(tmp_path / "two", [[3.0], [5.0]])]
    with pytest.raises(ArtifactError, match="one: of expert 'one', where 'two' is asked for"):
        load_features(paths, ["two", "one"], "last_token", split("a", "b"), None)


def test_answers_come_expert_by_expert_cut_to_the_policys_tokens_and_cannot_end_the_turn(tmp_path, tokenizer):
    paths = [answered(tmp_path / "one", "12 and 3", "7"), answered(tmp_path / "two", "a<a>b<eos>c", "")]
    problems = [replace(problem, id=f"p/{i}") for i, problem in enumerate(split("a", "b"))]
    assert load_answers(paths, problems, tokenizer, 100) == [["12 and 3", "7"], ["abc", ""]]
    assert load_answers(paths, problems, tokenizer, 2) == [["12 ", "7"], ["ab", ""]]  # 12 is one token
    assert load_answers([], problems, tokenizer, 2) == []
    joined = [answered(tmp_path / "joined", "7<a<eos>>8", "<<<a>a>a>")]
    assert load_answers(joined, problems, tokenizer, 100) == [["78", ""]]


def test_the_best_expert_is_the_first_of_those_most_often_right_on_train(tmp_path):
    def scores(*accuracies):
        for i, accuracy in enumerate(accuracies):
            write_json(
                tmp_path / f"{i}.json", {"expert": f"e{i}", "split": "train", "metrics": {"accuracy_bare": accuracy}}
            )
        return [tmp_path / f"{i}.json" for i in range(len(accuracies))]

    experts = ["e0", "e1", "e2"]
    assert best_expert(scores(3.0, 50.0, 50.0), experts) == 1
    assert best_expert([], experts) is None
    with pytest.raises(ArtifactError, match=r"0\.json: of expert 'e0', where 'e1' is asked for"):
        best_expert(scores(3.0, 50.0), ["e1", "e0"])
    write_json(tmp_path / "0.json", {"expert": "e0", "split": "test", "metrics": {"accuracy_bare": 1.0}})
    with pytest.raises(ArtifactError, match="not the scores of an expert on train"):
        best_expert([tmp_path / "0.json"], experts)


def test_an_embedding_has_a_row_per_problem(tmp_path):
    header = {"expert": "e", "id": "", "revision": "", "code": "", "truncated": "0"}
    write_features(tmp_path / "e", {"embedding": torch.ones(2, 3)}, header, ["0", "1"])
    assert load_embedding([tmp_path / "e"], "e", split("a", "b")).shape == (2, 3)
    assert load_embedding([], None, split("a")) is None
    with pytest.raises(ArtifactError, match="of expert 'e', where 'other' is asked for"):
        load_embedding([tmp_path / "e"], "other", split("a", "b"))
    with pytest.raises(ArtifactError, match="2 rows of features for 3 problems"):
        load_embedding([tmp_path / "e"], "e", split("a", "b", "c"))
