"""Entry of the rule search_workflow."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.record import TeamFiles, describe_stage
from slmcollab.search.files import write_search, write_workflow
from slmcollab.search.job import searched
from slmcollab.teams.aflow import KINDS


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    files: TeamFiles,
    optimiser: Path,
    workers: int,
    checkpoints: Path,
    job: str,
    workflow: Path,
    search: Path,
    calls: Path,
    run: Path,
) -> None:
    """Search for the workflow that solves most dev questions; a killed job goes on after its last iteration."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    record = describe_stage(settings, code, seed, files, {"optimiser": optimiser})
    asked = {"optimiser": optimiser, "workers": workers, "checkpoints": checkpoints, "job": job}
    with searched(record, files, KINDS, **asked) as (trials, made):
        write_workflow(workflow, trials)
        write_search(search, trials)
        write_calls(calls, made)
        outputs = {"workflow": workflow, "search": search, "calls": calls}
        artifacts.write_json(run, with_outputs(record, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
