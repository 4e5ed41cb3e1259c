"""`make check-cluster` on a SLURM that is fit, and on one that is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import MICRO, copy_checkout

from slurm import Cluster, missing_programs

pytestmark = pytest.mark.cluster

CONDA = '#!/bin/sh\necho "conda 24.11.1"\n'
IN_THE_WAY = {"MinJobAge=3600": "MinJobAge=10", "GresTypes=gpu\n": "", " Gres=gpu:1": ""}


class Unfit(Cluster):
    """A cluster without GPUs that soon forgets its jobs."""

    def _write_files(self) -> None:
        super()._write_files()
        text = self.conf.read_text()
        for fit, unfit in IN_THE_WAY.items():
            assert fit in text
            text = text.replace(fit, unfit)
        self.conf.write_text(text)
        (self.folder / "gres.conf").write_text("AutoDetect=off\n")


@pytest.fixture
def unfit(tmp_path):
    if missing := missing_programs():
        pytest.skip(f"needs SLURM (Debian: slurmctld slurmd slurm-client munge): no {', '.join(missing)}")
    with Unfit(tmp_path / "slurm") as running:
        yield running


def check(folder: Path, cluster: Cluster, *options: str, **settings: str) -> tuple[int, dict[str, str], str]:
    """Return the exit code, how each check stands, and all that was printed, of the toy grid with a conda at hand."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "conda").write_text(CONDA)
    (programs / "conda").chmod(0o755)
    environment = {**os.environ, **cluster.environment(), "PYTHONPATH": "workflow", **settings}
    environment["PATH"] = os.pathsep.join([str(programs), str(Path(sys.executable).parent), environment["PATH"]])
    command = [sys.executable, "-m", "cluster.check", "--configfile", "workflow/config/tiny.yaml", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    output = done.stdout + done.stderr
    return done.returncode, dict(re.findall(r"^│ (\S[^│]*?) +│ (ok|warn|FAIL) ", output, re.MULTILINE)), output


def test_a_fit_cluster(cluster, tmp_path):
    folder = copy_checkout(tmp_path / "slmcollab")
    code, stands, output = check(folder, cluster)
    assert "FAIL" not in stands.values(), output
    assert code == 0
    judged = {"SLURM", "job states", "account", "partition", "preemption", "limits", "GPUs", "resources", "conda"}
    judged |= {"offline cache", "disk", "shared folder", "file locks", "clocks", "sandbox", "toolchains"}
    assert set(stands) == judged
    assert re.search(r"shared folder +│ ok +│ \S+ reads and writes it", output)
    assert list((folder / ".snakemake").glob("probe-*")) == []


def test_settings_that_the_cluster_does_not_know_are_named(cluster, tmp_path):
    folder = copy_checkout(tmp_path / "slmcollab")
    code, stands, output = check(folder, cluster, SLMCOLLAB_PARTITION="lowcancel", SLMCOLLAB_GPU_MODEL="h100")
    assert code == 1
    assert (stands["GPUs"], stands["preemption"]) == ("FAIL", "warn")
    assert "unset SLMCOLLAB_GPU_MODEL" in output


PROFILE = """\
__use_yte__: true
software-deployment-method: env-modules
default-resources: {mem_mb: 4000, runtime: 30, slurm_partition: low}
set-resources: {train_grpo: {runtime: 99999, slurm_partition: lowcancel}}
"""
IMAGE = "benchmarks: {toy_multipl_e: {scoring: {image: tools.sif}}}\n"


def test_a_site_with_a_profile_of_its_own_and_an_image(cluster, tmp_path):
    folder = copy_checkout(tmp_path / "slmcollab")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/profile.yaml").write_text(PROFILE)
    (tmp_path / "image.yaml").write_text(IMAGE)
    code, _, output = check(folder, cluster, str(tmp_path / "image.yaml"), "--profile", str(tmp_path / "site"))
    assert code == 1
    assert re.search(r"partition +│ ok +│ low: UP", output)
    assert re.search(r"partition +│ ok +│ lowcancel: UP", output)
    assert re.search(r"resources +│ FAIL +│ train_grpo: 1666.7 h > MaxTime", output)
    assert re.search(r"conda +│ ok +│ the profile does not use it", output)
    assert re.search(r"sandbox +│ (ok|warn) +│ .*\btools.sif", output)
    assert len(re.findall(r"shared folder +│ ok +│ \S+ reads and writes it", output)) == 2  # of both partitions


BY_SIZE = """\
__use_yte__: true
default-resources: {mem_mb: 4000, runtime: 30}
set-resources: {score_answers: {mem_mb: "2*input.size_mb"}}
"""


def test_a_grid_that_runs_no_programs_needs_no_sandbox_and_a_size_may_be_unknown(cluster, tmp_path):
    folder = copy_checkout(tmp_path / "slmcollab")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/profile.yaml").write_text(BY_SIZE)
    code, stands, output = check(folder, cluster, str(MICRO), "--profile", str(tmp_path / "site"))
    assert code == 0, output
    assert stands["shared folder"] == "ok"
    assert stands.keys() & {"sandbox", "toolchains"} == set()
    assert re.search(r"resources +│ warn +│ score_answers: mem_mb unknown", output)


def test_an_unfit_cluster(unfit, tmp_path):
    code, stands, output = check(copy_checkout(tmp_path / "slmcollab"), unfit)
    assert code == 1
    assert {what for what, state in stands.items() if state == "FAIL"} == {"job states", "GPUs", "resources"}, output
    assert "MinJobAge 10 s" in output
    assert "train_grpo: 1 > 0 GPUs" in output
