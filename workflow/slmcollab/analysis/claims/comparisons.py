"""The tests that the claims share: is one method above another, is it more variable, what is a mean over runs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy import stats

from slmcollab.analysis.claims.evidence import Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, FAILS, HOLDS, SMALL_DIFFERENCE, UNDECIDED, NotRun, Part, attempt
from slmcollab.analysis.statistics import bootstrap_interval, paired_test

Cell = tuple[str, str, str]  # benchmark, method, team
Interval = tuple[float, float]

ABOVE, BELOW, NOT_ABOVE, NOT_BELOW, SAME = "above", "below", "not above", "not below", "within noise"
HOW = (
    "above or below: the mean over seeds is, p < 0.05 in the paired permutation test over questions (two-sided, seeds"
    " averaged; n), and the 95 % Welch interval of the difference over seeds leaves out 0; within noise: neither"
)
FEW = "needs two seeds a side: with one, noise between trainings passes for a difference"
# Rules that say what is not there, and where both whole intervals have to lie: few seeds or questions are no evidence.
LIMITS = {
    SAME: (-SMALL_DIFFERENCE, SMALL_DIFFERENCE, f"lie between -{SMALL_DIFFERENCE:g} and {SMALL_DIFFERENCE:g} points"),
    NOT_ABOVE: (-math.inf, SMALL_DIFFERENCE, f"end below {SMALL_DIFFERENCE:g} points"),
    NOT_BELOW: (-SMALL_DIFFERENCE, math.inf, f"begin above -{SMALL_DIFFERENCE:g} points"),
}


@dataclass(frozen=True)
class Comparison:
    """Ours less the baseline in percent points, and how sure that is.

    p_value: over questions; interval: 95 %, over seeds (Welch; None: a side has one); over_questions: 95 %, bootstrap.
    """

    difference: float
    p_value: float
    interval: Interval | None
    over_questions: Interval
    n_seeds: int
    n: int

    @property
    def found(self) -> str:
        low, high = self.interval or (self.difference, self.difference)
        if self.p_value < ALPHA and low * high > 0:
            return ABOVE if self.difference > 0 else BELOW
        return SAME

    def verdict(self, rule: str) -> str:
        """Return HOLDS or FAILS by `rule_in_words`, UNDECIDED where seeds or questions cannot tell."""
        if rule not in LIMITS:
            return FAILS if self.found != rule else HOLDS if self.interval else UNDECIDED
        if self.interval is None:
            return UNDECIDED
        if self.found in ((ABOVE, BELOW) if rule == SAME else (rule.removeprefix("not "),)):
            return FAILS
        return UNDECIDED if any(self.wide(rule)) else HOLDS

    def wide(self, rule: str) -> tuple[bool, bool]:
        """Return whether the interval over seeds, and that over questions, reaches beyond the limits of a rule."""
        lowest, highest, _ = LIMITS[rule]
        return tuple(not lowest < low <= high < highest for low, high in (self.interval, self.over_questions))


def rule_in_words(rule: str) -> str:
    """Return by which rule a part on two methods holds, does not hold, or is undecided."""
    if rule not in LIMITS:
        return f"holds where {rule}; {HOW}; undecided where it would hold but a side has one seed"
    wrong = f"{ABOVE} or {BELOW}" if rule == SAME else rule.removeprefix("not ")
    return (
        f"holds where {rule}{' of the baseline' if rule == SAME else ''} and the 95 % intervals over seeds and over"
        f" questions (bootstrap) {LIMITS[rule][2]}, does not hold where {wrong}, else undecided, as where a side has"
        f" one seed; {HOW}"
    )


def compare(
    ours: Float[np.ndarray, "seed problem"],
    baseline: Float[np.ndarray, "others problem"],
    generator: np.random.Generator,
) -> Comparison:
    """Compare the answers (1 right, 0 wrong) of two methods to the same problems in one order."""
    seeds = 100 * ours.mean(axis=1), 100 * baseline.mean(axis=1)
    p_value = paired_test(ours.mean(axis=0), baseline.mean(axis=0), generator)
    difference, fewest = float(seeds[0].mean() - seeds[1].mean()), min(map(len, seeds))
    over_seeds = welch(*seeds) if fewest > 1 else None
    over_questions = bootstrap_interval(100 * (ours.mean(axis=0) - baseline.mean(axis=0)), generator)
    return Comparison(difference, p_value, over_seeds, over_questions, fewest, ours.shape[1])


def welch(ours: Float[np.ndarray, " seed"], baseline: Float[np.ndarray, " others"]) -> Interval:
    """Return the 95 % interval of the difference of two means with variances of their own; at least two values each."""
    # scipy.stats.ttest_ind warns of, and gives NaN for, seeds that are all equal.
    difference = float(ours.mean() - baseline.mean())
    squares = [float(side.var(ddof=1)) / len(side) for side in (ours, baseline)]
    if sum(squares) == 0:
        return difference, difference
    freedom = sum(squares) ** 2 / sum(s**2 / (len(side) - 1) for s, side in zip(squares, (ours, baseline), strict=True))
    half = float(stats.t.ppf(1 - ALPHA / 2, freedom)) * math.sqrt(sum(squares))
    return difference - half, difference + half


def mean_interval(
    values: Sequence[float] | Float[np.ndarray, " run"], within: Interval = (-math.inf, math.inf)
) -> tuple[float, Interval | None]:
    """Return the mean and its 95 % interval by Student's t over independent runs, None for one run.

    within: the range of the quantity, at which the interval is cut.
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, None
    error = float(stats.sem(values))
    low, high = stats.t.interval(1 - ALPHA, len(values) - 1, loc=mean, scale=error) if error > 0 else (mean, mean)
    return mean, (max(float(low), within[0]), min(float(high), within[1]))


