"""How experts' answers stand in a chat."""

from collections.abc import Sequence

Messages = Sequence[dict[str, str]]


def append_answers(messages: Messages, answers: Sequence[str]) -> list[dict[str, str]]:
    """Return the chat with the answers below its last message, in their order, unchanged where there is none."""
    # ASSUME: names are hidden; a numbered block of answers, then the demand for a final one, follow the question.
    if not answers:
        return list(messages)
    *others, last = messages
    items = "\n".join(f"[{number}] {answer.strip()}" for number, answer in enumerate(answers, start=1))
    block = f"Answers of assistants:\n{items}\n\nGive your final answer in <answer> </answer> tags."
    return [*others, {**last, "content": f"{last['content']}\n\n{block}"}]
