"""The jobs of a grid, as Snakemake plans them, without running any."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.enums import RerunTrigger
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

# As in the profiles: others would plan reruns that they do not make.
TRIGGERS = frozenset({RerunTrigger.MTIME, RerunTrigger.PARAMS, RerunTrigger.INPUT, RerunTrigger.CODE})
CORES = 1024  # more than any rule asks for: Snakemake cuts a job's threads to the cores that there are


class Job(NamedTuple):
    """A job; needs: the places, in the list of jobs, of those it waits for; resources, log: its files, or None.

    minutes: its time limit at its first attempt, None where its rule has none of its own.
    """

    rule: str
    wildcards: dict[str, str]
    done: bool
    submitted: bool
    gpus: int
    needs: frozenset[int]
    files: tuple[str, ...]
    resources: str | None
    log: str | None
    minutes: int | None = None


class Scale(NamedTuple):
    """Where a profile runs a grid and the config files that it reads."""

    folder: Path
    configs: list[Path]


class Groups(NamedTuple):
    """group: rule -> the group that its jobs are submitted in; sizes: group -> how many of them share an allocation."""

    group: dict[str, str]
    sizes: dict[str, int]


def read_scale(root: Path, profile: str) -> Scale:
    """Return what a profile of workflow/profiles says of where its grid is run, and on top of which configs."""
    block = _profile(root, profile)
    configs = [block["configfile"]] if isinstance(block.get("configfile"), str) else block.get("configfile", [])
    return Scale(root / block.get("directory", "."), [root / path for path in configs])


def read_groups(root: Path, profile: str = "slurm") -> Groups:
    """Return how a profile joins jobs in allocations."""
    block = _profile(root, profile)
    return Groups(block.get("groups", {}), block.get("group-components", {}))


def _profile(root: Path, name: str) -> dict:
    return yaml.safe_load((root / f"workflow/profiles/{name}/profile.yaml").read_text("utf-8"))


def planned(root: Path, scale: Scale, configs: Iterable[Path] = (), target: str = "all") -> list[Job]:
    """Return every job that a target needs, done or not; their paths start at the scale's folder.

    configs: config files on top of the scale's. Writes nothing but Snakemake's own folder. Raises WorkflowError or
    SystemExit, as Snakemake does, for a config or a target that it refuses.
    """
    here = Path.cwd()
    scale.folder.mkdir(parents=True, exist_ok=True)
    files = [path.resolve() for path in (*scale.configs, *configs)]
    try:
        with SnakemakeApi(OutputSettings()) as api:
            asked = api.workflow(
                resource_settings=ResourceSettings(cores=CORES),
                config_settings=ConfigSettings(configfiles=files),
                snakefile=root / "Snakefile",
                workdir=scale.folder,
            ).dag(DAGSettings(targets={target}, rerun_triggers=TRIGGERS))
            # Snakemake has no public way to a graph of jobs: these are names of the version that is pinned.
            workflow = asked.workflow_api._workflow
            logging.getLogger("snakemake.logging").setLevel(logging.WARNING)
            workflow.dag_settings = asked.dag_settings
            workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True, nolock=True)
            workflow._build_dag()
            return _jobs(workflow)
    finally:
        os.chdir(here)


def _jobs(workflow) -> list[Job]:
    jobs = list(workflow.dag.jobs)
    place = {job: index for index, job in enumerate(jobs)}
    waiting = set(workflow.dag.needrun_jobs())
    return [
        Job(
            rule=job.rule.name,
            wildcards=dict(job.wildcards_dict),
            done=job not in waiting,
            submitted=not (job.rule.norun or job.rule.name in workflow._localrules),
            gpus=job.resources.get("gpu", 0),
            needs=frozenset(place[needed] for needed in workflow.dag.dependencies[job]),
            files=tuple(map(str, job.output)),
            resources=str(job.benchmark) if job.benchmark else None,
            log=str(job.log[0]) if job.log else None,
            minutes=job.resources.get("runtime"),
        )
        for job in jobs
    ]
