"""Claims on attention while the policy trains: A5 and A6 (it gets selective), A7, A8 and A10 (who gets it)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import stats

from slmcollab.analysis.attention import entropy_reward_correlation, entropy_trend
from slmcollab.analysis.claims.comparisons import mean_interval
from slmcollab.analysis.claims.evidence import HIDDEN, Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, NotRun, Part, attempt

BLOCK = 10  # steps of one mean in A5
FEWEST_BLOCKS = 5  # four in perfect order have p = 2 / 4! = 0.083
INTERVAL = "with its 95 % interval over runs (Student's t; n)"


def entropy_falls(evidence: Evidence) -> list[Part]:
    """A5: the entropy of the mean attention falls monotonically while the policy trains."""
    test = (
        f"mean over seeds of Kendall's τ between time and the entropy's means over {BLOCK} steps (n blocks); holds"
        " where in every seed τ < 0 with p < 0.05 (two-sided, blocks taken for independent; the largest p is given)"
    )
    part = Part("Kendall's τ of attention entropy", "τ", test, method=HIDDEN)
    return _on_cells(evidence, part, _trend)


def entropy_and_reward(evidence: Evidence) -> list[Part]:
    """A6: over the steps of a run, entropy and reward are negatively correlated."""
    test = (
        "mean over runs of Spearman's ρ between attention entropy and reward over the steps of a run; holds where it is"
        f" below 0 {INTERVAL}"
    )
    part = Part("Spearman's ρ of entropy and reward", "ρ", test, method=HIDDEN)
    pooled = attempt(part, lambda part: _correlation(evidence, evidence.cells(), part))
    if pooled.measured is None:
        return [pooled]
    published = evidence.published_mean("all", HIDDEN, "all", "spearman_entropy_reward")
    beside = [replace(part, benchmark=cell[0], team=cell[1], beside=True) for cell in evidence.cells()]
    each = [attempt(part, lambda part: _correlation(evidence, [(part.benchmark, part.team)], part)) for part in beside]
    return [replace(pooled, published=published), *each]


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
        return [part.open(str(missing))]
    named = [replace(part, benchmark=benchmark, team=team) for _, team in cells]
    return [attempt(part, partial(_share_difference, evidence, pair)) for part in named]


def _on_cells(evidence: Evidence, part: Part, measure) -> list[Part]:
    try:
        named = [replace(part, benchmark=benchmark, team=team) for benchmark, team in evidence.cells()]
    except NotRun as missing:
        return [part.open(str(missing))]
    return [attempt(part, partial(measure, evidence)) for part in named]


def _trend(evidence: Evidence, part: Part) -> Part:
    runs = evidence.trained(part.benchmark, part.team)
    blocks = min(-(-len(run.step) // BLOCK) for run in runs)
    trends = [entropy_trend(run, BLOCK) for run in runs]
    if blocks < FEWEST_BLOCKS or None in trends:
        raise NotRun(f"{blocks} blocks of {BLOCK} steps, {FEWEST_BLOCKS} are needed, or an entropy that never changes")
    taus, p_values = zip(*trends, strict=True)
    numbers = {"measured": float(np.mean(taus)), "p_value": max(p_values), "n_seeds": len(runs), "n": blocks}
    holds = max(taus) < 0 and max(p_values) < ALPHA
    return part.judged(holds, reason=f"τ of the seeds: {', '.join(f'{tau:.2f}' for tau in taus)}", **numbers)


def _correlation(evidence: Evidence, cells: Sequence[tuple[str, str]], part: Part) -> Part:
    runs = [run for cell in cells for run in evidence.trained(*cell)]
    found = [entropy_reward_correlation(run) for run in runs]
    known = [value for value in found if value is not None]
    if not known:
        raise NotRun("no run in which both entropy and reward change")
    mean, interval = mean_interval(known)
    left = f"; undefined in {len(runs) - len(known)} runs" if len(known) < len(runs) else ""
    numbers = {"measured": mean, "n_seeds": min(len(evidence.trained(*cell)) for cell in cells), "n": len(known)}
    if interval is None:
        return part.open(f"an interval needs two runs{left}", **numbers)
    reason = f"ρ from {min(known):.2f} to {max(known):.2f}{left}"
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
        cells = evidence.cells_with(expert)
    except NotRun as missing:
        return [each.open(str(missing))]
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
        return part.open(
            f"{runs} runs are too few: chance alone gives all of them with p = {chance**runs:.2f}", **numbers
        )
    return part.judged(p_value < ALPHA, reason=f"{wins} of {runs} runs, by chance {chance * runs:.1f}", **numbers)


def _share_difference(evidence: Evidence, pair: tuple[str, str], part: Part) -> Part:
    shares = evidence.final_shares(part.benchmark, part.team)
    first, second = (shares[:, evidence.teams[part.team].index(expert)] for expert in pair)
    mean, interval = mean_interval(first - second)
    numbers = {"measured": mean, "n_seeds": len(shares), "n": len(shares)}
    if interval is None:
        return part.open("an interval over seeds needs two", **numbers)
    return part.judged(interval[0] > 0, low=interval[0], high=interval[1], **numbers)
