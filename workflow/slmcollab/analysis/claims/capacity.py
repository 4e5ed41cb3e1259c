"""Claim A9: attention goes to the larger experts."""

from collections.abc import Sequence
from functools import partial
from itertools import islice, permutations
from math import factorial

import numpy as np
from jaxtyping import Float, Shaped
from scipy import stats

from slmcollab.analysis.claims.evidence import HIDDEN, Evidence
from slmcollab.analysis.claims.verdicts import ALPHA, NotRun, Part, attempt

DRAWS = 10_000
ROUNDING = 1e-9


def grows_with_size(evidence: Evidence) -> list[Part]:
    """A9: an expert's share of attention grows with its hidden size and its number of parameters."""
    test = (
        "mean over benchmarks and teams of Spearman's ρ, within a team, between size and share (last tenth of steps,"
        " mean over seeds); holds where p < 0.05, one-sided, when the sizes are permuted over the n experts"
        f" (at most {DRAWS:,} permutations)"
    )
    return [
        attempt(Part(f"Spearman's ρ of share and {size}", "ρ", test, method=HIDDEN), partial(_size, evidence, size))
        for size in ("hidden_size", "num_parameters")
    ]


def size_correlation(
    sizes: Float[np.ndarray, "draw expert"], shares: Sequence[Float[np.ndarray, " _"]], teams: Sequence[list[int]]
) -> Float[np.ndarray, " draw"]:
    """Return, for each row of sizes, the mean over teams of Spearman's ρ between the members' sizes and shares.

    teams: the members' columns in `sizes`. A team whose sizes or shares are all equal counts 0.
    """
    found = np.zeros(len(sizes))
    for share, members in zip(shares, teams, strict=True):
        ranks = _centred(stats.rankdata(sizes[:, members], axis=1))
        found += ranks @ _centred(stats.rankdata(share)[np.newaxis])[0]
    return found / len(shares)


def assignments(count: int, generator: np.random.Generator) -> Shaped[np.ndarray, "draw expert"]:
    """Return all permutations of `count` indices, or DRAWS of them where there are more; the first is the identity."""
    if factorial(count) <= DRAWS:
        return np.array(list(islice(permutations(range(count)), DRAWS)))
    drawn = generator.permuted(np.tile(np.arange(count), (DRAWS - 1, 1)), axis=1)
    return np.vstack([np.arange(count), drawn])


def _centred(ranks: Float[np.ndarray, "draw member"]) -> Float[np.ndarray, "draw member"]:
    """Return ranks less their mean, at length 1, 0 where all are equal: the product of two is their correlation."""
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)


def _size(evidence: Evidence, size: str, part: Part) -> Part:
    cells = [cell for cell in evidence.cells() if len({evidence.models[e][size] for e in evidence.teams[cell[1]]}) > 1]
    if not cells:
        raise NotRun(f"no team with experts of different {size}")
    experts = sorted({expert for _, team in cells for expert in evidence.teams[team]})
    teams = [[experts.index(expert) for expert in evidence.teams[team]] for _, team in cells]
    finals = [evidence.final_shares(*cell) for cell in cells]
    values = np.array([float(evidence.models[expert][size]) for expert in experts])
    drawn = values[assignments(len(experts), evidence.generator("A9", size))]
    found = size_correlation(drawn, [final.mean(axis=0) for final in finals], teams)
    p_value = float((found >= found[0] - ROUNDING).mean())
    numbers = {"measured": float(found[0]), "p_value": p_value, "n": len(experts), "n_seeds": min(map(len, finals))}
    least = float((found >= found.max() - ROUNDING).mean())
    if least >= ALPHA:
        return part.undecided(
            f"{len(experts)} experts are too few: no order of theirs has p below {least:.2f}", **numbers
        )
    return part.judged(p_value < ALPHA, reason=f"{len(cells)} benchmarks and teams", **numbers)
