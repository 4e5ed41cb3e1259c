"""Claim A17, attention at test time: a static preference on the gain benchmark, more focus on harder ones."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from slmcollab.analysis.attention import entropy
from slmcollab.analysis.claims.accuracy import gain_of_main
from slmcollab.analysis.claims.comparisons import mean_interval, welch
from slmcollab.analysis.claims.evidence import HIDDEN, Evidence
from slmcollab.analysis.claims.verdicts import SMALL_LOSS, SMALL_SHARE, NotRun, Part, attempt


def static_preference(evidence: Evidence) -> list[Part]:
    """A17: on the gain benchmark attention barely depends on the prompt; on harder ones it is more concentrated."""
    gain, team = evidence.roles.get("gain") or "", evidence.roles.get("team") or ""
    where = {"benchmark": gain, "method": HIDDEN, "team": team}
    over = "mean over seeds (95 % interval: Student's t)"
    varies = Part(
        "share of attention variance explained by the prompt",
        "share",
        f"holds where the {over} is below {SMALL_SHARE} with its interval",
        **where,
    )
    frozen = Part(
        "accuracy less accuracy with attention frozen at its mean",
        "points",
        f"holds where the {over} is below {SMALL_LOSS} with its interval",
        **where,
    )
    focus = Part(
        "entropy of the shares less that on the gain benchmark",
        "nats",
        "holds where the difference of the means over seeds is below 0 with its 95 % Welch interval; undecided where"
        " it is without",
        method=HIDDEN,
        team=team,
    )
    parts = [
        attempt(varies, partial(_below, evidence, lambda run: run["prompt_variance_share"], SMALL_SHARE, (0.0, 1.0))),
        attempt(
            frozen,
            partial(
                _below, evidence, lambda run: run["accuracy"] - run["accuracy_frozen"], SMALL_LOSS, (-100.0, 100.0)
            ),
        ),
    ]
    harder = [replace(focus, benchmark=name) for name in evidence.listed("harder")]
    parts += [attempt(part, partial(_more_focused, evidence)) for part in harder]
    return parts if harder else [*parts, focus.missing("the config gives no harder benchmark")]


def _below(
    evidence: Evidence,
    value: Callable[[Mapping[str, Any]], float | None],
    threshold: float,
    within: tuple[float, float],
    part: Part,
) -> Part:
    runs = evidence.measured_attention(evidence.role("gain"), evidence.role("team"))
    gain_of_main(evidence)
    if any(run["prompt_variance_share"] is None for run in runs):
        raise NotRun("attention.json: prompt_variance_share is null")
    mean, interval = mean_interval([value(run) for run in runs], within=within)
    low, high = interval or (None, None)
    numbers = {"measured": mean, "low": low, "high": high, "n_seeds": len(runs), "n": len(runs)}
    if mean < threshold and (high is None or high >= threshold):
        return part.undecided("too few seeds to tell: the interval over them has to end below the threshold", **numbers)
    return part.judged(mean < threshold, **numbers)


def _entropies(evidence: Evidence, benchmark: str) -> Float[np.ndarray, " seed"]:
    runs = evidence.measured_attention(benchmark, evidence.role("team"))
    return entropy(np.array([list(run["shares"].values()) for run in runs], dtype=float))


def _more_focused(evidence: Evidence, part: Part) -> Part:
    ours, baseline = _entropies(evidence, part.benchmark), _entropies(evidence, evidence.role("gain"))
    fewest = min(len(ours), len(baseline))
    numbers = {"measured": float(ours.mean() - baseline.mean()), "n_seeds": fewest, "n": fewest}
    if fewest < 2:
        return part.undecided("an interval over seeds needs two a side", **numbers)
    low, high = welch(ours, baseline)
    numbers |= {"low": low, "high": high}
    if numbers["measured"] < 0 <= high:
        return part.undecided("too few seeds to tell: the interval over them has to end below 0", **numbers)
    return part.judged(high < 0, **numbers)
