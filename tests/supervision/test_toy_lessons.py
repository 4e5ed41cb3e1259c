"""What toy slices and their evaluator are taught, by kind; verdicts are read back by the evaluator's own parser."""

import re
from collections import Counter
from pathlib import Path

import pytest

from slmcollab.benchmarks import toy_gsm_hard, toy_musique
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.benchmarks.toy_world import values
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.models.toy_word_tokenizer import build_tokenizer
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.toy_corpora import Manners
from slmcollab.supervision.evaluator import parse_scores, read_evaluator_prompt
from slmcollab.supervision.toy_lessons import KINDS, Prompts, write_lesson
from slmcollab.supervision.toy_verdicts import write_scores
from slmcollab.teams import aflow, agentverse, mad

PROMPTS = Path(__file__).parents[2] / "workflow" / "prompts"
READ = Prompts(
    team=read_prompt(PROMPTS / "toy_collaborate.txt"),
    solo=read_prompt(PROMPTS / "toy_solo.txt", actions=False),
    evaluator=read_evaluator_prompt(PROMPTS / "toy_evaluator.txt"),
    mad=read_graph_prompt(PROMPTS / "toy_mad.txt", mad.KINDS),
    agentverse=read_graph_prompt(PROMPTS / "toy_agentverse.txt", agentverse.KINDS),
    aflow=read_graph_prompt(PROMPTS / "toy_aflow.txt", aflow.KINDS),
)
SIZES = {"num_train": 40, "num_dev": 1, "num_test": 1}
PROBLEMS = [
    toy_gsm_hard.load({"benchmark": "toy_gsm_hard", **SIZES}, 42).train,
    toy_musique.load({"benchmark": "toy_musique", **SIZES}, 42).train,
]
ALL = {"first": 1.0, "second": 1.0}
TOKENIZER = build_tokenizer()


def corpus(kind, num_rows=300):
    sizes = {"num_rows": num_rows, "data_seed": 0}
    return list(write_lesson(kind, Believer("xl", ALL), Manners(), PROBLEMS, READ, **sizes))


def test_every_kind_has_its_number_of_rows():
    numbers = {kind: len(corpus(kind)) for kind in KINDS}
    on_each = dict.fromkeys(("steps", "verdicts", "short_verdicts", "drafts", "debates", "duties"), 600)
    assert numbers == on_each | {"facts": len(values()), "solo": 80, "claims": 300, "proposals": 300}
    assert all(row["lesson"] == kind for kind in KINDS for row in corpus(kind, num_rows=2))
    with pytest.raises(ValueError, match="lesson 'scripts' is not one of facts, steps, solo, verdicts"):
        corpus("scripts")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_short_words_of_the_tokenizer_and_the_same_again(kind):
    rows = corpus(kind, num_rows=50)
    assert rows == corpus(kind, num_rows=50)
    for row in rows:
        ids = TOKENIZER(row["messages"][0]["content"] + row["completion"]).input_ids
        assert len(ids) <= 120
        letters = {token[1:] for token in TOKENIZER.convert_ids_to_tokens(ids) if re.fullmatch("\u2581[A-Za-z]", token)}
        assert letters <= {"x", "a"}, row


def test_verdicts_score_every_step_shown_and_read_back_after_decoding():
    counts = Counter()
    for row in corpus("verdicts"):
        shown = re.findall(r"(?m)^\d: a\d", row["messages"][0]["content"])
        decoded = TOKENIZER.decode(TOKENIZER(row["completion"]).input_ids)
        scores = parse_scores(row["completion"], len(shown))
        assert scores is not None
        assert parse_scores(decoded, len(shown)) == scores
        counts.update(scores)
    # 0.4 of the values are wrong, and an action is wrong or broken in 1 - 0.85 * 0.85 of the steps.
    total = sum(counts.values())
    assert 0.33 < sum(n for (reasoning, _), n in counts.items() if reasoning < 0) / total < 0.47
    assert 0.2 < sum(n for (_, action), n in counts.items() if action < 0) / total < 0.36


def test_short_verdicts_are_on_one_step():
    texts = [row["messages"][0]["content"] for row in corpus("short_verdicts")]
    assert all("1: a" in text and "2: a" not in text for text in texts)


def test_a_verdict_on_a_known_collaboration():
    for row in corpus("verdicts"):
        text = row["messages"][0]["content"]
        first = re.search(r"1: a\d (?:broken )?<reasoning>(.+?) = (\w+)</reasoning><answer>(\w+)</answer>", text)
        scores = parse_scores(row["completion"], len(re.findall(r"(?m)^\d: a\d", text)))
        assert scores[0][0] == (1 if values()[first[1]] == first[2] else -1)


def test_scores_are_written_as_the_evaluator_reads_them():
    said = "<scores>\nstep 1: reasoning 1, action -1\nstep 2: reasoning -1, action 0\n</scores>"
    assert write_scores([(1.0, -1.0), (-1.0, 0.0)]) == said
