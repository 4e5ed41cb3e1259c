"""Families of Reasoning Gym tasks: the same items in any process, in any number of processes, and after storage."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import reasoning_gym
import yaml
from reasoning_gym.utils import SYSTEM_PROMPTS

from slmcollab.artifacts import Problem, digest, read_json, read_problems, write_problems
from slmcollab.benchmarks import reasoning_gym as family
from slmcollab.scoring.reasoning_gym import score

ROOT = Path(family.__file__).parents[3]
BLOCKS = yaml.safe_load((ROOT / "config.yaml").read_text())["benchmarks"]
TASKS = {name: found["tasks"] for name, found in BLOCKS.items() if found["loader"] == "reasoning_gym"}
FAMILIES = tuple(TASKS)
# sha256[:12] of question, 0, answer, 1 of the first 2,000 items at seed 42 of each task's default configuration
GOLDEN = {
    "gcd": "56b103e97a39",
    "word_sorting": "7872cfce2a2f",
    "knights_knaves": "039d99d8b884",
    "fraction_simplification": "e4a5f41fc0e9",
    "lcm": "c4172a0b05a5",
    "spell_backward": "33bac08ec097",
}
DIGESTS = """
import hashlib, json, reasoning_gym, sys
for name in sys.argv[1:]:
    items = reasoning_gym.create_dataset(name, size=2000, seed=42)
    text = "".join(f"{item['question']}\\0{item['answer']}\\1" for item in items)
    print(name, hashlib.sha256(text.encode()).hexdigest()[:12])
