"""What a linear map reads from an expert's features: whether a team knows something, before any training."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from slmcollab.artifacts import Problem

MAX_ANSWERS = 200  # more distinct ones are no small set of classes
WHOLE = "all"  # the name of a benchmark's problems all together, beside its tasks


@dataclass(frozen=True)
class Reading:
    """accuracy: share, 0 to 1, of `n_test` unseen test questions whose answer was read; chance: that of always giving
    train's commonest answer. Both are None where there is a `reason` not to probe."""

    accuracy: float | None
    chance: float | None
    n_train: int
    n_test: int
    reason: str | None


def list_tasks(train: Sequence[Problem], test: Sequence[Problem]) -> dict[str, tuple[list[int], list[int]]]:
    """Return name -> which train and which test problems these are: all of them, then each of a benchmark's tasks.

    A benchmark of one task, or whose problems name none (metadata.source_dataset), has no tasks beside the whole.
    """
    named = [[problem.metadata.get("source_dataset") for problem in split] for split in (train, test)]
    names = sorted({name for split in named for name in split if name is not None})
    whole = (list(range(len(train))), list(range(len(test))))
    rows = {name: tuple([i for i, given in enumerate(split) if given == name] for split in named) for name in names}
    return {WHOLE: whole, **(rows if len(rows) > 1 else {})}


def select_unseen(train: Sequence[Problem], test: Sequence[Problem]) -> Bool[np.ndarray, " problem"]:
    """Return, per test problem, whether its question occurs in no train problem."""
    questions = {problem.question for problem in train}
    return np.array([problem.question not in questions for problem in test], dtype=bool)


def explain_no_probe(train: Sequence[Problem], test: Sequence[Problem]) -> str | None:
    """Return why the answers to these problems cannot be probed, or None where they can."""
    if not train or not test:
        return "no problem in train" if not train else "no problem in test"
    if any(problem.answer is None for problem in [*train, *test]):
        return "some problems have no single answer"
    num_answers = len({problem.answer for problem in train})
    if num_answers > MAX_ANSWERS:
        return f"{num_answers} distinct answers in train are no small set (at most {MAX_ANSWERS})"
    if not select_unseen(train, test).any():
        return "every test question occurs in train"
    return None


def read_answers(
    train_features: Float[np.ndarray, "train width"],
    train_answers: Sequence[str],
    test_features: Float[np.ndarray, "test width"],
    ridge: float,
) -> list[str]:
    """Return the answers that a linear map, fitted on train, reads from the test features.

    The map is the minimum of ||X W - Y||^2 / num_train + ridge ||W||^2, X the features, standardised, Y the one-hot
    answers, less their mean; the largest output is the answer. An answer that train does not hold cannot be read.
    Raises ValueError where ridge is not above 0, for then the map need not be unique.
    """
    if not ridge > 0:
        raise ValueError(f"probe.ridge: {ridge} is not above 0")
    classes, labels = np.unique(np.asarray(train_answers), return_inverse=True)
    one_hot = np.eye(len(classes))[labels]
    mean, scale = train_features.mean(0, dtype=np.float64), train_features.std(0, dtype=np.float64)
    # A column that is constant but for rounding, as first_token's are, becomes zero: rounding may follow the batches.
    scale[scale <= 1e-5 * np.abs(train_features).max()] = np.inf
    x, z = (train_features - mean) / scale, (test_features - mean) / scale
    gram = x.T @ x / len(x) + ridge * np.eye(x.shape[1])
    weights = np.linalg.solve(gram, x.T @ one_hot / len(x))
    return classes[(z @ weights + one_hot.mean(0)).argmax(1)].tolist()


def probe(
    train: Sequence[Problem],
    test: Sequence[Problem],
    train_features: Float[np.ndarray, "train width"],
    test_features: Float[np.ndarray, "test width"],
    ridge: float,
) -> Reading:
    """Return how many answers of test questions that train does not hold can be read from the features."""
    unseen = select_unseen(train, test)
    reason = explain_no_probe(train, test)
    if reason is not None:
        return Reading(None, None, len(train), int(unseen.sum()), reason)
    train_answers = [problem.answer for problem in train]
    answers = np.array([problem.answer for problem in test])[unseen]
    read = read_answers(train_features, train_answers, test_features[unseen], ridge)
    commonest = max(sorted(set(train_answers)), key=train_answers.count)
    return Reading(
        accuracy=float((np.array(read) == answers).mean()),
        chance=float((answers == commonest).mean()),
        n_train=len(train),
        n_test=len(answers),
        reason=None,
    )
