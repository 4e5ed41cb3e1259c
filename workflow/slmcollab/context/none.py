"""No context: the policy alone."""

from slmcollab.context.operator import AdapterSettings, Operator, Shapes

USES = ()


def build(settings: AdapterSettings | None, shapes: Shapes, seed: int) -> Operator:
    """Return the operator that gives the policy nothing."""
    return Operator()