def compared(
    evidence: Evidence, quantity: str, rule: str, ours: Callable[[], Cell], baseline: Callable[[], Cell]
) -> list[Part]:
    """Return the part "ours is `rule` the baseline" on all questions, and beside it on those that train does not have.

    The second is there where some test questions occur in train and some do not. ours, baseline: raise NotRun where the
    grid has no such cell.
    """
    part = Part(quantity, "points", rule_in_words(rule))
    try:
        cells = ours(), baseline()
    except NotRun as missing:
        return [part.stopped(missing)]
    part = replace(part, **dict(zip(("benchmark", "method", "team"), cells[0], strict=True)))
    main = attempt(part, lambda part: _compare_cells(evidence, part, rule, cells, everything=True))
    seen = evidence.seen.get(cells[0][0])
    if main.measured is None or seen is None or seen.all() or not seen.any():
        return [main]
    other = replace(part, quantity=f"{quantity}, unseen questions", beside=True)
    return [main, attempt(other, lambda part: _compare_cells(evidence, part, rule, cells, everything=False))]


def _compare_cells(evidence: Evidence, part: Part, rule: str, cells: tuple[Cell, Cell], *, everything: bool) -> Part:
    chosen = slice(None) if everything else ~evidence.seen[part.benchmark]
    answers = [evidence.answers(*cell)[:, chosen] for cell in cells]
    found = compare(*answers, evidence.generator(*cells[0], *cells[1], str(everything)))
    low, high = found.interval or (None, None)
    numbers = {"measured": found.difference, "p_value": found.p_value, "low": low, "high": high}
    numbers |= {"n_seeds": found.n_seeds, "n": found.n}
    numbers["published"] = evidence.published_difference(*cells) if everything else None
    reason, verdict = f"{cells[0][1]} is {found.found} against {cells[1][1]}", found.verdict(rule)
    if verdict != UNDECIDED:
        alone = "" if found.interval else "; one seed: noise between trainings is unknown"
        return part.judged(verdict == HOLDS, reason=reason + alone, **numbers)
    if found.interval is None:
        return part.undecided(f"{reason}; {FEW}", **numbers)
    few = " and ".join(units for units, wide in zip(("seeds", "questions"), found.wide(rule), strict=True) if wide)
    seeds, questions = (f"{low:.1f} to {high:.1f}" for low, high in (found.interval, found.over_questions))
    intervals = f"the intervals ({seeds} over seeds, {questions} over questions) do not both {LIMITS[rule][2]}"
    return part.undecided(f"too few {few} to tell: {reason}, but {intervals}", **numbers)


SPREAD = (
    "holds where the ratio of the variances over seeds (pooled over cells) is above 1 with p < 0.05 in the one-sided F"
    " test (n: degrees of freedom of both), does not hold where it is at most 1"
)


def more_variable(part: Part, ours: Sequence[np.ndarray], baseline: Sequence[np.ndarray]) -> Part:
    """Judge whether ours vary more over seeds than the baseline's; both: one array of accuracies per cell.

    Variances are pooled over cells, each weighted by its seeds less one; cells with one seed say nothing. Raises NotRun
    where no cell of a side has two seeds, or the baseline does not vary.
    """
    sides = [[np.asarray(cell, dtype=float) for cell in side if len(cell) > 1] for side in (ours, baseline)]
    if not all(sides):
        raise NotRun("a variance over seeds needs two seeds")
    freedom = [sum(len(cell) - 1 for cell in side) for side in sides]
    squares = [sum(float(((cell - cell.mean()) ** 2).sum()) for cell in side) for side in sides]
    if math.isclose(squares[1], 0, abs_tol=1e-12):
        raise NotRun("the baseline does not vary over its seeds: no ratio")
    ratio = (squares[0] / freedom[0]) / (squares[1] / freedom[1])
    p_value, needed = float(stats.f.sf(ratio, *freedom)), float(stats.f.isf(ALPHA, *freedom))
    fewest = min(len(cell) for side in sides for cell in side)
    numbers = {"measured": ratio, "p_value": p_value, "n_seeds": fewest, "n": sum(freedom)}
    reason = f"with these seeds a ratio above {needed:.1f} is needed"
    if ratio > 1 and p_value >= ALPHA:
        return part.undecided(f"too few seeds to tell: {reason}", **numbers)
    return part.judged(ratio > 1, reason=reason, **numbers)
