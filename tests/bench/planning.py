"""CPU seconds in which Snakemake plans the papers' grid, and sees that nothing is left to do."""

import resource
import subprocess
from pathlib import Path

from measure import Figure

ROOT = Path(__file__).parents[2]


def _plan(*options: str) -> tuple[str, float]:
    """Return what `snakemake -n` says, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["snakemake", "-n", *options], cwd=ROOT, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"snakemake -n {' '.join(options)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plan_grid() -> Figure:
    said, seconds = _plan("all")
    jobs = next(line.split()[1] for line in said.splitlines() if line.startswith("total"))
    return Figure("plan_grid", seconds, 8, seconds, "s", note=f"{jobs} jobs")


def nothing_to_do() -> Figure | str:
    if not (ROOT / "runs/tiny/results").is_dir():
        return "nothing_to_do: not run, since runs/tiny is not there (make demo)"
    said, seconds = _plan("--profile", "workflow/profiles/tiny", "all")
    if "Nothing to be done" not in said:
        return "nothing_to_do: not run, since runs/tiny is not up to date (make demo)"
    return Figure("nothing_to_do", seconds, 8, seconds, "s")
