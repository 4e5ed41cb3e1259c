"""Score a run's answers to the test problems."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, read_jsonl, read_problems, write_json
from slmcollab.scoring import summary
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    code: str,
    answers_code: str,
    seed: int,
    answers: Path,
    problems: Path,
    train_problems: Path,
    run: Path,
    history: Path,
    scores: Path,
) -> None:
    """Grade every answer of a run and summarise them with its training."""
    settings, tests, record = json.loads(cell), read_problems(problems), read_json(run)
    if record["seed"] != seed:
        raise ArtifactError(f"{run}: the run of seed {record['seed']}, not of seed {seed}")
    if record["outputs"]["history"] != digest(history):
        raise ArtifactError(f"{history}: not the history that {run} records")
    rows = summary.match_answers(read_jsonl(answers), tests, answers)
    trained = {problem.question for problem in read_problems(train_problems)}
    with Grader(settings["scorer"], settings["time_limit_s"]) as grader:
        graded = grader.grade([row["completion"] for row in rows], tests)
    inputs = {"answers": answers, "problems": problems, "train_problems": train_problems, "history": history}
    digests = {name: digest(path) for name, path in inputs.items()}
    results = {
        **{key: settings[key] for key in ("benchmark", "method", "team", "policy", "experts")},
        "seed": seed,
        **summary.summarise_scores(tests, graded, cut=[row["cut"] for row in rows], trained=trained),
        "training": summary.summarise_history(summary.read_history(history)),
        "provenance": {"run": record, "inputs": digests, "code": {"answers": answers_code, "scores": code}},
    }
    write_json(scores, results)


if __name__ == "__main__":
    tyro.cli(main)
