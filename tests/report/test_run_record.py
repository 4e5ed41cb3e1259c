"""The record of a run is a whole RO-Crate: flat, every reference leads somewhere, and nothing in it is made up."""

import json
import subprocess

import pytest

from slmcollab.report.run_record import NAME, collect_runs, commit_of, count_jobs, crate

FAST = {"cpu": "Fast 9", "cpus": 64, "memory_mb": 1000, "gpus": ["H200"], "platform": "Linux", "python": "3.11.7"}
SLOW = FAST | {"cpu": "Slow 1", "gpus": []}
MODEL = {
    "model": "small",
    "id": "lab/small",
    "revision": "f" * 40,
    "num_parameters": 5,
    "files": {"config.json": "aa", "model.safetensors": "bb"},
}
TOY = MODEL | {"model": "toy", "id": None, "revision": None}
DATA = {
    "benchmark": "sums",
    "rule": "Drawn at random.",
    "data_seed": 42,
    "sha256": {"train": "cc", "test": "dd"},
    "source": {"id": "lab/sums", "revision": "e" * 40},
}


@pytest.fixture
def made():
    jobs = [count_jobs("train", [FAST, None, FAST, SLOW]), count_jobs("answer", [None])]
    return crate(
        date="2026-01-02",
        files={"table1.csv": "11", "config.json": "22"},
        models=[MODEL, TOY],
        data=[DATA],
        packages={"torch": ["2.13.0"]},
        seeds={"slices": [0, 1]},
        codes={
            "train": {"c2": ["steps.train", "scoring.exact"], "c1": ["steps.train"]},
            "plot": {"c3": ["steps.plot"]},
        },
        jobs=jobs,
        commit="abc-dirty",
    )


@pytest.fixture
def entities(made):
    return {one["@id"]: one for one in made["@graph"]}


def values(entity, entities):
    return {(told := entities[reference["@id"]])["name"]: told["value"] for reference in entity["additionalProperty"]}


def references(value):
    """Yield every @id that a property leads to; raises AssertionError where one holds an entity instead."""
    if isinstance(value, dict):
        assert value.keys() == {"@id"}
        yield value["@id"]
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


def test_it_has_the_form_of_a_crate(made, entities):
    assert made["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    assert len(entities) == len(made["@graph"])
    assert all("@type" in one for one in made["@graph"])
    root = entities[entities[NAME]["about"]["@id"]]
    assert (root["@type"], root["datePublished"]) == ("Dataset", "2026-01-02")
    assert [one["@id"] for one in root["hasPart"]] == ["table1.csv", "config.json"]
    led_to = {found for one in made["@graph"] for value in one.values() for found in references(value)}
    assert led_to - {"https://w3id.org/ro/crate/1.1"} <= entities.keys()
    unnamed = entities.keys() - led_to
    assert unnamed == {NAME}, "an entity that nothing refers to"
    json.dumps(made, allow_nan=False)


def test_models_and_data_have_their_revisions(entities):
    small, toy = entities["#model/small"], entities["#model/toy"]
    assert (small["identifier"], small["version"]) == ("lab/small", "f" * 40)
    assert {"identifier", "version"}.isdisjoint(toy)
    assert values(small, entities) == {"sha256 of model.safetensors": "bb", "parameters": 5}
    told = values(entities["#data/sums"], entities)
    assert (told["data_seed"], told["sha256 of train"]) == (42, "cc")
    assert json.loads(told["source"]) == DATA["source"]


def test_software_seeds_and_code_are_named(entities):
    workflow = entities["#workflow"]
    assert workflow["version"] == "abc-dirty"
    assert entities["#package/torch"]["version"] == ["2.13.0"]
    assert values(entities["#run"], entities) == {"seeds of slices": [0, 1]}
    assert values(entities["#rule/train"], entities) == {
        "code digest of steps.train": "c1",
        "code digest of steps.train scoring.exact": "c2",
    }


def test_machines_are_counted_and_unknown_ones_are_not_invented(entities):
    train, answer = entities["#jobs/train"], entities["#jobs/answer"]
    assert train["instrument"] == {"@id": "#rule/train"}
    assert "instrument" not in answer
    told = values(train, entities)
    assert (told.pop("jobs"), told.pop("jobs on unknown machines")) == (4, 1)
    assert sorted(told.values()) == [1, 2]
    assert values(answer, entities) == {"jobs": 1, "jobs on unknown machines": 1}
    machines = {one["name"]: one for one in entities.values() if one["@type"] == "Product"}
    assert machines.keys() == {"Fast 9", "Slow 1"}
    assert values(machines["Fast 9"], entities) == {name: value for name, value in FAST.items() if name != "cpu"}


def test_packages_and_seeds_are_those_of_the_runs():
    run = {"packages": {"torch": "2", "trl": "1"}, "before": {"packages": {"torch": "1"}}}
    cells = [
        {"paper": "slices", "seeds": [2, 0], "scores": [{"provenance": {"run": run}}]},
        {"paper": "slices", "seeds": [1], "scores": []},
    ]
    cells[0]["scores"].append({"provenance": {"run": {"before": {"packages": {"torch": "1"}}}}})
    assert collect_runs(cells) == {"packages": {"torch": ["1", "2"], "trl": ["1"]}, "seeds": {"slices": [0, 1, 2]}}


def test_the_commit_is_that_of_a_checkout_and_says_whether_files_differ(tmp_path):
    assert commit_of(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "file").write_text("1")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert commit_of(tmp_path) == commit
    (tmp_path / "file").write_text("2")
    assert commit_of(tmp_path) == f"{commit}-dirty"
