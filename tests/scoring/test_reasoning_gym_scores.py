"""The tasks' own scorers, and what must not reach them."""

import inspect
import re
from pathlib import Path

import pytest
import yaml
from reasoning_gym.factory import DATASETS, create_dataset

from slmcollab.artifacts import Problem
from slmcollab.benchmarks import reasoning_gym as family
from slmcollab.scoring.reasoning_gym import EVALUATED, score

CONFIG = yaml.safe_load((Path(family.__file__).parents[3] / "config.yaml").read_text())
RUNS_TEXT = re.compile(r"(?<![.\w])(?:eval|exec|sympify|(?:sympy\.|sp\.)?parse_expr)\((\w+)")


def make(task, index=0, **config):
    item = create_dataset(task, seed=7, size=100, **config)[index]
    return Problem(f"{task}/{index}", item["question"], [], item["answer"], item["metadata"])


def tagged(answer):
    return f"<answer>{answer}</answer>"


def test_partial_credit_is_kept_and_is_not_correct():
    problem = Problem("a/0", "", [], "3/4", make("fraction_simplification").metadata | {"numerator": 30})
    problem.metadata.update(simplified_numerator=3, simplified_denominator=4, denominator=40)
    # the library's table: right 1, one half of the fraction as in the question 0.1, another fraction 0.05, no
    # fraction 0.01
    for answer, expected in [("3/4", 1.0), ("30/4", 0.1), ("5/6", 0.05), ("banana", 0.01)]:
        scored = score(tagged(answer), problem)
        assert (scored.score, scored.correct) == (expected, expected == 1.0)


def test_no_answer_scores_zero_where_the_library_has_a_floor():
    problem = make("fraction_simplification")
    for completion in ("", "3/4", "<answer></answer>", f"<think>{tagged(problem.answer)}</think>"):
        assert score(completion, problem).score == 0.0
        assert score(completion, problem).extracted is None


def test_a_longer_right_word_is_not_correct_although_the_library_gives_it_more_than_one():
    problem = Problem("a/0", "", [], "noitaplap", {"source_dataset": "spell_backward"})
    assert score(tagged("noitaplap"), problem).correct
    assert not score(tagged("noitaplapx"), problem).correct  # nine times 1/9 is 1.0000000000000002


@pytest.mark.parametrize(
    ("task", "answer", "floor"),
    # the library's floor for no number is 0.01 in countdown too, but text that may not be evaluated never gets there
    [("countdown", "banana", 0.0), ("countdown", "1 + 1", 0.05), ("fraction_simplification", "banana", 0.01)],
)
def test_the_floor_of_wrong_answers_is_not_accuracy(task, answer, floor):
    scored = [score(tagged(answer), make(task, index)) for index in range(40)]
    assert {(found.score, found.correct) for found in scored} == {(floor, False)}


def test_propositional_logic_gives_credit_away_and_keeps_it_visible():
    """A conclusion counts as right if it follows from the premises, so copied premises and some constants do."""
    problems = [make("propositional_logic", index) for index in range(100)]
    copied = [score(tagged(f"({' ∧ '.join(problem.metadata['premises'])})"), problem) for problem in problems]
    constant = [score(tagged("(P ∨ Q)"), problem) for problem in problems]
    junk = [score(tagged("zzz"), problem) for problem in problems]
    assert sum(found.correct for found in copied) >= 95
    assert 70 <= sum(found.correct for found in constant) < 100
    # text without a capital letter gets the credit of a tautology where the premises contradict each other
    assert {found.score for found in junk} == {0.05, 0.25}
    assert not any(found.correct for found in junk)


@pytest.mark.parametrize("name", ["arithmetic", "logic", "algorithmic"])
def test_no_constant_answer_is_always_right(name):
    block = {"benchmark": name, "num_train": 20, "num_test": 1}
    for task, settings in CONFIG["benchmarks"][name]["tasks"].items():
        problems = family.load(block | {"tasks": {task: settings}}, 42).train[: 5 if task == "zebra_puzzles" else 20]
        for answer in ("True", "0", "1", "2", "banana", "P", "(P ∨ Q)", "Yes"):
            assert not all(score(tagged(answer), problem).correct for problem in problems), (task, answer)


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [("-5", "5", 0), ("-5", "-5", 1), ("$1,234", "1234", 1), ("3 + 4 = 7", "7", 1), (".5", "0.5", 1), ("5%", "5", 1)],
)
def test_gsm_symbolic_keeps_signs_and_commas(answer, gold, correct):
    problem = Problem("a/0", "", [], gold, {"source_dataset": "gsm_symbolic"})
    assert score(tagged(answer), problem).score == correct


def test_every_gsm_symbolic_gold_is_right_by_number_also_the_one_that_its_own_scorer_refuses():
    data_set = create_dataset("gsm_symbolic", seed=1, size=2000)
    refused = []
    for item in data_set:
        assert score(tagged(item["answer"]), Problem("a/0", "", [], item["answer"], item["metadata"])).correct
        if data_set.score_answer(item["answer"], item) != 1.0:
            refused.append(item["answer"])
    assert refused == ["-1"]


def test_every_task_whose_scorer_runs_the_answer_is_known():
    running = {
        task for task, (data_set, _) in DATASETS.items() if "answer" in RUNS_TEXT.findall(inspect.getsource(data_set))
    }
    # propositional_logic has a parser of its own under the same name, which executes nothing
    assert running == set(EVALUATED)
    assert {task for task, allowed in EVALUATED.items() if allowed is None} <= set(family.REFUSED)
    for name in ("arithmetic", "logic", "algorithmic"):
        assert not running & set(CONFIG["benchmarks"][name]["tasks"])


@pytest.mark.parametrize("task", [task for task, allowed in EVALUATED.items() if allowed])
def test_text_that_would_be_executed_has_no_effect(task, tmp_path):
    marker = tmp_path / "marker"
    problem = make(task)
    for attack in (
        f"__import__('pathlib').Path('{marker}').touch()",
        f"[[open('{marker}', 'w')]]",
        f"(lambda: __builtins__['open']('{marker}', 'w'))()",
    ):
        assert score(tagged(attack), problem).score == 0.0
    assert not marker.exists()


@pytest.mark.parametrize("task", [task for task, allowed in EVALUATED.items() if allowed])
def test_right_answers_still_pass(task):
    for index in range(5):
        problem = make(task, index)
        golds = problem.metadata.get("valid_answers", [problem.answer])
        assert score(tagged(golds[0]), problem).correct


def test_a_right_list_keeps_its_partial_credit():
    problem = make("binary_matrix")
    as_list = [[int(cell) for cell in row.split()] for row in problem.answer.splitlines()]
    assert score(tagged(as_list), problem).score == 0.1


def test_a_scorer_that_reads_its_config_gets_the_one_of_the_task():
    tasks = {"puzzle24": {"weight": 1, "config": {"min_value": 1, "max_value": 6}}}
    problem = family.load({"benchmark": "a", "num_train": 1, "num_test": 1, "tasks": tasks}, 42).train[0]
    assert score(tagged("6 * 4 * 1 * 1"), problem).correct
    assert not score(tagged("8 * 3 * 1 * 1"), problem).correct  # the default config allows numbers up to 10
    assert score(tagged("8 * 3 * 1 * 1"), make("puzzle24")).correct


def test_a_scorer_that_cannot_be_made_safe_is_refused():
    with pytest.raises(ValueError, match="runs the answer as code"):
        score(tagged("x**2"), make("simple_integration"))
