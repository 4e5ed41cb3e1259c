"""What a figure is, and how two ways of doing one thing are timed against each other."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

SLACK = 0.15  # how much worse than its bound a figure may be before --check fails


@dataclass(frozen=True)
class Figure:
    """One line: `value` is what the bound is on, a ratio of ours to the peer's or seconds.

    at_least: whether the bound is a lower one; ours, peer: in `unit`.
    """

    name: str
    value: float
    bound: float
    ours: float
    unit: str
    peer: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        if self.at_least:
            return self.value >= self.bound * (1 - SLACK)
        return self.value <= self.bound * (1 + SLACK)

    def __str__(self) -> str:
        peer = "-" if self.peer is None else f"{self.peer:.4g}"
        ratio = "-" if self.peer is None else f"{self.value:.2f}"
        verdict = "" if self.holds else "WORSE"
        bound = f"{'>=' if self.at_least else '<='} {self.bound:g}"
        return (
            f"{self.name:<30} {self.ours:>9.3g} {peer:>9} {self.unit:<9} {ratio:>6}  {bound:<8} {verdict} {self.note}"
        )


HEADER = f"{'name':<16} {'ours':>9} {'peer':>9} {'unit':<9} {'ratio':>6}  bound"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a call, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def interleaved(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Return the median CPU seconds of each call over rounds in which they take turns, the first not counted."""
    times = [[cpu_seconds(work) for work in works] for _ in range(rounds + 1)]
    return [median(column) for column in zip(*times[1:], strict=True)]
