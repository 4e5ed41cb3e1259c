"""Files are there whole or not at all: what a full disk leaves, and what readers say of cut and foreign files."""

import hashlib
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from slmcollab import artifacts
from slmcollab.analysis.attention import read_history as read_attention_history
from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.checkpoints import latest
from slmcollab.experts.features import read_features, read_header, write_features
from slmcollab.generation.calls import Call, read_calls, write_calls
from slmcollab.models.adapters import read_weights
from slmcollab.models.hub import weights
from slmcollab.protocol.trajectory import Step, Trajectory, read_trajectories, write_trajectories
from slmcollab.report.figure6a import read_rewards
from slmcollab.report.resources import read_usage, read_wall
from slmcollab.report.tables import read_csv
from slmcollab.scoring.summary import read_history

LIMIT = 4096  # bytes that a file may have on the full disk
RUN = Path("musketeers/toy_sums/hidden_state/toy/seed0")
CALL = Call(
    *("c0", "run", "cl", "toy", "q", "eval", 0, 0, 0, "a1", "m", 0.5, None, 0, 3, 4, "stop", True, None),
    *("text", "", "4", None, None, None, (1, 2)),
)
HISTORY = [
    {"step": step, "reward": 0.5, "share_cut": 0.0, "share_unparsed": 0.25, "frac_reward_zero_std": 0.0}
    | {"reward_without_context": 0.25}
    for step in (1, 2, 3)
]
HEADER = {"expert": "toy", "id": "", "revision": "", "code": "c", "truncated": "0"}


def write_model(path: Path) -> None:
    with artifacts.replacing(path) as folder:
        folder.mkdir()
        artifacts.write_json(folder / "config.json", {})
        save_file({"weight": torch.zeros(64, 64)}, folder / "model.safetensors")


def write_checkpoint(path: Path) -> None:
    with artifacts.replacing(path) as folder:
        folder.mkdir()
        torch.save({"weight": torch.zeros(64, 64)}, folder / "state.pt")


