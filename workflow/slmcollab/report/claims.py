"""The claims of a paper as tidy text: one judgement a row, rounded once when it is written."""

from collections.abc import Iterable

from slmcollab.analysis.claims.verdicts import Finding
from slmcollab.report.tables import format_number

COLUMNS = (
    *("claim", "statement", "row", "benchmark", "method", "team", "quantity", "measured", "published", "unit", "test"),
    *("n_seeds", "n", "p_value", "interval_low", "interval_high", "verdict", "reason"),
)
DECIMALS = {"points": 2, "runs": 0, "ratio": 2}  # by unit; of shares, correlations and rewards 3


def claim_rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return the printed text of every column; row is verdict (one a claim), part, or beside (takes no part in it)."""
    return [_row(finding) for finding in findings]


def _row(finding: Finding) -> dict[str, str]:
    part = finding.part
    decimals = DECIMALS.get(part.unit, 3)
    numbers = {
        "measured": format_number(part.measured, decimals),
        "published": format_number(part.published, decimals),
        "p_value": format_number(part.p_value, 4),
        "interval_low": format_number(part.low, decimals),
        "interval_high": format_number(part.high, decimals),
    }
    counts = {name: "" if value is None else str(value) for name, value in (("n_seeds", part.n_seeds), ("n", part.n))}
    names = ("benchmark", "method", "team", "quantity", "unit", "test", "verdict", "reason")
    texts = {"claim": finding.claim, "statement": finding.statement, "row": finding.row}
    return texts | {name: getattr(part, name) for name in names} | counts | numbers
