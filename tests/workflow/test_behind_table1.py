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


def verified(checkout, *, fails=False):
    """Return what the step prints, run from the run's folder."""
    command = [sys.executable, "-m", "slmcollab.steps.verify_provenance", "results/"]
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
    assert re.search(
        r"^\d\d files checked, all as recorded; table1\.provenance\.json [0-9a-f]{64}$", verified(checkout)
    )
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
    assert run["code"] in values(record["#rule/train_grpo"], record)["code digests"]
    assert len(values(record["#rule/train_grpo"], record)["code digests"]) == 3  # single, hidden_state, routing
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