def write_adapter(path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    from slmcollab.models.adapters import save_adapter

    model = torch.nn.Sequential(torch.nn.Linear(512, 512))
    save_adapter(get_peft_model(model, LoraConfig(target_modules=["0"])), path, name="toy")


def write_figure(path: Path) -> None:
    from matplotlib.figure import Figure

    from slmcollab.report import style

    page = Figure()
    page.add_subplot().plot(range(999))
    style.write_figure([page], path)


def many_calls(path: Path) -> None:
    write_calls(path, [Call(**{**vars(CALL), "id": os.urandom(9).hex()}) for _ in range(999)])


# file -> what writes more than the disk holds
WRITERS = {
    "run.json": lambda path: artifacts.write_json(path, list(range(9999))),
    "answers.jsonl": lambda path: artifacts.write_jsonl(path, [{"n": n} for n in range(9999)]),
    "history.csv": lambda path: artifacts.write_csv(path, 999 * HISTORY),
    "table1.tex": lambda path: artifacts.write_text(path, 9999 * "x\n"),
    "calls.parquet": many_calls,
    "prompt.safetensors": lambda path: write_features(path, {"last_token": torch.ones(1, 9999)}, HEADER, ["p"]),
    "adapter": write_adapter,
    "weights": write_model,
    "checkpoint-1": write_checkpoint,
    "figure.pdf": write_figure,
    "figure.png": write_figure,
}


def fill(folder: str) -> None:
    """Write to a disk that is full after LIMIT bytes, in a process of its own: a limit cannot be raised again."""
    write_figure(Path(folder, "warm.png"))  # matplotlib keeps a cache of fonts
    Path(folder, "warm.png").unlink()
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    for name, write in WRITERS.items():
        try:
            write(Path(folder, name))
        except Exception as error:
            print(json.dumps({"name": name, "notes": getattr(error, "__notes__", [])}))


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory):
    """A folder in which every writer found the disk full: some names were free, at others a whole file stood."""
    folder = tmp_path_factory.mktemp("full")
    for name in list(WRITERS)[::2]:
        (folder / name).write_text("old\n")
    command = [sys.executable, __file__, str(folder)]
    path = os.pathsep.join([str(Path(artifacts.__file__).parents[1]), *sys.path])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, {told["name"]: told["notes"] for told in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_an_error_that_names_the_file(full_disk, name):
    folder, errors = full_disk
    assert errors[name][-1] == f"{folder / name}: not written"


def test_a_full_disk_leaves_old_files_whole_and_nothing_else(full_disk):
    folder, _ = full_disk
    assert {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(list(WRITERS)[::2], "old\n")


def test_what_is_renamed_has_reached_the_disk_before(tmp_path, monkeypatch):
    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    artifacts.write_text(tmp_path / "a.txt", "old\n")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left") as caught:
        artifacts.write_text(tmp_path / "a.txt", "new\n")
    assert caught.value.__notes__ == [f"{tmp_path / 'a.txt'}: not written"]
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old\n"]


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / ".weights.1.tmp").mkdir()
    (tmp_path / ".weights.1.tmp/half").touch()
    (tmp_path / ".weights2.1.tmp").touch()
    write_model(tmp_path / "weights")
    assert {path.name for path in tmp_path.iterdir()} == {"weights", ".weights2.1.tmp"}


# file in the tree -> what writes a whole one, what reads it, and the rule that makes it
KINDS = {
    f"{RUN}/run.json": (lambda path: artifacts.write_json(path, {"seed": 0}), artifacts.read_json, "train_grpo"),
    "corpora/sums.jsonl": (
        lambda path: artifacts.write_jsonl(path, [{"n": 1}, {"n": 2}]),
        artifacts.read_jsonl,
        "write_toy_corpus",
    ),
    "slices/toy/cl/seed0/round1/trajectories.jsonl": (
        lambda path: write_trajectories(
            path, [Trajectory("p", n, (Step("a1", "t", "", "4", None),), "x") for n in (0, 1)]
        ),
        read_trajectories,
        "sample_trajectories",
    ),
    "slices/toy/cl/seed0/round1/calls.parquet": (
        lambda path: write_calls(path, [CALL]),
        read_calls,
        "sample_trajectories",
    ),
    "slices/table1.csv": (
        lambda path: artifacts.write_csv(path, [{"a": 1, "b": 'x\n"y"'}]),
        lambda path: read_csv(path, ("a", "b")),
        "make_slices_table1",
    ),
    f"{RUN}/history.csv": (lambda path: artifacts.write_csv(path, HISTORY), read_history, "train_grpo"),
    f"{RUN.with_name('seed1')}/history.csv": (
        lambda path: artifacts.write_csv(path, HISTORY),
        lambda path: {name: vars(curve) for name, curve in read_rewards(path).items()},
        "train_grpo",
    ),
    f"{RUN.with_name('seed2')}/history.csv": (
        lambda path: artifacts.write_csv(path, HISTORY),
        read_attention_history,
        "train_grpo",
    ),
    "experts/toy/toy_sums/train/prompt.safetensors": (
        lambda path: write_features(path, {"last_token": torch.ones(2, 3)}, HEADER, ["p", "q"]),
        lambda path: (read_header(path), read_features(path, "last_token").tolist()),
        "extract_features",
    ),
    f"{RUN}/adapter/adapter_model.safetensors": (
        lambda path: save_file({"a": torch.ones(2, 3)}, path),
        read_weights,
        "train_grpo",
    ),
    "resources/train_grpo/toy_sums/seed0.resources.tsv": (
        lambda path: artifacts.write_text(path, "s\tmax_rss\n1.5\t20\n"),
        read_wall,
        "train_grpo",
    ),
    "logs/train_grpo/toy_sums/seed0.log": (
        lambda path: artifacts.write_text(path, 'usage: {"cpu_s": 1.0, "max_rss_mb": 2.0, "gpu_mb": null}\n'),
        read_usage,
        "train_grpo",
    ),
}


def tried(read, path: Path) -> tuple[Any, str | None]:
    """Return what is read, or None and the message of the error."""
    try:
        return read(path), None
    except ArtifactError as error:
        return None, str(error)


CUT_BETWEEN_LINES = ("corpora", "slices/toy/cl/seed0/round1/trajectories", "slices/table1", f"{RUN.parent}")


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_is_cut_anywhere_is_refused_naming_file_and_rule(tmp_path, name):
    """What is cut between two lines can only be seen where a record beside it has its digest: the next test."""
    write, read, rule = KINDS[name]
    path = tmp_path / "results" / name
    path.parent.mkdir(parents=True)
    write(path)
    content, whole = path.read_bytes(), str(read(path))
    output = (path.parent if path.parent.name == "adapter" else path).relative_to(tmp_path)
    for size in sorted({*range(0, len(content), 1 + len(content) // 500), len(content) - 1}):
        path.write_bytes(content[:size])
        found, error = tried(read, path)
        if error is None:
            between = name.startswith(CUT_BETWEEN_LINES) and content[:size].endswith(b"\n")
            unseen = name.startswith("logs/") and found is None
            assert between or unseen or str(found) == whole, size
        else:
            assert re.fullmatch(rf"{path}: .*; made by rule {rule}: add `--forcerun {output}` to make it again", error)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_text_beside_its_record_is_read_as_it_was_written_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("slices") / "slices/toy/cl/seed0/round1"
    rows = data.draw(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5)), min_size=1, max_size=4))
    path = folder / "trajectories.jsonl"
    artifacts.write_jsonl(path, rows)
    content = path.read_bytes()
    artifacts.write_json(folder / "run.json", {"outputs": {"trajectories": hashlib.sha256(content).hexdigest()}})
    assert artifacts.read_jsonl(path) == rows
    place = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(
        st.sampled_from([content[:place], content[:place] + b"x" + content[place + 1 :], content + content])
    )
    path.write_bytes(other)
    if other != content:
        with pytest.raises(ArtifactError):
            artifacts.read_jsonl(path)


@pytest.mark.parametrize("record", ["funnel", "evaluation", "rewards"])
def test_light_jobs_tell_what_they_wrote_one_level_deeper(tmp_path, record):
    artifacts.write_jsonl(tmp_path / "rows.jsonl", [{"n": 1}, {"n": 2}])
    made = {"record": {"outputs": {"rows": artifacts.digest(tmp_path / "rows.jsonl")}}}
    artifacts.write_json(tmp_path / f"{record}.json", made)
    assert len(artifacts.read_jsonl(tmp_path / "rows.jsonl")) == 2
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n')
    with pytest.raises(ArtifactError, match=rf"rows.jsonl: not the file that .*{record}.json lists"):
        artifacts.read_jsonl(tmp_path / "rows.jsonl")


def test_problems_of_another_benchmark_are_refused(tmp_path):
    path = tmp_path / "results/data/toy/train.jsonl"
    artifacts.write_problems(path, [Problem("a", "?", [], "1"), Problem("b", "?", [], "1")])
    artifacts.write_json(path.with_name("manifest.json"), {"sha256": {"train": artifacts.digest(path)}})
    assert len(artifacts.read_problems(path)) == 2
    artifacts.write_problems(path, [Problem("a", "?", [], "1")])
    with pytest.raises(ArtifactError, match=r"train\.jsonl: not the file that .*manifest\.json lists; made by rule"):
        artifacts.read_problems(path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"outputs": 1}', "3"])
def test_an_object_without_what_is_asked_for_is_refused(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"run\.json: not an object with seed, outputs"):
        artifacts.read_json(tmp_path / "run.json", "seed", "outputs")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("adapter_model.safetensors", lambda old: old[: len(old) // 2], "not a whole file of weights"),
        ("adapter_model.safetensors", lambda _: b"", "not a whole file of weights"),
        ("adapter_config.json", lambda old: old[:-9], "not a whole JSON file"),
        ("adapter_config.json", lambda old: old.replace(b'"LORA"', b'"OTHER"'), "not the config of an adapter"),
        ("adapter_config.json", lambda _: b"{}", "not an adapter's folder"),
        ("adapter_config.json", lambda old: old.replace(b'"r": 2', b'"r": 4'), "weights of other shapes"),
    ],
)
def test_an_adapter_that_is_cut_or_foreign_is_refused_by_name(tmp_path, name, change, message):
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    from slmcollab.models.adapters import load_adapter, save_adapter

    def build() -> LlamaForCausalLM:
        sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
        return LlamaForCausalLM(LlamaConfig(vocab_size=9, **sizes))

    folder = tmp_path / "results" / RUN / "adapter"
    save_adapter(get_peft_model(build(), LoraConfig(r=2, target_modules=["q_proj"])), folder, name="toy")
    load_adapter(build(), folder)
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    made = f"made by rule train_grpo: add `--forcerun results/{RUN}/adapter` to make it again"
    found = f"{folder}.*: {message}.*; {made}"
    with pytest.raises(ArtifactError, match=found):
        load_adapter(build(), folder)


def make_manifest(folder: Path) -> Path:
    write_model(folder / "weights")
    files = sorted((folder / "weights").iterdir())
    content = {
        "files": {file.name: artifacts.digest(file) for file in files},
        "sizes": {file.name: file.stat().st_size for file in files},
    }
    artifacts.write_json(folder / "manifest.json", content)
    return folder / "manifest.json"


@pytest.mark.parametrize(
    "change", [lambda old: old[:-1], lambda old: old + b" ", lambda old: b"x" + old[1:], lambda _: b""]
)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_weights_that_are_not_those_of_the_manifest_are_refused(tmp_path, name, change):
    manifest = make_manifest(tmp_path / "results/models/toy")
    assert weights(manifest) == tmp_path / "results/models/toy/weights"
    file = tmp_path / "results/models/toy/weights" / name
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ArtifactError) as caught:
        weights(manifest)
    made = "made by rule download_model or train_toy_member or train_toy_model"
    advice = "add `--forcerun results/models/toy/weights` to make it again"
    assert str(caught.value) == f"{file}: not the file that {manifest} lists; {made}: {advice}"


def test_large_weights_are_told_by_their_size_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("slmcollab.models.hub.CHEAP", 100)
    manifest = make_manifest(tmp_path / "results/models/toy")
    file = tmp_path / "results/models/toy/weights/model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"x")
    assert weights(manifest) == file.parent
    file.write_bytes(content[:-1])
    with pytest.raises(ArtifactError, match="not the file"):
        weights(manifest)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"fingerprint": "a"}'])
def test_a_checkpoint_with_a_broken_marker_does_not_count(tmp_path, content):
    (tmp_path / "checkpoint-1").mkdir()
    (tmp_path / "checkpoint-1/complete.json").write_text(content)
    assert latest(tmp_path, "a") is None


if __name__ == "__main__":
    fill(*sys.argv[1:])
