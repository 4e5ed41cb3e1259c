"""The history of a training run: one row a step, nothing that was not measured, no wall times."""

from collections.abc import Sequence
from typing import Any

# column -> TRL's name for it
_COLUMNS = {
    "step": "step",
    "reward": "reward",
    "reward_without_context": "reward_without_context",
    "frac_reward_zero_std": "frac_reward_zero_std",
    "kl": "kl",
    "entropy": "entropy",
    "completion_length": "completions/mean_length",
    "share_cut": "completions/clipped_ratio",
    "share_unparsed": "share_unparsed",
    "num_errors": "num_errors",
    "num_timed_out": "num_timed_out",
    "grad_norm": "grad_norm",
    "tokens": "num_tokens",
}
_COUNTS = ("step", "num_errors", "num_timed_out", "tokens")


_EXPERT = ("attention_entropy", "attention_entropy_prompt", "attention_share/", "router_entropy", "router_share/")


def history_rows(log: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a history from the trainer's log; a value that a step did not log is None.

    Columns of attention or routing are there where they were logged. Rewards, attention and routing of step s are those
    of the policy before its s-th update.
    """
    entries = [entry for entry in log if "reward" in entry]
    logged = dict.fromkeys(name for entry in entries for name in entry if name.startswith(_EXPERT))
    names = _COLUMNS | {name: name for name in logged}
    rows = [{column: entry.get(name) for column, name in names.items()} for entry in entries]
    return [{**row, **{name: int(row[name]) for name in _COUNTS}} for row in rows]
