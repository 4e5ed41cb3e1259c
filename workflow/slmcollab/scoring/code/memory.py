"""How much memory a program uses with all the processes that it has started."""

import contextlib
import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid: int) -> int:
    """Return how many bytes of memory a process and its descendants have in use; pages that they share count for each.

    What no process has mapped (files in memory, segments without a user) is not seen.
    """
    total, open_pids = 0, [str(pid)]
    while open_pids:
        folder = Path("/proc", open_pids.pop())
        with contextlib.suppress(OSError):  # a process may end while it is looked at
            total += PAGE * int((folder / "statm").read_text().split()[1])
            for children in folder.glob("task/*/children"):
                open_pids += children.read_text().split()
    return total
