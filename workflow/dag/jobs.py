"""The jobs of a grid, as Snakemake plans them, without running any."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.api import SnakemakeApi
from snakemake.common.configfile import load_configfile
from snakemake.common.tbdstring import TBDString
from snakemake.exceptions import InputFunctionException, RuleException, WorkflowError
from snakemake.resources import Resources
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

from dag.profiles import run_folder

REFUSALS = (WorkflowError, RuleException)  # what Snakemake raises for a config or a target that it does not take
AMOUNTS, NAMES = ("mem_mb", "runtime", "gpu", "turn"), ("gpu_model", "slurm_partition", "slurm_account")


class Asked(NamedTuple):
    """What a job asks for at one attempt; minutes: its time limit, 0 for none; names are "" where none is given.

    turns: 1 for a job that shares no allocation's time with another; unknown: which of AMOUNTS and NAMES only its input
    files will tell, once they are there: 0 and "" till then; cut: of which of AMOUNTS its rule names more than the
    profile's `resources` let it have.
    """

    cpus: int = 1
    megabytes: int = 0
    minutes: int = 0
    gpus: int = 0
    model: str = ""
    partition: str = ""
    account: str = ""
    turns: int = 0
    unknown: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()


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
    SystemExit, as Snakemake does, for a config or a target that it refuses; one of REFUSALS, in one line, names the
    config file that cannot be read or the rule whose resources or input cannot be told.
    """
    here = Path.cwd()
    folder = run_folder(root, profile)
    folder.mkdir(parents=True, exist_ok=True)
    files = [*(root / path for path in profile["configfile"]), *(path.resolve() for path in configs)]
    for file in (root / "config.yaml", *files):
        _readable(file)
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
    except InputFunctionException as error:
        words = " ".join(str(error).partition("\nTraceback:")[0].removeprefix("Error:").split())
        raise WorkflowError(f"rule {error.rule.name}: {words}") from error
    finally:
        os.chdir(here)


def _readable(config: Path) -> None:
    try:
        load_configfile(config)
    except UnicodeDecodeError as error:
        raise WorkflowError(f"{config}: {error}; save it as UTF-8") from error
    except WorkflowError as error:  # Snakemake names neither the file nor, where YAML does, the line
        reason = error.__context__ if isinstance(error.__context__, yaml.YAMLError) else error
        raise WorkflowError(f"{config}: {' '.join(str(reason).split())}") from error


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
    given = [[_resources(job, attempt) for attempt in attempts] for job in jobs]
    workflow.global_resources = Resources({"_cores": workflow.global_resources["_cores"]})
    named = [[_resources(job, attempt) for attempt in attempts] for job in jobs]
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
            asked=tuple(map(_asked, given[index], named[index])),
        )
        for index, job in enumerate(jobs)
    ]


def _resources(job, attempt: int) -> dict[str, int | str | TBDString]:
    job.attempt = attempt
    none = {"_cores": 1, **dict.fromkeys(AMOUNTS, 0), **dict.fromkeys(NAMES, "")}
    return {name: job.resources.get(name, nothing) for name, nothing in none.items()}


def _asked(given: Mapping[str, int | str | TBDString], named: Mapping[str, int | str | TBDString]) -> Asked:
    """Return what a job asks for; given: what it has, named: what it would have without the profile's `resources`."""
    unknown = frozenset(name for name, value in given.items() if isinstance(value, TBDString))
    amounts = {name: 0 if name in unknown else given[name] for name in AMOUNTS}
    names = ("" if name in unknown else str(given[name]) for name in NAMES)
    cut = frozenset(name for name in AMOUNTS if name not in unknown and given[name] < named[name])
    return Asked(
        given["_cores"],
        amounts["mem_mb"],
        amounts["runtime"],
        amounts["gpu"],
        *names,
        amounts["turn"],
        unknown,
        cut,
    )
