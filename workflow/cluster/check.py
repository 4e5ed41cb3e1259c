"""`make check-cluster`: is this cluster fit for the papers' grid? A table; exit code 1 for anything to do first."""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

from cluster import compute_node, fitness, here, scontrol
from cluster.fitness import FAIL, OK, WARN, Finding
from cluster.needs import Need, Place, fetched, grouped, needs, places, sandboxes
from dag.jobs import REFUSALS, Grid, Job, planned
from dag.profiles import ProfileError, read, run_folder

CHECKOUT = Path(__file__).parents[2]
COLOURS = {OK: "green", WARN: "yellow", FAIL: "bold red"}
DATA = ("download_problems", "download_team_problems")


class SilentError(RuntimeError):
    """SLURM's controller does not answer."""


def ask(what: str) -> str:
    """Return what `scontrol show` answers; raises SilentError where the controller does not."""
    done = subprocess.run(
        ["scontrol", "show", *what.split(), "--oneliner"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SilentError(f"scontrol show {what}: {done.stderr.strip().partition(chr(10))[0]}")
    return done.stdout


def cluster(profile: Mapping[str, object], jobs: Sequence[Job], where: Sequence[Place]) -> Iterator[Finding]:
    """Yield the findings about SLURM's own settings, and whether what the jobs ask for fits where they go."""
    config = scontrol.config(ask("config"))
    yield fitness.status(config, profile)
    for name in sorted({place.account for place in where}):
        yield fitness.account(config, name, here.programs())
    partitions, nodes = scontrol.records(ask("partition")), scontrol.records(ask("node"))
    first, last = (_asked(jobs, attempt, profile) for attempt in (0, -1))
    yield from fitness.caps(first, last, attempts_of(profile))
    for name in sorted({place.partition for place in where}):
        chosen, finding = fitness.partition(partitions, name)
        yield finding
        if chosen is None:
            continue
        yield fitness.preemption(config, chosen)
        usable = fitness.nodes_of(nodes, chosen)
        for model in sorted({model for place in where if place.partition == name for model in place.models}):
            yield fitness.gpus(usable, model)
        here_first, here_last = ([need for need in some if need.partition == name] for some in (first, last))
        yield from fitness.resources(here_first, here_last, chosen, usable, attempts_of(profile))
    yield fitness.enforcement(config)


def _asked(jobs: Sequence[Job], attempt: int, profile: Mapping[str, object]) -> list[Need]:
    alone = needs(jobs, attempt)
    return [*alone, *grouped(alone, profile)]


def attempts_of(profile: Mapping[str, object]) -> int:
    """Return how often a job is tried at most."""
    return 1 + profile["retries"]


def login_node(profile: Mapping[str, object], grid: Grid) -> Iterator[Finding]:
    """Yield the findings about the machine that Snakemake runs on."""
    yield here.conda(DeploymentMethod.CONDA in profile["software-deployment-method"])
    models, data = fetched(grid.jobs, ["download_model"], "model"), fetched(grid.jobs, DATA, "benchmark")
    yield from here.cache(grid.config["models"], models, data)
    run = run_folder(CHECKOUT, profile)
    yield here.disk(run, run / "plan.csv")


def show(findings: list[Finding]) -> None:
    """Print the findings as a table."""
    table = Table("check", "", "found", "what to do", show_lines=False)
    for each in findings:
        table.add_row(each.what, f"[{COLOURS[each.state]}]{each.state}[/]", each.found, each.todo)
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="cluster.check", description=__doc__)
    parser.add_argument("--no-job", action="store_true", help="submit no job: nothing is known of nodes then")
    parser.add_argument("--configfile", nargs="*", type=Path, default=[], help="on top of config.yaml")
    parser.add_argument("--profile", nargs="*", default=[], help="the site's own, after the profile slurm")
    asked = parser.parse_args()
    try:
        profile = read(CHECKOUT, "slurm", asked.profile)
        grid = planned(CHECKOUT, profile, asked.configfile, attempts=(1, attempts_of(profile)))
    except (ProfileError, *REFUSALS, OSError) as error:
        sys.exit(f"the workflow cannot be planned:\n{error}")
    findings = found(profile, grid, no_job=asked.no_job)
    show(findings)
    failed = sum(each.state == FAIL for each in findings)
    if failed:
        sys.exit(f"not fit: {failed} to be seen to first")


def found(profile: Mapping[str, object], grid: Grid, *, no_job: bool) -> list[Finding]:
    """Return the findings about SLURM, this machine and, unless no_job, a node of each place that jobs are sent to."""
    where = places(grid.jobs)
    findings = [here.slurm(here.programs())]
    if findings[0].state == OK:
        try:
            findings += cluster(profile, grid.jobs, where)
        except SilentError as error:
            findings = [Finding("SLURM", FAIL, str(error), "run this on the login node; `scontrol ping`")]
        except WorkflowError as error:  # a group whose rules go to different partitions, say
            findings.append(Finding("resources", FAIL, str(error), "Snakemake refuses it too: correct your profile"))
    findings += login_node(profile, grid)
    if no_job:
        findings.append(Finding("job on a node", WARN, "none submitted (QUICK=1)", "nothing is known of nodes"))
    elif not any(each.state == FAIL for each in findings if each.what in ("SLURM", "partition", "account", "GPUs")):
        boxes = sandboxes(grid.jobs, grid.config["benchmarks"])
        for place in where:
            findings += compute_node.check(CHECKOUT, run_folder(CHECKOUT, profile), place, boxes)
    return findings


if __name__ == "__main__":
    main()
