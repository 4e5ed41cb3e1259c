"""The jobs of a grid, as Snakemake plans them, without running any."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from snakemake.api import SnakemakeApi
from snakemake.exceptions import RuleException, WorkflowError
from snakemake.resources import Resources
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

from dag.profiles import run_folder

REFUSALS = (WorkflowError, RuleException)  # what Snakemake raises for a config or a target that it does not take
AMOUNTS, NAMES = ("mem_mb", "runtime", "gpu"), ("gpu_model", "slurm_partition", "slurm_account")


class Asked(NamedTuple):
    """What a job asks for at one attempt; minutes: its time limit, 0 for none; names are "" where none is given."""

    cpus: int = 1
    megabytes: int = 0
    minutes: int = 0
    gpus: int = 0
    model: str = ""
    partition: str = ""
    account: str = ""


class Job(NamedTuple):
    """A job; needs: the places, in the list of jobs, of those it waits for; resources, log: its files, or None.

    asked: what it asks for at each of the attempts that were looked at; submitted: to SLURM, where that is used.
    """

    rule: str
    wildcards: dict[str, str]
    done: bool
    submitted: bool
    needs: frozenset[int]
    files: tuple[str, ...]
    resources: str | None
    log: str | None
    asked: tuple[Asked, ...] = (Asked(),)


class Grid(NamedTuple):
    """Every job that a target needs, done or not, and the config as Snakemake merged it; paths start at the run's
    folder."""

    jobs: list[Job]
    config: dict


def planned(
    root: Path,
    profile: Mapping[str, object],
    configs: Iterable[Path] = (),
    attempts: Sequence[int] = (1,),
    target: str = "all",
) -> Grid:
    """Return what Snakemake would do with a profile, as dag.profiles.read returns it.

    configs: config files on top of the profile's. Writes nothing but Snakemake's own folder. Raises one of REFUSALS or
    SystemExit, as Snakemake does, for a config or a target that it refuses.
    """
    here = Path.cwd()
    folder = run_folder(root, profile)
    folder.mkdir(parents=True, exist_ok=True)
    files = [*(root / path for path in profile["configfile"]), *(path.resolve() for path in configs)]
    try:
        with SnakemakeApi(OutputSettings()) as api:
            logging.getLogger("snakemake.logging").setLevel(logging.WARNING)
            asked = api.workflow(
                resource_settings=_resource_settings(profile),
                config_settings=ConfigSettings(configfiles=files),
                snakefile=root / "Snakefile",
                workdir=folder,
            ).dag(_dag_settings(profile, target))
            # Snakemake has no public way to a graph of jobs: these are names of the version that is pinned.
            workflow = asked.workflow_api._workflow
            workflow.dag_settings = asked.dag_settings
            ignored = not profile["rerun-incomplete"]  # else what a killed job left would be an error
            workflow._prepare_dag(forceall=False, ignore_incomplete=ignored, lock_warn_only=True, nolock=True)
            workflow._build_dag()
            return Grid(_jobs(workflow, attempts), workflow.globals["config"])
    finally:
        os.chdir(here)


def _resource_settings(profile: Mapping[str, object]) -> ResourceSettings:
    default = profile["default-resources"] or {}  # without disk_mb, for which Snakemake looks for every input file
    return ResourceSettings(
        cores=profile["cores"],
        nodes=profile["jobs"],
        max_threads=profile["max-threads"],
        resources=profile["resources"],
        overwrite_threads=profile["set-threads"],
        overwrite_resource_scopes=profile["set-resource-scopes"],
        overwrite_resources=profile["set-resources"],
        default_resources=Resources({name: value for name, value in default.items() if name in (*AMOUNTS, *NAMES)}),
    )


def _dag_settings(profile: Mapping[str, object], target: str) -> DAGSettings:
    return DAGSettings(
        targets={target},
        rerun_triggers=profile["rerun-triggers"],
        max_checksum_file_size=profile["max-checksum-file-size"],
        force_incomplete=profile["rerun-incomplete"],
    )


def _jobs(workflow, attempts: Sequence[int]) -> list[Job]:
    jobs = list(workflow.dag.jobs)
    place = {job: index for index, job in enumerate(jobs)}
    waiting = set(workflow.dag.needrun_jobs())
    return [
        Job(
            rule=job.rule.name,
            wildcards=dict(job.wildcards_dict),
            done=job not in waiting,
            submitted=not (job.rule.norun or job.rule.name in workflow._localrules),
            needs=frozenset(place[needed] for needed in workflow.dag.dependencies[job]),
            files=tuple(map(str, job.output)),
            resources=str(job.benchmark) if job.benchmark else None,
            log=str(job.log[0]) if job.log else None,
            asked=tuple(_asked(job, attempt) for attempt in attempts),
        )
        for job in jobs
    ]


def _asked(job, attempt: int) -> Asked:
    job.attempt = attempt
    amounts = [job.resources.get(name, 0) for name in AMOUNTS]
    return Asked(job.threads, *amounts, *(str(job.resources.get(name, "")) for name in NAMES))
