"""Provenance of a finished run: its form, every file that it leads to, and the record of the whole grid."""

import json
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml
from behind import NOTED, check, split_files, unnoticed
from checkout import REPOSITORY

SCHEMA = yaml.safe_load((REPOSITORY / "workflow/schemas/provenance.schema.yaml").read_text())
# Of the other tables, the figures and the claims; the last two are ablations, which table 1 does not show.
OTHERS = (
    *("musketeers/claims.*", "musketeers/table?.html", "musketeers/table?.tex", "musketeers/table2.csv"),
    *(
        "musketeers/table_*",
        "musketeers/figure*",
        "*/attention.json",
        "experts/*/probe.json",
        "experts/*/test/scores.json",
    ),
    *("musketeers/toy_sums/hidden_state_m2/*", "musketeers/toy_sums/hidden_state_first_token/*"),
)


def verified(checkout, *options, fails=False):
    """Return what the step prints, run from the run's folder."""
    command = [sys.executable, "-m", "slmcollab.steps.verify_provenance", "results/", *options]
    environment = checkout.environment() | {"PYTHONPATH": str(checkout.folder / "workflow")}
    done = subprocess.run(command, cwd=checkout.run, env=environment, capture_output=True, text=True)
    assert done.returncode == int(fails), done.stdout + done.stderr
    return done.stdout + done.stderr


def test_provenance_has_the_form_that_its_schema_says(finished):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads((finished.run / "results/table1.provenance.json").read_text()), SCHEMA)


def test_what_is_not_behind_table1_is_of_these_kinds_alone(finished):
    assert split_files(finished.run, (*NOTED, *OTHERS)) == (set(), set(), set())


def test_one_byte_of_any_file_behind_table1_is_noticed(checkout):
    assert len(check(checkout.run).files) > 70
    assert unnoticed(checkout.run) == []


def test_the_step_says_what_differs_and_what_depends_on_it(checkout):
    assert re.search(r"^\d+ files checked, all as recorded; table1\.provenance\.json [0-9a-f]{64}$", verified(checkout))
    weights = "results/models/toy_math/weights/model.safetensors"
    (checkout.run / weights).open("ab").write(b"\0")
    (checkout.run / "results/table1.csv").unlink()
    said = verified(checkout, fails=True)
    line = re.search(
        rf"^{weights}: recorded [0-9a-f]{{64}} by results/models/toy_math/manifest.json, found .*$", said, re.M
    )
    assert line[0].endswith("behind musketeers toy_sums hidden_state toy; musketeers toy_sums routing toy")
    assert re.search(r"^results/table1\.csv: .* found no such file; behind every cell$", said, re.M)
    assert ", 2 not as recorded; " in said
    (checkout.run / "results/table1.provenance.json").write_text("{")
    assert "table1.provenance.json" in verified(checkout, fails=True)


def test_what_is_cut_out_or_is_no_part_of_table1_is_noticed_too(checkout):
    results = checkout.run / "results"
    (results / "musketeers/figure4.png").open("ab").write(b"\0")
    (results / "musketeers/table1.tex").unlink()
    provenance = json.loads((results / "table1.provenance.json").read_text())
    cut = provenance["cells"].pop()
    (results / "table1.provenance.json").write_text(json.dumps(provenance))
    lines = verified(checkout, fails=True).splitlines()
    cell = " ".join(cut[key] for key in ("paper", "benchmark", "method", "team"))
    assert lines[0] == f"table1.provenance.json: does not tell of a cell that results/table1.csv shows; behind {cell}"
    assert [line.partition(":")[0] for line in lines[1:-1]] == [
        *("results/musketeers/figure4.png", "results/musketeers/table1.tex", "results/table1.provenance.json")
    ]


def test_other_code_than_the_checkouts_is_named_and_fails_unless_any_is_taken(checkout):
    module = checkout.folder / "workflow/slmcollab/rl/history.py"
    module.write_text(module.read_text() + "# A comment.\n")
    assert ", all as recorded; " in verified(checkout)
    module.write_text(module.read_text() + "UNUSED = 1\n")
    said = verified(checkout, fails=True)
    assert re.search(r", all as recorded, \d+ of other code \(", said)
    rules = set(re.findall(r"^rule (\w+): ran with other code of .* than there is now$", said, re.M))
    assert "train_grpo" in rules
    assert not rules & {"score_answers", "make_table1", "train_toy_model"}
    assert re.search(r", all as recorded, \d+ of other code; ", verified(checkout, "--any-code"))


@pytest.fixture
def record(finished):
    entities = json.loads((finished.run / "results/ro-crate-metadata.json").read_text())["@graph"]
    return {one["@id"]: one for one in entities}


def values(entity, record):
    return {(told := record[one["@id"]])["name"]: told["value"] for one in entity["additionalProperty"]}


def test_the_record_names_the_models_data_seeds_and_code_of_the_grid(finished, record):
    assert {name for name in record if re.fullmatch("#model/[^/]+", name)} == {
        *("#model/toy_math", "#model/toy_policy", "#model/toy_string")
    }
    assert values(record["#data/toy_sums"], record)["data_seed"] == 42
    assert values(record["#run"], record) == {"seeds of musketeers": [0, 1]}
    run = json.loads((finished.run / "results/musketeers/toy_sums/hidden_state/toy/seed0/run.json").read_text())
    codes = values(record["#rule/train_grpo"], record)
    trained = "slmcollab.steps.train_grpo slmcollab.context.hidden_state slmcollab.scoring.exact"
    assert codes[f"code digest of {trained}"] == run["code"]
    assert len(codes) == 3  # single, hidden_state, routing
    assert {name: record[f"#package/{name}"]["version"] for name in run["packages"]} == {
        name: [version] for name, version in run["packages"].items()
    }
    config = json.loads((finished.run / "results/config.json").read_text())
    assert (config["grid"]["seeds"], config["grpo"]["max_steps"]) == ([0, 1], 4)


def test_the_record_counts_the_jobs_by_the_machine_that_their_logs_name(record):
    machines = [one for one in record.values() if one["@type"] == "Product"]
    assert [values(one, record)["python"] for one in machines] == [sys.version.split()[0]]
    told = values(record["#jobs/train_grpo"], record)
    assert told == {"jobs": 7, "jobs on unknown machines": 0, "jobs on machine1": 7}


def test_the_record_follows_what_is_made_and_no_setting_that_changes_no_output(checkout):
    forced = checkout.snakemake("all", "--dry-run", "--forcerun", "plot_figure4")
    assert set(re.findall(r"^(?:local)?rule (\w+):", forced, re.M)) == {"plot_figure4", "write_run_record", "all"}
