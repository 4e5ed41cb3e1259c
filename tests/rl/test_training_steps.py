"""The two steps as the workflow runs them: from files to files, killed, restarted and refused."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import tyro
from halting import KILL, MARK, halting

import slmcollab
from slmcollab import artifacts, seeding
from slmcollab.experts.answers import make_row
from slmcollab.experts.features import read_features, write_features
from slmcollab.models import fetch, hub, toy
from slmcollab.rl.conditioned import load_policy
from slmcollab.rl.exposed import ExpertFiles, shuffled_rows
from slmcollab.steps import train_grpo

GRPO = {
    "prompts_per_step": 2,
    "group_size": 4,
    "completions_per_device": 4,
    "beta": 0.04,
    "learning_rate": 5e-3,
    "max_steps": 12,
    "max_new_tokens": 5,
    "temperature": 1.0,
    "gradient_checkpointing": False,
    "without_context_every": 5,
}
CELL = {
    "adapter": {"latent_dim": 16, "num_heads": 4, "m": 4, "context_position": "before_header"},
    "benchmark": "toy",
    "dtype": "float32",
    "evaluation": {"time_limit_s": 5},
    "experts": ["math", "naive"],
    "features": {"sequence": "prompt", "pooling": "last_token", "shuffled": False},
    "grpo": GRPO,
    "lora": {"rank": 4, "alpha": 8, "dropout": 0.0, "target_modules": ["q_proj", "v_proj"]},
    "method": "hidden_state",
    "numeric_threads": 1,
    "operator": "hidden_state",
    "policy": "toy",
    "scorer": "exact",
    "team": "pair",
}

# Of features: which model and which code made them; here none of the hub.
HEADER = {"expert": "toy", "id": "", "revision": "", "code": "abc", "truncated": "0"}


@pytest.fixture(scope="module")
def world(base, tokenizer, problems, tmp_path_factory):
    """Return a folder with a policy, a split and two experts' features of it."""
    root = tmp_path_factory.mktemp("world")
    policy = base()
    rows = [{"messages": p.messages, "completion": f"<answer>{n}</answer>"} for p in problems for n in range(6, 9)]
    toy.train(policy, tokenizer, [rows], toy.Training(steps=120, batch_size=18, learning_rate=5e-3, noise_rows=4), 0)
    policy.save_pretrained(root / "policy/weights")
    tokenizer.save_pretrained(root / "policy/weights")
    fetch.write_manifest(root / "policy/manifest.json", root / "policy/weights", model="toy", block={"source": "toy"})
    artifacts.write_problems(root / "problems.jsonl", problems)
    generator, ids = torch.Generator().manual_seed(0), [problem.id for problem in problems]
    for expert, width in {"math": 8, "naive": 12}.items():
        rows = torch.randn(len(problems), width, generator=generator)
        write_features(root / f"{expert}.safetensors", {"last_token": rows}, HEADER | {"expert": expert}, ids)
        write_features(root / "embedding.safetensors", {"embedding": rows}, HEADER | {"expert": "sentences"}, ids)
        # No weights of an expert are here: a training job reads what experts exposed, and never an expert.
        artifacts.write_json(root / f"{expert}.json", {"id": None, "revision": None})
        artifacts.write_jsonl(root / f"{expert}.jsonl", (make_row(i, f"{expert} says 7", [1], ended=True) for i in ids))
        artifacts.write_json(
            root / f"{expert}.scores.json",
            {"expert": expert, "split": "train", "metrics": {"accuracy_bare": float(width)}},
        )
    return root


def exposed(world, cell):
    """Return how a step is told what the experts expose: the files of what the cell's operator uses."""
    kinds = {"--features": ("features", "safetensors"), "--answers": ("text", "jsonl")}
    arguments = ["--manifests", *[world / f"{expert}.json" for expert in cell["experts"]]]
    for flag, (block, suffix) in kinds.items():
        arguments += [flag, *[world / f"{expert}.{suffix}" for expert in cell["experts"] if block in cell]]
    router = cell.get("router")
    best = router and router["selection"] == "best"
    arguments += ["--embedding", *([world / "embedding.safetensors"] if router else [])]
    return [*arguments, "--expert-scores", *[world / f"{e}.scores.json" for e in cell["experts"] if best]]


