"""A stand-in for conda: `env create` makes a Python with the packages of the file's pip list, their own, and no others.

The packages are links to those installed here. What a channel and pip would deliver is not tried.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from environments import installs

SCRIPT = (
    f"#!{sys.executable}\nimport sys\nsys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}\n"
)
ANSWERS = {
    "info --json": '{{"conda_prefix": "{home}", "platform": "linux-64", "conda_version": "24.11.1"}}',
    "--version": "conda 24.11.1",
    "config --get channel_priority --json": '{{"get": {{"channel_priority": "strict"}}}}',
    "clean -y --tarballs": "",
}
# Notes what was started, so that a test sees where jobs ran.
PYTHON = """#!/bin/sh
echo "$@" >> "$CONDA_PREFIX/started"
exec "$CONDA_PREFIX/bin/python3" "$@"
"""


def install(home: Path) -> Path:
    """Write the commands `conda` and `activate`, and return their folder."""
    folder = home / "bin"
    folder.mkdir(parents=True)
    program = f"{SCRIPT}import stand_in_conda\nstand_in_conda.main({str(home)!r}, sys.argv[1:])\n"
    for name, text in (
        ("conda", program),
        ("activate", 'export CONDA_PREFIX="$1" PATH="$1/bin:$PATH"\n'),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def main(home: str, words: list[str]) -> None:
    if "create" in words:
        create(Path(words[words.index("--prefix") + 1]), Path(words[words.index("--file") + 1]))
    else:
        print(ANSWERS[" ".join(words)].format(home=home))


def create(prefix: Path, file: Path) -> None:
    """Make an environment at `prefix`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(prefix)], check=True)
    own = next(prefix.glob("lib/python*/site-packages"))
    for name in installs(file):
        link(name, own)
    (prefix / "bin/python").unlink()
    (prefix / "bin/python3").unlink()
    (prefix / "bin/python3").symlink_to(Path(sys.executable).resolve())
    (prefix / "bin/python").write_text(PYTHON)
    (prefix / "bin/python").chmod(0o755)


def link(name: str, folder: Path) -> None:
    """Link what a distribution installed at the top of site-packages."""
    from importlib.metadata import distribution

    files = distribution(name).files
    for top in {file.parts[0] for file in files if not re.match(r"\.\.|__pycache__", file.parts[0])}:
        if not (folder / top).exists():
            os.symlink(Path(distribution(name).locate_file(top)), folder / top)
