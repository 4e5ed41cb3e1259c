"""Recruited specialists, an evaluator without the gold answer, and at most three iterations."""

import re

import pytest
from graphs import SIZES, TEAM, play, prompt_of, read, said

from slmcollab.graph.nodes import Team
from slmcollab.teams import agentverse

SETTINGS = {"iterations": 3, "accept": 8, "first_temperature": 0.9, "temperature": 0.3}
METHOD, PROMPT = agentverse.build(SETTINGS), prompt_of(agentverse)
ROLES = said("a1: You count.\n- a2: You check $question ${role}.\na3: You lead.")


def script(*scores, roles=ROLES, last=(1, 2, 3)):
    """Return what the slots say where the evaluator gives these scores; in iteration k they answer k1, k2, k3."""
    answers = [[10 * number + place for place in last] for number in range(1, len(scores) + 1)]
    large = [text for row, score in zip(answers, scores, strict=True) for text in (row[2], score)]
    return {"a1": [row[0] for row in answers], "a2": [row[1] for row in answers], "a3": [roles, *large]}


@pytest.mark.parametrize(
    ("scores", "calls"),
    [
        ((8,), 5),
        ((7, 8), 9),
        ((7, 7.9, 0), 13),
        ((0, 0, 10), 13),
        ((said("8/10"),), 5),
        ((said("good"), said("-9"), said("80")), 13),  # no score accepts
    ],
)
def test_the_stop_rule_and_the_number_of_calls(scores, calls):
    (episode,), backend = play(METHOD, {"q": script(*scores)}, PROMPT)
    number = len(scores)
    assert len(episode.asked) == 1 + 4 * number == calls
    assert backend.asked == [["a3"], *[["a1", "a2", "a3"], ["a3"]] * number]
    temperatures = [0.0, 0.9, 0.0, *[0.3, 0.0] * (number - 1)]
    assert [decoding.temperature for decoding in backend.decodings] == temperatures
    final = METHOD.final(TEAM, episode.said)
    assert (final.answer, final.slot) == (f"{number}3", "a3")  # a tie
    assert final.num_steps == 1 + 2 * number
    assert [found.answer for found in final.candidates] == [f"{k}{j}" for k in range(1, number + 1) for j in (1, 2, 3)]
    assert max(found.level for found in final.candidates) < final.num_steps - 1


def test_the_last_iteration_votes():
    (episode,), _ = play(METHOD, {"q": script(0, 9, last=(5, 5, 6))}, PROMPT)
    final = METHOD.final(TEAM, episode.said)
    assert (final.answer, final.slot) == ("25", "a2")


def test_the_recruiter_knows_capacities_and_specialists_their_own_role():
    (episode,), _ = play(METHOD, {"q": script(0, 0, 0)}, PROMPT)
    shown = read(episode)
    assert "a1: low capacity\na2: mid capacity\na3: high capacity" in shown["recruiter"]
    for number in range(3):
        assert "Your role: You count.\n" in shown[f"a1-{number}"]
        assert "Your role: You check $question ${role}.\n" in shown[f"a2-{number}"]  # a text, not a template
        assert "Your role: You lead.\n" in shown[f"a3-{number}"]
        assert "You count." not in shown[f"a2-{number}"] + shown[f"a3-{number}"]


def test_specialists_work_in_parallel_and_then_see_all_attempts_and_the_advice():
    scores = (said(3, "Advice <answer>1</answer> one"), said(4, "Advice two"), 5)
    (episode,), _ = play(METHOD, {"q": script(*scores)}, PROMPT)
    answers = {name: re.findall(r"<answer>(\d+)</answer>", text) for name, text in read(episode).items()}
    first, second = ["11", "12", "13"], ["21", "22", "23"]
    for slot in SIZES:
        assert [answers[f"{slot}-{number}"] for number in range(3)] == [[], first, [*first, *second]]
    assert [answers[f"evaluator-{number}"] for number in range(3)] == [first, second, ["31", "32", "33"]]
    assert "Advice &lt;answer>1&lt;/answer> one" in read(episode)["a1-1"]
    assert "Advice two" in read(episode)["a1-2"]
    assert "Advice &lt;" not in read(episode)["a1-2"]
    assert all("Advice" not in read(episode)[f"evaluator-{number}"] for number in range(3))


def test_roles_that_cannot_be_read_are_empty():
    text = script(9, roles="no tags")
    text["a3"].insert(1, "again none")
    (episode,), _ = play(METHOD, {"q": text}, PROMPT)
    assert len(episode.asked) == 6
    assert all("Your role: \n" in read(episode)[f"{slot}-0"] for slot in SIZES)
    assert METHOD.final(TEAM, episode.said).answer == "13"


def test_an_evaluation_that_cannot_be_read_accepts_nothing_and_advises_nothing():
    text = script("10", 9)
    text["a3"].insert(3, "still no tags")
    (episode,), _ = play(METHOD, {"q": text}, PROMPT)
    assert len(episode.asked) == 10
    assert "Advice of the evaluator: \n" in read(episode)["a2-1"]
    assert "still no tags" not in read(episode)["a2-1"]


def test_questions_of_different_length_are_asked_together():
    texts = {"p": script(9), "q": script(0, 0, 0), "r": script(0, 9)}
    together, backend = play(METHOD, texts, PROMPT)
    assert [len(requests) for requests in backend.rounds] == [3, 9, 3, 6, 2, 3, 1]
    assert together == [play(METHOD, {name: texts[name]}, PROMPT)[0][0] for name in texts]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        *(("8", 8.0), (" 7.5 ", 7.5), ("9/10", 9.0), ("Score: 10", 10.0), ("0", 0.0), ("8.", 8.0)),
        *(("", None), ("-8", None), ("11", None), ("8 or 9", None), ("eight", None), ("nan", None), ("9/100", None)),
    ],
)
def test_scores(answer, score):
    assert agentverse.score(answer) == score


def test_roles_are_read_line_by_line():
    text = "Here:\n**a1**: bold\n* a2 : two: parts\na2: again\na9: nobody\na3:\n"
    assert agentverse.roles(text, TEAM) == {"a1": "bold", "a2": "two: parts"}
    text = "A1: capital\n2. a2: numbered\n- `a3` (high capacity): named\na10: nobody"
    assert agentverse.roles(text, TEAM) == {"a1": "capital", "a2": "numbered", "a3": "named"}


def test_capacities_follow_size():
    assert agentverse.capacities(Team({"a1": 8.0}, None)) == "a1: high capacity"
    assert agentverse.capacities(TEAM) == "a1: low capacity\na2: mid capacity\na3: high capacity"
    assert agentverse.capacities(Team({"a1": 4.0, "a2": 2.0}, None)) == "a1: high capacity\na2: low capacity"


def test_no_iteration_is_refused():
    with pytest.raises(ValueError, match="iterations: 0"):
        agentverse.build(SETTINGS | {"iterations": 0})


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((4.0, 8.0, 4.0), "low high low"),
        ((8.0, 4.0, 8.0), "high low high"),
        ((2.0, 4.0, 4.0, 8.0, 8.0), "low mid mid high high"),
        ((4.0, 4.0, 4.0), "high high high"),
    ],
)
def test_models_of_one_size_have_one_capacity(sizes, words):
    team = Team({f"a{number}": size for number, size in enumerate(sizes, start=1)}, None)
    assert [line.split()[1] for line in agentverse.capacities(team).split("\n")] == words.split()