def train_command(world, out, cell=CELL, seed=0, code="abc"):
    return [
        *("--cell", json.dumps(cell), "--code", code, "--seed", str(seed), "--job", "17"),
        *("--policy", world / "policy/manifest.json", "--problems", world / "problems.jsonl"),
        *exposed(world, cell),
        *("--checkpoints", out / "checkpoints", "--save-every", "2", "--adapter", out / "adapter"),
        *("--run", out / "run.json", "--history", out / "history.csv"),
    ]


def start(step, arguments, *path):
    path = os.pathsep.join(map(str, [*path, Path(slmcollab.__file__).parents[1]]))
    return subprocess.Popen(
        [sys.executable, "-m", f"slmcollab.steps.{step}", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def outputs(out):
    names = ["adapter/adapter_model.safetensors", "adapter/adapter_config.json", "history.csv"]
    told = {name: value for name, value in artifacts.read_json(out / "run.json").items() if name != "digests"}
    return {"run.json": told, **{name: (out / name).read_bytes() for name in names}}


@pytest.fixture(scope="module")
def straight(world, tmp_path_factory):
    """Return the outputs of a run that nothing disturbed, and in which rewards were neither all right nor all wrong."""
    out = tmp_path_factory.mktemp("straight")
    finish(start("train_grpo", train_command(world, out)))
    rewards = [float(line.split(",")[1]) for line in (out / "history.csv").read_text().splitlines()[1:]]
    assert 0 < sum(rewards) < len(rewards)
    assert not (out / "checkpoints").exists()
    return out


LAST_FILE = {"half": "adapter_model.safetensors", "whole": "complete.json"}


def train_until(moment, step, out, command):
    """Train, and be killed when half or all of a step's checkpoint is written."""
    with halting(out, "train_grpo", f"*/checkpoint-{step}/{LAST_FILE[moment]}", KILL):
        process = start("train_grpo", command, out)
        told = process.communicate()
    assert process.returncode == -signal.SIGKILL, told
    (out / "checkpoints" / MARK).unlink()  # so that it can be killed again


MOMENTS = [[("half", 2)], [("half", 6), ("whole", 8)], [("whole", 12)]]


@pytest.mark.slow
@pytest.mark.parametrize("moments", MOMENTS, ids=str)
def test_a_killed_run_ends_with_the_bytes_of_one_never_killed(world, straight, tmp_path, moments):
    for moment, step in moments:
        train_until(moment, step, tmp_path, train_command(world, tmp_path))
    restarted = finish(start("train_grpo", train_command(world, tmp_path)))
    assert ("step 1/12" in restarted) == (moments == [("half", 2)])  # else it went on from a checkpoint
    assert outputs(tmp_path) == outputs(straight)
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(world, straight, tmp_path):
    for _ in range(4):
        process = start("train_grpo", train_command(world, tmp_path))
        while process.poll() is None and not (tmp_path / "checkpoints").exists():
            time.sleep(0.002)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=random.uniform(0, 6))
        process.kill()
        process.communicate()
    finish(start("train_grpo", train_command(world, tmp_path)))
    assert outputs(tmp_path) == outputs(straight)


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [{"seed": 1}, {"cell": {**CELL, "grpo": {**GRPO, "beta": 0.0}}}, {"code": "abd"}],
    ids=lambda o: next(iter(o)),
)
def test_a_checkpoint_of_another_run_is_not_gone_on_from(world, straight, tmp_path, other):
    train_until("whole", 4, tmp_path, train_command(world, tmp_path, **other))
    assert "step 1/12" in finish(start("train_grpo", train_command(world, tmp_path)))
    assert outputs(tmp_path) == outputs(straight)


