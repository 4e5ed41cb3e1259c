"""Modules that the config names: found by the function that makes them what they are."""

import pytest

from slmcollab import choice
from slmcollab.benchmarks import toy_digits
from slmcollab.context import hidden_state
from slmcollab.scoring import exact


def test_a_module_is_found_by_its_name():
    assert choice.get(choice.OPERATOR, "hidden_state") is hidden_state
    assert choice.get(choice.LOADER, "toy_digits") is toy_digits
    assert choice.get(choice.SCORER, "exact") is exact


def test_only_modules_with_the_function_can_be_chosen():
    assert choice.names(choice.OPERATOR) == {
        *("hidden_state", "no_cross_attention", "none", "prefix", "routing", "routing_hidden", "text")
    }
    of_slices = {"conifer", "gsm_hard", "math", "multipl_e", "musique"}
    toys = {"toy_digits", *(f"toy_{name}" for name in of_slices)}
    assert choice.names(choice.LOADER) == {"gsm8k", "reasoning_gym", *toys, *of_slices}
    assert choice.names(choice.SCORER) >= {"exact", "number", "qa", "reasoning_gym", *of_slices - {"musique"}}
    assert not choice.names(choice.SCORER) & {"answers", "grader", "score", "team_summary", "worker"}


@pytest.mark.parametrize("name", ["exakt", "grader", "a.b", "../exact", ""])
def test_another_name_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=r"is not one of .*exact, .*number, .*reasoning_gym"):
        choice.get(choice.SCORER, name)


def test_baselines_say_what_their_blocks_hold_without_being_imported():
    found = choice.teams()
    assert found.keys() == choice.names(choice.TEAM) >= {"mad", "agentverse", "gptswarm"}
    assert found["mad"] == {
        "KINDS": {"answer": set(), "debate": set()},
        "SETTINGS": ("rounds", "first_temperature", "temperature"),
    }
    for name, said in found.items():
        module = choice.get(choice.TEAM, name)
        assert said == {
            key: getattr(module, key)
            for key in ("KINDS", "SETTINGS", "LEARNING", "SEARCH", "SLOTS")
            if hasattr(module, key)
        }


def test_a_baseline_that_does_not_say_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "mute.py").write_text("KINDS = {}\n\ndef build(settings): ...\n")
    monkeypatch.setattr(choice, "__file__", str(tmp_path / "choice.py"))
    with pytest.raises(ValueError, match=r"teams/mute\.py: KINDS and SETTINGS"):
        choice.teams()
