"""Conda environments: each rule has one, with what its step imports, at the versions that requirements.lock pins."""

import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from environments import installs, pins
from packaging.utils import canonicalize_name
from test_imports import imports, loaded_by

REPOSITORY = Path(__file__).parents[1]
LOCK = dict(
    line.split("==") for line in (REPOSITORY / "requirements.lock").read_text().splitlines() if not line.startswith("#")
)
ENVIRONMENTS = sorted((REPOSITORY / "envs").glob("*.yaml"))
LAZY = "slmcollab.seeding"  # loads torch and numpy only in the functions that need them
# Lists each rule that runs something: its name, its environment's file, the steps that it starts.
RULES = """
import re, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

with SnakemakeApi(OutputSettings(quiet={"all"})) as api:
    root, configs = Path(sys.argv[1]), [Path(name) for name in sys.argv[3:]]
    parsed = api.workflow(
        resource_settings=ResourceSettings(cores=1),
        config_settings=ConfigSettings(configfiles=configs),
        snakefile=root / "Snakefile",
        workdir=Path(sys.argv[2]),
    )._workflow
    for rule in parsed.rules:
        if not rule.norun:
            steps = re.findall(r"python -m (slmcollab\\.steps\\.\\w+)", rule.shellcmd or "")
            environment = Path(rule.snakefile).parent / (rule.conda_env or "none")
            print(rule.name, environment.resolve(), *steps)
"""


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """Return rule -> (its environment's file, its steps), as Snakemake parses them, heirs and local rules too."""
    listed = subprocess.run(
        [sys.executable, "-c", RULES, str(REPOSITORY), str(tmp_path_factory.mktemp("rules"))],
        capture_output=True,
        text=True,
    )
    assert listed.returncode == 0, listed.stderr
    return {name: (Path(file), steps) for name, file, *steps in map(str.split, listed.stdout.splitlines())}


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda file: file.stem)
def test_pins_equal_the_lock(file):
    assert pins(file)
    assert all(LOCK[name] == pin for name, pin in (line.split("==") for line in pins(file)))


def test_direct_dependencies_are_locked_at_their_pins():
    lines = (REPOSITORY / "requirements.in").read_text().splitlines()
    direct = [line.split("#")[0].strip() for line in lines if not line.startswith("#")]
    pins = (line.split("==") for line in direct)
    assert all(LOCK[name.partition("[")[0]] == pin for name, pin in pins)


@pytest.mark.parametrize("file", ENVIRONMENTS, ids=lambda file: file.stem)
def test_all_that_pip_would_install_is_locked_and_fits_together(file):
    """Of the locked versions, all installed here, pip needs no other and finds no two that exclude each other."""
    locked = {canonicalize_name(name): version for name, version in LOCK.items()}
    versions = {name: distribution(name).version for name in installs(file) - {"setuptools"}}  # it comes with pip
    assert {name: version.partition("+")[0] for name, version in versions.items()}.items() <= locked.items()
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *pins(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout


def test_every_rule_that_runs_something_names_an_environment(rules):
    assert {"generate_team_problems", "download_team_problems", "make_table1"} <= rules.keys()
    assert {file for file, _ in rules.values()} == set(ENVIRONMENTS)
    assert [name for name, (_, steps) in rules.items() if not steps] == []


def test_an_environment_holds_what_the_steps_of_its_rules_import(rules):
    owners, missing = packages_distributions(), set()
    for rule, (file, steps) in rules.items():
        there = installs(file)
        for module in set().union(*map(loaded_by, steps)) - {LAZY}:
            for name in (
                {found.partition(".")[0] for found in imports(module)} - sys.stdlib_module_names - {"slmcollab"}
            ):
                if not there & set(map(canonicalize_name, owners[name])):
                    missing.add(f"{file.stem} lacks {name}, which {module} imports: {rule}")
    assert sorted(missing) == []
