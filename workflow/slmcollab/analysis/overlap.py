"""How much of a slot's reasoning repeats what it was handed: ROUGE-L against the sender, n-grams against all before."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import fmean

from slmcollab.protocol.trajectory import HANDOFF, Trajectory

DELTAS = (0.3, 0.5, 0.7)
DELTA = 0.5
N = 4  # words of an n-gram
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Overlap:
    """One slot: pairs, the handoffs that it received, and curve, the share of them with a ROUGE-L F1 >= each delta.

    steps: those after others that have n-grams to compare; containment: the mean share of these that occurred in
    reasoning that was there before, which is none of steps asked at the same time.
    """

    pairs: int
    curve: Mapping[float, float | None]
    steps: int
    containment: float | None

    @property
    def share(self) -> float | None:
        return self.curve[DELTA]


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def lcs_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel: a row of the dynamic programme is one integer (Crochemore et al. 2001), so that two texts of 1,000
    words take a millisecond.
    """
    places: dict[str, int] = {}
    for index, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << index
    everything = (1 << len(one)) - 1
    row = everything  # a zero bit where the common subsequence gets longer
    for word in other:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & everything
    return len(one) - row.bit_count()


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """Return ROUGE-L's F1 of two lists of words (Lin 2004): twice their common subsequence over both lengths."""
    return 2 * lcs_length(one, other) / (len(one) + len(other)) if one and other else 0.0


def n_grams(text: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(text[start : start + N]) for start in range(len(text) - N + 1)]


def without_quotes(text: Sequence[str], known: Set[tuple[str, ...]]) -> list[str]:
    """Return the words that none of the known n-grams covers; of fewer than n words none is covered."""
    starts = [start for start, gram in enumerate(n_grams(text)) if gram in known]
    covered = {index for start in starts for index in range(start, start + N)}
    return [word for index, word in enumerate(text) if index not in covered]


def containment(text: Sequence[str], earlier: Sequence[Sequence[str]], known: Set[tuple[str, ...]]) -> float | None:
    """Return |G(y) ∩ ∪ G(y_u)| / |G(y)| over multisets of n-grams (Broder 1997), the known ones left out.

    None where nothing is left to compare: fewer than n words, or known n-grams only.
    """
    own = Counter(gram for gram in n_grams(text) if gram not in known)
    before: Counter[tuple[str, ...]] = Counter()
    for other in earlier:
        before |= Counter(n_grams(other))
    return (own & before).total() / own.total() if own else None


def overlap(
    trajectories: Sequence[Trajectory],
    slots: Sequence[str],
    questions: Mapping[str, str] | None = None,
    levels: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Overlap]:
    """Return slot -> Overlap in the order of `slots`.

    questions: problem -> what the models read as its task; where given, text that also occurs in it is left out.
    levels: trajectory -> the level of each step, where steps of one level were asked at the same time; if not given,
    one step followed another. Raises KeyError for a problem without a question or a trajectory without levels, and
    ValueError for a step of another slot.
    """
    # ASSUME: overlap is ROUGE-L F1 >= 0.5 between a sender's reasoning and that of the step which it hands over to.
    # ASSUME: a handoff to or from a step without any reasoning of its own is no pair, since it has nothing to repeat.
    similar: dict[str, list[float]] = {slot: [] for slot in slots}
    contained: dict[str, list[float]] = {slot: [] for slot in slots}
    for trajectory in trajectories:
        unknown = {step.slot for step in trajectory.steps} - set(slots)
        if unknown:
            raise ValueError(f"{trajectory.id}: slots {sorted(unknown)} are none of {list(slots)}")
        known = set(n_grams([] if questions is None else words(questions[trajectory.problem])))
        texts = [words(step.reasoning) for step in trajectory.steps]
        own = [without_quotes(text, known) for text in texts]
        for index in range(1, len(texts)):
            sender, step = trajectory.steps[index - 1 : index + 1]
            received = sender.anomaly is None and sender.action == HANDOFF and sender.target == step.slot
            if received and own[index - 1] and own[index]:
                similar[step.slot].append(rouge_l(own[index - 1], own[index]))
        places = range(len(texts)) if levels is None else levels[trajectory.id]
        for step, text, place in zip(trajectory.steps, texts, places, strict=True):
            before = [other for other, earlier in zip(texts, places, strict=True) if earlier < place]
            found = containment(text, before, known) if before else None
            contained[step.slot] += [] if found is None else [found]
    return {slot: _overlap(similar[slot], contained[slot]) for slot in slots}


def _overlap(similar: Sequence[float], contained: Sequence[float]) -> Overlap:
    curve = {delta: fmean(value >= delta for value in similar) if similar else None for delta in DELTAS}
    return Overlap(len(similar), curve, len(contained), fmean(contained) if contained else None)
