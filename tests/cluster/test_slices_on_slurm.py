"""The grid of slices.yaml on a real SLURM: what its jobs ask for, which share an allocation, and what comes out."""

import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from checkout import Checkout, copy_checkout
from on_slurm import LIMIT, OnSlurm, Wish, asked, most_at_once, purpose

pytestmark = pytest.mark.cluster

CONFIG = "tests/cluster/slices.yaml"
TABLE = "results/slices/table1.csv"
SYSTEMS = {"qwen3_14b", "homo_mas", "magrpo", "cl", "cl_distilled"}
# What jobs are for -> what each of them asks for; `scores` is a group of at most four jobs of two hours each.
JOBS = {
    "sample_trajectories": [Wish(1, 1, 96000, 480)] * 2,
    "qualify_trajectories": [Wish(0, 4, 16000, 120)],
    "distill_team": [Wish(1, 1, 96000, 720)],
    "score_steps": [Wish(1, 1, 96000, 480)],
    "reward_steps": [Wish(0, 4, 16000, 120)],
    "refine_team": [Wish(1, 1, 96000, 720)],
    "train_baseline": [Wish(1, 4, 96000, 2160)],
    "answer_with_team": [Wish(1, 1, 96000, 480)] * 4,
    "answer_with_baseline": [Wish(1, 1, 96000, 480)],
    "scores": [Wish(0, 4, 16000, 480), Wish(0, 4, 16000, 120)],
}


@pytest.fixture(scope="module")
def both(cluster, tmp_path_factory) -> tuple[OnSlurm, Path]:
    """The grid on the cluster, and the folder of a run without one: of the same model, at the same time."""
    folder = copy_checkout(tmp_path_factory.mktemp("slices") / "slmcollab")
    local = Checkout(folder, (folder / CONFIG,))
    local.snakemake("results/models/toy_l/manifest.json", "results/data/toy_gsm_hard/manifest.json")
    on_slurm = OnSlurm(folder, cluster, (CONFIG,))
    shutil.copytree(local.run, on_slurm.run)
    process = on_slurm.start(TABLE, "--slurm-keep-successful-logs")
    with ThreadPoolExecutor() as pool:
        here = pool.submit(local.snakemake, TABLE)
        output = process.communicate(timeout=LIMIT)[0]
        assert process.returncode == 0, output[-6000:]
        here.result()
    return on_slurm, local.run


def test_jobs_get_what_their_rules_ask_for(both):
    jobs = both[0].jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    wishes = Counter((purpose(job, JOBS), asked(job)) for job in jobs)
    assert wishes == Counter((name, wish) for name, wishes in JOBS.items() for wish in wishes)


def test_scores_share_allocations_one_after_another(both):
    on_slurm, _ = both
    sharing = {}
    for job in on_slurm.jobs():
        if purpose(job, JOBS) == "scores":
            log = on_slurm.run / f".snakemake/slurm_logs/group_scores_score_team/{job['JobId']}.log"
            scored = set(
                re.findall(r"output: results/slices/toy_gsm_hard/(\w+)/seed0/eval/scores.json", log.read_text())
            )
            assert set(re.findall(r"Execute (\d+) jobs", log.read_text())) == {"1"}
            sharing[asked(job).minutes] = scored
    assert {minutes: len(systems) for minutes, systems in sharing.items()} == {480: 4, 120: 1}
    assert set.union(*sharing.values()) == SYSTEMS


def test_gpus_are_all_used_and_never_shared(both):
    on_slurm, _ = both
    with_gpu = [job for job in on_slurm.jobs() if asked(job).gpus]
    assert most_at_once(with_gpu) == on_slurm.cluster.gpus
    for node in on_slurm.cluster.nodes:
        assert most_at_once([job for job in with_gpu if job["NodeList"] == node]) == 1


def test_all_files_are_those_of_a_local_run(both):
    on_slurm, local = both
    made, expected = (
        {
            str(path.relative_to(run)): path.read_bytes()
            for path in (run / "results/slices").rglob("*")
            if path.is_file()
        }
        for run in (on_slurm.run, local)
    )
    assert made == expected
    assert sum(name.endswith("adapter_model.safetensors") for name in made) == 9  # distilled, refined, magrpo's
    assert re.search(rb"cl,none,f1,[1-9]", made[TABLE])  # equal zeros would prove nothing
