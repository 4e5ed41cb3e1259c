"""What is behind the table of a finished run, and what a verification says once one byte of it is another one."""

from fnmatch import fnmatchcase
from pathlib import Path

from slmcollab.report.verification import TableCheck, verify

NOTED = (  # of every run: what nothing reads on the way to table 1
    *("logs/*", "resources/*", "*/.snakemake_timestamp", "data/*/manifest.json"),
    *("table1.html", "table1.provenance.json", "table_resources.*", "ro-crate-metadata.json", "config.json"),
)


def check(run: Path) -> TableCheck:
    return verify(run / "results/table1.provenance.json", run)


def split_files(run: Path, patterns: tuple[str, ...]) -> tuple[set[str], set[str], set[str]]:
    """Return the files of a run that are not behind its table and match no pattern, those behind it that match one,
    and the patterns that no file matches."""
    files = {file.relative_to(run / "results").as_posix() for file in (run / "results").rglob("*") if file.is_file()}
    behind = {name.removeprefix("results/") for name in check(run).files}

    def matches(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    idle = {pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in files)}
    return {name for name in files - behind if not matches(name)}, {name for name in behind if matches(name)}, idle


def unnoticed(run: Path) -> list[str]:
    """Return the files behind the table of which one byte can change without being named; all are as they were."""
    found = []
    for name in sorted(check(run).files):
        file = run / name
        before = file.read_bytes()
        other = bytearray(before)
        other[len(other) // 2] ^= 1
        file.write_bytes(other)
        if name not in {fault.path for fault in check(run).faults}:
            found.append(name)
        file.write_bytes(before)
    return found
