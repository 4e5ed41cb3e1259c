"""A benchmark's scorer is named in its config block (`scorer`) and is the module of that name in this folder."""

import importlib
from types import ModuleType


def get(name: str) -> ModuleType:
    """Return the module slmcollab.scoring.`name`, which has `score(completion, problem) -> Score`.

    Raises ValueError if there is no such module.
    """
    try:
        module = importlib.import_module(f"slmcollab.scoring.{name}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("slmcollab."):
            raise
        module = None
    if not hasattr(module, "score"):
        raise ValueError(f"scorer: {name!r} is no module of slmcollab/scoring with a function `score`")
    return module
