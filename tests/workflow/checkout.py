"""A checkout that tests may edit, and the way to run Snakemake in it."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import no_network

REPOSITORY = Path(__file__).parents[2]
MICRO = Path(__file__).with_name("micro.yaml")


@contextlib.contextmanager
def planned_within(seconds: float) -> Iterator[None]:
    """Fail where the processes that the block starts, and waits for, need more seconds of CPU than that.

    What else the machine does is not counted; wall time is held to twice as much.
    """
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    yield
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= seconds
    assert time.monotonic() - begin <= 2 * seconds


def copy_checkout(folder: Path) -> Path:
    """Copy what git would commit, symlinks as symlinks, so that a test sees what a clone sees."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = REPOSITORY / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return folder


@dataclass(frozen=True)
class Checkout:
    """A checkout and the way to run Snakemake in it; config files come on top of the tiny scale."""

    folder: Path
    configs: tuple[Path, ...] = (MICRO,)
    programs: tuple[Path, ...] = ()  # folders of programs that come before all others

    @property
    def run(self) -> Path:
        return self.folder / "runs/tiny"

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment(), text=True, **options)

    def command(self, *arguments: str) -> list[str]:
        configs = [str(self.folder / "workflow/config/tiny.yaml"), *map(str, self.configs)]
        profile = ["--profile", "workflow/profiles/tiny"]
        return [sys.executable, "-m", "snakemake", *arguments, *profile, "--configfile", *configs]

    def environment(self) -> dict[str, str]:
        path = [*map(str, self.programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        return {**os.environ, "PATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}

    @property
    def counters(self) -> Path:
        """What the kernel counted of runs without a network."""
        return self.folder.with_name("counters")

    def snakemake(self, *arguments: str, fails: bool = False, without_network: bool = False) -> str:
        """Run Snakemake and return what it prints; fails=True expects a non-zero exit."""
        command = self.command(*arguments)
        command = no_network.without_network(command, self.counters) if without_network else command
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True)
        output = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, output[-6000:]
        return output

    def planned(self, *arguments: str) -> dict[str, set[str]]:
        """Return what a dry run lists: rule -> first outputs of its jobs.

        What only collects is left out: rules without output, and the record of the run, which follows all that is made.
        """
        output = self.snakemake(*arguments, "--dry-run")
        jobs: dict[str, set[str]] = {}
        for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)+)", output, re.MULTILINE):
            if made := re.search(r"^ +output: (.*)$", block, re.MULTILINE):
                jobs.setdefault(rule, set()).add(made[1].split(", ")[0])
        recorded = jobs.pop("write_run_record", None)
        assert jobs or recorded or "Nothing to be done" in output, output
        return jobs
