"""Training in phases: what is drawn, what is learnt, and that it repeats."""

from itertools import islice

import pytest
import torch

from slmcollab.generation.exam import sit_exam
from slmcollab.models import toy, toy_phases
from slmcollab.models.toy_phases import Phase, train_phases
from slmcollab.models.toy_word_tokenizer import build_tokenizer

TOKENIZER = build_tokenizer()


def row(question, completion):
    return {"question": question, "messages": [{"role": "user", "content": question}], "completion": completion}


def model(seed=0, kind="llama"):
    return toy.build_model(toy.Architecture(kind, 32, 1, 2, initial_std=0.05), TOKENIZER, seed)


FIRST = [row(f"{n} + 1", str(n + 1)) for n in range(4)]
SECOND = [row(f"{n} + 1", str(n + 2)) for n in range(4)]


def test_the_last_phase_decides_and_the_first_is_forgotten():
    taught = model()
    phases = [Phase({"first": 1}, 60, 1e-2), Phase({"second": 1}, 60, 1e-2)]
    losses = train_phases(taught, TOKENIZER, {"first": FIRST, "second": SECOND}, phases, 8, seed=0)
    assert len(losses) == 2
    assert max(losses) < 0.1
    assert sit_exam(taught.eval(), TOKENIZER, SECOND).accuracy == 1
    assert sit_exam(taught, TOKENIZER, FIRST).accuracy == 0


@pytest.mark.parametrize("kind", ["gpt2", "llama", "qwen2"])
def test_equal_seeds_give_equal_weights(kind):
    weights = []
    for seed in (0, 0, 1):
        torch.rand(len(weights) + 1)
        taught = model(kind=kind)
        train_phases(taught, TOKENIZER, {"first": FIRST}, [Phase({"first": 1}, 3, 1e-2)], 4, seed)
        weights.append(torch.cat([parameter.detach().flatten() for parameter in taught.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_corpora_are_drawn_by_weight_and_batches_hold_rows_of_similar_length():
    rows = {"short": [([1, 2], 1)], "long": [([1, 2, 3, 4], 2), ([1, 2, 3, 5], 2)]}
    drawn = list(islice(toy_phases._batches(rows, {"short": 3, "long": 1}, 50, 0, 0), 16))
    assert {len(batch) for batch in drawn} == {50}
    # Of 800 draws 3 in 4 are short: 600, standard deviation 12.
    assert 540 < sum(len(ids) == 2 for batch in drawn for ids, _ in batch) < 660
    # Of each 8 batches, cut from 400 rows in the order of their length, one at most has rows of both lengths.
    assert sum(len({len(ids) for ids, _ in batch}) == 2 for batch in drawn) <= 2


def test_the_loss_is_the_mean_over_the_completion_tokens():
    taught = model()
    long, short = ([9, 8, 7, 6, 5], 2), ([9, 8, 7], 2)  # three learnt tokens, and one
    alone = [toy_phases._loss(taught, [one]).item() for one in (long, short)]
    assert toy_phases._loss(taught, [long, short]).item() == pytest.approx((3 * alone[0] + alone[1]) / 4, abs=1e-5)
    logits = taught(torch.tensor([short[0]])).logits[0, 1].log_softmax(-1)
    assert alone[1] == pytest.approx(-logits[7].item(), abs=1e-5)


def test_the_completion_ends_with_the_end_token():
    ids, num_prompt = toy_phases._encode(TOKENIZER, FIRST[0])
    assert TOKENIZER.decode(ids) == "<u>0 + 1<a>1<eos>"
    assert num_prompt == 5  # <u> 0 + 1 <a>


def test_initial_std_is_that_of_the_weights():
    assert model().get_input_embeddings().weight.std().item() == pytest.approx(0.05, abs=0.002)
    default = toy.build_model(toy.Architecture("llama", 64, 1, 2), TOKENIZER, 0)
    assert default.get_input_embeddings().weight.std().item() == pytest.approx(64**-0.5, abs=0.002)
