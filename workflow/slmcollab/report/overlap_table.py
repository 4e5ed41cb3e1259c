"""The table of overlap: how much of each slot's reasoning repeats what came before it."""

from collections.abc import Mapping, Sequence

from slmcollab.analysis.overlap import DELTA, N, overlap
from slmcollab.analysis.rates import Rate
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.report.slices_runs import NAMES, Quantities, Quantity
from slmcollab.report.tidy import CONDITIONS, NUMBERS

KEYS = ("slot", "model", "text", "measure")
COLUMNS = (*NAMES, *KEYS, *NUMBERS)
WHOLE, WITHOUT_QUESTION = "whole", "without_question"


def overlap_quantities(
    trajectories: Sequence[Trajectory],
    models: Mapping[str, str],
    questions: Mapping[str, str],
    levels: Mapping[str, Sequence[int]] | None = None,
) -> Quantities:
    """Return (slot, model, text, measure) -> quantity of a run, in percent.

    models: slot -> model; questions: problem -> what the models read; levels: see `overlap`. text: the whole reasoning,
    or without what also occurs in the question. Measures: rouge_l_ of each delta, the share of received handoffs with
    at least that F1, no value where nothing is handed over; and containment_4, the mean share of a step's 4-grams that
    came before.
    """
    found: dict[tuple[str, ...], Quantity] = {}
    for text, source in ((WHOLE, None), (WITHOUT_QUESTION, questions)):
        for slot, repeated in overlap(trajectories, list(models), source, levels).items():
            for delta, share in repeated.curve.items():
                counts = Rate(round((share or 0.0) * repeated.pairs), repeated.pairs)
                found[slot, models[slot], text, f"rouge_l_{delta}"] = Quantity.share(counts)
            mean = Quantity.percent(repeated.containment, repeated.steps)
            found[slot, models[slot], text, f"containment_{N}"] = mean
    return found


def printed_overlap(names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the paper's (quantity, condition) of a row, as "model 1 of 3 as listed, after CL"; it defines no delta."""
    when = CONDITIONS.get(names["method"])
    if when is None or (names["text"], names["measure"]) != (WHOLE, f"rouge_l_{DELTA}"):
        return None
    return "reasoning_overlap_rate_pct", f"model {names['slot'].removeprefix('a')} of 3 as listed, {when}"
