"""Entry of the rule sample_trajectories."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.collaboration import collaboration
from slmcollab.protocol.record import TeamFiles, describe_stage
from slmcollab.protocol.trajectory import write_trajectories


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    files: TeamFiles,
    checkpoints: Path,
    job: str,
    calls: Path,
    trajectories: Path,
    run: Path,
) -> None:
    """Let a team work on train problems; a killed job goes on with the questions that it had not finished."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    trained, record = files.read_before(), describe_stage(settings, code, seed, files)
    with collaboration(record, files, checkpoints=checkpoints, job=job) as (found, made):
        write_trajectories(trajectories, found)
        write_calls(calls, made)
        outputs = {"calls": calls, "trajectories": trajectories}
        artifacts.write_json(run, with_outputs(record | {"before": trained}, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
