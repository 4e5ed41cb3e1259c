"""A real SLURM for the tests of this folder, started once, and the grid of cluster.yaml, run on it once."""

import sys
from pathlib import Path

import pytest
from on_slurm import LIMIT, OnSlurm

from slurm import Cluster, missing_programs

sys.path.append(str(Path(__file__).parents[1] / "workflow"))  # checkout.py


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A running cluster: three nodes, a GPU each. Tests cancel what they leave in the queue."""
    if missing := missing_programs():
        pytest.skip(f"needs SLURM (Debian: slurmctld slurmd slurm-client munge): no {', '.join(missing)}")
    with Cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture(scope="session")
def grid_on_slurm(cluster, tmp_path_factory) -> OnSlurm:
    """A checkout in which the grid of cluster.yaml was run on the cluster; copy it before you change it."""
    from checkout import copy_checkout

    made = OnSlurm(copy_checkout(tmp_path_factory.mktemp("grid") / "slmcollab"), cluster)
    process = made.start("results/table1.csv")
    output = process.communicate(timeout=LIMIT)[0]
    assert process.returncode == 0, output[-6000:]
    return made
