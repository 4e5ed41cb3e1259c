"""Claim B11: whether a right answer, once found on the way, is still there at the end."""

from dataclasses import replace
from functools import partial

from slmcollab.analysis.claims.verdicts import NotRun, Part, attempt
from slmcollab.analysis.retention import ranks
from slmcollab.analysis.slices_claims.changes import ALONE, percentiles, resamples
from slmcollab.analysis.slices_claims.evidence import CL, ROWS, Evidence
from slmcollab.analysis.slices_claims.sides import Side, sides

RANKS = {"musique": 3, "gsm_hard": 2, "multipl_e": 1, "math": 1}  # section 3.4
AMONG = "CL among methods with recoverable intermediate candidates"


def retention_ranks(evidence: Evidence) -> list[Part]:
    """B11: cl's retention of right answers is at least as high among the rows of Table 1 as the paper ranks it.

    The rank is that of the mean over seeds, among rows with intermediate answers. Beside it the values: whether the
    paper's lies in the 95 % bootstrap interval over questions of ours.
    """
    parts = []
    for role, rank in RANKS.items():
        test = f"holds where the rank among rows with intermediate answers (n) is at most {rank}"
        parts.append(attempt(Part("rank of retention", "rank", test, method=CL), partial(_rank, evidence, role, rank)))
        test = "holds where the paper's value lies in the 95 % bootstrap interval over questions (n)"
        value = Part("retention", "points", test, method=CL, beside=True)
        parts.append(attempt(value, partial(_retention, evidence, role)))
    return parts


def _retaining(evidence: Evidence, benchmark: str) -> dict[str, Side]:
    """Return row of Table 1 -> its retention, of the rows that have any right intermediate answer."""
    found = {}
    for method in ROWS:
        try:
            (side,), _ = sides(evidence.ratios(benchmark, method, "retention"))
        except NotRun:
            continue
        if len(side.seeds):
            found[method] = side
    return found


def _rank(evidence: Evidence, role: str, best: int, part: Part) -> Part:
    benchmark = evidence.role(role)
    evidence.runs(benchmark, CL)
    rows = _retaining(evidence, benchmark)
    means = {name: float(side.seeds.mean()) for name, side in rows.items()}
    if CL not in rows:
        raise NotRun(f"{CL} on {benchmark} has no right intermediate answer")
    rank = ranks(means)[CL]
    printed = evidence.printed("correct_answer_retention_rank", benchmark, AMONG)
    fewest = min(len(side.seeds) for side in rows.values())
    numbers = {"measured": float(rank), "n": len(means), "n_seeds": fewest, "published": printed}
    reason = ", ".join(f"{name} {100 * value:.2f}" for name, value in sorted(means.items(), key=lambda one: -one[1]))
    part = replace(part, benchmark=benchmark)
    missing = [name for name in ROWS if name not in {run.method for run in evidence.measures if run[0] == benchmark}]
    if rank <= best and missing:
        return part.missing(f"{reason}; no run of {', '.join(missing)}", **numbers)
    if rank <= best and any(len(side.seeds) < 2 and not side.fixed for side in rows.values()):
        return part.undecided(f"{reason}{ALONE}", **numbers)
    return part.judged(rank <= best, reason=reason, **numbers)


def _retention(evidence: Evidence, role: str, part: Part) -> Part:
    benchmark = evidence.role(role)
    part = replace(part, benchmark=benchmark)
    (side,), n = sides(evidence.ratios(benchmark, CL, "retention"))
    if not len(side.seeds):
        raise NotRun(f"{CL} on {benchmark} has no right intermediate answer")
    over, under = (resamples(n) @ values.sum(axis=0) for values in (side.over, side.under))
    low, high = (100 * value for value in percentiles(over[under > 0] / under[under > 0]))
    published = evidence.printed("correct_answer_retention_pct", benchmark, "CL")
    numbers = {"measured": 100 * float(side.seeds.mean()), "low": low, "high": high, "n": n, "n_seeds": len(side.seeds)}
    if published is None:
        return part.missing("the paper prints none of this benchmark", **numbers)
    return part.judged(low <= published <= high, reason="all seeds' questions", published=published, **numbers)
