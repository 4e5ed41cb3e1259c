# Shared by the other files here: the checked config, wildcard constraints, and the two tracked params, cell and code.
import os
import re
import shlex
import sys
from pathlib import Path

import snakemake.exceptions
import snakemake.persistence

sys.path.insert(0, f"{workflow.basedir}/workflow")

import baselines_cells as baselines
import config_check
import grid
import results_grid as shown
import slices_cells
import slices_grid as slices
import slices_results as teams_shown
from cluster import driver
from slmcollab import choice
from slmcollab.code_digest import code_digest

# Repository files are inputs by a path relative to the working directory, so that moving a checkout reruns nothing.
ROOT = os.path.relpath(os.path.realpath(workflow.basedir))
PACKAGE = Path(workflow.basedir, "workflow/slmcollab")

# DO_NOT_TRACK: vLLM would report its use over the network; the hub's client heeds it too where it is online, in downloads.
ENVIRONMENT = "PYTHONHASHSEED=0 HF_HUB_OFFLINE=1 DO_NOT_TRACK=1"
shell.prefix(f"export PYTHONPATH={shlex.quote(str(PACKAGE.parent))} {ENVIRONMENT}; ")

# Snakemake's own words advise --unlock, which starts a second writer beside the jobs of a killed workflow that still run.
snakemake.exceptions.LockException = lambda: WorkflowError(driver.refusal(Path.cwd(), Path(workflow.basedir)))
# One workflow a folder: Snakemake lets in a second one that makes other files, and removes the locks of both at its end.
snakemake.persistence.PersistenceBase.locked = property(lambda self: any(self._read_locks()))

if misplaced := config_check.folder_faults(
    Path.cwd(), Path(workflow.basedir).resolve(), workflow.overwrite_configfiles
):
    sys.exit("\n".join(misplaced))
checked, complaints = config_check.check(
    config,
    operators=choice.names(choice.OPERATOR),
    loaders=choice.names(choice.LOADER),
    scorers=choice.names(choice.SCORER),
    teams=choice.teams(),
)
if complaints:
    sys.exit("\n".join(complaints))
config.update(checked)


def named(names):
    """Return a regular expression that matches these names only; none at all when there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def models_from(source):
    return [name for name, block in config["models"].items() if block["source"] == source]


def benchmarks_with(**has):
    """Return the benchmarks that have (True) or lack (False) each of these keys."""
    blocks = config["benchmarks"].items()
    return [name for name, block in blocks if all((key in block) == wanted for key, wanted in has.items())]


def local_files(block):
    """Return the files of a block that names a local folder, so that an edit of one of them is seen; none otherwise."""
    folder = block.get("path")
    return sorted(str(file) for file in Path(folder).glob("*") if file.is_file()) if folder else []


wildcard_constraints:
    benchmark=named(config["benchmarks"]),
    corpus=named(config.get("corpora", {})),
    expert=named(config["models"]),
    method=named(config["methods"]),
    model=named(config["models"]),
    number=r"[1-9]\d*",
    seed=r"0|[1-9]\d*",
    sequence="prompt|completion",
    split="train|test",
    system=named(config["systems"]),
    team=named([*config["teams"], grid.NO_TEAM]),


def cell(function):
    """Return a params function: the JSON of what `function` of grid.py takes from the config for these wildcards."""
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    return lambda wildcards: grid.as_json(function(config, **{name: wildcards[name] for name in names}))


MODULES = {}  # digest of code -> the modules whose code it is


def code(*names):
    """Return a params function: the digest of these modules and of all they import; {operator}, {loader}, {scorer} and {team} are filled in."""

    def digest(wildcards):
        chosen = {}
        if "benchmark" in wildcards.keys():
            chosen |= config["benchmarks"][wildcards.benchmark]
        if "method" in wildcards.keys():
            chosen |= config["methods"][wildcards.method]
        if "system" in wildcards.keys():
            chosen["team"] = slices.method_of(config, wildcards.system)
        modules = [name.format_map(chosen) for name in names]
        found = code_digest(*modules, root=PACKAGE.parent)
        MODULES[found] = modules
        return found

    return digest


def codes():
    """Return the digests of the code of this plan's jobs, finished ones too, by rule, each with the modules that it is of."""
    found = {}
    for job in workflow.dag.jobs:
        if job.rule.name != "write_run_record" and "code" in job.params.keys():
            found.setdefault(job.rule.name, {})[job.params.code] = MODULES[job.params.code]
    return found


def save_every(wildcards, threads):
    """Return the steps between two checkpoints; Snakemake does not track a params function that also takes threads."""
    return grid.grpo_of(config, wildcards.benchmark)["save_every"]
