"""A benchmark's loader is named in its config block (`loader`) and is the module of that name in this folder."""

import importlib
from types import ModuleType


def get(name: str) -> ModuleType:
    """Return the module slmcollab.benchmarks.`name`, which has `load(block, data_seed) -> Splits`.

    Raises ValueError if there is no such module.
    """
    try:
        module = importlib.import_module(f"slmcollab.benchmarks.{name}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("slmcollab."):
            raise
        module = None
    if not hasattr(module, "load"):
        raise ValueError(f"loader: {name!r} is no module of slmcollab/benchmarks with a function `load`")
    return module
