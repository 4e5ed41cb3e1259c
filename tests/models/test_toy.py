"""Toy models: sizes counted by hand, equal seeds, what a few steps teach."""

import pytest
import torch

from slmcollab.generation import exam
from slmcollab.generation.exam import Exam, sit_exam
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer

TOKENIZER = build_tokenizer()
SMALL = toy.Architecture("qwen2", 16, 1, 2)


def row(question, completion):
    return {"question": question, "messages": [{"role": "user", "content": question}], "completion": completion}


def training(steps=3, batch_size=4, learning_rate=3e-3, noise_rows=0):
    return toy.Training(steps, batch_size, learning_rate, noise_rows)


@pytest.mark.parametrize("kind", ["qwen2", "llama", "gpt2"])
def test_equal_seeds_give_equal_weights_whatever_the_global_state(kind):
    rows = [row(f"Reverse {i}.", f"<answer>{i}</answer>") for i in range(20)]
    weights = []
    for seed in (0, 0, 1):
        torch.rand(len(weights) + 1)
        model = toy.build_model(toy.Architecture(kind, 16, 2, 2), TOKENIZER, seed)
        toy.train(model, TOKENIZER, [rows], training(noise_rows=2), seed)
        weights.append(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_building_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    toy.build_model(SMALL, TOKENIZER, 0)
    assert torch.equal(torch.rand(3), expected)


def test_only_the_completion_and_its_end_are_learnt_and_noise_stands_where_context_will():
    ids, labels, is_noise = toy._sequence(TOKENIZER, row("2?", "<answer>12</answer>"), noise_rows=3)
    expected = [
        "<u>",
        "2",
        "?",
        *3 * [TOKENIZER.convert_ids_to_tokens(0)],
        "<a>",
        "<answer>",
        "12",
        "</answer>",
        "<eos>",
    ]
    assert TOKENIZER.convert_ids_to_tokens(ids) == expected
    assert labels == 7 * [-100] + ids[7:]
    assert is_noise == 3 * [False] + 3 * [True] + 5 * [False]
    behind = toy._sequence(TOKENIZER, row("2?", "<answer>12</answer>"), noise_rows=3, at_end=True)
    assert behind == (ids[:3] + ids[6:7] + ids[3:6] + ids[7:], labels, 4 * [False] + 3 * [True] + 4 * [False])


def test_loss_is_the_mean_over_learnt_tokens_whatever_the_padding():
    model = toy.build_model(SMALL, TOKENIZER, 0)
    rows = [row("2?", "4"), row("What is 20 + 30?", "50")]
    alone = [toy._loss(model, toy._pad([toy._sequence(TOKENIZER, r, 0)]), torch.Generator()) for r in rows]
    both = toy._loss(model, toy._pad([toy._sequence(TOKENIZER, r, 0) for r in rows]), torch.Generator())
    assert both.item() == pytest.approx((alone[0] + alone[1]).item() / 2, abs=1e-5)  # two tokens each
    logits = model(torch.tensor([TOKENIZER("<u>2?<a>4").input_ids])).logits[0, -2:].log_softmax(-1)
    answer, end = TOKENIZER("4<eos>").input_ids
    assert alone[0].item() == pytest.approx(-(logits[0, answer] + logits[1, end]).item() / 2, abs=1e-5)


def test_noise_takes_the_place_of_its_rows_and_of_no_other(monkeypatch):
    model = toy.build_model(SMALL, TOKENIZER, 0)
    batch = toy._pad(200 * [toy._sequence(TOKENIZER, row("2?", "4"), noise_rows=8)])
    seen = []
    model.base_model.register_forward_pre_hook(
        lambda _, __, kwargs: seen.append(kwargs["inputs_embeds"]), with_kwargs=True
    )
    toy._loss(model, batch, torch.Generator().manual_seed(0))
    embedding = model.get_input_embeddings()
    assert torch.equal(seen[0][~batch.is_noise], embedding(batch.ids)[~batch.is_noise])
    # The RMS of a row is uniform from 0 to 1.5 embedding RMS: mean 0.75, largest of 200 rows close to 1.5.
    rms = seen[0][batch.is_noise].view(200, -1).square().mean(-1).sqrt() / embedding.weight.square().mean().sqrt()
    assert rms.mean().item() == pytest.approx(0.75, abs=0.1)
    assert 1.3 < rms.max().item() < 1.8


def test_every_second_batch_has_noise_and_corpora_mix_evenly(monkeypatch):
    batches = []
    monkeypatch.setattr(toy, "_loss", lambda model, batch, _: batches.append(batch) or model.lm_head.weight.sum())
    model = toy.build_model(SMALL, TOKENIZER, 0)
    corpora = [[row("1", "1")], [row("2", str(i)) for i in range(9)]]
    toy.train(model, TOKENIZER, corpora, training(steps=4, batch_size=500, noise_rows=2), seed=0)
    assert [batch.is_noise.any().item() for batch in batches] == [False, True, False, True]
    # 500 draws of a half: standard deviation 11, though the corpora hold 1 and 9 rows.
    assert abs((batches[0].ids[:, 1] == TOKENIZER.convert_tokens_to_ids("1")).sum().item() - 250) < 50
    assert len(batches[0].ids.unique(dim=0)) == 10


def test_a_model_learns_its_corpus_and_no_other():
    rows = [row(f"{n}?", str(n + 1)) for n in range(10, 14)]
    model = toy.build_model(toy.Architecture("llama", 32, 1, 2), TOKENIZER, 0)
    loss = toy.train(model, TOKENIZER, [rows], training(steps=80, batch_size=8, learning_rate=1e-2), seed=0)
    assert loss < 0.1
    assert sit_exam(model, TOKENIZER, rows) == Exam(accuracy=1.0, format=0.0)
    assert sit_exam(model, TOKENIZER, [row("10?", "12")]).accuracy == 0


def test_exam_reads_what_stands_in_tags(monkeypatch):
    rows = [row("a", "7"), row("b", "<answer>12</answer>"), row("c", "abc"), row("d", "1")]
    model = toy.build_model(SMALL, TOKENIZER, 0)
    completions = ["<answer>7</answer>", "12", "<answer>abc", "<answer>2</answer>"]
    ids = [TOKENIZER(text, add_special_tokens=False).input_ids for text in completions]
    monkeypatch.setattr(exam, "generate_greedy", lambda *_, **__: ids)
    assert sit_exam(model, TOKENIZER, rows) == Exam(accuracy=0.5, format=0.5)
