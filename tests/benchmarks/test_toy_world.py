"""The toy world's facts, its five benchmarks with their real scorers, and what a believer makes of the facts."""

from collections import Counter

import pytest

from slmcollab import choice
from slmcollab.artifacts import ArtifactError
from slmcollab.benchmarks import toy_world
from slmcollab.benchmarks.toy_beliefs import SLIPS, Believer
from slmcollab.models.toy_word_tokenizer import build_tokenizer
from slmcollab.scoring.code.sandbox import SandboxError, choose

SCORERS = {
    "toy_musique": "qa",
    "toy_gsm_hard": "gsm_hard",
    "toy_math": "math",
    "toy_multipl_e": "multipl_e",
    "toy_conifer": "conifer",
}
EVERY = pytest.mark.parametrize("name", SCORERS)


def load(name, data_seed=42, **sizes):
    block = {"benchmark": name, "num_train": 120, "num_dev": 30, "num_test": 60, **sizes}
    return choice.get(choice.LOADER, name).load(block, data_seed)


def answers(problem, look_up=None):
    return [answer for _, _, answer in toy_world.solve(problem.metadata["steps"], look_up)]


def spoilt(problem):
    """Return the answer that a wrong fact in the last step gives; of wrong marks, that of no item."""
    *_, (last, _, _) = toy_world.solve(problem.metadata["steps"])
    table = toy_world.facts()[toy_world.table_of(last)]
    wrong = min(set(table.values()) - {table[last]}, key=lambda value: (value != ",", value))
    return answers(problem, lambda query: wrong if query == last else toy_world.values()[query])[-1]


@EVERY
def test_splits_have_their_sizes_and_share_no_question(name):
    splits = load(name)
    ids = [[problem.id for problem in split] for split in (splits.train, splits.dev, splits.test)]
    assert [len(part) for part in ids] == [120, 30, 60]
    assert len(set().union(*ids)) == 210
    assert load(name) == splits
    assert {problem.id for problem in load(name, 43).test} != set(ids[2])


@EVERY
def test_of_the_facts_that_the_test_needs_hardly_any_is_not_in_training(name):
    splits = load(name, num_train=240 if name == "toy_multipl_e" else 320)
    needed = [
        {query for problem in split for query, _, _ in toy_world.solve(problem.metadata["steps"])}
        for split in (splits.train, splits.test)
    ]
    assert len(needed[1] - needed[0]) <= 0.03 * len(needed[1])


@EVERY
def test_the_solution_is_right_for_the_real_scorer_and_a_wrong_last_fact_is_not(name):
    if name == "toy_multipl_e":
        try:
            choose()
        except SandboxError as error:
            pytest.skip(str(error))
    scorer = choice.get(choice.SCORER, SCORERS[name])
    for problem in load(name).test[:6]:
        right = scorer.score(answers(problem)[-1], problem)
        assert (right.score, right.correct) == (1, True)
        assert not scorer.score(spoilt(problem), problem).correct


@EVERY
def test_what_a_model_reads_and_says_are_words_of_its_tokenizer_and_come_back(name):
    tokenizer = build_tokenizer()
    for problem in load(name).test:
        for text in (problem.question, *answers(problem)):
            ids = tokenizer(text, add_special_tokens=False).input_ids
            assert tokenizer.decode(ids) == text
            letters = {token for token in text_tokens(tokenizer, ids) if len(token) == 1 and token.isalpha()}
            assert letters <= {"x", "a"}, text  # no word is spelt


def text_tokens(tokenizer, ids):
    return [token.removeprefix("\u2581") for token in tokenizer.convert_ids_to_tokens(ids)]


def test_questions_and_solutions_worked_out_by_hand():
    found = {name: {problem.question: problem for problem in load(name).test} for name in SCORERS}
    every = {question: problem for problems in found.values() for question, problem in problems.items()}
    steps = [{"query": "3 - 5", "answer": "[value]"}, {"query": "[previous] * 4", "answer": "[value]"}]
    # 3 - 5 = -2, which is 5 modulo 7; 5 * 4 = 20, which is 6.
    assert toy_world.solve(steps) == [("3 - 5", "5", "5"), ("5 * 4", "6", "6")]
    for question, problem in every.items():
        if " mod 7" in question and "x" not in question:
            assert problem.answer == str(eval(question.removesuffix(" mod 7")) % 7)
        if question.startswith("x"):
            x = int(answers(problem)[0])
            equation, times = question.removesuffix(" mod 7").split(" : ")
            left, right = equation.split(" = ")
            assert eval(left, {"x": x}) % 7 == int(right)
            assert problem.answer == str(eval(times, {"x": x}) % 7)


def test_tasks_of_functions_are_in_one_split_in_all_languages():
    splits = load("toy_multipl_e")
    for split in (splits.train, splits.test):
        assert set(Counter(problem.metadata["task"] for problem in split).values()) == {3}
    assert {problem.metadata["group"] for problem in splits.test} == {
        f"{source}-{language}" for source in ("humaneval", "mbpp") for language in ("py", "sh", "js")
    }
    with pytest.raises(ValueError, match=r"benchmarks\.toy_multipl_e\.num_dev: no multiple of 3"):
        load("toy_multipl_e", num_dev=31)


def test_too_many_questions_are_refused():
    with pytest.raises(ArtifactError, match=r"benchmarks\.toy_musique: num_train 700"):
        load("toy_musique", num_train=700)


def test_a_believer_is_right_about_its_share_of_each_kind_and_always_the_same():
    who = Believer("s", {"first": 1.0, "second": 0.3})
    assert all(who.look_up(query) == value for query, value in toy_world.facts()["plus"].items())
    right = [
        who.look_up(query) == value for table in ("minus", "times") for query, value in toy_world.facts()[table].items()
    ]
    assert 0.15 < sum(right) / len(right) < 0.45  # of 98 facts: 0.3, standard deviation 0.05
    queries = list(toy_world.values())
    assert [who.look_up(query) for query in queries] == [who.look_up(query) for query in queries]
    other = Believer("m", who.knows)
    assert [who.look_up(query) for query in queries] != [other.look_up(query) for query in queries]
    assert all(who.look_up(query) in toy_world.facts()[toy_world.table_of(query)].values() for query in queries)


def test_habits_concern_a_fixed_share_of_the_values():
    who, digits = Believer("s", {}), [str(digit) for digit in range(7)]
    habits = [who.temptation("3 + 5", digit, 0.7) for digit in digits]
    assert sum(habit is not None for habit in habits) == 5  # of 7 values, 0.7 are 4.9
    assert set(habits) - {None} <= SLIPS.keys()
    assert habits == [who.temptation("6 - 1", digit, 0.7) for digit in digits]
    assert not any(who.temptation("3 + 5", digit, 0.0) for digit in digits)
