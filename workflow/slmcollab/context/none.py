"""No context: the policy alone."""

from collections.abc import Sequence

from slmcollab.context.operator import AdapterSettings


def build(
    settings: AdapterSettings | None,
    *,
    expert_widths: Sequence[int],
    policy_width: int,
    embedding_rms: float,
    seed: int,
) -> None:
    """Return None; raises ValueError where a team is given, which nothing would read."""
    if expert_widths:
        raise ValueError(f"operator none reads no experts, but {len(expert_widths)} are given")
