"""What toy models are taught about collaborating, read back by the protocol's own parser and the oracle."""

import re
from collections import Counter
from pathlib import Path

from slmcollab.benchmarks import toy_gsm_hard
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.benchmarks.toy_world import facts, values
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.response import parse
from slmcollab.protocol.toy_corpora import Manners, fact_rows, solo_rows, step_rows

PROMPTS = Path(__file__).parents[2] / "workflow" / "prompts"
PROBLEMS = toy_gsm_hard.load({"benchmark": "toy", "num_train": 300, "num_dev": 1, "num_test": 1}, 42).train
SLOTS = ("a1", "a2", "a3")
KNOWS = {"first": 1.0, "second": 0.3}
ALL = {"first": 1, "second": 1}


def corpus(knows=KNOWS, num_rows=2000, data_seed=0, **manners):
    prompt = read_prompt(PROMPTS / "toy_collaborate.txt")
    return step_rows(Believer("s", knows), Manners(**manners), PROBLEMS, prompt, num_rows, data_seed)


def slot_of(row):
    return re.search(r"mod 7 (a\d)", row["messages"][0]["content"])[1]


def parsed(row):
    return parse(row["completion"], slot=slot_of(row), slots=SLOTS, cut=False)


def test_facts_ask_every_query_and_answer_as_believed():
    believer = Believer("s", KNOWS)
    rows = fact_rows(believer)
    assert [row["question"] for row in rows] == list(values())
    for row in rows:
        value = believer.look_up(row["question"])
        assert row["messages"] == [{"role": "user", "content": row["question"]}]
        assert row["completion"] == f"<reasoning>{row['question']} = {value}</reasoning><answer>{value}</answer>"


def test_without_bad_habits_every_step_keeps_to_the_protocol_and_makes_a_look_up():
    rows = corpus(knows=ALL, hasty=0, doubts=0, strays=0)
    fields = [parsed(row) for row in rows]
    assert not any(field.anomaly for field in fields)
    assert all(
        values()[query] == value == field.answer for field in fields for query, value in [field.reasoning.split(" = ")]
    )
    golds = {problem.question: problem.answer for problem in PROBLEMS}
    ends = [
        (field, golds[row["question"]]) for field, row in zip(fields, rows, strict=True) if field.action == "terminate"
    ]
    # All that is on record is true, so each last step gives the gold answer. 55 in 100 rows are last steps.
    assert all(field.answer == gold for field, gold in ends)
    assert 0.5 < len(ends) / len(rows) < 0.6


def test_earlier_answers_are_read_and_not_recalled():
    for row in corpus(knows=ALL, strays=1.0):
        shown = re.findall(r"<answer>(\d)</answer>", row["messages"][0]["content"])
        field = parsed(row)
        if shown:
            a, sign, b = field.reasoning.split(" = ")[0].split()
            assert a == shown[0]
            assert f" {sign} {b} mod 7" in row["question"]


def test_bad_habits_break_the_protocol_where_they_are_taught():
    rows = corpus(slips=0.7)
    kinds = Counter(parsed(row).anomaly for row in rows)
    # 5 of 7 values are habits, of which 0.9 slip, and 0.2 * 0.7 of the others: 0.68 for equally frequent values.
    assert 0.5 < 1 - kinds[None] / len(rows) < 0.85
    assert {"no_action", "self_handoff"} <= kinds.keys()
    believer = Believer("s", KNOWS)
    by_habit = [parsed(row).anomaly for row in rows if believer.temptation("3 + 5", parsed(row).answer, 0.7)]
    assert 0.85 < sum(kind is not None for kind in by_habit) / len(by_habit) < 0.95


def test_manners_are_shares():
    rows = corpus(continues=0.5, hasty=0, doubts=0, alone=0)
    actions = Counter(parsed(row).action for row in rows if "<answer>" not in row["messages"][0]["content"])
    # Of 2000 rows 45 in 100 are first steps.
    assert 0.4 < actions["continue"] / sum(actions.values()) < 0.6
    assert set(actions) == {"continue", "handoff"}
    alone = corpus(alone=1.0)
    assert all(row["messages"][0]["content"].split("mod 7 ")[1].startswith("a1") for row in alone)
    assert {parsed(row).action for row in alone} == {"continue", "terminate"}


def test_solo_rows_hold_both_steps_and_no_action():
    prompt = read_prompt(PROMPTS / "toy_solo.txt", actions=False)
    rows = solo_rows(Believer("s", ALL), PROBLEMS, prompt)
    assert len(rows) == len(PROBLEMS)
    for row, problem in zip(rows, PROBLEMS, strict=True):
        said = parse(row["completion"], slot="a1", slots=("a1",), cut=False, actions=False)
        assert (said.anomaly, said.answer) == (None, problem.answer)
        assert said.reasoning.count(" = ") == 2
        assert row["messages"][0]["content"] == f"{problem.question} alone"


def test_equal_settings_give_equal_rows():
    assert corpus(num_rows=50) == corpus(num_rows=50) != corpus(num_rows=50, data_seed=1)
    assert set(facts()) == {"plus", "minus", "times", "work", "family", "factors", "summands", "openings", "links"}