@pytest.mark.slow
def test_what_a_run_records(straight, world):
    run = json.loads((straight / "run.json").read_text())
    assert (run["cell"], run["code"], run["seed"]) == (CELL, "abc", 0)
    assert run["inputs"] == {
        "policy": artifacts.digest(world / "policy/manifest.json"),
        "problems": artifacts.digest(world / "problems.jsonl"),
        "features/math": artifacts.digest(world / "math.safetensors"),
        "features/naive": artifacts.digest(world / "naive.safetensors"),
        "manifest/math": artifacts.digest(world / "math.json"),
        "manifest/naive": artifacts.digest(world / "naive.json"),
    }
    assert run["packages"]["trl"] == "1.16.0"
    assert run["reference"] == "policy without LoRA, zero context rows"
    history = (straight / "history.csv").read_text().splitlines()
    assert len(history) == 13
    named = run.pop("digests")
    assert str(world) not in json.dumps(run)
    assert named[str(world / "math.safetensors")] == run["inputs"]["features/math"]
    weights = straight / "adapter/adapter_model.safetensors"
    assert named[str(weights)] == artifacts.digest(weights)


def answer_command(world, out, adapter, cell, max_new_tokens=5):
    names = ["adapter", "dtype", "experts", "features", "numeric_threads", "operator", "policy", "router", "text"]
    answer_cell = {name: cell[name] for name in names if name in cell}
    answer_cell |= {"batch_size": 4, "max_new_tokens": max_new_tokens}
    return [
        *("--cell", json.dumps(answer_cell), "--code", "abc", "--seed", "0", "--adapter", adapter),
        *("--run", adapter.parent / "run.json", "--train-cell", json.dumps(cell), "--train-code", "abc"),
        *("--policy", world / "policy/manifest.json", "--problems", world / "problems.jsonl"),
        *exposed(world, cell),
        *("--output", out / "answers.jsonl", "--answering", out / "answering.json"),
    ]


@pytest.mark.slow
def test_answers_come_in_the_order_of_the_problems_and_say_whether_they_were_cut(world, straight, problems, tmp_path):
    for budget, is_cut in ((5, False), (2, True)):  # tag, digit, tag, end are four tokens
        finish(start("answer_problems", answer_command(world, tmp_path, straight / "adapter", CELL, budget)))
        answers = artifacts.read_jsonl(tmp_path / "answers.jsonl")
        assert [answer["id"] for answer in answers] == [problem.id for problem in problems]
        assert {answer["cut"] for answer in answers} == {is_cut}
        assert {answer["num_tokens"] for answer in answers} == {min(budget, 4)}
        assert all(answer["completion"].startswith("<answer>") for answer in answers)


@pytest.mark.slow
def test_a_run_of_another_config_is_not_answered_for(world, straight, tmp_path):
    """A training that outlived its workflow may have written it."""
    cell = {**CELL, "grpo": {**GRPO, "beta": 0.5}}
    answering = start("answer_problems", answer_command(world, tmp_path, straight / "adapter", cell))
    assert "a run with another cell than now asked for" in answering.communicate()[1]
    assert answering.returncode != 0


@pytest.mark.slow
def test_a_policy_alone_is_trained_and_answers_without_features(world, tmp_path):
    cell = {name: value for name, value in CELL.items() if name not in ("adapter", "features")}
    cell |= {"operator": "none", "experts": [], "team": "none", "grpo": {**GRPO, "max_steps": 2}}
    finish(start("train_grpo", train_command(world, tmp_path, cell)))
    assert "attention" not in (tmp_path / "history.csv").read_text()
    finish(start("answer_problems", answer_command(world, tmp_path, tmp_path / "adapter", cell)))
    assert len(artifacts.read_jsonl(tmp_path / "answers.jsonl")) == 6


