"""The chat that asks a question and wants its answer in <answer> tags."""

from reasoning_gym.utils import SYSTEM_PROMPTS


def ask(question: str) -> list[dict[str, str]]:
    """Return the messages: Reasoning Gym's DeepSeekZero text as system, the question as user."""
    # ASSUME: every benchmark is asked with Reasoning Gym's DeepSeekZero system prompt, GSM8K too.
    return [
        {"role": "system", "content": SYSTEM_PROMPTS["DeepSeekZero"]},
        {"role": "user", "content": question},
    ]
