"""One run seed gives many independent, named random streams; threads are set from the config, never from the job."""

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def derive(seed: int, *names: str | int) -> int:
    """Return a seed in [0, 2**32) for the stream `names` of run `seed`: equal names give equal streams anywhere."""
    text = "\0".join([str(seed), *map(str, names)])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:4], "big")


def python_generator(seed: int, *names: str | int) -> random.Random:
    return random.Random(derive(seed, *names))


def torch_generator(seed: int, *names: str | int) -> "torch.Generator":
    import torch

    return torch.Generator().manual_seed(derive(seed, *names))


def fix_threads(num_threads: int) -> None:
    """Set torch's threads: results depend on the count, so it is a constant of the config (`numeric_threads`)."""
    import torch

    torch.set_num_threads(num_threads)
