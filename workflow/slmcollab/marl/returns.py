"""What MAPoRL (Park et al., 2025) pays for an answer: for the discussion that follows, and for how opinions change."""

from collections.abc import Sequence
from statistics import fmean

Real = float | int
Verdicts = Sequence[Sequence[Real]]  # [round][agent]: how right an answer is, 0 to 1
HALF = 0.5


def discussion_returns(verdicts: Verdicts, discount: Real) -> list[list[float]]:
    """Return S [round][agent]: an answer's own verdict and the team's mean in the rounds after it, discounted.

    S(t, a) = (s(t, a) + sum over t' > t of d^(t' - t) mean_b s(t', b)) / sum over t' >= t of d^(t' - t): in [0, 1].
    """
    means, number = [fmean(row) for row in verdicts], len(verdicts)
    found = []
    for now, row in enumerate(verdicts):
        weights = [discount ** (later - now) for later in range(now, number)]
        ahead = sum(weight * mean for weight, mean in zip(weights[1:], means[now + 1 :], strict=True))
        found.append([(own + ahead) / sum(weights) for own in row])
    return found


def discussion_bonuses(verdicts: Verdicts, bonus: Sequence[Real], *, official_sign: bool) -> list[list[float]]:
    """Return B [round][agent], nothing for the first round; right is above one half and wrong is below it.

    bonus: a0 to a3. An answer that became wrong costs a0 where most peers had been wrong, a1 where right; one that
    became right earns a0 where they had been right, a1 where wrong. Where an agent's peers become right in the next
    round it earns a3 if its own answer is right, a2 if wrong; where they become wrong it pays a3 if its own is wrong,
    a2 if right. With official_sign these last four are negated, as in the method's published code.
    """
    found = [[0.0] * len(verdicts[0])]
    for now in range(1, len(verdicts)):
        row = []
        for agent in range(len(verdicts[now])):
            own, peers = [one[agent] for one in verdicts], [_peers(one, agent) for one in verdicts]
            value = _change(own[now - 1], own[now], peers[now - 1], bonus)
            if now + 1 < len(verdicts):
                influence = _influence(own[now], peers[now], peers[now + 1], bonus)
                value += -influence if official_sign else influence
            row.append(value)
        found.append(row)
    return found


def _peers(row: Sequence[Real], agent: int) -> float:
    """Return the mean verdict of the others; one that has none has peers of which nothing is known, one half."""
    others = [verdict for other, verdict in enumerate(row) if other != agent]
    return fmean(others) if others else HALF


def _change(before: Real, after: Real, peers: Real, bonus: Sequence[Real]) -> float:
    first, second, *_ = bonus
    if after < HALF < before:
        return -first * (peers < HALF) - second * (peers > HALF)
    if before < HALF < after:
        return first * (peers > HALF) + second * (peers < HALF)
    return 0.0


def _influence(own: Real, peers: Real, later: Real, bonus: Sequence[Real]) -> float:
    *_, third, fourth = bonus
    if peers < HALF < later:
        return fourth * (own > HALF) + third * (own < HALF)
    if later < HALF < peers:
        return -fourth * (own < HALF) - third * (own > HALF)
    return 0.0


def generalised_advantages(
    rewards: Sequence[Real], values: Sequence[Real], *, gamma: Real, gae_lambda: Real
) -> list[float]:
    """Return the advantage of each token of a response (Schulman et al., 2016): nothing is worth anything after it.

    A(t) = d(t) + gamma lambda A(t + 1) with d(t) = r(t) + gamma V(t + 1) - V(t). values: V before each token.
    """
    found, ahead, later = [], 0.0, 0.0
    for reward, value in zip(reversed(rewards), reversed(values), strict=True):
        ahead = reward + gamma * later - value + gamma * gae_lambda * ahead
        later = value
        found.append(ahead)
    return found[::-1]
