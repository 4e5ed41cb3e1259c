"""From the parsed files of a grid to the evidence of the claims; a file that does not fit is named."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from slmcollab.analysis.attention import dynamics
from slmcollab.analysis.claims.evidence import HIDDEN, Evidence, Rewards, Run
from slmcollab.artifacts import ArtifactError

SCORES_KEYS = ("benchmark", "method", "team", "seed", "metrics", "problems")
ATTENTION_KEYS = (
    "benchmark",
    "method",
    "team",
    "seed",
    "shares",
    "prompt_variance_share",
    "accuracy",
    "accuracy_frozen",
)
MANIFEST_KEYS = ("model", "hidden_size", "num_parameters")
TOLERANCE = 1e-3


def gather(
    cell: Mapping[str, Any],
    *,
    scores: Mapping[str, Any],
    histories: Mapping[str, pd.DataFrame],
    attention: Mapping[str, Any],
    manifests: Mapping[str, Any],
    published: Mapping[tuple[str, ...], Any],
) -> Evidence:
    """Return the evidence of the runs that the cell lists.

    scores, attention, manifests: name of a file -> its contents; histories: in the order of cell["runs"]. Raises
    ArtifactError naming the file that is foreign, twice there, missing, or not what it should be.
    """
    runs = [Run(**run) for run in cell["runs"]]
    named = _by_run(scores, SCORES_KEYS, runs)
    missing = [run for run in runs if run not in named]
    if missing:
        raise ArtifactError(f"no scores file for {missing}")
    correct, seen = _answers({run: (named[run], scores[named[run]]) for run in runs})
    if len(histories) != len(runs):
        raise ArtifactError(f"{len(histories)} histories for the {len(runs)} runs of the cell")
    hidden = {run: file for run, file in zip(runs, histories.items(), strict=True) if run.method == HIDDEN}
    files = _by_run(attention, ATTENTION_KEYS, list(hidden))
    models = _models(manifests, {expert for run in hidden for expert in cell["teams"][run.team]})
    return Evidence(
        correct=correct,
        seen=seen,
        dynamics={run: dynamics(*file, cell["teams"][run.team]) for run, file in hidden.items()},
        rewards={run: _rewards(*file) for run, file in hidden.items()},
        attention={
            run: _attention(name, attention[name], cell["teams"][run.team], _accuracy(correct[run]))
            for run, name in files.items()
        },
        models=models,
        published=published,
        **{name: cell[name] for name in ("teams", "poolings", "sizes", "roles")},
    )


def _require(name: str, content: Any, keys: Sequence[str]) -> None:
    absent = set(keys) - set(content if isinstance(content, Mapping) else ())
    if absent:
        raise ArtifactError(f"{name}: lacks {sorted(absent)}")


def _by_run(files: Mapping[str, Any], keys: Sequence[str], runs: Sequence[Run]) -> dict[Run, str]:
    found: dict[Run, str] = {}
    for name, content in files.items():
        _require(name, content, keys)
        run = Run(*(content[key] for key in Run._fields))
        if run not in runs:
            raise ArtifactError(f"{name}: {run} is not asked for")
        if run in found:
            raise ArtifactError(f"{name} and {found[run]}: both hold {run}")
        found[run] = name
    return found


def _answers(files: Mapping[Run, tuple[str, Any]]) -> tuple[dict[Run, np.ndarray], dict[str, np.ndarray]]:
    """Return correct and seen; raises ArtifactError where runs of a benchmark differ in their problems."""
    correct, seen, known = {}, {}, {}
    for run, (name, content) in files.items():
        problems = content["problems"]
        flags = {key: bool(problems[key]["seen"]) for key in sorted(problems)}
        first, expected = known.setdefault(run.benchmark, (name, flags))
        if not flags or flags != expected:
            raise ArtifactError(f"{name}: no problems, or others than in {first}")
        correct[run] = np.array([float(problems[key]["score"] == 1) for key in flags])
        seen[run.benchmark] = np.array(list(flags.values()))
        accuracy, found = content["metrics"]["accuracy"], _accuracy(correct[run])
        if abs(found - accuracy) > TOLERANCE:
            raise ArtifactError(f"{name}: accuracy {accuracy}, but its problems give {found}")
    return correct, seen


def _rewards(name: str, history: pd.DataFrame) -> Rewards:
    if "reward_without_context" not in history:
        raise ArtifactError(f"{name}: no column 'reward_without_context'")
    sampled = history.dropna(subset=["reward_without_context"])
    columns = ("step", "reward", "reward_without_context")
    try:
        return Rewards(*(sampled[column].to_numpy(dtype=float) for column in columns))
    except ValueError as error:
        raise ArtifactError(f"{name}: {error}") from error


def _accuracy(correct: np.ndarray) -> float:
    return 100 * float(correct.mean())


def _attention(name: str, content: Mapping[str, Any], experts: Sequence[str], accuracy: float) -> Mapping[str, Any]:
    shares = content["shares"]
    if sorted(shares) != sorted(experts) or abs(sum(shares.values()) - 1) > TOLERANCE:
        raise ArtifactError(f"{name}: shares {shares}, not shares of {sorted(experts)} that add up to 1")
    if abs(content["accuracy"] - accuracy) > TOLERANCE:
        raise ArtifactError(f"{name}: of a run with accuracy {content['accuracy']}, but its answers give {accuracy}")
    return content


def _models(manifests: Mapping[str, Any], experts: set[str]) -> dict[str, Mapping[str, Any]]:
    models = {}
    for name, content in manifests.items():
        _require(name, content, MANIFEST_KEYS)
        models[content["model"]] = content
    if experts - set(models):
        raise ArtifactError(f"no manifest of {sorted(experts - set(models))}")
    return models
