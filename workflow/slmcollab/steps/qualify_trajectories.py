"""Entry of the rule qualify_trajectories."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_problems, write_json
from slmcollab.protocol.trajectory import read_trajectories, write_trajectories
from slmcollab.supervision.grading import grade_trajectories
from slmcollab.supervision.qualify import demonstrations as permuted
from slmcollab.supervision.qualify import qualify


def main(
    *, cell: str, seed: int, workers: int, trajectories: Path, problems: Path, demonstrations: Path, funnel: Path
) -> None:
    """Keep the teacher's trajectories that qualify, and permute the slots of each."""
    settings, found = json.loads(cell), read_trajectories(trajectories)
    scores = grade_trajectories(found, read_problems(problems), settings, workers)
    kept, counts = qualify(found, scores, settings["threshold"])
    write_trajectories(demonstrations, permuted(kept, settings["slots"], seed))
    write_json(funnel, counts)


if __name__ == "__main__":
    tyro.cli(main)
