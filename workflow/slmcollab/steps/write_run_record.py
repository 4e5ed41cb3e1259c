"""The record of a finished grid: software, models, data, seeds, code and machines, and the config as it was run."""

import json
from datetime import date
from pathlib import Path

import tyro

from slmcollab.artifacts import digest, read_json, write_json
from slmcollab.report.resources import read_machine
from slmcollab.report.run_record import collect_runs, commit_of, count_jobs, crate
from slmcollab.report.verification import read_manifests


def main(
    *,
    cell: str,
    codes: str,
    workflow: Path,
    made: list[Path],
    provenance: Path,
    data: list[Path],
    record: Path,
    config: Path,
) -> None:
    """Write the record and the config; a job whose log is gone is counted as one on an unknown machine.

    workflow: the folder of the Snakefile; made: tables and figures; data: the manifests of the benchmarks.
    """
    settings = json.loads(cell)
    write_json(config, settings["config"])
    machines = {
        rule: [read_machine(Path(settings["log"].format(rule=rule, job=job))) for job in jobs]
        for rule, jobs in settings["jobs"].items()
    }
    content = crate(
        date=date.today().isoformat(),
        files={str(path.relative_to(record.parent)): digest(path) for path in (*made, provenance, config)},
        models=read_manifests(provenance, Path()),
        data=[read_json(path) for path in data],
        **collect_runs(read_json(provenance)["cells"]),
        codes=json.loads(codes),
        jobs=[count_jobs(rule, found) for rule, found in machines.items()],
        commit=commit_of(workflow),
    )
    write_json(record, content)


if __name__ == "__main__":
    tyro.cli(main)
