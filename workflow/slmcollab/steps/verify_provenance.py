"""Whether the files behind table 1 are still those that it was made from: run by hand, in a finished run."""

import os
import sys
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.report.verification import EVERY, verify

NAME = "table1.provenance.json"


def main(folder: tyro.conf.Positional[Path], /) -> None:
    """Recompute every digest that the provenance of table 1 leads to and print what differs, one line each; folder:
    the results. Exits with 1 where something differs or is missing.

    Code digests are not recomputed: the code may have moved on. The provenance file is where the chain starts: its own
    digest, printed last, has to be kept elsewhere.
    """
    base = Path(os.path.abspath(folder)).parent
    try:
        check = verify(folder / NAME, base)
    except ArtifactError as error:
        sys.exit(str(error))
    for fault in check.faults:
        cells = EVERY if EVERY in fault.cells else "; ".join(sorted(fault.cells))
        print(f"{fault.path}: {fault.told}; behind {cells}")
    said = f"{len(check.faults)} not as recorded" if check.faults else "all as recorded"
    print(f"{len(check.files)} files checked, {said}; {NAME} {digest(folder / NAME)}")
    if check.faults:
        sys.exit(1)


if __name__ == "__main__":
    tyro.cli(main)
