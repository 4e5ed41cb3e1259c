"""Hard routing (§4.1, method 3): a router picks one expert per completion, and the policy reads its answer alone."""

from slmcollab.context.answer_block import append_answers
from slmcollab.context.operator import AdapterSettings, Operator, Shapes

USES = ("text", "router")


def build(settings: AdapterSettings | None, shapes: Shapes, seed: int) -> Operator:
    """Return the operator with one choice per expert: its answer as text."""
    return Operator(write=append_answers, routes=True)
