"""A family of procedural Reasoning Gym tasks: one composite, split by index."""

import json
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from itertools import chain
from multiprocessing import get_context
from typing import Any

import reasoning_gym
from reasoning_gym.composite import CompositeDataset, DatasetSpec
from reasoning_gym.factory import DATASETS

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.prompts import ask
from slmcollab.benchmarks.splits import Splits

CHUNK = 250
RUNS_ANSWER = "its scorer runs the answer as code"
NOT_STORED = "its scorer refuses the right answer to an item that was stored as JSON"
REFUSED = {
    "arc_agi": NOT_STORED,
    "game_of_life_halting": "its scorer gives every text the full score",
    "intermediate_integration": RUNS_ANSWER,
    "polynomial_multiplication": RUNS_ANSWER,
    "rearc": NOT_STORED,
    "simple_integration": RUNS_ANSWER,
}


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return num_train + num_test items of the block's `tasks` ({name: {weight, config}}); the first are train.

    Item i depends on data_seed + i alone, so the splits share no item by construction, though small tasks repeat
    questions; `num_processes` changes nothing but the time, and tasks are taken in the order of their names, since the
    order of keys in a config means nothing. Ids are {benchmark}/{index}. A problem's question, answer
    and metadata are the library's entry, metadata with the task's "config" added, which some scorers read.
    Raises ValueError for a task or config that the library does not take, or that cannot be scored.
    """
    benchmark, num_train, num_test = block["benchmark"], block["num_train"], block["num_test"]
    size = num_train + num_test
    check_tasks(benchmark, block["tasks"])
    tasks = dict(sorted(block["tasks"].items()))
    entries = generate_entries(tasks, data_seed, size, block.get("num_processes", 1))
    problems = [_problem(block, index, entry) for index, entry in enumerate(entries)]
    rule = (
        f"One Reasoning Gym composite of {size} items, seed {data_seed}, tasks {', '.join(tasks)}: items 0 to"
        f" {num_train - 1} are train, items {num_train} to {size - 1} test."
    )
    origin = {"versions": {"reasoning_gym": version("reasoning_gym")}}
    return Splits(problems[:num_train], problems[num_train:], rule, origin)


def check_tasks(benchmark: str, tasks: dict[str, dict[str, Any]]) -> None:
    """Raise ValueError, naming the config key, for a task that the library does not have or this pipeline refuses."""
    for name, task in tasks.items():
        key = f"benchmarks.{benchmark}.tasks.{name}"
        if name not in DATASETS or name == "composite":
            raise ValueError(f"{key}: Reasoning Gym {version('reasoning_gym')} has no such task")
        if name in REFUSED:
            raise ValueError(f"{key}: refused, {REFUSED[name]}")
        try:
            DATASETS[name][1](**task.get("config", {})).validate()
        except (AssertionError, TypeError, ValueError) as error:
            raise ValueError(f"{key}.config: {error}") from error


def generate_entries(
    tasks: dict[str, dict[str, Any]], seed: int, size: int, num_processes: int
) -> list[dict[str, Any]]:
    """Return items 0 to size - 1 of the composite, as they look after JSON: the same for any number of processes."""
    chunks = [range(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK)]
    generate = partial(_generate_chunk, tasks, seed, size)
    if num_processes == 1:
        return list(chain.from_iterable(map(generate, chunks)))
    with ProcessPoolExecutor(num_processes, mp_context=get_context("spawn")) as pool:
        return list(chain.from_iterable(pool.map(generate, chunks)))


def _generate_chunk(tasks: dict[str, dict[str, Any]], seed: int, size: int, indices: range) -> list[dict[str, Any]]:
    composite = _composite(tasks, seed, size)
    return [json.loads(json.dumps(composite[index], default=_plain, allow_nan=False)) for index in indices]


def _plain(value: Any) -> str:
    """Return a fraction, of which gsm_symbolic makes some questions, as text; JSON has none."""
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"an item holds {value!r}, which JSON has no form for")


def _composite(tasks: dict[str, dict[str, Any]], seed: int, size: int) -> CompositeDataset:
    specs = [DatasetSpec(name, task["weight"], task.get("config", {})) for name, task in tasks.items()]
    return reasoning_gym.create_dataset("composite", seed=seed, size=size, datasets=specs)


def _problem(block: dict[str, Any], index: int, entry: dict[str, Any]) -> Problem:
    benchmark, answer, task = block["benchmark"], entry["answer"], entry["metadata"]["source_dataset"]
    if not (answer is None or isinstance(answer, str)):
        raise ValueError(f"benchmarks.{benchmark}.tasks.{task}: item {index} has an answer that is no text: {answer!r}")
    metadata = entry["metadata"] | {"config": block["tasks"][task].get("config", {})}
    return Problem(f"{benchmark}/{index}", entry["question"], ask(entry["question"]), answer, metadata)
