"""The figures' bookkeeping; what they measure is run by hand, since it takes minutes."""

import measure
import pytest
import run
from measure import Figure


@pytest.mark.parametrize(
    ("value", "at_least", "holds"), [(0.91, False, True), (0.93, False, False), (0.68, True, True), (0.67, True, False)]
)
def test_a_bound_may_be_missed_by_15_percent(value, at_least, holds):
    assert Figure("x", value, 0.8, 1.0, "s", 1.0, at_least=at_least).holds == holds


def test_a_line_names_ours_the_peer_the_ratio_and_the_bound():
    line = str(Figure("x", 4.0, 5, 800.0, "tokens/s", 200.0, at_least=True, note="why"))
    assert line.split() == ["x", "800", "200", "tokens/s", "4.00", ">=", "5", "WORSE", "why"]
    assert str(Figure("y", 6.1, 12, 6.1, "s")).split() == ["y", "6.1", "-", "s", "-", "<=", "12"]


def test_calls_take_turns_and_the_first_round_does_not_count(monkeypatch):
    called, seconds = [], iter([100.0, 100.0, 1.0, 20.0, 3.0, 40.0, 2.0, 30.0])
    monkeypatch.setattr(measure, "cpu_seconds", lambda work: work() or next(seconds))
    assert measure.interleaved(3, lambda: called.append("a"), lambda: called.append("b")) == [2.0, 30.0]
    assert called == ["a", "b"] * 4


@pytest.mark.parametrize(("value", "status"), [(0.5, 0), (0.99, 1)])
def test_check_fails_where_a_figure_is_worse(monkeypatch, capsys, value, status):
    modules = {"grpo_step": type("Module", (), {"grpo_step_fp32": lambda: Figure("g", value, 0.8, 1.0, "s", 1.0)})}
    monkeypatch.setattr(run.importlib, "import_module", modules.__getitem__)
    assert run.main(["grpo_step_fp32", "--check"]) == status
    assert run.main(["grpo_step_fp32"]) == 0
    assert f"{value:.2f}" in capsys.readouterr().out


def test_a_figure_that_cannot_be_measured_says_so_and_fails_nothing(monkeypatch, capsys):
    modules = {"planning": type("Module", (), {"nothing_to_do": lambda: "nothing_to_do: not run"})}
    monkeypatch.setattr(run.importlib, "import_module", modules.__getitem__)
    assert run.main(["nothing_to_do", "--check"]) == 0
    assert "nothing_to_do: not run" in capsys.readouterr().out


def test_an_unknown_figure_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.main(["speed"])
    assert "no figure speed; there are grpo_step_fp32" in capsys.readouterr().err
