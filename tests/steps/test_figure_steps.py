"""The steps of figures, through their command lines, from small files to pictures and exact numbers."""

import json

import pytest
import tyro

from slmcollab.artifacts import ArtifactError, write_json
from slmcollab.steps import plot_figure4, plot_figure6a, plot_figure6b

HISTORY = """\
step,reward,reward_without_context,attention_entropy,attention_entropy_prompt,attention_share/a,attention_share/b
1,0.0,0.0,0.6931471805599453,0.6,0.5,0.5
2,0.5,,0.5623351446188083,0.5,0.25,0.75
"""
RUN = {"benchmark": "sums", "method": "hidden_state", "seed": 0, "team": "toy"}
SUFFIXES = ("pdf", "png", "csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the history and the scores of one run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history.csv").write_text(HISTORY)
    write_json(tmp_path / "scores.json", RUN | {"metrics": {"accuracy": 50.0, "accuracy_unseen": 25.0}})
    return tmp_path


def plot(step, option, file, cell, name="figure"):
    words = [f"--figure-{suffix}={name}.{suffix}" for suffix in SUFFIXES]
    tyro.cli(
        step.main, args=["--cell", json.dumps(cell), f"--{option}", file, *words], config=(tyro.conf.OmitArgPrefixes,)
    )


EXPERTS = {"experts": ["a", "b"]}
POINT = {"benchmark": "sums", "m": 8, "method": "hidden_state", "seeds": [0], "team": "toy"}
STEPS = [
    (plot_figure4, "histories", "history.csv", {"runs": [RUN | EXPERTS]}),
    (plot_figure6a, "histories", "history.csv", {"runs": [RUN]}),
    (plot_figure6b, "scores", "scores.json", {"points": [POINT, POINT | {"m": 2, "method": "other", "seeds": []}]}),
]


@pytest.mark.parametrize("arguments", STEPS, ids=["figure4", "figure6a", "figure6b"])
def test_a_figure_is_the_same_each_time(folder, arguments):
    plot(*arguments)
    plot(*arguments, "again")
    for suffix in SUFFIXES:
        assert (folder / f"figure.{suffix}").read_bytes() == (folder / f"again.{suffix}").read_bytes()
    assert sorted(file.name for file in folder.iterdir() if file.name.startswith(".")) == []


def test_figure4_has_the_rank_correlation_of_the_run(folder):
    plot(*STEPS[0])
    lines = (folder / "figure.csv").read_text().splitlines()
    assert lines[:3] == [
        "benchmark,team,seed,step,quantity,expert,value",
        "sums,toy,0,1,attention_share,a,0.500000",
        "sums,toy,0,2,attention_share,a,0.250000",
    ]
    # Entropy falls while reward rises, in two steps.
    assert "sums,toy,0,,spearman_entropy_reward,,-1.000000" in lines
    assert lines[-1] == "sums,toy,mean,,spearman_entropy_reward,,-1.000000"


def test_figure6a_numbers(folder):
    plot(*STEPS[1])
    assert (folder / "figure.csv").read_text() == (
        "benchmark,team,method,seed,step,quantity,value\n"
        "sums,toy,hidden_state,0,1,reward,0.000000\n"
        "sums,toy,hidden_state,0,2,reward,0.500000\n"
        "sums,toy,hidden_state,0,1,reward_without_context,0.000000\n"
        "sums,toy,hidden_state,mean,1,reward,0.000000\n"
        "sums,toy,hidden_state,mean,2,reward,0.500000\n"
        "sums,toy,hidden_state,mean,1,reward_without_context,0.000000\n"
    )


def test_figure6b_numbers(folder):
    plot(*STEPS[2])
    assert (folder / "figure.csv").read_text() == (
        "benchmark,team,m,method,metric,seed,value\n"
        "sums,toy,2,other,accuracy,mean,\n"
        "sums,toy,2,other,accuracy,std,\n"
        "sums,toy,2,other,accuracy_unseen,mean,\n"
        "sums,toy,2,other,accuracy_unseen,std,\n"
        "sums,toy,8,hidden_state,accuracy,0,50.000000\n"
        "sums,toy,8,hidden_state,accuracy,mean,50.000000\n"
        "sums,toy,8,hidden_state,accuracy,std,\n"
        "sums,toy,8,hidden_state,accuracy_unseen,0,25.000000\n"
        "sums,toy,8,hidden_state,accuracy_unseen,mean,25.000000\n"
        "sums,toy,8,hidden_state,accuracy_unseen,std,\n"
    )


def test_the_file_that_does_not_fit_is_named_and_nothing_is_written(folder):
    with pytest.raises(ArtifactError, match=r"^history\.csv: attention shares"):
        plot(plot_figure4, "histories", "history.csv", {"runs": [RUN | {"experts": ["a", "c"]}]})
    (folder / "history.csv").write_text(HISTORY.replace("2,0.5,,", "2,0.5,nan,"))
    with pytest.raises(ArtifactError, match=r"^history\.csv: step 2: reward_without_context is nan"):
        plot(*STEPS[1])
    with pytest.raises(ArtifactError, match=r"^scores\.json: .*not in the grid"):
        plot(plot_figure6b, "scores", "scores.json", {"points": [POINT | {"team": "other"}]})
    assert list(folder.glob("figure.*")) == []


@pytest.mark.parametrize("step", [plot_figure4, plot_figure6a])
def test_histories_and_runs_have_to_match(folder, step):
    with pytest.raises(ArtifactError, match="1 histories for the 0 runs"):
        plot(step, "histories", "history.csv", {"runs": []})
