"""The step of the claims, from small files to the table."""

import json

import pytest
import tyro

from slmcollab.artifacts import ArtifactError, write_json
from slmcollab.report.claims import COLUMNS
from slmcollab.report.tables import read_csv
from slmcollab.steps import write_claims

SINGLE, HIDDEN = ("sums", "single", "none"), ("sums", "hidden_state", "toy")
KEYS = ("benchmark", "method", "team", "seed")
RUNS = [dict(zip(KEYS, (*cell, seed), strict=True)) for cell in (SINGLE, HIDDEN) for seed in (0, 1)]
ROLES = {"gain": "sums", "no_gain": [], "saturated": [], "lower_alone": [], "harder": [], "team": "toy"}
CELL = {"runs": RUNS, "teams": {"toy": ["a"]}, "poolings": {"last_token": "hidden_state"}, "sizes": {}, "roles": ROLES}
PATTERN = "{benchmark}/{method}/{team}/seed{seed}"
PLAIN = "step,reward\n1,0.5\n"
ATTENDED = (
    "step,reward,reward_without_context,attention_entropy,attention_entropy_prompt,attention_share/a\n1,0.5,,0,0,1\n"
)
PUBLISHED = "benchmark,method,team,metric,mean,std,source\nall,hidden_state,best,gain_over_single,22.9,,page 1\n"


@pytest.fixture
def options(tmp_path):
    measured = {"shares": {"a": 1.0}, "prompt_variance_share": None, "accuracy": 100.0, "accuracy_frozen": 100.0}
    for run in RUNS:
        hidden = run["method"] == "hidden_state"
        right = float(hidden)
        problems = {f"sums/{number}": {"score": right, "seen": False} for number in range(10)}
        folder = tmp_path / PATTERN.format(**run)
        folder.mkdir(parents=True)
        write_json(folder / "scores.json", run | {"metrics": {"accuracy": 100 * right}, "problems": problems})
        (folder / "history.csv").write_text(ATTENDED if hidden else PLAIN)
        if hidden:
            write_json(folder / "attention.json", run | measured)
    write_json(tmp_path / "manifest.json", {"model": "a", "hidden_size": 8, "num_parameters": 100})
    (tmp_path / "published.csv").write_text(PUBLISHED)
    return {
        "cell": json.dumps(CELL),
        "runs": str(tmp_path / PATTERN),
        "manifests": [str(tmp_path / "manifest.json")],
        "published": str(tmp_path / "published.csv"),
        "claims": str(tmp_path / "claims.csv"),
    }


def run_step(options):
    words = []
    for name, value in options.items():
        words += [f"--{name}", *([value] if isinstance(value, str) else value)]
    tyro.cli(write_claims.main, args=words)


def test_the_table_has_every_claim_and_says_what_is_missing(options, tmp_path):
    run_step(options)
    rows = read_csv(tmp_path / "claims.csv", COLUMNS)
    verdicts = {row["claim"]: row for row in rows if row["row"] == "verdict"}
    assert list(verdicts) == [f"A{number}" for number in range(1, 20)]
    # All 10 answers right instead of none: 2 of 2^10 flips are as large, 0.0020.
    gain = verdicts["A1"]
    assert [gain[name] for name in ("measured", "p_value", "n", "n_seeds", "verdict")] == [
        *("100.00", "0.0020", "10", "2", "holds"),
    ]
    assert {row["verdict"] for name, row in verdicts.items() if name != "A1"} == {"not run"}
    assert "prompt_variance_share is null" in verdicts["A17"]["reason"]
    assert {row["published"] for row in rows} == {""}  # sums is no benchmark of the paper


def test_the_same_files_give_the_same_bytes(options, tmp_path):
    run_step(options)
    first = (tmp_path / "claims.csv").read_bytes()
    run_step(options)
    assert (tmp_path / "claims.csv").read_bytes() == first


RUN = "sums/hidden_state/toy/seed0"


@pytest.mark.parametrize(
    "name",
    [f"{RUN}/scores.json", f"{RUN}/history.csv", f"{RUN}/attention.json", "manifest.json", "published.csv"],
)
@pytest.mark.parametrize("fault", ["missing", "cut"])
def test_a_file_that_is_missing_or_cut_is_named(options, tmp_path, name, fault):
    path = tmp_path / name
    content = path.read_text()
    path.unlink()
    if fault == "cut":
        path.write_text(content[: len(content) - 5])
    with pytest.raises(ArtifactError, match=name):
        run_step(options)
    assert not (tmp_path / "claims.csv").exists()
