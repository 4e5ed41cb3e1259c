"""The entries that let experts answer and be scored, read their answers, and embed questions."""

import json

import pytest
import torch
from transformers import AutoConfig, AutoModel

from slmcollab.artifacts import ArtifactError, Problem, digest, read_json, read_jsonl, write_jsonl, write_problems
from slmcollab.experts.features import POOLINGS, read_embedding, read_features, read_header
from slmcollab.experts.pooling import draw
from slmcollab.models import chat, fetch, hub, toy
from slmcollab.models.toy_tokenizer import build_tokenizer
from slmcollab.steps import (
    embed_questions,
    extract_features,
    generate_expert_answers,
    score_expert_answers,
    write_expert_table,
)

QUESTIONS = [f"What is {a} + {b}?" for a in range(4) for b in range(5)]
EXTRACTION = {"dtype": "float32", "batch_tokens": 128, "max_tokens": 64, "overflow": "refuse"}
BUDGET = 4
NUM_LAYERS = 2


def problems(indices):
    return [
        Problem(f"sums/{i}", QUESTIONS[i], [{"role": "user", "content": QUESTIONS[i]}], str(sum(divmod(i, 5))))
        for i in indices
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An expert taught to answer without tags, five problems to train on and ten to test, and its answers to both."""
    folder = tmp_path_factory.mktemp("results")
    tokenizer = build_tokenizer()
    model = toy.build_model(toy.Architecture("llama", 32, NUM_LAYERS, 2), tokenizer, seed=3)
    rows = [{"messages": p.messages, "completion": p.answer} for p in problems(range(20))]
    toy.train(model, tokenizer, [rows], toy.Training(60, 20, 3e-3, 0), seed=3)
    model.save_pretrained(folder / "expert/weights")
    tokenizer.save_pretrained(folder / "expert/weights")
    fetch.write_manifest(
        folder / "expert/manifest.json", folder / "expert/weights", model="small", block={"source": ""}
    )
    write_problems(folder / "train.jsonl", problems(range(5)))
    write_problems(folder / "test.jsonl", problems(range(10)))
    for split in ("train", "test"):
        answer(folder, split, folder / f"{split}.answers.jsonl")
    return folder


def answer(folder, split, answers, *, max_new_tokens=BUDGET, batch_size=4, **changed):
    cell = {
        "expert": "small",
        "extraction": EXTRACTION | changed,
        "expert_answers": {"max_new_tokens": max_new_tokens, "batch_size": batch_size},
        "numeric_threads": 1,
    }
    manifest, split = folder / "expert/manifest.json", folder / f"{split}.jsonl"
    generate_expert_answers.main(cell=json.dumps(cell), expert=manifest, problems=split, answers=answers)
    return read_jsonl(answers)


def extract(folder, answers, features, *, sequence="completion", **changed):
    cell = {
        "expert": "small",
        "extraction": EXTRACTION | changed,
        "expert_answers": {"max_new_tokens": BUDGET},
        "numeric_threads": 1,
        "sequence": sequence,
    }
    files = {"expert": folder / "expert/manifest.json", "problems": folder / "test.jsonl"}
    extract_features.main(cell=json.dumps(cell), code="c0de", answers=answers, features=features, **files)
    return features


def score(folder, split, scores):
    cell = {"benchmark": "sums", "expert": "small", "split": split, "scorer": "exact", "time_limit_s": 10}
    files = {"answers": folder / f"{split}.answers.jsonl", "problems": folder / f"{split}.jsonl"}
    train = folder / "train.jsonl"
    score_expert_answers.main(cell=json.dumps(cell), train_problems=train, scores=scores, **files)
    return read_json(scores)


def test_an_expert_answers_greedily_in_its_own_template(folder):
    tokenizer = hub.load_tokenizer(folder / "expert/weights")
    model = hub.load_model(folder / "expert/weights", dtype="float32").cpu()
    rows = read_jsonl(folder / "test.answers.jsonl")
    assert [row["id"] for row in rows] == [f"sums/{i}" for i in range(10)]
    for row, problem in zip(rows, problems(range(10)), strict=True):
        ids = said = chat.encode(tokenizer, problem.messages)
        for _ in range(BUDGET):
            following = model(torch.tensor([ids])).logits[0, -1].argmax().item()
            ids = [*ids, following]
            if following == tokenizer.eos_token_id:
                break
            said = ids
        prompt = len(chat.encode(tokenizer, problem.messages))
        assert row["token_ids"] == said[prompt:]
        assert row["completion"] == tokenizer.decode(said[prompt:], skip_special_tokens=True)
        assert (row["num_tokens"], row["cut"]) == (len(ids) - prompt, ids[-1] != tokenizer.eos_token_id)
    assert {row["cut"] for row in rows} == {False}


def test_answers_do_not_depend_on_the_batch_and_are_the_same_bytes_again(folder, tmp_path):
    answer(folder, "test", tmp_path / "again.jsonl", batch_size=3)
    assert digest(tmp_path / "again.jsonl") == digest(folder / "test.answers.jsonl")


def test_an_answer_that_fills_the_budget_is_cut(folder, tmp_path):
    rows = answer(folder, "test", tmp_path / "short.jsonl", max_new_tokens=1)
    assert {(len(row["token_ids"]), row["num_tokens"], row["cut"]) for row in rows} == {(1, 1, True)}


def test_prompts_leave_room_for_the_answer(folder, tmp_path):
    positions, answers = toy.MAX_POSITIONS, tmp_path / "answers.jsonl"
    asked = len(chat.encode(build_tokenizer(), problems([0])[0].messages))  # as long as every other prompt
    rows = answer(folder, "test", answers, max_new_tokens=positions - asked, max_tokens=positions)
    assert {row["prompt_cut"] for row in rows} == {False}
    settings = {"max_new_tokens": positions - asked + 1, "max_tokens": positions}
    message = rf"problem sums/0: a prompt of {asked} tokens, .* allow {asked - 1} \(10 such prompts\)"
    with pytest.raises(ValueError, match=message):
        answer(folder, "test", answers, **settings)
    rows = answer(folder, "test", answers, **settings, overflow="truncate")
    assert {row["prompt_cut"] for row in rows} == {True}
    with pytest.raises(ValueError, match=r"expert_answers\.max_new_tokens: 512 leaves none of the expert's 512"):
        answer(folder, "test", answers, max_new_tokens=512, max_tokens=512)


def test_scores_of_an_expert(folder, tmp_path):
    rows = read_jsonl(folder / "test.answers.jsonl")
    right = sum(row["completion"] == p.answer for row, p in zip(rows, problems(range(10)), strict=True))
    assert right >= 5
    found = score(folder, "test", tmp_path / "scores.json")
    assert found.pop("digests").keys() == {str(folder / f"{name}.jsonl") for name in ("test", "test.answers", "train")}
    heads = {"benchmark": "sums", "expert": "small", "split": "test", "num_problems": 10}
    assert found == heads | {
        "metrics": {
            "accuracy": 0.0,
            "accuracy_bare": pytest.approx(10 * right),
            "accuracy_seen": 0.0,
            "accuracy_unseen": 0.0,
            "score_mean": 0.0,
        },
        "tasks": {},
        "shares": {"cut": 0.0, "unparsed": 1.0, "prompt_cut": 0.0},
        "counts": {"errors": 0, "timed_out": 0, "unseen": 5},
    }
    assert score(folder, "train", tmp_path / "train.json")["metrics"]["accuracy_unseen"] is None


def test_scores_say_how_many_prompts_had_lost_their_start(folder, tmp_path):
    for name in ("test.jsonl", "train.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    rows = read_jsonl(folder / "test.answers.jsonl")
    write_jsonl(tmp_path / "test.answers.jsonl", (row | {"prompt_cut": i < 3} for i, row in enumerate(rows)))
    assert score(tmp_path, "test", tmp_path / "scores.json")["shares"]["prompt_cut"] == pytest.approx(0.3)


def test_scores_are_refused_for_other_problems(folder, tmp_path):
    write_problems(tmp_path / "test.jsonl", problems(range(1, 11)))
    (tmp_path / "test.answers.jsonl").write_bytes((folder / "test.answers.jsonl").read_bytes())
    write_problems(tmp_path / "train.jsonl", problems(range(5)))
    with pytest.raises(ArtifactError, match="sums/0 is out of place"):
        score(tmp_path, "test", tmp_path / "scores.json")


def test_scores_are_what_the_table_reads(folder, tmp_path):
    score(folder, "test", tmp_path / "scores.json")
    cell = {"benchmarks": ["sums"], "experts": ["small"]}
    write_expert_table.main(cell=json.dumps(cell), scores=[tmp_path / "scores.json"], table=tmp_path / "table.csv")
    header, row = (tmp_path / "table.csv").read_text().splitlines()
    found = dict(zip(header.split(","), row.split(","), strict=True))
    assert (found["benchmark"], found["expert"], found["accuracy"]) == ("sums", "small", "0.00")
    assert (found["share_unparsed"], found["share_prompt_cut"], found["num_problems"]) == ("1.0000", "0.0000", "10")


def test_features_over_prompt_and_answer(folder, tmp_path):
    """Row by row against the plain way: prompt and answer alone, unpadded, the end token left out."""
    path = extract(folder, [folder / "test.answers.jsonl"], tmp_path / "completion.safetensors")
    tokenizer = hub.load_tokenizer(folder / "expert/weights")
    model = hub.load_model(folder / "expert/weights", dtype="float32").cpu()
    for i, (problem, row) in enumerate(
        zip(problems(range(10)), read_jsonl(folder / "test.answers.jsonl"), strict=True)
    ):
        ids = chat.encode(tokenizer, problem.messages) + row["token_ids"]
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        draws = draw([problem.id], [len(ids)], NUM_LAYERS)
        expected = {
            "last_token": states[NUM_LAYERS][0, -1],
            "first_token": states[NUM_LAYERS][0, 0],
            "sampled_token": states[NUM_LAYERS][0, draws.tokens[0]],
            "first_layer": states[1][0, -1],
            "sampled_layer": states[draws.layers[0]][0, -1],
        }
        assert set(expected) == set(POOLINGS)
        for pooling, value in expected.items():
            features = read_features(path, pooling)
            assert torch.allclose(features[i], value, atol=1e-5 * features.abs().max().item()), (pooling, i)
    assert read_header(path)["sequence"] == "completion"


def test_features_over_answers_differ_from_those_over_prompts_and_need_no_batch(folder, tmp_path):
    answers = [folder / "test.answers.jsonl"]
    whole = read_features(extract(folder, answers, tmp_path / "a"), "last_token")
    alone = read_features(extract(folder, answers, tmp_path / "b", batch_tokens=1), "last_token")
    prompt = read_features(extract(folder, [], tmp_path / "c", sequence="prompt"), "last_token")
    assert torch.allclose(whole, alone, atol=1e-5 * whole.abs().max().item())
    assert (whole - prompt).abs().amax(-1).min() > 1e-2


def test_features_need_answers_where_they_are_read_and_nowhere_else(folder, tmp_path):
    with pytest.raises(ValueError, match="completion with 0 files of answers"):
        extract(folder, [], tmp_path / "a")
    with pytest.raises(ValueError, match="prompt with 1 files of answers"):
        extract(folder, [folder / "test.answers.jsonl"], tmp_path / "a", sequence="prompt")
    with pytest.raises(ArtifactError, match="5 answers to 10 problems"):
        extract(folder, [folder / "train.answers.jsonl"], tmp_path / "a")


def embed(manifest, questions, embedding):
    cell = json.dumps({"expert": "mini", "extraction": {"batch_tokens": 64}, "numeric_threads": 1})
    embed_questions.main(cell=cell, code="c0de", encoder=manifest, problems=questions, embedding=embedding)
    return read_embedding(embedding)


@pytest.mark.parametrize("family", ["bert", "causal"])
def test_embedding_of_a_split(folder, tmp_path, family):
    manifest, tokenizer = folder / "expert/manifest.json", build_tokenizer()
    limit = len(tokenizer(QUESTIONS[7]).input_ids) - (family == "bert")  # one too many for bert
    if family == "bert":
        manifest, sizes = tmp_path / "manifest.json", {"hidden_size": 16, "intermediate_size": 32}
        heads = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": limit}
        AutoModel.from_config(
            AutoConfig.for_model("bert", vocab_size=len(tokenizer), **sizes, **heads)
        ).save_pretrained(tmp_path / "weights")
        tokenizer.save_pretrained(tmp_path / "weights")
        fetch.write_manifest(manifest, tmp_path / "weights", model="mini", block={"source": "path"})
    rows = embed(manifest, folder / "test.jsonl", tmp_path / "embedding.safetensors")
    encoder = hub.load_encoder(hub.weights(manifest), dtype="float32").cpu()
    ids = tokenizer(QUESTIONS[7]).input_ids[:limit]
    expected = encoder(torch.tensor([ids])).last_hidden_state[0].mean(0)
    assert torch.allclose(rows[7], expected / expected.norm(), atol=1e-5)
    header = read_header(tmp_path / "embedding.safetensors")
    expected = {"sequence": "question", "num_problems": "10", "truncated": "10" if family == "bert" else "0"}
    assert header | expected | {"dtype": "float32", "code": "c0de"} == header
    again = tmp_path / "again.safetensors"
    embed(manifest, folder / "test.jsonl", again)
    assert digest(again) == digest(tmp_path / "embedding.safetensors")
