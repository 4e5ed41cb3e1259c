"""The features that an operator reads: row k of every expert belongs to problem k of the split."""

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.experts.features import read_features


def load_features(
    paths: Sequence[Path], pooling: str | None, problems: Sequence[Problem], shuffle: random.Random | None
) -> list[Float[Tensor, "problem _"]]:
    """Return one tensor (problem, expert width) per file; with `shuffle`, each problem has the features of another one.

    Raises ArtifactError where a file has another number of rows than there are problems, or values that no operator can
    scale: not finite, or a row of zeros.
    """
    order = shuffled_rows([problem.question for problem in problems], shuffle) if shuffle else range(len(problems))
    features = []
    for path in paths:
        rows = read_features(path, pooling)
        if len(rows) != len(problems):
            raise ArtifactError(f"{path}: {len(rows)} rows of features for {len(problems)} problems")
        if not torch.isfinite(rows).all() or not rows.any(dim=1).all():
            raise ArtifactError(f"{path}: {pooling}: a row is zero or holds something else than finite numbers")
        features.append(rows[list(order)])
    return features


def shuffled_rows(questions: Sequence[str], generator: random.Random) -> list[int]:
    """Return, for each problem, the row of a problem with ANOTHER question; equal questions get the same row.

    The distinct questions are put in random order, and each reads the next one's first row, the last the first one's.
    Raises ValueError where there is one question only.
    """
    first = {question: row for row, question in reversed(list(enumerate(questions)))}
    distinct = sorted(first, key=first.__getitem__)
    if len(distinct) < 2:
        raise ValueError(f"features can only be shuffled among different questions, got {len(distinct)}")
    generator.shuffle(distinct)
    following = dict(zip(distinct, [*distinct[1:], distinct[0]], strict=True))
    return [first[following[question]] for question in questions]
