"""Entry of the rule answer_with_team."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.answers import answer_rows
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
    answers: Path,
    run: Path,
) -> None:
    """Let a team answer the test problems, one trajectory each."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    trained, record = files.read_before(), describe_stage(settings, code, seed, files)
    with collaboration(record, files, checkpoints=checkpoints, job=job) as (found, made):
        write_trajectories(trajectories, found)
        write_calls(calls, made)
        artifacts.write_jsonl(answers, answer_rows(found))
        outputs = {"calls": calls, "trajectories": trajectories, "answers": answers}
        artifacts.write_json(run, with_outputs(record | {"before": trained}, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
