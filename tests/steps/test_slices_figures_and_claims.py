"""The steps of the figures and claims of slices, from small files to pictures, exact numbers and the table."""

import json

import pytest
import tyro
from recorded import answer_row, call, step, trajectory, verdict

from slmcollab.artifacts import ArtifactError, write_json, write_jsonl
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.trajectory import write_trajectories
from slmcollab.report.claims import COLUMNS
from slmcollab.report.tables import read_csv
from slmcollab.steps import plot_slices_figure3, plot_slices_figure4, plot_slices_figure5, write_slices_claims

METHODS = ("cl", "cl_no_training", "cl_constant_reward", "qwen3_14b")
MODELS = ["small", "middle", "large"]
VARIES = ("cl", "cl_constant_reward")
RUNS = [
    {"benchmark": "sums", "method": method, "seed": 0, "stage": "eval", "varies": method in VARIES, "models": MODELS}
    for method in METHODS
]
SAMPLED = [run | {"stage": "eval_sampled"} for run in RUNS if run["method"] in ("cl", "cl_constant_reward")]
CELL = {
    "runs": RUNS,
    "models": MODELS,
    "sizes": {"small": 0.5, "middle": 1.5},
    "roles": {"musique": "sums", "middle_slot": "a2", "largest_slot": "a3"},
    "step_scorer": "oracle",
}
PATTERN = "{benchmark}/{method}/seed{seed}"
TABLE1 = "benchmark,method,metric,value,dagger,source\nmusique,cl,accuracy,42.37,false,paper Table 1\n"
OTHER = "quantity,benchmark,condition,value,source_section\nmetrics_won,all 10 metrics,CL vs SE-RL,8/10,section 3.2\n"
STEPS = {3: plot_slices_figure3, 4: plot_slices_figure4, 5: plot_slices_figure5}
PLOTTED = {5: ("cl", "cl_no_training")}
SUFFIXES = ("pdf", "png", "csv")


