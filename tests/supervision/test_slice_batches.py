"""What of an example is trained, and which examples share an update."""

import pytest
from models.characters import make_tokenizer

from slmcollab.models.chat import encode
from slmcollab.models.hub import load_model
from slmcollab.supervision.batches import IGNORED, Row, encode_examples, end_of_turn, pad, plan_updates
from slmcollab.supervision.examples import Example

ASK = [{"role": "user", "content": "ab"}]


@pytest.fixture(scope="module")
def model(members):
    return load_model(members[0].folder, dtype="float32")


def test_the_context_is_the_one_of_generation_and_the_response_ends_with_the_end_of_turn(model, tokenizer):
    rows, num_dropped = encode_examples([Example(ASK, "xy", None, 1.0, "t", 0)], model, tokenizer, 50)
    assert num_dropped == 0
    assert rows[0].ids[: rows[0].num_context] == encode(tokenizer, ASK)
    assert tokenizer.decode(rows[0].ids) == "<u>ab<a>xy<eos>"
    assert tokenizer.decode(rows[0].ids[rows[0].num_context :]) == "xy<eos>"
    assert rows[0].num_trained == 3


def test_a_sampled_response_is_trained_as_it_was_sampled(model, tokenizer):
    """No end token where the budget ended it, and ids that the text would not give."""
    cut = Example(ASK, "12", tuple(tokenizer("1").input_ids + tokenizer("2").input_ids), 0.5, "t", 0)
    nothing = Example(ASK, "", (), 0.5, "t", 1)
    rows, num_dropped = encode_examples([cut, nothing], model, tokenizer, 50)
    assert [row.num_trained for row in rows] == [2]
    assert num_dropped == 1
    assert tokenizer.eos_token_id not in rows[0].ids
    assert tokenizer("12").input_ids != rows[0].ids[rows[0].num_context :]


def test_a_text_that_its_budget_cut_gets_no_end(model, tokenizer):
    rows, _ = encode_examples([Example(ASK, "xy", None, -0.5, "t", 0, cut=True)], model, tokenizer, 50)
    assert tokenizer.decode(rows[0].ids[rows[0].num_context :]) == "xy"


def test_examples_that_are_too_long_are_left_out_and_counted(model, tokenizer):
    """<u> a b <a> x <eos>: six tokens."""
    two = [Example(ASK, text, None, 1.0, "t", 0) for text in ("x", "xx")]
    assert [encode_examples(two, model, tokenizer, n)[1] for n in (7, 6, 5)] == [0, 1, 2]
    assert [len(row.ids) for row in encode_examples(two, model, tokenizer, 6)[0]] == [6]


def test_the_end_of_a_turn_is_what_the_template_puts_behind_it(members):
    """Gemma ends a turn with another token than a text; a model without a template only ends texts."""
    model = load_model(members[0].folder, dtype="float32")
    template = "{% for m in messages %}{{ '<s>' + m.content + '<end>' }}{% endfor %}"
    chat, bare = make_tokenizer(template, merged=["<end>"], eos="</s>"), make_tokenizer(None)
    assert end_of_turn(model, bare) == bare.eos_token_id
    model.generation_config.eos_token_id = [chat.eos_token_id]
    assert end_of_turn(model, chat) == chat.eos_token_id
    model.generation_config.eos_token_id = [chat.eos_token_id, chat.get_vocab()["<end>"]]
    assert end_of_turn(model, chat) == chat.get_vocab()["<end>"]


def test_labels_are_there_for_the_response_alone():
    batch = pad([Row([5, 6, 7, 8], 2, 0.5), Row([5, 9], 1, -1.0), Row([5, 6], 2, 0.0)], pad_id=0)
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8], [5, 9, 0, 0], [5, 6, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]
    no = IGNORED
    assert batch["labels"].tolist() == [[no, no, 7, 8], [no, 9, no, no], [no, no, no, no]]
    assert batch["rewards"].tolist() == [0.5, -1.0, 0.0]


@pytest.mark.parametrize(("num_rows", "batch_size", "epochs"), [(10, 4, 3), (8, 4, 1), (3, 8, 1), (100, 4, 2)])
def test_every_row_is_seen_once_an_epoch_and_only_the_last_update_is_smaller(num_rows, batch_size, epochs):
    updates = plan_updates(list(range(num_rows)), batch_size, epochs, seed=1)
    seen = [row for update in updates for row in update]
    assert sorted(seen) == sorted(epochs * list(range(num_rows)))
    assert all(len(update) == batch_size for update in updates[:-1])
    assert len(updates) == -(-num_rows * epochs // batch_size)


def test_rows_of_an_update_are_of_similar_length_and_updates_in_a_drawn_order():
    lengths = [(7 * i) % 320 for i in range(320)]
    updates = plan_updates(lengths, 10, 1, seed=0)
    spread = [max(lengths[r] for r in u) - min(lengths[r] for r in u) for u in updates]
    assert sum(spread) / len(spread) < 60  # ten rows drawn anyhow spread over 260
    means = [sum(lengths[r] for r in u) for u in updates]
    assert means != sorted(means)
    assert updates == plan_updates(lengths, 10, 1, seed=0) != plan_updates(lengths, 10, 1, seed=1)
