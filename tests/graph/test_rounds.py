"""Synchronous rounds: who is asked when, and sees what."""

import pytest
from graphs import SIZES, TEAM, play, read
from learners import PROMPT

from slmcollab.graph.nodes import Team
from slmcollab.graph.rounds import Rounds

NINE = {"a1": [11, 12, 13], "a2": [21, 22, 23], "a3": [31, 32, 33]}


@pytest.mark.parametrize(("rounds", "calls"), [(1, 3), (2, 6), (3, 9), (4, 12)])
def test_all_slots_speak_at_once_in_each_round(rounds, calls):
    texts = {"q": {slot: [1] * rounds for slot in SIZES}}
    (episode,), backend = play(Rounds(rounds), texts, PROMPT)
    assert backend.asked == [["a1", "a2", "a3"]] * rounds
    assert len(episode.asked) == calls
    assert {decoding.temperature for decoding in backend.decodings} == {0.0}
    assert [asked.node.kind for asked in episode.asked] == ["draft"] * 3 + ["revise"] * (calls - 3)


def test_each_sees_all_drafts_of_the_round_before():
    (episode,), _ = play(Rounds(3), {"q": NINE}, PROMPT)
    shown = read(episode)
    for slot in SIZES:
        assert "Response of" not in shown[f"{slot}-0"]
        for number in (1, 2):
            found = [part[:2] for part in shown[f"{slot}-{number}"].split("</reasoning><answer>")[2:]]
            assert found == [f"1{number}", f"2{number}", f"3{number}"]


def test_the_last_round_votes_and_earlier_answers_are_candidates():
    texts = {"a1": [1, 1, 5], "a2": [1, 1, 5], "a3": [1, 1, 7]}
    (episode,), _ = play(Rounds(3), {"q": texts}, PROMPT)
    final = Rounds(3).final(TEAM, episode.said)
    assert (final.answer, final.slot, final.num_steps) == ("5", "a2", 3)
    assert [reply.answer for reply in final.candidates] == ["1"] * 6
    assert max(reply.level for reply in final.candidates) < final.num_steps - 1
    assert Rounds(3).final(Team(SIZES, None), episode.said).answer == "7"  # open texts: the largest model's


def test_no_rounds_are_refused():
    with pytest.raises(ValueError, match=r"settings.rounds: 0 is less than 1"):
        Rounds(0)
