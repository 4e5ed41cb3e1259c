"""What a verification finds: a file or a rule, what is wrong with it, and which cells of the table rest on it."""

from typing import NamedTuple

EVERY = "every cell"
Cells = frozenset[str]


class Fault(NamedTuple):
    """Something that is not as recorded.

    path: of the file, or `rule` and the name of the rule that ran with other code than there is now; cells: those of
    the table that depend on it, none where none does.
    """

    path: str
    told: str
    cells: Cells = frozenset()

    def __str__(self) -> str:
        behind = EVERY if EVERY in self.cells else "; ".join(sorted(self.cells))
        return f"{self.path}: {self.told}" + (f"; behind {behind}" if behind else "")