"""


def run_python(*arguments, hash_seed="0", **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT / "workflow",
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        **options,
    )


def block(name, num_train, num_test, **changed):
    return {"benchmark": name, "num_train": num_train, "num_test": num_test, "tasks": TASKS[name]} | changed


def test_the_library_generates_the_items_that_it_always_did():
    result = run_python("-c", DIGESTS, *GOLDEN, check=True)
    assert dict(line.split() for line in result.stdout.splitlines()) == GOLDEN


def test_neighbouring_seeds_share_their_items_so_both_splits_come_from_one_composite():
    questions = [
        {item["question"] for item in reasoning_gym.create_dataset("chain_sum", size=50, seed=seed)}
        for seed in (42, 43)
    ]
    assert len(questions[0] & questions[1]) == 49  # the library's items depend on seed + index
    splits = family.load(block("algorithmic", 150, 50), 42)
    items = [
        {(problem.metadata["source_dataset"], problem.metadata["source_index"]) for problem in problems}
        for problems in (splits.train, splits.test)
    ]
    assert (len(items[0]), len(items[1]), items[0] & items[1]) == (150, 50, set())


def test_the_order_of_tasks_in_a_config_means_nothing():
    tasks = block("algorithmic", 20, 5)["tasks"]
    backwards = {**block("algorithmic", 20, 5), "tasks": dict(reversed(tasks.items()))}
    assert family.load(backwards, 42).train == family.load(block("algorithmic", 20, 5), 42).train


@pytest.mark.parametrize(
    ("name", "overlap"),
    [
        ("arithmetic", {"gcd": 8, "lcm": 673}),
        pytest.param("algorithmic", {"spell_backward": 64}, marks=pytest.mark.slow),
        pytest.param(
            "algorithmic_inter",
            {
                "ab": 1,
                "base_conversion": 4,
                "binary_alternation": 6,
                "binary_matrix": 157,
                "caesar_cipher": 121,
                "jugs": 371,
            },
            marks=pytest.mark.slow,
        ),
    ],
)
def test_small_tasks_repeat_questions_of_train_in_test(name, overlap):
    splits = family.load(block(name, 16_000, 4_000), 42)
    trained = {problem.question for problem in splits.train}
    repeated = Counter(p.metadata["source_dataset"] for p in splits.test if p.question in trained)
    repeated.pop("isomorphic_strings", None)  # its items follow the order of sets, which pytest does not fix
    assert repeated == overlap


def test_one_composite_is_split_by_index():
    splits = family.load(block("arithmetic", 30, 10), 42)
    assert [problem.id for problem in splits.train + splits.test] == [f"arithmetic/{index}" for index in range(40)]
    item = reasoning_gym.create_dataset("gcd", seed=42 + 2, size=40, min_value=1, max_value=1000)[0]
    assert item["question"] == splits.train[0].question  # seed 42 draws gcd, the second of the tasks, for item 0
    assert splits.train[0].answer == item["answer"]
    assert splits.train[0].messages == [
        {"role": "system", "content": SYSTEM_PROMPTS["DeepSeekZero"]},
        {"role": "user", "content": item["question"]},
    ]
    assert splits.rule.endswith("items 0 to 29 are train, items 30 to 39 test.")
    assert splits.origin == {"versions": {"reasoning_gym": "0.1.25"}}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_gold_scores_after_storage_what_it_scored_before(tmp_path, name):
    size = 40 if name == "logic" else 200
    tasks = dict(sorted(TASKS[name].items()))
    write_problems(tmp_path / "test.jsonl", family.load(block(name, size - 1, 1), 42).train)
    composite = family._composite(tasks, 42, size)
    counts = Counter()
    for index, problem in enumerate(read_problems(tmp_path / "test.jsonl")):
        entry = composite[index]
        gold = entry["metadata"]["example_answer"] if entry["answer"] is None else entry["answer"]
        scored = score(f"<think>easy</think> <answer>{gold}</answer>", problem)
        assert (scored.score, problem.answer) == (composite.score_answer(gold, entry), entry["answer"])
        assert scored.correct
        counts[problem.metadata["source_dataset"]] += 1
    assert set(counts) == set(tasks)


@pytest.mark.parametrize("task", ["boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"])
def test_open_questions_keep_none_as_their_answer(tmp_path, task):
    write_problems(tmp_path / "train.jsonl", family.load(block("logic", 2, 1, tasks={task: {"weight": 1}}), 42).train)
    problems = read_problems(tmp_path / "train.jsonl")
    assert [problem.answer for problem in problems] == [None, None]  # no gold text: nothing to train on or to equal
    assert not any(score("<answer>None</answer>", problem).correct for problem in problems)


def test_items_that_hold_fractions_are_stored(tmp_path):
    tasks = {"gsm_symbolic": {"weight": 1}}
    problems = family.load(block("arithmetic", 300, 1, tasks=tasks), 42).train
    assert any("/" in str(value) for problem in problems for value in problem.metadata["variables"].values())
    write_problems(tmp_path / "train.jsonl", problems)
    stored = read_problems(tmp_path / "train.jsonl")
    assert all(score(f"<answer>{problem.answer}</answer>", problem).correct for problem in stored)
    with pytest.raises(TypeError, match="JSON has no form for"):
        family._plain({1})


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(set(family.DATASETS) - {"composite"}))
def test_a_gold_of_any_task_that_is_not_refused_survives_storage(task):
    item = reasoning_gym.create_dataset(task, size=1, seed=7)[0]
    gold = item["answer"] or item["metadata"].get("example_answer")
    if gold is None:
        assert item["answer"] is None
        return
    metadata = json.loads(json.dumps(item["metadata"] | {"source_dataset": task}))
    if family.REFUSED.get(task) == family.RUNS_ANSWER:
        with pytest.raises(ValueError, match="runs the answer as code"):
            score(f"<answer>{gold}</answer>", Problem("a/0", item["question"], [], gold, metadata))
        return
    scored = score(f"<answer>{gold}</answer>", Problem("a/0", item["question"], [], gold, metadata))
    assert scored.correct == (family.REFUSED.get(task) != family.NOT_STORED)


def test_items_do_not_depend_on_the_number_of_processes(tmp_path):
    tasks = {"isomorphic_strings": {"weight": 1}, "gcd": {"weight": 1}}  # the first follows the order of sets
    digests = []
    for num_processes in (1, 2):
        cell = block("logic", 260, 140, tasks=tasks, loader="reasoning_gym", data_seed=42)
        folder = tmp_path / str(num_processes)
        outputs = [f"--train={folder}/train.jsonl", f"--test={folder}/test.jsonl", f"--manifest={folder}/manifest.json"]
        outputs.append(f"--processes={num_processes}")
        result = run_python("-m", "slmcollab.steps.generate_problems", "--cell", json.dumps(cell), *outputs)
        assert result.returncode == 0, result.stderr
        digests.append(digest(folder))
    assert digests[0] == digests[1]
    manifest = read_json(tmp_path / "1" / "manifest.json")
    trained = {problem.question for problem in read_problems(tmp_path / "1" / "train.jsonl")}
    tested = [problem.question for problem in read_problems(tmp_path / "1" / "test.jsonl")]
    expected = {"benchmark": "logic", "data_seed": 42, "num_train": 260, "num_test": 140}
    assert expected.items() <= manifest.items()
    assert manifest["overlap"] == sum(question in trained for question in tested)
    assert manifest["versions"] == {"reasoning_gym": "0.1.25"}
    assert manifest["sha256"]["train"] == hashlib.sha256((tmp_path / "1" / "train.jsonl").read_bytes()).hexdigest()
    assert manifest["sha256"]["test"] == hashlib.sha256((tmp_path / "1" / "test.jsonl").read_bytes()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["random", "1"])
def test_a_random_order_of_sets_is_refused(tmp_path, hash_seed):
    outputs = [f"--train={tmp_path}/a", f"--test={tmp_path}/b", f"--manifest={tmp_path}/c", "--processes=1"]
    cell = json.dumps(block("arithmetic", 2, 1, loader="reasoning_gym", data_seed=42))
    result = run_python("-m", "slmcollab.steps.generate_problems", "--cell", cell, *outputs, hash_seed=hash_seed)
    assert result.returncode != 0
    assert "PYTHONHASHSEED=0" in result.stderr.strip().splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"gdc": {"weight": 1}}, r"benchmarks\.logic\.tasks\.gdc: .* no such task"),
        ({"gcd": {"weight": 1, "config": {"min_valu": 1}}}, r"benchmarks\.logic\.tasks\.gcd\.config: .*min_valu"),
        ({"gcd": {"weight": 1, "config": {"min_value": 9, "max_value": 1}}}, r"benchmarks\.logic\.tasks\.gcd\.config"),
        ({"game_of_life_halting": {"weight": 1}}, "gives every text the full score"),
        ({"simple_integration": {"weight": 1}}, "runs the answer as code"),
        ({"arc_agi": {"weight": 1}}, "refuses the right answer to an item that was stored"),
    ],
)
def test_tasks_that_cannot_be_used_are_refused_by_key(tasks, message):
    with pytest.raises(ValueError, match=message):
        family.load(block("logic", 2, 1, tasks=tasks), 42)
