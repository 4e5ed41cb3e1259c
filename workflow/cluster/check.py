"""`make check-cluster`: is this cluster fit for the papers' grid? A table; exit code 1 for anything to do first."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml
import yte
from rich.console import Console
from rich.table import Table
from snakemake.utils import update_config

from cluster import compute_node, fitness, here, scontrol
from cluster.fitness import FAIL, OK, WARN, Finding
from cluster.needs import Need, fetched, grouped, needs

CHECKOUT = Path(__file__).parents[2]
PROFILE = CHECKOUT / "workflow/profiles/slurm/profile.yaml"
COLOURS = {OK: "green", WARN: "yellow", FAIL: "bold red"}
DATA = ("download_problems", "download_team_problems")


def read_profile() -> dict[str, object]:
    """Return the shipped profile with this site's settings filled in, PATH left as it was."""
    before = os.environ["PATH"]
    try:
        return yte.process_yaml(PROFILE.read_text("utf-8"), require_use_yte=True)
    finally:
        os.environ["PATH"] = before


def site() -> dict[str, str]:
    """Return what the site's environment names: partition, account and model of GPU, "" for what it does not."""
    return {name: os.environ.get(f"SLMCOLLAB_{name.upper()}", "") for name in ("partition", "account")} | {
        "model": os.environ.get("SLMCOLLAB_GPU_MODEL", "")
    }


def dry_run(attempt: int, configs: list[Path]) -> str:
    """Return what Snakemake would run, with what the jobs ask for at their so many-th attempt."""
    command = [sys.executable, "-m", "snakemake", "all", "--profile", "slurm", "--sdm", "env-modules", "--dry-run"]
    command += ["--attempt", str(attempt), *(["--configfile", *map(str, configs)] if configs else [])]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the workflow cannot be planned:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr


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


def cluster(
    profile: Mapping[str, object], wanted: Mapping[str, str], planned: str, configs: list[Path]
) -> Iterator[Finding]:
    """Yield the findings about SLURM's own settings, and whether what the rules ask for fits.

    planned: the dry run of the last attempt; configs: to plan the first one with, where the last does not fit.
    """
    config = scontrol.config(ask("config"))
    yield fitness.status(config, profile)
    yield fitness.account(config, wanted["account"], here.programs())
    chosen, finding = fitness.partition(scontrol.records(ask("partition")), wanted["partition"])
    yield finding
    if chosen is None:
        return
    yield fitness.preemption(config, chosen)
    yield fitness.enforcement(config)
    nodes = fitness.nodes_of(scontrol.records(ask("node")), chosen)
    yield fitness.gpus(nodes, wanted["model"])
    last = _asked(planned, profile)
    too_much = any(fitness.misfits(need, chosen, nodes) for need in last)
    first = _asked(dry_run(1, configs), profile) if too_much else []
    yield from fitness.resources(first, last, chosen, nodes, attempts_of(profile))


def _asked(planned: str, profile: Mapping[str, object]) -> list[Need]:
    alone = needs(planned)
    return [*alone, *grouped(alone, profile)]


def attempts_of(profile: Mapping[str, object]) -> int:
    """Return how often a job is tried at most."""
    return 1 + int(profile.get("retries", 0))


def merged(configs: list[Path]) -> dict[str, object]:
    """Return config.yaml with these files on top, as Snakemake merges them."""
    config = yaml.safe_load((CHECKOUT / "config.yaml").read_text("utf-8"))
    for path in configs:
        update_config(config, yaml.safe_load(path.read_text("utf-8")) or {})
    return config


def login_node(profile: Mapping[str, object], planned: str, configs: list[Path]) -> Iterator[Finding]:
    """Yield the findings about the machine that Snakemake runs on."""
    yield here.conda("conda" in str(profile.get("software-deployment-method", "")))
    models, data = fetched(planned, ["download_model"], "model"), fetched(planned, DATA, "benchmark")
    yield from here.cache(merged(configs)["models"], models, data)
    yield here.disk(CHECKOUT, CHECKOUT / "plan.csv")


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
    asked = parser.parse_args()
    configs = [path.resolve() for path in asked.configfile]
    profile, wanted = read_profile(), site()
    planned = dry_run(attempts_of(profile), configs)
    findings = [here.slurm(here.programs())]
    if findings[0].state == OK:
        try:
            findings += cluster(profile, wanted, planned, configs)
        except SilentError as error:
            findings = [Finding("SLURM", FAIL, str(error), "run this on the login node; `scontrol ping`")]
    findings += login_node(profile, planned, configs)
    if asked.no_job:
        findings.append(
            Finding("job on a node", WARN, "none submitted (QUICK=1)", "shared folder, clocks, sandbox: unknown")
        )
    elif not any(each.state == FAIL for each in findings if each.what in ("SLURM", "partition", "account", "GPUs")):
        findings += compute_node.check(CHECKOUT, wanted)
    show(findings)
    failed = sum(each.state == FAIL for each in findings)
    if failed:
        sys.exit(f"not fit: {failed} to be seen to first")


if __name__ == "__main__":
    main()
