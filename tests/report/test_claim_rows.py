"""The claims as text: which columns, how many decimals."""

from slmcollab.analysis.claims.verdicts import HOLDS, Finding, Part
from slmcollab.report.claims import COLUMNS, claim_rows


def row(unit="points", **fields):
    part = Part("gain", unit, "holds where above", **fields)
    return claim_rows([Finding("A1", "it helps", "verdict", part)])[0]


def test_every_column_is_text_and_numbers_are_rounded_once():
    numbers = {"measured": 29.505, "published": 22.92, "n_seeds": 3, "n": 200, "low": -0.001, "high": 30.0}
    found = row(p_value=0.00012, verdict=HOLDS, reason="above", benchmark="arithmetic", **numbers)
    assert set(found) == set(COLUMNS)
    assert [found[name] for name in ("claim", "statement", "row", "benchmark", "team")] == [
        *("A1", "it helps", "verdict", "arithmetic", ""),
    ]
    assert [found[name] for name in ("measured", "published", "n_seeds", "n", "p_value")] == [
        *("29.50", "22.92", "3", "200", "0.0001"),
    ]
    assert [found[name] for name in ("interval_low", "interval_high", "verdict")] == ["0.00", "30.00", HOLDS]


def test_what_was_not_measured_is_empty():
    found = row(reason="no run")
    assert [found[name] for name in ("measured", "published", "n_seeds", "n", "p_value", "interval_low")] == [""] * 6
    assert found["verdict"] == "not run"


def test_decimals_go_by_the_unit():
    assert row("τ", measured=-0.48)["measured"] == "-0.480"
    assert row("runs", measured=3.0)["measured"] == "3"
    assert row("ratio", measured=9.968)["measured"] == "9.97"
