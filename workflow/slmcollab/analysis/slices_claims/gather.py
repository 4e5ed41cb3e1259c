"""From the files of one run to its measures; a file that does not fit is named."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.analysis.outcomes import Outcome, outcomes
from slmcollab.analysis.slices_claims.evidence import CL, NO_TRAINING, WITH_CALLS, WITH_TRAJECTORIES, Run
from slmcollab.analysis.slices_claims.measures import (
    Measures,
    call_measures,
    metric_measures,
    outcome_measures,
    trajectory_measures,
    with_tasks,
)
from slmcollab.artifacts import ArtifactError, read_json
from slmcollab.generation.calls import read_calls
from slmcollab.protocol.answers import read_answers
from slmcollab.protocol.trajectory import read_trajectories

SCORES_KEYS = ("benchmark", "system", "seed", "stage", "models", "metrics", "problems")


def read_scores(path: Path, run: Run, stage: str) -> Mapping[str, Any]:
    """Return a scores file; raises ArtifactError where it lacks something or is of another run or stage."""
    content = read_json(path)
    absent = set(SCORES_KEYS) - set(content if isinstance(content, Mapping) else ())
    if absent:
        raise ArtifactError(f"{path}: lacks {sorted(absent)}")
    found = (content["benchmark"], content["system"], content["seed"], content["stage"])
    if found != (*run, stage):
        raise ArtifactError(f"{path}: of {found}, not of {(*run, stage)}")
    return content


def run_measures(folder: Path, run: Run, normalise: str) -> tuple[Measures, Mapping[str, Outcome], Mapping[str, Any]]:
    """Return the measures and outcomes of a run's folder, and its scores file; normalise: see `trajectory_measures`.

    Reads trajectories and calls only of systems whose claims are about them, one run at a time: they are large. Raises
    ArtifactError naming the file that is missing, cut, or does not fit the others.
    """
    stage = folder / "eval"
    scores = read_scores(stage / "scores.json", run, "eval")
    answers = read_answers(stage / "answers.jsonl")
    try:
        ended = outcomes(answers, scores)
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"{stage / 'answers.jsonl'}: {error}") from error
    found = metric_measures(str(stage / "scores.json"), scores) | outcome_measures(ended)
    if run.method in WITH_TRAJECTORIES:
        slots = [f"a{place}" for place, _ in enumerate(scores["models"], 1)]
        spoken = read_trajectories(stage / "trajectories.jsonl")
        same_questions(stage / "trajectories.jsonl", [one.problem for one in spoken], scores)
        found |= trajectory_measures(spoken, slots, normalise, overlaps=run.method in (CL, NO_TRAINING))
    if run.method in WITH_CALLS:
        found |= call_measures(read_calls(stage / "calls.parquet"), list(scores["problems"]))
    return with_tasks(found, scores), ended, scores


def same_questions(path: Path, questions: Sequence[str], scores: Mapping[str, Any]) -> None:
    """Raise ArtifactError unless the file has each scored question once."""
    if sorted(questions) != sorted(scores["problems"]):
        raise ArtifactError(f"{path}: {len(questions)} questions, not the {len(scores['problems'])} of its scores file")


def same_problems(known: dict[str, tuple[str, set[str]]], run: Run, path: Path, scores: Mapping[str, Any]) -> None:
    """Raise ArtifactError where a run answered other questions than the benchmark's runs before it."""
    first, expected = known.setdefault(run.benchmark, (str(path), set(scores["problems"])))
    if not expected or set(scores["problems"]) != expected:
        raise ArtifactError(f"{path}: no problems, or others than in {first}")


def numbers_of(other: Mapping[tuple[str, str, str], tuple[str, str]]) -> dict[tuple[str, str, str], float]:
    """Return the paper's other values that are numbers; "4/5" counts as 4."""
    found = {}
    for key, (text, _) in other.items():
        try:
            found[key] = float(text.partition("/")[0])
        except ValueError:
            continue  # "increases": a direction, no number
    return found
