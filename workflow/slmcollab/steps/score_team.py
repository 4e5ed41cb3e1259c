"""Entry of the rule score_team."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, read_problems, write_json
from slmcollab.digests import digests
from slmcollab.protocol.answers import read_answers
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.team_summary import describe_tools, summarise


def main(
    *, cell: str, code: str, seed: int, workers: int, answers: Path, run: Path, problems: Path, scores: Path
) -> None:
    """Grade a system's answers to the test problems, and those that its trajectories held before."""
    settings, record, rows = json.loads(cell), read_json(run, "seed", "outputs"), read_answers(answers)
    if record["outputs"]["answers"] != digest(answers) or record["seed"] != seed:
        raise ArtifactError(f"{answers}: not the answers of seed {seed} that {run} records")
    how = (settings["scorer"], settings["time_limit_s"], workers, settings["options"])
    tests = read_problems(problems)
    with Grader(*how) as grader:
        found = summarise(rows, tests, grader)
        tools = describe_tools(grader, tests, settings["options"])
    inputs = {"answers": digest(answers), "problems": digest(problems)}
    read = digests(answers, run, problems)
    provenance = {"run": record, "inputs": inputs, **read, "code": {"answers": record["code"], "scores": code}, **tools}
    named = {key: settings[key] for key in ("benchmark", "models", "stage", "system")}
    write_json(scores, {**named, "seed": seed, **found, "provenance": provenance})


if __name__ == "__main__":
    tyro.cli(main)
