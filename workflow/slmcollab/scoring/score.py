"""What every scorer returns."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Score:
    """The verdict on one completion.

    score is in [0, 1] (partial credit where the task has it) and is what a policy is rewarded with; correct is what
    accuracy counts. extracted is the answer that was judged, None where the completion holds none. error is None,
    "timed_out" or "raised: ..."; then score is 0 and correct False. detail is what the scorer adds.
    """

    score: float
    correct: bool
    extracted: str | None
    error: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
