"""What rules read off an instruction, and what an answer keeps of it."""

import pytest

from slmcollab.artifacts import Problem
from slmcollab.scoring import conifer
from slmcollab.scoring.conifer_rules import count_items, count_sentences, count_words, parse_rules


def problem(question):
    return Problem("conifer/0", question, [], None)


@pytest.mark.parametrize(
    ("instruction", "names"),
    [
        (
            'Write a bulleted list of exactly five tips in no more than 50 words. Include the words "sun" and "sea".',
            ["bullets", "at most 50 words", "exactly 5 items", 'term "sun"', 'term "sea"'],
        ),
        (
            "Do not use bullet points. Write it as a single paragraph with 2 to 3 sentences.",
            ["paragraph", "at most 3 sentences"],
        ),
        (
            'Put it in a markdown table; at least three examples. Do not use the word "very".',
            ["table", "at least 3 items"],
        ),
        ("In at most 100 words, not fewer than 20 words.", ["at most 100 words"]),
        ("A three-sentence summary", ["exactly 3 sentences"]),
        ("Give me 5 reasons as a list.", ["list", "exactly 5 items"]),
        ("Make a list.", ["list"]),
        ("One paragraph of fewer than 30 words; 4 sentences or fewer.", ["at most 29 words", "at most 4 sentences"]),
        ("Between 100 and 150 words.", ["at most 150 words"]),
        ("Don't exceed 40 words. Your answer must not exceed 40 words.", ["at most 40 words"]),
        ("Offer from 3 to 5 steps.", ["at most 5 items", "at least 3 items"]),
        ("Present it in a numbered list and show a code snippet.", ["ordered list", "code"]),
        ("A 50-word limit holds.", ["at most 50 words"]),
        ("Set the table for dinner, in about 50 words, without lists or code blocks.", []),
        ("Tell me about the sea.", []),
    ],
)
def test_rules_of_an_instruction(instruction, names):
    assert [rule.name for rule in parse_rules(instruction)] == names


@pytest.mark.parametrize(
    ("instruction", "kept", "broken"),
    [
        ("Use bullet points.", "- a\n- b", "a, b"),
        ("A numbered list, please.", "1. a\n2) b", "- a\n- b"),
        ("Make a list.", "Here:\n* a", "a and b"),
        ("Answer in a table.", "| a | b |\n|---|---|\n| 1 | 2 |", "a | b"),
        ("Show a code snippet.", "```\nx = 1\n```", "x = 1"),
        ("Answer in one paragraph.", "One. Two.", "One.\n\nTwo."),
        ("Answer in one paragraph.", "One.", "- One."),
        ("At most 3 words.", "one two-three four's", "one two three four"),
        ("Fewer than 3 words.", "one two", "one two three"),
        ("Exactly two sentences.", "Is it? Yes, it costs 3.5 euros.", "It is."),
        ("At most 2 sentences.", "One!", "One. Two. Three."),
        ("At least 2 items.", "- a\n- b\n- c", "- a"),
        ("No more than 2 items.", "- a\n- b", "- a\n- b\n- c"),
        ("Exactly 2 items.", "1. a\n2. b", "1. a\n2. b\n3. c"),
        ('Include the phrase "Deep Sea".', "the deep sea.", "the sea is deep"),
    ],
)
def test_rules_hold_or_do_not(instruction, kept, broken):
    (rule,) = parse_rules(instruction)
    assert rule.holds(kept)
    assert not rule.holds(broken)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", (0, 0, 0)),
        ("It's 3.5 well-known words.", (5, 1, 0)),  # 3 and 5 are two
        ('"Go!" he said. - no\n- yes', (5, 3, 1)),  # a line that starts with a mark is an item
    ],
)
def test_counts(text, numbers):
    assert (count_words(text), count_sentences(text), count_items(text)) == numbers


def test_requirements_are_numbered_and_short():
    text = (
        "Plan a trip. 1. Name the capital city of France. (2) Describe two famous old bridges\n3) Go\n"
        "4. This one has many more than twelve words and so it is no requirement at all, by the rule."
    )
    # "Go" is one word, and 4. has 19; stop words go
    first, second = conifer.requirements(text)
    assert first == {"name", "capital", "city", "france"}
    assert second == {"describe", "two", "famous", "old", "bridges"}


def test_score_by_hand():
    asked = 'At most 8 words. Include the word "tower". 1. Name the capital city of France. 2. Mention famous bridges.'
    scored = conifer.score("The capital city of France has bridges and a museum", problem(asked))
    # 10 words and no tower: of three checks, presence with them, one passes. Covered: 3 of name, capital, city, france;
    # 1 of mention, famous, bridges.
    coverage = (3 / 4 + 1 / 3) / 2
    assert scored.detail == pytest.approx(
        {"coverage": coverage, "explicit": 1 / 3, "all_explicit": 0, "explicit_parsed": 0}
    )
    assert (scored.score, scored.correct) == (pytest.approx(0.75 / 3 + 0.25 * coverage), False)


def test_an_answer_that_keeps_everything():
    scored = conifer.score("Tower of Paris", problem('At most 8 words. Include the word "tower".'))
    assert (scored.score, scored.correct) == (1.0, True)
    assert scored.detail == {"coverage": 1, "explicit": 1, "all_explicit": 1, "explicit_parsed": 1}


def test_presence_lifts_explicit_but_not_its_parsed_part():
    scored = conifer.score("a b c", problem("At most 2 words."))
    assert (scored.detail["explicit"], scored.detail["explicit_parsed"]) == (0.5, 0)


def test_an_empty_answer_scores_nothing():
    scored = conifer.score(" \n", problem("Tell me about the sea."))
    assert (scored.score, scored.correct, scored.extracted) == (0.0, False, None)
    assert set(scored.detail.values()) == {0.0}
