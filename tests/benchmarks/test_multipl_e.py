"""MultiPL-E from local files and from the hub's schema; nothing here needs a network."""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml
from multipl_e_rows import row

from slmcollab.artifacts import ArtifactError, read_json, write_jsonl
from slmcollab.benchmarks import hub, multipl_e, multipl_e_python
from slmcollab.benchmarks.multipl_e_python import humaneval_row, mbpp_row
from slmcollab.benchmarks.splits import tasks_of, write_splits
from slmcollab.scoring.code.languages import LANGUAGES

ROOT = Path(__file__).parents[2]
TASKS = {"test": {"humaneval": 2, "mbpp": 3}, "dev": {"humaneval": 1, "mbpp": 1}}
NAMES = {
    "humaneval": [f"HumanEval_{number}_hard_{number}" for number in range(5)],
    "mbpp": [f"mbpp_{number}_basic_{number}" for number in (2, 3, 4, 6, 7, 11)],
}
MISSING = ("cs", "HumanEval_4_hard_4")  # so only four HumanEval tasks are there in all languages


@pytest.fixture
def folder(tmp_path):
    for source, names in NAMES.items():
        for language in LANGUAGES:
            rows = [row(language, name) for name in names if (language, name) != MISSING]
            write_jsonl(tmp_path / f"{source}-{language}.jsonl", rows)
    return tmp_path


def block(folder, **changed):
    # 88 rows but one; test 8 x 5 = 40, dev 8 x 2 = 16, which leaves 31
    sizes = {"num_train": 31, "num_dev": 16, "num_test": 40}
    block = {"benchmark": "multipl_e", "source": {"path": str(folder)}, "held_out": TASKS, "data_seed": 42}
    return block | sizes | changed


def test_sizes_languages_and_sources(folder):
    splits = multipl_e.load(block(folder), 42)
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (31, 16, 40)
    cells = Counter(problem.metadata["group"] for problem in splits.test)
    assert cells == {f"{name}-{key}": size for name, size in TASKS["test"].items() for key in LANGUAGES}


@pytest.mark.parametrize("seed", range(5))
def test_no_task_is_in_two_splits_in_any_language(folder, seed):
    splits = multipl_e.load(block(folder), seed)
    tasks = [{problem.metadata["task"] for problem in split} for split in (splits.train, splits.dev, splits.test)]
    assert sum(map(len, tasks)) == len(set.union(*tasks)) == 11
    assert all(tasks_of(problem) == {problem.metadata["task"]} for problem in splits.test)
    languages = {task: set() for task in tasks[2]}
    for problem in splits.test:
        languages[problem.metadata["task"]].add(problem.metadata["language"])
    assert all(found == set(LANGUAGES) for found in languages.values())
    assert "humaneval/4" in tasks[0]  # what a language lacks can only be trained on


def test_the_draw_follows_data_seed_alone(folder):
    splits = [multipl_e.load(block(folder), seed).origin["tasks"]["test"] for seed in (42, 42, 1, 2, 3)]
    assert splits[0] == splits[1]
    assert len(set(map(tuple, splits))) > 1


def test_more_dev_tasks_change_no_test_task(folder):
    more = {"test": TASKS["test"], "dev": {"humaneval": 2, "mbpp": 3}}
    one, other = multipl_e.load(block(folder), 42), multipl_e.load(block(folder, tasks=more, num_train=7), 42)
    assert one.test == other.test


def test_the_manifest_lists_the_tasks(folder, tmp_path):
    splits = multipl_e.load(block(folder), 42)
    paths = {name: tmp_path / f"{name}.out" for name in ("train", "test", "dev", "manifest")}
    write_splits(splits, block(folder), **paths)
    manifest = json.loads(paths["manifest"].read_text())
    assert {name: len(tasks) for name, tasks in manifest["tasks"].items()} == {"test": 5, "dev": 2, "train": 4}
    assert set(manifest["overlaps"]["tasks"].values()) == {0}
    assert set(manifest["overlaps"]["questions"].values()) == {0}


def test_the_published_rule_is_the_loader_s(folder):
    published = read_json(ROOT / "workflow/splits/multipl_e.json")
    ours = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))["benchmarks"]["multipl_e"]
    rule = multipl_e.load(block(folder), published["data_seed"]).rule.replace(str(folder), ours["source"]["id"])
    assert published["rule"].startswith(rule.split("; 31 of ")[0])
    assert published["tasks"] == ours["held_out"]
    assert published["problems"] == {name: ours[f"num_{name}"] for name in ("test", "dev", "train")}
    held = {name: len(LANGUAGES) * sum(tasks.values()) for name, tasks in published["tasks"].items()}
    assert held == {name: published["problems"][name] for name in held}


def test_hidden_tests_are_never_shown(folder):
    splits = multipl_e.load(block(folder), 42)
    for problem in [*splits.train, *splits.dev, *splits.test]:
        shown = problem.question + json.dumps(problem.messages) + problem.id
        assert problem.answer is None
        assert problem.metadata["tests"].strip() not in shown
        assert all(line.strip() not in shown for line in problem.metadata["tests"].splitlines() if "assert" in line)
        assert "[1, 2, 3]" not in shown


def test_what_a_model_is_asked(folder):
    problem = next(p for p in multipl_e.load(block(folder), 42).test if p.metadata["language"] == "cpp")
    assert problem.question.startswith("Complete this C++ function.\n\n```cpp\n#include<assert.h>\n")
    assert problem.question.endswith("(std::vector<long> xs) {\n```")
    (message,) = problem.messages
    assert message["role"] == "user"
    assert message["content"] == f"{problem.question}\n\n{multipl_e.INSTRUCTION}"
    source, number = problem.metadata["task"].split("/")
    assert problem.id == f"multipl_e/{source}-cpp/{problem.metadata['name']}"
    assert f"_{number}_" in problem.metadata["name"]


