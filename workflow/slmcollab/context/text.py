"""Output-level collaboration (§4.1, method 2): the experts' stored answers stand as text below the question."""

from slmcollab.context.answer_block import append_answers
from slmcollab.context.operator import AdapterSettings, Operator, Shapes

USES = ("text",)


def build(settings: AdapterSettings | None, shapes: Shapes, seed: int) -> Operator:
    """Return the operator that gives the policy every expert's answer to read."""
    return Operator(write=append_answers)
