"""The entries that make toy models, features and probes, one after the other."""

import json

import pytest
import torch
from recorded import wherever

from slmcollab.artifacts import Problem, digest, read_json, read_jsonl, write_problems
from slmcollab.experts.features import POOLINGS, read_features, read_header, write_features
from slmcollab.experts.pooling import draw
from slmcollab.models import chat, fetch, hub
from slmcollab.report.probe_table import probe_rows
from slmcollab.steps import download_model, extract_features, probe_experts, train_toy_model, write_toy_corpus

SMALL = {"type": "gpt2", "hidden_size": 16, "num_layers": 3, "num_heads": 2}
QUESTIONS = [f"What is {a} + {b}?" for a in range(10) for b in range(10)]


def train(folder, *, steps, architecture, seed=11):
    corpora = {"sums": 100, "reverse": 20}
    for kind, num_rows in corpora.items():
        cell = {"corpus": kind, "kind": kind, "answers": "right", "tags": False, "num_rows": num_rows, "data_seed": 42}
        write_toy_corpus.main(cell=json.dumps(cell), corpus=folder / f"{kind}.jsonl")
    cell = {
        "model": "small",
        "source": "toy",
        "corpora": ["sums"],
        "seed": seed,
        "architecture": architecture,
        "training": {"steps": steps, "batch_size": 64, "learning_rate": 3.0e-3, "noise_rows": 0},
        "numeric_threads": 1,
    }
    exams = [folder / f"{kind}.jsonl" for kind in corpora]
    paths = {"weights": folder / "model/weights", "manifest": folder / "model/manifest.json"}
    train_toy_model.main(cell=json.dumps(cell), corpora=exams[:1], exams=exams, **paths)
    return paths["manifest"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    train(folder, steps=2, architecture=SMALL)
    write(folder / "train.jsonl", range(0, 100, 2))
    write(folder / "test.jsonl", range(100))
    return folder


def write(path, indices):
    rows = [(f"sums/{i}", QUESTIONS[i], str(sum(divmod(i, 10)))) for i in indices]
    messages = [[{"role": "user", "content": question}] for _, question, _ in rows]
    write_problems(path, [Problem(i, q, m, a) for (i, q, a), m in zip(rows, messages, strict=True)])


def extract(manifest, problems, features, *, sequence="prompt", **changed):
    extraction = {"dtype": "float32", "batch_tokens": 256, "max_tokens": 64, "overflow": "refuse"} | changed
    cell = {"extraction": extraction, "expert": "small", "numeric_threads": 1, "sequence": sequence}
    files = {"expert": manifest, "problems": problems, "answers": [], "features": features}
    extract_features.main(cell=json.dumps(cell), code="c0de", **files)
    return features


def test_corpus_and_toy_model(folder, tmp_path):
    assert len(read_jsonl(folder / "sums.jsonl")) == 100
    manifest = read_json(folder / "model/manifest.json")
    assert (manifest["model"], manifest["architecture"]) == ("small", "GPT2LMHeadModel")
    assert set(manifest["accuracy"]) == set(manifest["format"]) == {"sums", "reverse"}
    again = train(tmp_path, steps=2, architecture=SMALL)
    assert digest(again.parent / "weights") == digest(folder / "model/weights")
    assert wherever(again) == wherever(folder / "model/manifest.json")
    assert manifest["digests"] == {
        str(folder / f"{name}.jsonl"): digest(folder / f"{name}.jsonl") for name in ("sums", "reverse")
    }


def test_features_of_a_split(folder):
    path = extract(folder / "model/manifest.json", folder / "test.jsonl", folder / "out/prompt.safetensors")
    tokenizer = hub.load_tokenizer(folder / "model/weights")
    model = hub.load_model(folder / "model/weights", dtype="float32")
    prompt = chat.encode(tokenizer, [{"role": "user", "content": QUESTIONS[42]}])
    states = model(torch.tensor([prompt]).to(model.device), output_hidden_states=True).hidden_states
    draws = draw(["sums/42"], [len(prompt)], 3)
    expected = [states[3][0, -1], states[3][0, 0], states[3][0, draws.tokens[0]], states[1][0, -1]]
    for pooling, row in zip(POOLINGS, [*expected, states[draws.layers[0]][0, -1]], strict=True):
        features = read_features(path, pooling)
        assert features.shape == (100, 16)
        assert torch.allclose(features[42], row.cpu(), atol=1e-5 * features.abs().max().item()), pooling
    header = read_header(path)
    assert header["layer/last_token"] == "3, after the final norm"
    assert header | {"expert": "small", "num_problems": "100", "truncated": "0", "dtype": "float32"} == header


@pytest.mark.parametrize(("side", "pad"), [("left", "<pad>"), ("right", "<eos>"), ("left", "<eos>")])
def test_features_do_not_depend_on_how_the_tokenizer_pads(folder, tmp_path, side, pad):
    plain = extract(folder / "model/manifest.json", folder / "train.jsonl", tmp_path / "plain.safetensors")
    fetch.copy(folder / "model/weights", tmp_path / "weights")
    tokenizer = hub.load_tokenizer(tmp_path / "weights")
    tokenizer.padding_side, tokenizer.pad_token = side, pad
    tokenizer.save_pretrained(tmp_path / "weights")
    manifest = tmp_path / "manifest.json"
    fetch.write_manifest(manifest, tmp_path / "weights", model="small", block={"source": "toy"})
    other = extract(manifest, folder / "train.jsonl", tmp_path / "other.safetensors")
    assert all(torch.equal(read_features(other, name), read_features(plain, name)) for name in POOLINGS)
    (headers := [read_header(path) for path in (other, plain)])[0].pop("digests")
    assert headers[1].pop("digests").keys() == {str(folder / "model/manifest.json"), str(folder / "train.jsonl")}
    assert headers[0] == headers[1]


def test_long_prompts(folder, tmp_path):
    files = (folder / "model/manifest.json", folder / "train.jsonl", tmp_path / "prompt.safetensors")
    tokenizer = hub.load_tokenizer(folder / "model/weights")
    length = len(chat.encode(tokenizer, [{"role": "user", "content": QUESTIONS[0]}]))  # as long as every other one
    message = rf"problem sums/0: a prompt of {length} tokens, .* allow {length - 1} \(50 such prompts\)"
    with pytest.raises(ValueError, match=message):
        extract(*files, max_tokens=length - 1)
    extract(*files, max_tokens=length - 1, overflow="truncate")
    assert read_header(files[2])["truncated"] == "50"


def test_unknown_sequence_is_refused(folder, tmp_path):
    files = (folder / "model/manifest.json", folder / "train.jsonl", tmp_path / "question.safetensors")
    with pytest.raises(ValueError, match=r"features\.sequence: 'question' is not one of prompt, completion"):
        extract(*files, sequence="question")


def probe(manifest, folder):
    files = {split: folder / f"{split}.safetensors" for split in ("train", "test")}
    for split, features in files.items():
        extract(manifest, folder / f"{split}.jsonl", features)
    probe_experts.main(
        cell=json.dumps({"benchmark": "toy_sums", "expert": "small", "numeric_threads": 1, "ridge": 0.01}),
        features_train=files["train"],
        features_test=files["test"],
        train_problems=folder / "train.jsonl",
        test_problems=folder / "test.jsonl",
        probe=folder / "probe.json",
    )
    return read_json(folder / "probe.json")


def test_probe_file_is_what_the_table_reads(folder):
    found = probe(folder / "model/manifest.json", folder)
    assert list(found["tasks"]) == ["all"]
    assert list(found["tasks"]["all"]) == sorted(POOLINGS)
    assert found["tasks"]["all"]["first_token"]["n_test"] == 50
    assert len(probe_rows({"probe.json": found}, ["toy_sums"])) == 5


def test_each_task_is_probed_beside_the_whole(folder, tmp_path):
    """A task with too many answers, one that is read, and one that train lacks; features are one-hot answers."""
    kinds = [("many", str(i)) for i in range(201)] + [("two", "ab"[i % 2]) for i in range(20)]
    train = [Problem(f"t/{i}", f"t{i}", [], a, {"source_dataset": kind}) for i, (kind, a) in enumerate(kinds)]
    test = [Problem(f"e/{i}", f"e{i}", [], "ab"[i % 2], {"source_dataset": "two"}) for i in range(4)]
    test.append(Problem("e/4", "e4", [], "a", {"source_dataset": "new"}))
    for split, rows in (("train", train), ("test", test)):
        write_problems(tmp_path / f"{split}.jsonl", rows)
        values = torch.tensor([[float(problem.answer == "a")] for problem in rows])
        ids = [problem.id for problem in rows]
        write_features(tmp_path / f"{split}.safetensors", {name: values.clone() for name in POOLINGS}, {}, ids)
    probe_experts.main(
        cell=json.dumps({"benchmark": "mixed", "expert": "small", "numeric_threads": 1, "ridge": 0.01}),
        features_train=tmp_path / "train.safetensors",
        features_test=tmp_path / "test.safetensors",
        train_problems=tmp_path / "train.jsonl",
        test_problems=tmp_path / "test.jsonl",
        probe=tmp_path / "probe.json",
    )
    found = {task: poolings["last_token"] for task, poolings in read_json(tmp_path / "probe.json")["tasks"].items()}
    assert {task: (reading["n_train"], reading["n_test"]) for task, reading in found.items()} == {
        "all": (221, 5),
        "many": (201, 0),
        "new": (0, 1),
        "two": (20, 4),
    }
    assert found["two"] == {"accuracy": 1.0, "chance": 0.5, "n_train": 20, "n_test": 4, "reason": None}
    assert found["new"]["reason"] == "no problem in train"
    assert found["all"]["reason"] == "203 distinct answers in train are no small set (at most 200)"
    assert len(probe_rows({"probe.json": read_json(tmp_path / "probe.json")}, ["mixed"])) == 20


@pytest.mark.slow
def test_the_answer_can_be_read_from_an_expert_that_knows_it(tmp_path):
    architecture = {"type": "llama", "hidden_size": 64, "num_layers": 2, "num_heads": 4}
    manifest = train(tmp_path, steps=400, architecture=architecture)
    assert read_json(manifest)["accuracy"] == {"sums": 1.0, "reverse": 0.0}
    write(tmp_path / "train.jsonl", [i for i in range(100) if i % 4])
    write(tmp_path / "test.jsonl", range(100))
    readings = probe(manifest, tmp_path)["tasks"]["all"]
    assert readings["last_token"]["accuracy"] >= 0.9
    assert readings["first_token"]["accuracy"] <= 0.2


def test_local_model_is_copied(folder, tmp_path):
    paths = {"weights": tmp_path / "model/weights", "manifest": tmp_path / "model/manifest.json"}
    block = {"model": "mine", "numeric_threads": 1, "source": "path", "path": str(folder / "model/weights")}
    download_model.main(cell=json.dumps(block), **paths)
    assert digest(paths["weights"]) == digest(folder / "model/weights")
    assert read_json(paths["manifest"])["id"] == str(folder / "model/weights")
    assert hub.weights(paths["manifest"]) == paths["weights"]
