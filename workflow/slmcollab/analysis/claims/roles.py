"""Claims on attention while the policy trains: A5 and A6 (it gets selective), A7, A8 and A10 (who gets it)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import stats

from slmcollab.analysis.attention import Dynamics, entropy_reward_correlation, entropy_trend
from slmcollab.analysis.claims.comparisons import mean_interval
from slmcollab.analysis.claims.evidence import HIDDEN, Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, NotRun, Part, attempt

BLOCK = 10  # steps of one mean in A5
FEWEST_BLOCKS = 5  # four in perfect order have p = 2 / 4! = 0.083
INTERVAL = "with its 95 % interval over runs (Student's t; n; runs taken for independent)"


def entropy_falls(evidence: Evidence) -> list[Part]:
    """A5: the entropy of the mean attention falls monotonically while the policy trains."""
    test = (
        f"mean over runs of Kendall's τ between time and the entropy's means over {BLOCK} steps; holds where it is"
        f" below 0 {INTERVAL}"
    )
    return _pooled(evidence, Part("Kendall's τ of attention entropy", "τ", test, method=HIDDEN), _trend)


def entropy_and_reward(evidence: Evidence) -> list[Part]:
    """A6: over the steps of a run, entropy and reward are negatively correlated."""
    test = (
        "mean over runs of Spearman's ρ between attention entropy and reward over the steps of a run; holds where it is"
        f" below 0 {INTERVAL}"
    )
    part = Part("Spearman's ρ of entropy and reward", "ρ", test, method=HIDDEN)
    part = replace(part, published=evidence.published_overall("all", "spearman_entropy_reward"))
    return _pooled(evidence, part, entropy_reward_correlation)


def naive_lowest(evidence: Evidence) -> list[Part]:
    """A7: the naive expert has the lowest share of attention in every team that has it."""
    return _extreme(evidence, "naive_expert", "lowest")


def large_highest(evidence: Evidence) -> list[Part]:
    """A8: the large expert has the largest share of attention in every team that has it."""
    return _extreme(evidence, "large_expert", "largest")


def code_above_math(evidence: Evidence) -> list[Part]:
    """A10: even on the gain benchmark the code expert has a larger share than the math expert."""
    test = f"holds where the code expert's share less the math expert's (last tenth of steps) is above 0 {INTERVAL}"
    part = Part("share of code expert less math expert", "share", test, method=HIDDEN)
    try:
        benchmark = evidence.role("gain")
        pair = evidence.role("code_expert"), evidence.role("math_expert")
        cells = [cell for cell in evidence.cells_with(*pair) if cell[0] == benchmark]
        if not cells:
            raise NotRun(f"no team with {' and '.join(pair)} runs on {benchmark}")
    except NotRun as missing:
        return [part.stopped(missing)]
    named = [replace(part, benchmark=benchmark, team=team) for _, team in cells]
    return [attempt(part, partial(_share_difference, evidence, pair)) for part in named]


def _trend(run: Dynamics) -> float | None:
    """Return Kendall's τ, None where it does not exist: too few blocks, or an entropy that never changes."""
    found = entropy_trend(run, BLOCK) if -(-len(run.step) // BLOCK) >= FEWEST_BLOCKS else None
    return found and found[0]


def _pooled(evidence: Evidence, part: Part, measure: Callable[[Dynamics], float | None]) -> list[Part]:
    """Return the part on the runs of all cells, which decides, and beside it one for each cell."""
    pooled = attempt(part, lambda part: _below_zero(evidence, evidence.cells(), measure, part))
    if pooled.measured is None:
        return [pooled]
    each = [replace(part, benchmark=name, team=team, published=None, beside=True) for name, team in evidence.cells()]
    judge = partial(_below_zero, evidence)
    return [pooled, *(attempt(cell, lambda p: judge([(p.benchmark, p.team)], measure, p)) for cell in each)]


def _below_zero(
    evidence: Evidence, cells: Sequence[tuple[str, str]], measure: Callable[[Dynamics], float | None], part: Part
) -> Part:
    runs = [run for cell in cells for run in evidence.trained(*cell)]
    known = [value for value in map(measure, runs) if value is not None]
    if not known:
        raise NotRun(f"no run in which {part.unit} exists: too few steps, or nothing that changes")
    mean, interval = mean_interval(known, within=(-1.0, 1.0))
    left = f"; undefined in {len(runs) - len(known)} runs" if len(known) < len(runs) else ""
    numbers = {"measured": mean, "n_seeds": min(len(evidence.trained(*cell)) for cell in cells), "n": len(known)}
    if interval is None:
        return part.undecided(f"an interval needs two runs{left}", **numbers)
    reason = f"{part.unit} from {min(known):.2f} to {max(known):.2f}{left}"
    return part.judged(interval[1] < 0, low=interval[0], high=interval[1], reason=reason, **numbers)


def _extreme(evidence: Evidence, role: str, which: str) -> list[Part]:
    """Return a part per cell that has the expert, on its mean over seeds, and one on all of their runs."""
    test = f"holds where the mean share over seeds (last tenth of steps) is the {which} of the team"
    each = Part(f"share of {role}", "share", test, method=HIDDEN)
    test = (
        f"runs in which the expert has the {which} share (last tenth of steps); holds where p < 0.05 in the one-sided"
        " binomial test over runs (n) against chance, one over the size of the smallest team that has it"
    )
    pooled = Part(f"runs in which {role} has the {which} share", "runs", test, method=HIDDEN)
    try:
        expert = evidence.role(role)
        cells = [cell for cell in evidence.cells_with(expert) if len(evidence.teams[cell[1]]) > 1]
        if not cells:
            raise NotRun(f"{expert} is alone in its team")
    except NotRun as missing:
        return [each.stopped(missing)]
    sign = 1 if which == "largest" else -1
    parts, wins, runs = [], 0, 0
    for benchmark, team in cells:
        shares = evidence.final_shares(benchmark, team)
        index = evidence.teams[team].index(expert)
        others = np.delete(sign * shares, index, axis=1)
        mine, mean = sign * shares[:, index], shares.mean(axis=0)
        wins, runs = wins + int((mine > others.max(axis=1)).sum()), runs + len(shares)
        first = evidence.teams[team][int(np.argmax(sign * mean))]
        named = replace(each, benchmark=benchmark, team=team, measured=float(mean[index]), n_seeds=len(shares))
        holds = bool(mine.mean() > others.mean(axis=0).max())
        parts.append(named.judged(holds, reason=f"{which}: {first}, equal shares would be {1 / len(mean):.3f}"))
    return [*parts, _against_chance(pooled, wins, runs, 1 / min(len(evidence.teams[team]) for _, team in cells))]


def _against_chance(part: Part, wins: int, runs: int, chance: float) -> Part:
    p_value = float(stats.binomtest(wins, runs, chance, alternative="greater").pvalue)
    numbers = {"measured": float(wins), "n": runs, "p_value": p_value}
    if chance**runs >= ALPHA:
        return part.undecided(
            f"{runs} runs are too few: chance alone gives all of them with p = {chance**runs:.2f}", **numbers
        )
    return part.judged(p_value < ALPHA, reason=f"{wins} of {runs} runs, by chance {chance * runs:.1f}", **numbers)


def _share_difference(evidence: Evidence, pair: tuple[str, str], part: Part) -> Part:
    shares = evidence.final_shares(part.benchmark, part.team)
    first, second = (shares[:, evidence.teams[part.team].index(expert)] for expert in pair)
    mean, interval = mean_interval(first - second, within=(-1.0, 1.0))
    numbers = {"measured": mean, "n_seeds": len(shares), "n": len(shares)}
    if interval is None:
        return part.undecided("an interval over seeds needs two", **numbers)
    return part.judged(interval[0] > 0, low=interval[0], high=interval[1], **numbers)
