"""How far an evaluator's step scores follow the true ones, where a world knows them."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import pearsonr

from slmcollab.supervision.rewards import StepScores


def agreement(scores: Mapping[str, StepScores], true_scores: Mapping[str, StepScores]) -> dict[str, float | int | None]:
    """Return Pearson's correlations over all steps of the trajectories that have both kinds of scores.

    pearson_reasoning and pearson_action are of one score each, pearson of s_del (eq. 11): None where it is undefined,
    since one side never varies or there are fewer than two steps. Raises ValueError for other numbers of steps.
    """
    both = [(scores[name], true_scores[name]) for name in sorted(scores.keys() & true_scores.keys())]
    if any(len(given) != len(true) for given, true in both):
        raise ValueError("a trajectory has another number of steps in the true scores")
    given, true = ([pair for steps in side for pair in steps] for side in zip(*both, strict=True)) if both else ([], [])
    columns = {"pearson_reasoning": 0, "pearson_action": 1}
    found = {
        name: _correlation([pair[column] for pair in given], [pair[column] for pair in true])
        for name, column in columns.items()
    }
    delivered = _correlation([sum(pair) / 2 for pair in given], [sum(pair) / 2 for pair in true])
    return found | {"pearson": delivered, "num_steps": len(given), "num_trajectories": len(both)}


def _correlation(given: Sequence[float], true: Sequence[float]) -> float | None:
    if len(given) < 2 or np.ptp(given) == 0 or np.ptp(true) == 0:
        return None
    return float(pearsonr(given, true).statistic)
