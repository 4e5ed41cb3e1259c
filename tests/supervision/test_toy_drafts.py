"""What toys are taught about answering in teams without a protocol, read back by the form's own parser."""

import random
from collections import Counter
from pathlib import Path

import pytest

from slmcollab.benchmarks import toy_gsm_hard
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.benchmarks.toy_world import solve, values
from slmcollab.graph.nodes import Node, Reply
from slmcollab.graph.prompt import messages, read_graph_prompt
from slmcollab.protocol.response import parse
from slmcollab.protocol.toy_corpora import Manners
from slmcollab.supervision.toy_drafts import SOME, claim_rows, draft_rows, draw_replies, think
from slmcollab.teams import aflow, agentverse, gptswarm, mad, maporl

PROMPTS = Path(__file__).parents[2] / "workflow" / "prompts"
PROMPT = read_graph_prompt(PROMPTS / "toy_mad.txt", mad.KINDS)
PROBLEMS = toy_gsm_hard.load({"benchmark": "toy", "num_train": 200, "num_dev": 1, "num_test": 1}, 42).train
ALL = Believer("s", {"first": 1.0, "second": 1.0})
NONE = Believer("s", {"first": 0.0, "second": 0.0})


def rows(believer=ALL, num_rows=600, data_seed=0, read=SOME, **manners):
    return draft_rows(believer, Manners(**manners), PROBLEMS, PROMPT, num_rows, data_seed, read=read)


def parsed(row):
    return parse(row["completion"], slot="a1", slots=("a1",), cut=False, actions=False)


def reply(name, answer):
    return Reply(Node(name, "a1", "answer"), 0, "", "", answer)


def test_alone_it_says_what_it_believes():
    golds = {problem.question: problem.answer for problem in PROBLEMS}
    for row in rows(read={0: 1}):
        assert row["messages"][0]["content"].removesuffix("\n\nagain").strip() == f"{row['question']} together"
        assert (parsed(row).anomaly, parsed(row).answer) == (None, golds[row["question"]])
    assert all(parsed(row).reasoning == said_by(NONE, row) for row in rows(NONE, read={0: 1}))


def test_what_most_and_at_least_two_replies_say_persuades():
    problem = next(problem for problem in PROBLEMS if problem.answer == "1")
    said = {name: reply(name, value) for name, value in zip("abcdes", ["2", "2", "4", "4", "5", ""], strict=True)}
    cases = {
        "": "1",
        "a": "1",
        "ac": "1",
        "ab": "2",
        "abc": "2",
        "abcd": "1",
        "sab": "2",
        "sa": "1",
        "ss": "1",
        "cde": "4",
    }
    for names, taken in cases.items():
        assert think(ALL, problem, [said[name] for name in names]) == (believed(ALL, problem), taken), names


def test_yields_is_the_share_of_persuaded_answers():
    def num_moved(share):
        return sum(parsed(row).answer != parsed(row).reasoning[-1] for row in rows(yields=share))

    assert num_moved(0) == 0
    assert 0.35 < num_moved(0.5) / num_moved(1.0) < 0.65


def believed(believer, problem):
    return " ; ".join(f"{query} = {value}" for query, value, _ in solve(problem.metadata["steps"], believer.look_up))


def said_by(believer, row):
    return believed(believer, next(problem for problem in PROBLEMS if problem.question == row["question"]))


def test_bad_habits_break_the_form():
    kinds = Counter(parsed(row).anomaly for row in rows(slips=0.7, num_rows=2000))
    # 5 of 7 values are habits, of which 0.9 slip, and 0.2 * 0.7 of the others: 0.68 for equally frequent values.
    assert 0.5 < 1 - kinds[None] / 2000 < 0.85
    assert set(kinds) == {None, "malformed", "empty_answer"}
    assert {parsed(row).anomaly for row in rows(slips=0)} == {None}


def test_replies_that_are_read_agree_differ_and_are_silent():
    generator = random.Random(0)
    drawn = [draw_replies(PROBLEMS[number % 200], ALL, 3, generator) for number in range(400)]
    silent = [said.anomaly for replies in drawn for said in replies]
    assert 0.08 < 1 - silent.count(None) / len(silent) < 0.16
    most = Counter(
        max(Counter(said.answer for said in replies if said.answer).values(), default=0) for replies in drawn
    )
    assert all(most[number] > 20 for number in (1, 2, 3))


def test_claims_are_on_single_facts_and_never_break_the_form():
    taught = claim_rows(ALL, Manners(slips=1.0), PROMPT, 200, 0)
    assert {row["question"] for row in taught} <= set(values())
    assert all(parsed(row).anomaly is None and ";" not in row["completion"] for row in taught)


@pytest.mark.parametrize(
    ("name", "method", "first", "later"),
    [
        ("agentverse", agentverse, "solve", "revise"),
        ("aflow", aflow, "solve", "revise"),
        ("marl", maporl, "draft", "revise"),
        ("gptswarm", gptswarm, "io", "io"),
        ("gptswarm", gptswarm, "cot", "cot"),
        ("gptswarm", gptswarm, "debate", "aggregate"),
    ],
)
def test_all_methods_ask_toys_in_the_words_that_they_were_taught(name, method, first, later):
    prompt = read_graph_prompt(PROMPTS / f"toy_{name}.txt", method.KINDS)
    said = {"a": reply("a", "2"), "b": Reply(Node("b", "a2", "answer"), 0, "", "", "", "malformed")}
    texts = dict.fromkeys(("role", "advice", "instruction", "capacities"), "words")
    for kind, taught, sees in ((first, "answer", ()), (later, "debate", ("a", "b"))):
        asked = messages(prompt, Node("n", "a3", kind, sees, texts=texts), PROBLEMS[0], said, "malformed")
        lesson = messages(PROMPT, Node("n", "a1", taught, sees), PROBLEMS[0], said, "malformed")
        assert [text["content"].split() for text in asked] == [text["content"].split() for text in lesson]


def test_equal_settings_give_equal_rows():
    assert rows(num_rows=50) == rows(num_rows=50) != rows(num_rows=50, data_seed=1)
