"""Entry of the rule search_workflow."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.record import StageJob
from slmcollab.search.files import write_search, write_workflow
from slmcollab.search.job import searched
from slmcollab.teams.aflow import KINDS


def main(
    *,
    stage: StageJob,
    optimiser: Path,
    workers: int,
    workflow: Path,
    search: Path,
    calls: Path,
    run: Path,
) -> None:
    """Search for the workflow that solves most dev questions; a killed job goes on after its last iteration."""
    record = stage.describe({"optimiser": optimiser})
    seeding.fix_threads(record["cell"]["numeric_threads"])
    with searched(record, stage, KINDS, optimiser=optimiser, workers=workers) as (trials, made):
        write_workflow(workflow, trials)
        write_search(search, trials)
        write_calls(calls, made)
        outputs = {"workflow": workflow, "search": search, "calls": calls}
        artifacts.write_json(run, with_outputs(record, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
