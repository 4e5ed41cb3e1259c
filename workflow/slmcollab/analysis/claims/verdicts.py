"""A claim is judged in parts, each by a rule that was fixed before any data; what cannot be judged says why."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

HOLDS, FAILS, UNDECIDED, NOT_RUN = "holds", "does not hold", "undecided", "not run"
# ASSUME: the paper tests none of its sentences; a claim needs its direction and, against noise, a test at 5 %.
ALPHA = 0.05  # of every test; every interval has the level 1 - ALPHA
# ASSUME: "substantial" is half the gain, "throughout" 95 % of sampled steps, "static" 0.1 of the variance and 2 points.
# ASSUME: no difference, no gain or no loss needs 95 % intervals over seeds and over questions that leave out 5 points.
SUBSTANTIAL = 0.5  # share of the gain (A18)
THROUGHOUT = 0.95  # share of sampled steps (A11)
SMALL_SHARE = 0.1  # of the variance of attention (A17)
SMALL_LOSS = 2.0  # points of accuracy (A17)
SMALL_DIFFERENCE = 5.0  # points of accuracy, less is none (A3, A4, A13, A15, A19)
JOINT = "holds where every part holds; does not hold where one does not; else not run where one is, or undecided"


class NotRun(Exception):
    """An ingredient of a claim is not there; the message names it."""

    verdict = NOT_RUN


class Undecided(NotRun):
    """An ingredient of a claim is there, but too little of it to tell; the message says of what."""

    verdict = UNDECIDED


@dataclass(frozen=True)
class Part:
    """One judgement, unrounded: what was measured, in `unit`; the rule, in words (`test`); the verdict and its reason.

    n counts the units of the test, which `test` names; n_seeds is the smallest number of seeds behind a mean; low and
    high bound the 95 % interval. beside: shown, but takes no part in the verdict on the claim.
    """

    quantity: str
    unit: str
    test: str
    benchmark: str = ""
    method: str = ""
    team: str = ""
    measured: float | None = None
    published: float | None = None
    n_seeds: int | None = None
    n: int | None = None
    p_value: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = NOT_RUN
    reason: str = ""
    beside: bool = False

    @property
    def label(self) -> str:
        return " ".join(name for name in (self.benchmark, self.method, self.team, self.quantity) if name)

    def judged(self, holds: bool, **found: Any) -> "Part":
        return replace(self, verdict=HOLDS if holds else FAILS, **found)

    def stopped(self, why: NotRun) -> "Part":
        return replace(self, verdict=why.verdict, reason=str(why))

    def missing(self, reason: str, **found: Any) -> "Part":
        return replace(self, verdict=NOT_RUN, reason=reason, **found)

    def undecided(self, reason: str, **found: Any) -> "Part":
        return replace(self, verdict=UNDECIDED, reason=reason, **found)


class Claim(NamedTuple):
    """A sentence of a paper, and what judges it: from the evidence of that paper to parts."""

    name: str
    statement: str
    parts: Callable[[Any], Iterable[Part]]


@dataclass(frozen=True)
class Finding:
    """A row of the table of claims: `row` is verdict (one a claim), part or beside."""

    claim: str
    statement: str
    row: str
    part: Part


def attempt(part: Part, measure: Callable[[Part], Part]) -> Part:
    """Return what `measure` makes of the part; not run, or undecided, with the reason, where it raises NotRun."""
    try:
        return measure(part)
    except NotRun as missing:
        return part.stopped(missing)


def joint(parts: Sequence[Part]) -> Part:
    """Return the verdict over the parts by the rule JOINT, with the parts that decided it as its reason."""
    of = {
        verdict: [part for part in parts if part.verdict == verdict] for verdict in (HOLDS, FAILS, NOT_RUN, UNDECIDED)
    }
    verdict = next((found for found in (FAILS, NOT_RUN, UNDECIDED) if of[found]), HOLDS)
    counts = ", ".join(f"{len(found)} {name}" for name, found in of.items() if found)
    deciding = "" if verdict == HOLDS else ": " + "; ".join(f"{part.label} ({part.reason})" for part in of[verdict])
    return Part("all parts", "", JOINT, verdict=verdict, reason=f"{counts}{deciding}")


def judge(claims: Iterable[Claim], evidence: Any) -> list[Finding]:
    """Return the rows of every claim in order, the verdict on a claim before its parts."""
    return [row for claim in claims for row in findings(claim.name, claim.statement, claim.parts(evidence))]


def findings(claim: str, statement: str, parts: Iterable[Part]) -> list[Finding]:
    """Return the rows of one claim: its verdict, which is its only part or the joint one, then the other rows."""
    parts = list(parts)
    deciding = [part for part in parts if not part.beside]
    if not deciding:
        raise ValueError(f"{claim}: no part decides")
    verdict = deciding[0] if len(deciding) == 1 else joint(deciding)
    rows = [(verdict, "verdict")]
    rows += [(part, "beside" if part.beside else "part") for part in parts if part is not verdict]
    return [Finding(claim, statement, row, part) for part, row in rows]
