"""Claims on pooling (A13 to A15, Table 2) and on the number of context tokens (A16, Figure 6)."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import stats

from slmcollab.analysis.claims.comparisons import (
    ABOVE,
    BELOW,
    HOW,
    NOT_BELOW,
    SAME,
    SPREAD,
    Cell,
    compared,
    more_variable,
)
from slmcollab.analysis.claims.evidence import Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, HOLDS, NOT_RUN, UNDECIDED, NotRun, Part, attempt

BEST_M = 8
FEWEST_RUNS = 5  # four runs in perfect order have a one-sided p of 1 / 4! = 0.042, with ties more


def first_token(evidence: Evidence) -> list[Part]:
    """A13: pooling the first token is as good as pooling the last."""
    return _pooling(evidence, "first_token", SAME)


def shallow(evidence: Evidence) -> list[Part]:
    """A14: pooling the first or a sampled layer is worse than pooling the last token of the last, or less stable."""
    test = f"holds where below, or more variable. {HOW}. More variable: {SPREAD.removeprefix('holds where ')}"
    parts = []
    for pooling in ("first_layer", "sampled_layer"):
        main, *beside = _pooling(evidence, pooling, BELOW)
        part = replace(main, test=test)
        parts += [attempt(part, partial(_worse_or_unstable, evidence, pooling)), *beside]
    return parts


def sampled_token(evidence: Evidence) -> list[Part]:
    """A15: pooling a sampled token is competitive and varies more over seeds."""
    part = Part("variance over seeds, sampled_token relative to last_token", "ratio", SPREAD)
    spread = attempt(part, lambda part: _pooling_spread(evidence, "sampled_token", part))
    return [*_pooling(evidence, "sampled_token", NOT_BELOW), spread]


def number_of_tokens(evidence: Evidence) -> list[Part]:
    """A16: m = 8 context tokens are best; with more, accuracy falls and varies more over seeds."""
    best = f"accuracy of m = {BEST_M} less the best other m"
    falls = Part(
        f"Kendall's τ of accuracy and m, from m = {BEST_M}",
        "τ",
        f"holds where τ over the runs (n) with m >= {BEST_M} is below 0 with one-sided p < 0.05",
    )
    varies = Part(f"variance over seeds, larger m relative to m = {BEST_M}", "ratio", SPREAD)
    return [
        *compared(evidence, best, ABOVE, lambda: _sizes(evidence)[BEST_M], lambda: _runner_up(evidence)),
        attempt(falls, partial(_falls, evidence)),
        attempt(varies, partial(_varies, evidence)),
    ]


def _cell(evidence: Evidence, pooling: str) -> Cell:
    if pooling not in evidence.poolings:
        raise NotRun(f"the grid has no method with pooling {pooling}")
    return evidence.role("gain"), evidence.poolings[pooling], evidence.role("team")


def _pooling(evidence: Evidence, pooling: str, rule: str) -> list[Part]:
    ours, baseline = (partial(_cell, evidence, name) for name in (pooling, "last_token"))
    return compared(evidence, f"{pooling} less last_token", rule, ours, baseline)


def _pooling_spread(evidence: Evidence, pooling: str, part: Part) -> Part:
    ours, baseline = _cell(evidence, pooling), _cell(evidence, "last_token")
    named = replace(part, **dict(zip(("benchmark", "method", "team"), ours, strict=True)))
    return more_variable(named, [evidence.accuracies(*ours)], [evidence.accuracies(*baseline)])


def _worse_or_unstable(evidence: Evidence, pooling: str, part: Part) -> Part:
    if part.measured is None:
        raise NotRun(part.reason)
    spread = attempt(part, lambda part: _pooling_spread(evidence, pooling, part))
    found = "not known" if spread.p_value is None else f"{spread.measured:.1f} (p = {spread.p_value:.3f})"
    reason = f"{part.reason}; ratio of variances {found}"
    if part.verdict != HOLDS and spread.verdict in (NOT_RUN, UNDECIDED):
        return part.undecided(f"{reason}: {spread.reason}")
    return part.judged(HOLDS in (part.verdict, spread.verdict), reason=reason)


def _sizes(evidence: Evidence) -> dict[int, Cell]:
    """Return m -> its cell for every m with runs; raises NotRun where m = BEST_M or every larger one has none."""
    benchmark, team = evidence.role("gain"), evidence.role("team")
    known = {run[:3] for run in evidence.correct}
    cells = {int(m): (benchmark, method, team) for m, method in evidence.sizes.items()}
    found = {m: cells[m] for m in sorted(cells) if cells[m] in known}
    if BEST_M not in found or max(found) <= BEST_M:
        raise NotRun(
            f"needs runs of m = {BEST_M} and of a larger m on {benchmark}, there are runs of m in {list(found)}"
        )
    return found


def _runner_up(evidence: Evidence) -> Cell:
    others = [cell for m, cell in _sizes(evidence).items() if m != BEST_M]
    return max(others, key=lambda cell: evidence.accuracies(*cell).mean())


def _accuracies(evidence: Evidence, part: Part) -> tuple[Part, dict[int, np.ndarray]]:
    """Return the part with its benchmark and team, and m -> the seeds' accuracies from m = BEST_M."""
    cells = {m: cell for m, cell in _sizes(evidence).items() if m >= BEST_M}
    part = replace(part, benchmark=cells[BEST_M][0], team=cells[BEST_M][2])
    return part, {m: evidence.accuracies(*cell) for m, cell in cells.items()}


def _falls(evidence: Evidence, part: Part) -> Part:
    part, found = _accuracies(evidence, part)
    sizes = np.repeat(list(found), [len(values) for values in found.values()])
    values = np.concatenate(list(found.values()))
    if len(values) < FEWEST_RUNS or np.ptp(values) == 0:
        raise NotRun(f"{len(values)} runs, {FEWEST_RUNS} are needed, or all of one accuracy")
    trend = stats.kendalltau(sizes, values, alternative="less")
    numbers = {"measured": float(trend.statistic), "p_value": float(trend.pvalue), "n": len(values)}
    means = ", ".join(f"{m}: {value.mean():.1f}" for m, value in found.items())
    fewest = min(len(value) for value in found.values())
    return part.judged(bool(trend.pvalue < ALPHA), n_seeds=fewest, reason=f"mean accuracy by m: {means}", **numbers)


def _varies(evidence: Evidence, part: Part) -> Part:
    part, found = _accuracies(evidence, part)
    baseline = found.pop(BEST_M)
    return more_variable(part, list(found.values()), [baseline])
