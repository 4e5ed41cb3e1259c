"""What the login node has to have: SLURM's programs, conda, what nodes find offline, room on the disk."""

import csv
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.fitness import FAIL, OK, WARN, Finding
from slmcollab.models import gated

SLURM = ("sbatch", "squeue", "scancel", "scontrol", "srun", "sacct")
OPTIONAL = ("sacctmgr", "sshare")
CONDA = (24, 7, 1)  # Snakemake refuses older ones
HUB = ("huggingface.co", 443)


def programs() -> dict[str, str | None]:
    """Return where SLURM's programs are, None for those that are not there."""
    return {name: shutil.which(name) for name in (*SLURM, *OPTIONAL)}


def slurm(found: Mapping[str, str | None]) -> Finding:
    """Return whether the plugin has the programs that it calls; it calls sacct even if it asks squeue for states."""
    missing = [name for name in SLURM if not found.get(name)]
    if missing:
        return Finding(
            "SLURM", FAIL, f"no {', '.join(missing)}", "run this on the login node, with SLURM's clients on PATH"
        )
    return Finding("SLURM", OK, ", ".join(SLURM))


def conda(wanted: bool) -> Finding:
    """Return whether conda is there and new enough; wanted: whether the profile asks for it."""
    if not wanted:
        return Finding("conda", OK, "the profile does not use it")
    if shutil.which("conda") is None:
        todo = "put conda on PATH (`module load …`), or add --sdm env-modules: jobs then use the checkout's .venv"
        return Finding("conda", FAIL, "not on PATH", todo)
    return conda_version(subprocess.run(["conda", "--version"], capture_output=True, text=True, check=False).stdout)


def conda_version(said: str) -> Finding:
    """Return the finding for what `conda --version` says."""
    version = tuple(map(int, re.findall(r"\d+", said)[:3]))
    if version < CONDA:
        return Finding(
            "conda", FAIL, said.strip() or "no version", f"Snakemake needs {'.'.join(map(str, CONDA))} or newer"
        )
    return Finding("conda", OK, said.strip())


def cache(models: Mapping[str, Mapping], missing_models: Sequence[str], missing_data: Sequence[str]) -> list[Finding]:
    """Return what the login node has still to fetch before compute nodes can work offline.

    models: every block of the config; missing_models, missing_data: names of those that a run would fetch.
    """
    if not missing_models and not missing_data:
        return [Finding("offline cache", OK, "every model and data set is here")]
    names = ", ".join([*missing_models, *missing_data])
    found = f"to fetch: {len(missing_models)} models, {len(missing_data)} data sets ({names})"
    refusals = gated.refusals({name: models[name] for name in missing_models})
    parted = (line.partition(": ") for line in refusals)
    findings = [Finding("gated model", FAIL, name, advice) for name, _, advice in parted]
    if reaches(HUB):
        return [Finding("offline cache", OK, found, "the first jobs of the run, on this machine"), *findings]
    todo = f'this machine does not reach {HUB[0]}: see "On a cluster" for a cache that is filled elsewhere'
    return [Finding("offline cache", WARN, found, todo), *findings]


def reaches(place: tuple[str, int], within_s: float = 3) -> bool:
    """Return whether a connection can be made."""
    try:
        with socket.create_connection(place, within_s):
            return True
    except OSError:
        return False


def disk(folder: Path, plan: Path) -> Finding:
    """Return whether the file system of a folder has room for what a run writes; plan: where `make plan` writes."""
    left = shutil.disk_usage(folder).free / 1e9
    if not plan.is_file():
        return Finding("disk", OK, f"{left:,.0f} GB left", "`make plan` says how much a run needs")
    with plan.open(encoding="utf-8", newline="") as file:
        needed = sum(float(row["disk_gb"]) for row in csv.DictReader(file) if row["item"] != "total")
    found = f"{left:,.0f} GB left, a whole run needs {needed:,.0f} (`make plan`)"
    if left < needed:
        return Finding("disk", WARN, found, "make room, or move the checkout")
    return Finding("disk", OK, found)
