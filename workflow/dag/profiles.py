"""Reads profiles as Snakemake does: with its own command line, which runs yte and lets a later one replace keys."""

import contextlib
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from pathlib import Path

from snakemake.cli import CliException, parse_args
from snakemake_interface_common.exceptions import WorkflowError

SHIPPED = "workflow/profiles"


class ProfileError(ValueError):
    """A profile that Snakemake does not find or does not understand."""


def read(root: Path, shipped: str, further: Iterable[str] = ()) -> dict[str, object]:
    """Return every option of Snakemake by its name in a profile, with the type that it has in Snakemake.

    shipped: a profile of workflow/profiles; further: paths or names of others, each over whole keys of those before.
    What a profile does to PATH is undone. Raises ProfileError, with Snakemake's words, for one that cannot be read.
    """
    here, path = Path.cwd(), os.environ["PATH"]
    names = [str(Path(name).resolve()) if Path(name).exists() else name for name in further]
    os.chdir(root)  # profiles name paths as seen from the top of the checkout, where Snakemake is started
    try:
        options = _options([f"{SHIPPED}/{shipped}", *names])
    finally:
        os.environ["PATH"] = path
        os.chdir(here)
    return {name.replace("_", "-"): value for name, value in options.items() if value is not MISSING}


def _options(profiles: Sequence[str]) -> dict[str, object]:
    names, said = " ".join(profiles), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            _, options = parse_args([f"--profile={name}" for name in profiles])
        except SystemExit as end:
            silent = "Snakemake ends without a word, as for a key `version`; leave such keys out"
            words = said.getvalue().split(": error: ", 1)[-1].split() if end.code else []
            raise ProfileError(f"{names}: {' '.join(words) or silent}") from None
        except (CliException, WorkflowError, OSError, ValueError) as error:
            raise ProfileError(f"{names}: {' '.join(str(error).split())}") from error
    return vars(options)


def run_folder(root: Path, profile: dict[str, object]) -> Path:
    """Return where a profile runs the grid."""
    return root / (profile["directory"] or ".")
