"""`--sdm conda` with a stand-in for conda: jobs run in their rule's environment, which has its own packages only."""

from pathlib import Path

import pytest
import stand_in_conda
from checkout import REPOSITORY, Checkout

RUN = "results/musketeers/toy_sums/single/none/seed0"
ENVIRONMENTS = {  # of the rules that make a run of a method without experts
    "cpu": {"train_toy_model", "write_toy_corpus", "generate_problems", "score_answers"},
    "gpu": {"train_grpo", "answer_problems"},
}


@pytest.mark.slow
def test_jobs_run_in_their_environments_and_turning_conda_on_or_off_reruns_nothing(clone, tmp_path):
    with_conda = Checkout(clone.folder, clone.configs, (stand_in_conda.install(tmp_path / "conda"),))
    with_conda.snakemake(f"{RUN}/scores.json", "--sdm", "conda", "--conda-prefix", str(tmp_path / "envs"))
    started = {}
    for folder in filter(Path.is_dir, (tmp_path / "envs").iterdir()):
        name = next(
            file.stem for file in (REPOSITORY / "envs").glob("*.yaml") if same(file, folder.with_suffix(".yaml"))
        )
        steps = [line.split()[1] for line in (folder / "started").read_text().splitlines()]
        started[name] = {step.removeprefix("slmcollab.steps.") for step in steps}
    assert started == ENVIRONMENTS
    # The same tree afterwards: without conda, with it, and with its environments elsewhere.
    assert clone.planned(f"{RUN}/scores.json") == {}
    for prefix in ("envs", "others"):
        folder = ["--sdm", "conda", "--conda-prefix", str(tmp_path / prefix)]
        assert with_conda.planned(f"{RUN}/scores.json", *folder) == {}


def test_a_tree_made_without_conda_is_up_to_date_with_it(finished, tmp_path):
    with_conda = Checkout(finished.folder, finished.configs, (stand_in_conda.install(tmp_path / "conda"),))
    assert with_conda.planned("all", "--sdm", "conda") == {}


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()
