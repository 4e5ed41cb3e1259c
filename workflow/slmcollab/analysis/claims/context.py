"""Claims on generation with and without context tokens while the policy trains: A11 and A12 (Figure 6)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float
from scipy import stats

from slmcollab.analysis.attention import last_tenth
from slmcollab.analysis.claims.comparisons import mean_interval
from slmcollab.analysis.claims.evidence import HIDDEN, Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, THROUGHOUT, NotRun, Part, attempt


def throughout(evidence: Evidence) -> list[Part]:
    """A11: with context tokens the sampled reward is higher than with the prompt alone, throughout training."""
    test = (
        f"holds where the seeds' mean reward with C is above that of x alone at {THROUGHOUT:.0%} or more of the steps"
        " that sampled both (n; not the first, before any update), and p < 0.05 in the one-sided sign test over them"
    )
    part = Part("steps where reward with C is higher", "share", test, method=HIDDEN)
    shown = dict.fromkeys([*filter(None, [evidence.roles.get("gain")]), *evidence.listed("lower_alone")])
    return _on_each(evidence, shown, part, _throughout)


def saturates_lower(evidence: Evidence) -> list[Part]:
    """A12: on some benchmarks the prompt alone saturates at a lower reward."""
    test = (
        "holds where the reward with C less that of x alone, over the last tenth of the steps that sampled both, is"
        " above 0 with its 95 % interval over seeds (n)"
    )
    part = Part("final reward with C less x alone", "reward", test, method=HIDDEN)
    return _on_each(evidence, evidence.listed("lower_alone"), part, _final)


def _on_each(
    evidence: Evidence, benchmarks: Iterable[str], part: Part, measure: Callable[[Evidence, Part], Part]
) -> list[Part]:
    named = [replace(part, benchmark=name, team=evidence.roles.get("team") or "") for name in benchmarks]
    parts = [attempt(part, partial(measure, evidence)) for part in named]
    return parts or [part.missing("the config gives no benchmark for it")]


def _differences(evidence: Evidence, benchmark: str) -> Float[np.ndarray, "seed step"]:
    """Return reward with context less reward of the prompt alone at every step that sampled both."""
    runs = evidence.sampled_rewards(benchmark, evidence.role("team"))
    if any(not np.array_equal(run.step, runs[0].step) for run in runs):
        raise NotRun("seeds sampled without context at different steps")
    return np.stack([run.with_context - run.alone for run in runs])


def _throughout(evidence: Evidence, part: Part) -> Part:
    differences = _differences(evidence, part.benchmark)[:, 1:]  # at the first step nothing is trained
    seeds, count = differences.shape
    higher = int((differences.mean(axis=0) > 0).sum())
    p_value = float(stats.binomtest(higher, count, alternative="greater").pvalue) if count else 1.0
    numbers = {"measured": higher / count if count else None, "n_seeds": seeds, "n": count, "p_value": p_value}
    if 0.5**count >= ALPHA:
        return part.undecided(f"{count} steps that sampled both are too few", **numbers)
    holds = higher / count >= THROUGHOUT and p_value < ALPHA
    return part.judged(holds, reason=f"at {higher} of {count} steps", **numbers)


def _final(evidence: Evidence, part: Part) -> Part:
    differences = _differences(evidence, part.benchmark)
    mean, interval = mean_interval(last_tenth(differences.T))
    numbers = {"measured": mean, "n_seeds": len(differences), "n": len(differences)}
    if interval is None:
        return part.undecided("an interval over seeds needs two", **numbers)
    return part.judged(interval[0] > 0, low=interval[0], high=interval[1], **numbers)
