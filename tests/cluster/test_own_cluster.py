"""The cluster of these tests leaves nothing behind, whether it came up or not."""

import pytest

import slurm
from slurm import Cluster, missing_programs, wait_until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(bool(missing_programs()), reason=f"needs SLURM: no {', '.join(missing_programs())}"),
]


def test_a_job_ends_with_its_cluster(tmp_path):
    with Cluster(tmp_path) as cluster:
        job = cluster.run("sbatch", "--parsable", "--gpus=1", "--output=/dev/null", "--wrap=sleep 600").strip()
        wait_until(lambda: cluster.job(job)["JobState"] == "RUNNING", "running")
        assert cluster.processes("n1")
    assert cluster.processes() == []


def test_a_start_that_fails_leaves_no_daemon(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "CONF", f"{slurm.CONF}NoSuchKey=1\n")
    cluster = Cluster(tmp_path)
    with pytest.raises(RuntimeError, match="NoSuchKey"), cluster:
        pass
    assert (cluster.processes(), cluster.daemons) == ([], {})