ROUTER = {"encoder": "sentences", "selection": "learned", "router_width": 8, "entropy_bonus": 0.01}
TEXT = {"answer_tokens": 20, "shuffled_order": False}
OPERATORS = {
    "text": {"text": TEXT},
    "routing": {"text": TEXT, "router": ROUTER},
    "random_router": {"text": TEXT, "router": {**ROUTER, "selection": "uniform"}},
    "best_single_expert": {"text": TEXT, "router": {**ROUTER, "selection": "best"}},
    "routing_hidden": {"adapter": CELL["adapter"], "features": CELL["features"], "router": ROUTER},
    "no_cross_attention": {"adapter": CELL["adapter"], "features": CELL["features"]},
    "prefix": {"adapter": CELL["adapter"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", OPERATORS)
def test_every_method_is_trained_and_answers_from_files(world, tmp_path, method):
    cell = {name: value for name, value in CELL.items() if name not in ("adapter", "features")}
    operator = method if "single" not in method and "random" not in method else "routing"
    cell |= {"operator": operator, "method": method, "grpo": {**GRPO, "max_steps": 2}, **OPERATORS[method]}
    if method == "prefix":
        cell |= {"experts": [], "team": "none"}
    finish(start("train_grpo", train_command(world, tmp_path, cell)))
    assert (tmp_path / "adapter/router.safetensors").exists() == (ROUTER in cell.values())
    finish(start("answer_problems", answer_command(world, tmp_path, tmp_path / "adapter", cell)))
    assert len(artifacts.read_jsonl(tmp_path / "answers.jsonl")) == 6
    if method == "best_single_expert":
        history = (tmp_path / "history.csv").read_text().splitlines()
        assert dict(zip(*(line.split(",") for line in history[:2]), strict=True))["router_share/naive"] == "1.0"


@pytest.mark.slow
def test_shuffled_features_are_the_other_problems(world, problems, tmp_path):
    """Training on shuffled features is training on a file whose rows were put in that order."""
    order = shuffled_rows([problem.question for problem in problems], seeding.python_generator(3, "shuffled", "train"))
    short = {**CELL, "grpo": {**GRPO, "max_steps": 3}}
    shuffled = {**short, "features": {**CELL["features"], "shuffled": True}}
    finish(start("train_grpo", train_command(world, tmp_path / "shuffled", shuffled, seed=3)))
    reordered = tmp_path / "reordered"
    for name in ("policy", "problems.jsonl", "math.json", "naive.json"):
        reordered.mkdir(exist_ok=True)
        (reordered / name).symlink_to(world / name)
    for expert in CELL["experts"]:
        rows = read_features(world / f"{expert}.safetensors", "last_token")[order]
        header = HEADER | {"expert": expert}
        write_features(reordered / f"{expert}.safetensors", {"last_token": rows}, header, [p.id for p in problems])
    finish(start("train_grpo", train_command(reordered, tmp_path / "by_hand", short, seed=3)))
    for name in ("adapter/adapter_model.safetensors", "history.csv"):
        assert (tmp_path / "shuffled" / name).read_bytes() == (tmp_path / "by_hand" / name).read_bytes()


@pytest.mark.slow
def test_answers_in_a_drawn_order_are_a_switch_of_training(world, tmp_path):
    """Of two experts, about half of the problems hear the second one first, in training and not in evaluation."""
    cell = {name: value for name, value in CELL.items() if name not in ("adapter", "features")}
    cell |= {"operator": "text", "text": {**TEXT, "shuffled_order": True}}
    manifests, answers = ([world / f"{e}.{suffix}" for e in cell["experts"]] for suffix in ("json", "jsonl"))
    files, problems = ExpertFiles(manifests, [], answers, [], []), artifacts.read_problems(world / "problems.jsonl")
    first = {}
    for split in ("train", "test"):
        loaded = load_policy(world / "policy/manifest.json", problems, files, cell, seed=0, split=split)
        texts = [loaded.tokenizer.decode(loaded.prompts.conditioned(row)) for row in range(6)]
        assert all("math says 7" in text and "naive says 7" in text for text in texts)
        first[split] = ["[1] math" in text for text in texts]
    assert first["test"] == 6 * [True]
    assert 0 < sum(first["train"]) < 6


@pytest.mark.slow
def test_a_training_job_loads_the_policy_and_no_expert(world, tmp_path, monkeypatch):
    loaded, load = [], hub.load_model

    def recorded(folder, *, dtype):
        loaded.append(folder)
        return load(folder, dtype=dtype)

    monkeypatch.setattr(hub, "load_model", recorded)
    cell = {**CELL, "grpo": {**GRPO, "max_steps": 1}}
    command = [str(argument) for argument in train_command(world, tmp_path, cell)]
    tyro.cli(train_grpo.main, args=command, config=(tyro.conf.OmitArgPrefixes,))
    assert loaded == [world / "policy/weights"]
    assert (tmp_path / "run.json").exists()
