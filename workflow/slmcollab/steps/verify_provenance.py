"""Whether the results are still those that were made, and with which code: run by hand, in a finished run."""

import os
import sys
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.report.record_check import check_record
from slmcollab.report.verification import verify

NAME = "table1.provenance.json"
ROOT = Path(__file__).parents[2]  # of the package: its code is the one that there is now


def main(folder: tyro.conf.Positional[Path], /, *, any_code: bool = False) -> None:
    """Recompute every digest that the provenance of table 1 and the record of the run lead to and print what differs,
    one line each. Exits with 1 where something differs or is missing, the record of the run too.

    The provenance is where the chain starts: its own digest, printed last, has to be kept elsewhere.

    Args:
        folder: the results.
        any_code: what was made with other code than this checkout's, or with code that is not known, is only printed.
    """
    results = Path(os.path.abspath(folder))
    try:
        files, faults, codes = verify(results / NAME, results.parent)
        recorded = check_record(results, codes, ROOT)
    except ArtifactError as error:
        sys.exit(str(error))
    known = {fault.path for fault in faults}
    faults += [fault for fault in recorded.faults if fault.path not in known]
    sys.stdout.reconfigure(errors="backslashreplace")  # a file that was edited may name what is no text
    for fault in [*faults, *recorded.other_code]:
        print(fault)
    said = f"{len(faults)} not as recorded" if faults else "all as recorded"
    if recorded.other_code:
        advice = "" if any_code else " (the workflow makes these again, --any-code takes them as they are)"
        said += f", {len(recorded.other_code)} of other code{advice}"
    print(f"{len(files | recorded.files)} files checked, {said}; {NAME} {digest(results / NAME)}")
    if faults or (recorded.other_code and not any_code):
        sys.exit(1)


if __name__ == "__main__":
    tyro.cli(main)
