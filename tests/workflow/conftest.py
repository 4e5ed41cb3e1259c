"""One finished run of the grid in micro.yaml, made once, and copies of it to edit."""

import shutil

import pytest
from checkout import Checkout, copy_checkout
from no_network import permitted


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Checkout:
    """A checkout with a finished run of the micro grid; do not change it, copy it (fixture `checkout`).

    It ran without a network where that is permitted; the kernel's counters of it lie beside the checkout.
    """
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("finished") / "slmcollab"))
    checkout.snakemake("all", without_network=permitted())
    return checkout


@pytest.fixture
def checkout(finished, tmp_path) -> Checkout:
    """A copy of the finished checkout, times and metadata included, that a test may edit."""
    return Checkout(shutil.copytree(finished.folder, tmp_path / "moved", symlinks=True))


@pytest.fixture
def clone(tmp_path) -> Checkout:
    """A checkout in which nothing has run."""
    return Checkout(copy_checkout(tmp_path / "clone"))
