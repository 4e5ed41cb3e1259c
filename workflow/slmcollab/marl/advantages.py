"""Group-relative advantages: how much better a response did than others of its group, and what makes a group.

A group is named by a key. Joint episodes (MAGRPO): the key is the question, and every response of an episode has the
episode's advantage. Turns (AT-GRPO): the key is the question, the turn and its agent, which read one frozen prompt.
A single model (GRPO): the key is the question, and an episode is one response.
"""

from collections.abc import Hashable, Sequence
from statistics import fmean, stdev

EPSILON = 1e-4  # beside the standard deviation of a group


def group_advantages(
    keys: Sequence[Hashable], rewards: Sequence[float | int], *, standardise: bool, limit: float | int | None = None
) -> list[float]:
    """Return the advantage of each member, in their order; keys: the group of each, rewards: what it got.

    It is the reward less the group's mean, standardised divided by the group's deviation too, and at most `limit`, at
    least its negative. Members of a group that all got the same, or of a group of one, have 0.
    """
    groups: dict[Hashable, list[float | int]] = {}
    for key, reward in zip(keys, rewards, strict=True):
        groups.setdefault(key, []).append(reward)
    found = []
    for key, reward in zip(keys, rewards, strict=True):
        group = groups[key]
        is_even = min(group) == max(group)
        advantage = 0.0 if is_even else reward - fmean(group)
        if standardise and not is_even:
            # ASSUME: a standardised advantage is divided by the group's sample deviation plus 1e-4, as in TRL.
            advantage /= stdev(group) + EPSILON
        found.append(advantage if limit is None else max(-limit, min(limit, advantage)))
    return found