def test_train_is_thinned_by_seed(folder):
    whole = [problem.id for problem in multipl_e.load(block(folder), 42).train]
    part = [problem.id for problem in multipl_e.load(block(folder, num_train=10), 42).train]
    assert len(part) == 10
    assert part == [id for id in whole if id in part]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_train": 32}, r"benchmarks\.multipl_e\.num_train: 32 asked for, 31 there"),
        (
            {"held_out": {"test": {"humaneval": 5}}},
            r"benchmarks\.multipl_e\.tasks\.test\.humaneval: 5 asked for, 4 are left",
        ),
    ],
)
def test_more_than_there_is_is_refused(folder, changed, message):
    with pytest.raises(ArtifactError, match=message):
        multipl_e.load(block(folder, **changed), 42)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"prompt": " "}, "prompt is missing or not a text"),
        ({"tests": None}, "tests is missing or not a text"),
        ({"tests": "int x;"}, r"C\+\+: the tests do not end in 1 closing braces"),
        ({"stop_tokens": [""]}, "stop_tokens is no list of texts"),
    ],
)
def test_malformed_row_is_named(folder, changed, message):
    write_jsonl(folder / "mbpp-cpp.jsonl", [row("cpp", NAMES["mbpp"][0]), row("cpp", NAMES["mbpp"][1]) | changed])
    with pytest.raises(ArtifactError, match=f"multipl_e mbpp-cpp row 1: {message}"):
        multipl_e.load(block(folder), 42)


def test_a_name_without_a_number_is_refused(folder):
    write_jsonl(folder / "mbpp-cpp.jsonl", [row("cpp", "mbpp_x_add_all")])
    with pytest.raises(ArtifactError, match="the name 'mbpp_x_add_all' does not look like"):
        multipl_e.load(block(folder), 42)


def test_a_missing_file_is_named(folder):
    (folder / "humaneval-sh.jsonl").unlink()
    with pytest.raises(ArtifactError, match=r"humaneval-sh\.jsonl: no such file"):
        multipl_e.load(block(folder), 42)


def test_python_rows_of_the_hub_come_from_the_two_original_data_sets(monkeypatch):
    asked = []

    def stored(source, split, *, name=None):
        asked.append((source["id"], source["revision"], split, name))
        if source["id"].endswith("MultiPL-E"):
            kind, language = name.split("-")
            return [row(language, name) for name in NAMES[kind] if (language, name) != MISSING]
        if source["id"].endswith("humaneval"):
            return [
                {
                    "task_id": f"HumanEval/{n}",
                    "prompt": "def add_all(xs):\n",
                    "test": "def check(c): pass",
                    "entry_point": "add_all",
                }
                for n in range(164)
            ]
        start = {"train": 600, "test": 11, "validation": 511, "prompt": 1}[split]
        return [mbpp(start + n, f"basic_{start + n}") for n in range(multipl_e_python.MBPP_ROWS[split])]

    counts = {source: dict.fromkeys(rows, len(NAMES[source])) for source, rows in multipl_e.NUM_ROWS.items()}
    counts["humaneval"]["cs"] = 4
    monkeypatch.setattr(multipl_e, "NUM_ROWS", counts)
    monkeypatch.setattr(hub, "read_hub", stored)
    revision = "28441b6024e71d4a1c1c0f6bf171c935cd5a43f2"
    source = {"id": "nuprl/MultiPL-E", "revision": revision}
    splits = multipl_e.load(block(None, source=source), 42)
    python = [p for p in [*splits.train, *splits.dev, *splits.test] if p.metadata["language"] == "py"]
    assert len(python) == 11
    assert ("nuprl/MultiPL-E", revision, "test", "mbpp-sh") in asked
    assert len(asked) == 14 + 1 + 4
    counts["mbpp"]["cpp"] = 397
    with pytest.raises(ArtifactError, match=r"mbpp-cpp, .* test: 6 rows, 397 are published"):
        multipl_e.load(block(None, source=source), 42)


def mbpp(number, function="add_all", **changed):
    code = f"import math\r\ndef helper(x):\r\n  return x\r\ndef {function}(xs, start=0):\r\n  return sum(xs) + start"
    tests = ["assert add_all([1]) == 1", "assert add_all([1, 2]) == 3"]
    return {"task_id": number, "text": "Sum.", "code": code, "test_list": tests, "test_setup_code": ""} | changed


def test_an_mbpp_prompt_is_the_signature_with_the_text_as_docstring():
    made = mbpp_row(mbpp(3, text='Write """x""" \\n.', test_setup_code="import re"), "mbpp_3_add_all")
    assert made["prompt"] == "def add_all(xs, start=0):\n    \"\"\"\n    Write '''x''' \\\\n.\n    \"\"\"\n"
    assert made["tests"] == "import re\nassert add_all([1]) == 1\nassert add_all([1, 2]) == 3\n"
    space = {}
    exec(made["prompt"] + "    return sum(xs) + start\n" + made["tests"], space)
    assert "Write '''x''' \\n." in space["add_all"].__doc__


def test_an_mbpp_task_without_its_function_has_no_row():
    assert mbpp_row(mbpp(3), "mbpp_3_other_name") is None
    with pytest.raises(ArtifactError, match="MBPP 3: code does not parse"):
        mbpp_row(mbpp(3, code="def ("), "mbpp_3_add_all")


def test_humaneval_tests_are_called():
    given = {"task_id": "HumanEval/0", "prompt": "def f():\n", "test": "def check(c):\n    pass\n", "entry_point": "f"}
    assert humaneval_row(given) == {"prompt": "def f():\n", "tests": "def check(c):\n    pass\n\ncheck(f)\n"}