def scores_of(run, right):
    problems = {f"q{index}": verdict(right) for index in range(10)}
    named = {"benchmark": run["benchmark"], "system": run["method"], "seed": run["seed"], "stage": run["stage"]}
    metrics = {"accuracy": 100.0 * right, "f1": 100.0 * right}
    return {**named, "models": MODELS, "metrics": metrics, "problems": problems}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory in which cl answers everything right after a handoff, and everybody else nothing."""
    monkeypatch.chdir(tmp_path)
    for run in [*RUNS, *SAMPLED]:
        right = run["method"] == "cl"
        stage = tmp_path / PATTERN.format(**run) / run["stage"]
        stage.mkdir(parents=True)
        write_json(stage / "scores.json", scores_of(run, right))
        write_jsonl(stage / "answers.jsonl", [answer_row(f"q{index}", "x", 1) for index in range(10)])
        steps = [step("a1", "a2"), step("a2", "a3"), step("a3", "terminate", answer="x")][0 if right else 2 :]
        write_trajectories(stage / "trajectories.jsonl", [trajectory(*steps, problem=f"q{i}") for i in range(10)])
        write_calls(stage / "calls.parquet", [call(index, qid=f"q{index}") for index in range(10)])
    slot = {"num_examples": 4, "num_updates": 2, "mean_reward": 0.5}
    write_json(tmp_path / "large.json", {"model": "large", "num_parameters": 3_000_000_000})
    write_json(tmp_path / "sums/cl/seed0/round1/training.json", {"stage": "round1", "slots": {"a1": slot}})
    (tmp_path / "table1.csv").write_text(TABLE1)
    (tmp_path / "other.csv").write_text(OTHER)
    return tmp_path


def plot(number, name="figure", cell=CELL):
    runs = [run for run in cell["runs"] if run["method"] in PLOTTED.get(number, METHODS)]
    words = [f"--figure-{suffix}={name}.{suffix}" for suffix in SUFFIXES]
    if number == 4:
        words += ["--manifests", "large.json", "--published", "table1.csv", "--published-other", "other.csv"]
    args = ["--cell", json.dumps(cell | {"runs": runs}), "--runs", PATTERN, *words]
    tyro.cli(STEPS[number].main, args=args, config=(tyro.conf.OmitArgPrefixes,))


def claim(cell=CELL | {"runs": [*RUNS, *SAMPLED], "rounds": {"cl": 1}}):
    words = ["--cell", json.dumps(cell), "--runs", PATTERN, "--claims", "claims.csv"]
    tyro.cli(write_slices_claims.main, args=[*words, "--published", "table1.csv", "--published-other", "other.csv"])


@pytest.mark.parametrize("number", list(STEPS))
def test_a_figure_is_the_same_each_time(folder, number):
    plot(number)
    plot(number, "again")
    for suffix in SUFFIXES:
        assert (folder / f"figure.{suffix}").read_bytes() == (folder / f"again.{suffix}").read_bytes()
    assert sorted(file.name for file in folder.iterdir() if file.name.startswith(".")) == []


def test_the_numbers_behind_the_figures(folder):
    plot(3)
    assert "sums,f1,cl,CL,oracle,gain_over_variants,mean,100.000000" in (folder / "figure.csv").read_text().splitlines()
    plot(4)
    # 10 tokens of a model of one billion, by 0.5 + 1.5 + 3 billions.
    row = "sums,cl,oracle,accuracy,0,100.000000,2.000000,10.000000,1.000000,,"
    assert row in (folder / "figure.csv").read_text().splitlines()
    plot(5)
    rows = (folder / "figure.csv").read_text().splitlines()
    assert "sums,cl_no_training,before,oracle,short_linear,0,10,1.000000,1.000000" in rows
    assert "sums,cl,after,oracle,long_linear,mean,,1.000000,3.000000" in rows


def test_a_run_s_own_step_scorer_stands_in_its_rows(folder):
    runs = [run | {"step_scorer": None if run["method"] == "qwen3_14b" else "judge"} for run in RUNS]
    plot(3, cell=CELL | {"runs": runs})
    rows = read_csv(folder / "figure.csv", plot_slices_figure3.COLUMNS)
    assert {(row["method"], row["step_scorer"]) for row in rows} >= {("cl", "judge"), ("qwen3_14b", "")}


def test_the_table_has_every_claim_and_who_scored_the_steps(folder):
    claim()
    rows = read_csv(folder / "claims.csv", (*COLUMNS, "step_scorer"))
    verdicts = {row["claim"]: row for row in rows if row["row"] == "verdict"}
    assert list(verdicts) == [f"B{number}" for number in range(1, 20)]
    assert {row["step_scorer"] for row in rows} == {"oracle"}
    # All 10 answers right instead of none: 2 of 2^10 flips are as large, 0.0020.
    gain = next(row for row in rows if row["claim"] == "B1" and row["quantity"] == "mean over metrics, less qwen3_14b")
    assert [gain[name] for name in ("measured", "interval_low", "p_value", "n", "n_seeds", "published", "verdict")] == [
        *("100.00", "100.00", "0.0020", "10", "1", "", "undecided"),
    ]
    alone = "one seed of a side that varies between seeds: its noise is unknown"
    assert gain["reason"] == f"0.000 → 100.000, above; {alone}"
    assert verdicts["B1"]["verdict"] == "undecided"
    assert verdicts["B3"]["verdict"] == "not run"
    assert "no benchmark with runs of cl and homo_mas" in verdicts["B3"]["reason"]
    sampled = [row for row in rows if row["claim"] == "B19" and "sampled, less cl_constant" in row["quantity"]]
    assert [row["measured"] for row in sampled] == ["100.00"]
    assert [row["measured"] for row in rows if row["unit"] == "reward"] == ["0.500"]


def write_baseline(folder, method, calls):
    """Write a run of a baseline whose first answers are right and whose final ones are wrong; return its entry."""
    run = RUNS[0] | {"method": method, "varies": True}
    stage = folder / PATTERN.format(**run) / "eval"
    stage.mkdir(parents=True)
    scores = scores_of(run, False)
    write_json(
        stage / "scores.json", scores | {"problems": {name: verdict(False, [True]) for name in scores["problems"]}}
    )
    write_jsonl(stage / "answers.jsonl", [answer_row(f"q{index}", "x", 2, ["y"]) for index in range(10)])
    write_calls(stage / "calls.parquet", calls)
    return run


def test_baselines_are_compared_as_the_paper_counts_and_counting_everything(folder):
    # mad: three calls a question, a tenth of them a retry; aflow: one, after a search of 20 calls of 30 tokens.
    mad = [call(index, qid=f"q{index % 10}", retry_of="c0" if index % 10 == 9 else None) for index in range(30)]
    search = [call(100 + index, qid="dev", phase="search", tokens=30) for index in range(20)]
    aflow = [*search, *(call(index, qid=f"q{index}") for index in range(10))]
    runs = [*RUNS, write_baseline(folder, "mad", mad), write_baseline(folder, "aflow", aflow)]
    claim(CELL | {"runs": runs, "roles": CELL["roles"] | {"all": ["sums"]}})
    rows = read_csv(folder / "claims.csv", (*COLUMNS, "step_scorer"))
    names = {(row["claim"], row["quantity"]): row for row in rows if row["benchmark"] == "sums" or row["unit"] == "%"}
    # cl: one call of 10 tokens of one billion a question.
    expected = {
        "invocations as the paper counts, less mad": "-2.000",
        "invocations as the paper counts, less aflow": "0.000",
        "invocations counting everything, less mad": "-2.000",
        "invocations counting everything, less aflow": "-2.000",
        "minimum reduction of invocations as the paper counts": "0.000",
        "minimum reduction of invocations counting everything": "66.667",
    }
    assert {name: names["B7", name]["measured"] for name in expected} == expected
    # cl's 10 tokens a question are fewer than aflow's 10 and 60 for its search, but as many as its 10 first attempts.
    counts = [row for row in rows if row["claim"] == "B9" and row["unit"] == "benchmarks"]
    assert [(row["row"], row["measured"], row["n"]) for row in counts] == [
        ("part", "1.000", "1"),
        ("beside", "0.000", "1"),
    ]
    (gptswarm,) = (row for row in rows if row["quantity"] == "invocations as the paper counts, less gptswarm")
    assert (gptswarm["verdict"], gptswarm["reason"]) == ("not run", "no run of gptswarm")


def test_the_same_files_give_the_same_bytes(folder):
    claim()
    first = (folder / "claims.csv").read_bytes()
    claim()
    assert (folder / "claims.csv").read_bytes() == first


RUN = "sums/cl/seed0"


@pytest.mark.parametrize(
    "name",
    [
        *(f"{RUN}/eval/{name}" for name in ("scores.json", "answers.jsonl", "trajectories.jsonl", "calls.parquet")),
        *(f"{RUN}/eval_sampled/scores.json", f"{RUN}/round1/training.json", "table1.csv", "other.csv"),
    ],
)
@pytest.mark.parametrize("fault", ["missing", "cut"])
def test_a_file_that_is_missing_or_cut_is_named(folder, name, fault):
    path = folder / name
    content = path.read_bytes()
    path.unlink()
    if fault == "cut":
        path.write_bytes(content[:-5])
    with pytest.raises(ArtifactError, match=name):
        claim()
    assert not (folder / "claims.csv").exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"seed": 1}, r"scores\.json: of \('sums', 'cl', 1, 'eval'\), not of"),
        ({"stage": "eval_sampled"}, "not of"),
        ({"problems": {"q0": verdict(True)}}, "10 answers"),
        ({"metrics": {"accuracy": 100.0}}, "none of the pairs"),
    ],
)
def test_a_scores_file_that_does_not_fit_is_named(folder, change, complaint):
    write_json(folder / RUN / "eval/scores.json", scores_of(RUNS[0], True) | change)
    with pytest.raises(ArtifactError, match=complaint):
        claim()


def test_runs_of_other_questions_are_refused(folder):
    run = RUNS[3]
    stage = folder / PATTERN.format(**run) / "eval"
    content = scores_of(run, False)
    content["problems"] = {f"other{index}": row for index, row in enumerate(content["problems"].values())}
    write_json(stage / "scores.json", content)
    write_jsonl(stage / "answers.jsonl", [answer_row(f"other{index}", "x", 1) for index in range(10)])
    with pytest.raises(ArtifactError, match=r"qwen3_14b/seed0/eval/scores\.json: no problems, or others than in"):
        claim()


def test_a_cell_that_lists_a_run_twice_or_only_sampled_is_refused(folder):
    with pytest.raises(ArtifactError, match="twice"):
        claim(CELL | {"runs": [*RUNS, RUNS[0]]})
    with pytest.raises(ArtifactError, match="no eval of"):
        claim(CELL | {"runs": [*RUNS[1:], *SAMPLED]})
