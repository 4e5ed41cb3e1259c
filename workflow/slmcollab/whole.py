"""Files and folders that are there whole, or not at all."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it (file or folder) to `path` on success, remove it on failure.

    What is renamed has reached the disk: a full or shared disk may refuse a write only then, and after a crash of the
    machine there would be an empty file under the name of a whole one. An error gets a note that names the file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):  # by a killed process
        _remove(left)
    try:
        yield temporary
        _settle(temporary)
        if path.is_dir() and temporary.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)
    except Exception as error:
        error.add_note(f"{path}: not written")
        raise
    finally:
        _remove(temporary)


def _settle(path: Path) -> None:
    """Give files the permissions of any new file (some writers keep theirs to the owner) and wait for the disk."""
    mask = os.umask(0)
    os.umask(mask)
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            file.chmod(0o666 & ~mask)
            with file.open("rb") as stream:
                os.fsync(stream.fileno())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
