"""What a frozen expert reads: a split's prompts in its own chat template."""

from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from slmcollab.artifacts import Problem
from slmcollab.experts.features import fit_prompts
from slmcollab.models import chat


def read_prompts(
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[Problem],
    extraction: dict[str, Any],
    *,
    max_positions: int,
    room: int = 0,
) -> tuple[list[list[int]], list[bool]]:
    """Return the ids of each problem's prompt and whether it was cut, `room` positions left for an answer.

    extraction: max_tokens and overflow. Raises what `fit_prompts` raises, and ValueError where no position is left.
    """
    limit = min(extraction["max_tokens"], max_positions - room)
    if limit < 1:
        raise ValueError(f"expert_answers.max_new_tokens: {room} leaves none of the expert's {max_positions} positions")
    prompts = [chat.encode(tokenizer, problem.messages) for problem in problems]
    ids = [problem.id for problem in problems]
    return fit_prompts(prompts, ids, limit=limit, overflow=extraction["overflow"])
