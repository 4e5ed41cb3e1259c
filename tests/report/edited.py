"""What an edit by hand may leave of a file of JSON, and what is said to it."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError

ODD = (None, "x", [], [3], {"code": []})


def edited(content: Any) -> Iterator[Any]:
    """Yield copies of a value of JSON: with each node at any depth taken out, and with each as something else."""
    for at in list(_nodes(content)):
        for odd in (KeyError, *ODD):
            other = copy.deepcopy(content)
            inside = other
            for key in at[:-1]:
                inside = inside[key]
            if odd is KeyError:
                del inside[at[-1]]
            else:
                inside[at[-1]] = odd
            yield other


def refusals(path: Path, check: Callable[[], Any]) -> list[str]:
    """Return the ArtifactErrors of a check, which may raise no other, with the file as every edit would leave it."""
    found = []
    for content in edited(json.loads(path.read_text())):
        path.write_text(json.dumps(content))
        try:
            check()
        except ArtifactError as error:
            found.append(str(error))
    return found


def _nodes(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    named = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in named:
        yield (*at, key)
        yield from _nodes(value, (*at, key))
