"""What conda's environments hold, by their files and by what is installed here."""

from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pins(file: Path) -> list[str]:
    """Return what pip installs in an environment."""
    *_, pip = yaml.safe_load(file.read_text())["dependencies"]
    return pip["pip"]


@cache
def installs(file: Path) -> frozenset[str]:
    """Return the distributions of an environment: those that pip is asked for, and all that these require."""
    found, waiting = set(), [Requirement(line) for line in pins(file)]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in {"", *wanted.extras}:
            if (name, extra) not in found:
                found.add((name, extra))
                needed = map(Requirement, distribution(wanted.name).requires or [])
                waiting += [one for one in needed if one.marker is None or one.marker.evaluate({"extra": extra})]
    return frozenset(name for name, _ in found)
