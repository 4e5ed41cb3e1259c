"""What an answer costs: invocations and output tokens a question, each token weighed by the size of its model."""

from collections.abc import Sequence
from dataclasses import dataclass

from slmcollab.generation.calls import EVAL, SEARCH, Call


@dataclass(frozen=True)
class Cost:
    """Means over the questions. weighted_tokens: Σ B·tokens / divisor; b_tokens: Σ B·tokens, B in billions.

    Tokens of a search are spread over the questions; its invocations are not.
    """

    invocations: float
    output_tokens: float
    weighted_tokens: float
    b_tokens: float


def cost(calls: Sequence[Call], num_questions: int, divisor: float) -> Cost:
    """Return what a question costs (paper, section 3.4); retries count, calls of training do not.

    divisor: billions of parameters that one weighted token stands for, the sum of the sizes of the table's models.
    Raises ValueError unless both numbers are positive.
    """
    # ASSUME: the divisor of weighted tokens is the sum of the sizes of all models of the comparison, each once.
    if num_questions <= 0 or divisor <= 0:
        raise ValueError(f"{num_questions} questions and a divisor of {divisor}: both have to be positive")
    counted = [call for call in calls if call.phase in (EVAL, SEARCH)]
    b_tokens = weighted_sum(counted) / num_questions
    return Cost(
        invocations=sum(call.phase == EVAL for call in counted) / num_questions,
        output_tokens=sum(call.output_tokens for call in counted) / num_questions,
        weighted_tokens=b_tokens / divisor,
        b_tokens=b_tokens,
    )


def weighted_sum(calls: Sequence[Call]) -> float:
    """Return Σ B·output tokens in billions; added up model by model, so that the order of the calls changes nothing."""
    tokens: dict[tuple[str, float], int] = {}
    for call in calls:
        key = (call.model, call.model_b)
        tokens[key] = tokens.get(key, 0) + call.output_tokens
    return sum((size * tokens[model, size] for model, size in sorted(tokens)), start=0.0)


def reduction(ours: float, baseline: float) -> float:
    """Return 1 - ours / baseline, the share that is saved, negative where ours is more; raises ValueError for 0."""
    if baseline == 0:
        raise ValueError("nothing can be saved of a baseline of 0")
    return 1 - ours / baseline
