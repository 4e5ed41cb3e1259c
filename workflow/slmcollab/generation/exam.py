"""What a small model knows: the share of an exam's questions that it answers right."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab.generation.greedy import generate_greedy
from slmcollab.models.chat import encode


@dataclass(frozen=True)
class Exam:
    """Shares of an exam's questions, 0 to 1: answered right, and answered in tags."""

    accuracy: float
    format: float


def sit_exam(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict[str, Any]]) -> Exam:
    """Return how `model` does on the questions of `rows`, answering greedily; what stands in tags is the answer."""
    num_tokens = 1 + max(len(tokenizer(f"<answer>{row['completion']}</answer>").input_ids) for row in rows)
    prompts = [encode(tokenizer, row["messages"]) for row in rows]
    ids = generate_greedy(model, tokenizer, prompts, max_new_tokens=num_tokens, batch_size=len(prompts))
    completions = tokenizer.batch_decode(ids, skip_special_tokens=True)
    found = [re.fullmatch(r"<answer>(.*)</answer>", completion, re.DOTALL) for completion in completions]
    answers = [match.group(1) if match else text for match, text in zip(found, completions, strict=True)]
    right = [given == _bare(row["completion"]) for given, row in zip(answers, rows, strict=True)]
    return Exam(accuracy=sum(right) / len(rows), format=sum(match is not None for match in found) / len(rows))


def _bare(completion: str) -> str:
    return completion.removeprefix("<answer>").removesuffix("</answer>")


def share_as_taught(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict[str, Any]]
) -> float:
    """Return the share, 0 to 1, of rows whose completion `model` gives back word for word, answering greedily."""
    prompts = [encode(tokenizer, row["messages"]) for row in rows]
    taught = [tokenizer(row["completion"], add_special_tokens=False).input_ids for row in rows]
    budget = 1 + max(map(len, taught))
    given = generate_greedy(model, tokenizer, prompts, max_new_tokens=budget, batch_size=64)
    same = [ids == [*wanted, tokenizer.eos_token_id] for ids, wanted in zip(given, taught, strict=True)]
    return sum(same) / len(rows)
