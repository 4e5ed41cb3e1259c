"""The answer of several replies: what most of them say."""

from collections.abc import Sequence

from slmcollab.graph.nodes import Reply, Team
from slmcollab.scoring.equality import EQUALITIES, plain


def team_answer(replies: Sequence[Reply], team: Team) -> tuple[str, str | None]:
    """Return the answer that most replies give, as the largest model among them wrote it, and that model's slot.

    Answers are one if `team.equality` says so; of answers that equally many give, the largest model's is taken, of
    replies of one slot the first. Without an equality it is the largest model's answer, whatever the others say. A
    reply that could not be read has no vote: ("", None) where there is no other.
    """
    rank = team.ranked.index
    readable = sorted((reply for reply in replies if reply.answer), key=lambda reply: rank(reply.node.slot))
    if not readable:
        return "", None
    if team.equality is None:
        return readable[0].answer, readable[0].node.slot
    groups: dict[str, list[Reply]] = {}
    for reply in readable:
        groups.setdefault(_key(reply.answer, team.equality), []).append(reply)
    first, *_ = max(groups.values(), key=len)  # of equally long ones the first: dicts keep their order
    return first.answer, first.node.slot


def _key(answer: str, equality: str) -> str:
    """Return what equal answers share; answers of which nothing is left, such as "..." and "?", are not one for it."""
    return EQUALITIES[equality](answer) or plain(answer)
