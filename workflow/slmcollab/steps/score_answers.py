"""Score a run's answers to the test problems."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, read_jsonl, read_problems, write_json
from slmcollab.digests import digests
from slmcollab.scoring import summary
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    answers: Path,
    answering: Path,
    problems: Path,
    train_problems: Path,
    run: Path,
    history: Path,
    scores: Path,
) -> None:
    """Grade every answer of a run and summarise them with its training."""
    settings, tests = json.loads(cell), read_problems(problems)
    record, answered = (read_json(path, "code", "outputs", "seed") for path in (run, answering))
    for made, path, name, by in ((record, history, "history", run), (answered, answers, "answers", answering)):
        if made["outputs"][name] != digest(path) or made["seed"] != seed:
            raise ArtifactError(f"{path}: not the {name} of seed {seed} that {by} records")
    rows = summary.match_answers(read_jsonl(answers), tests, answers)
    trained = {problem.question for problem in read_problems(train_problems)}
    with Grader(settings["scorer"], settings["time_limit_s"]) as grader:
        graded = grader.grade([row["completion"] for row in rows], tests)
    read = {"answers": answers, "problems": problems, "train_problems": train_problems, "history": history}
    origin = digests(*read.values(), run, answering) | {"inputs": {name: digest(path) for name, path in read.items()}}
    results = {
        **{key: settings[key] for key in ("benchmark", "method", "team", "policy", "experts")},
        "seed": seed,
        **summary.summarise_scores(tests, graded, cut=[row["cut"] for row in rows], trained=trained),
        "training": summary.summarise_history(summary.read_history(history)),
        "provenance": {"run": record, **origin, "code": {"answers": answered["code"], "scores": code}},
    }
    write_json(scores, results)


if __name__ == "__main__":
    tyro.cli(main)
