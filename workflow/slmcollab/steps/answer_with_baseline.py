"""Entry of the rule answer_with_baseline."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import read_calls, write_calls
from slmcollab.graph.evaluation import SearchFiles, evaluation
from slmcollab.protocol.record import TeamFiles, describe_stage
from slmcollab.protocol.trajectory import write_trajectories


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    files: TeamFiles,
    found: SearchFiles,
    checkpoints: Path,
    job: str,
    calls: Path,
    trajectories: Path,
    answers: Path,
    run: Path,
) -> None:
    """Let a baseline answer the test problems, once each; the calls of its search stand before its own."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    origin = {"before": files.read_before(), "searched": found.read_record()}
    record = describe_stage(settings, code, seed, files, found.named())
    searched = [call for path in found.search_calls for call in read_calls(path)]
    with evaluation(record, files, found, checkpoints=checkpoints, job=job) as (said, made, rows):
        write_trajectories(trajectories, said)
        write_calls(calls, [*searched, *made])
        artifacts.write_jsonl(answers, rows)
        outputs = {"calls": calls, "trajectories": trajectories, "answers": answers}
        artifacts.write_json(run, with_outputs(record | origin, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
