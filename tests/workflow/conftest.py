"""One finished run of the grid in micro.yaml, made once, and copies of it to edit."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import Checkout, copy_checkout
from filelock import FileLock
from no_network import permitted
from warm_python import warm_python


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id) -> Checkout:
    """A checkout with a finished run of the micro grid; do not change it, copy it (fixture `checkout`).

    It ran without a network where that is permitted; the kernel's counters of it lie beside the checkout. The first of
    several workers to need it makes it, the others wait.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "finished"
    checkout, made = Checkout(shared / "slmcollab"), shared / "made"
    with FileLock(f"{shared}.lock"):
        if not made.exists():
            shutil.rmtree(shared, ignore_errors=True)
            copy_checkout(checkout.folder)
            checkout.snakemake("all", without_network=permitted())
            made.touch()
    return checkout


@pytest.fixture
def checkout(finished, tmp_path) -> Checkout:
    """A copy of the finished checkout, times and metadata included, that a test may edit."""
    return Checkout(shutil.copytree(finished.folder, tmp_path / "moved", symlinks=True))


@pytest.fixture(scope="module")  # other modules ask what their process has started
def warm(tmp_path_factory) -> Iterator[Path]:
    """The folder of a `python` that starts jobs at once, for the programs of a checkout."""
    with warm_python(tmp_path_factory.mktemp("warm")) as folder:
        yield folder


@pytest.fixture
def clone(tmp_path) -> Checkout:
    """A checkout in which nothing has run."""
    return Checkout(copy_checkout(tmp_path / "clone"))
