"""The trainer against the formulas, its gradient however an update is cut, and its way through kills."""

from dataclasses import replace

import pytest
import torch
from transformers import TrainerCallback

from slmcollab.models.hub import load_model
from slmcollab.supervision import trainer as training
from slmcollab.supervision.batches import encode_examples, pad
from slmcollab.supervision.trainer import train


@pytest.fixture
def rows(make_examples, members, tokenizer):
    model = load_model(members[0].folder, dtype="float32")
    return encode_examples(make_examples([1.0, -0.5, 0.25, -1.0, 0.5, 1.0]), model, tokenizer, 100)[0]


def by_hand(model, rows):
    """Return log p of each response token of each row, one row at a time."""
    found = []
    for row in rows:
        logits = model(input_ids=torch.tensor([row.ids]), use_cache=False).logits[0, :-1]
        scored = logits.log_softmax(-1).gather(1, torch.tensor(row.ids[1:])[:, None])[:, 0]
        found.append(scored[row.num_context - 1 :])
    return found


def trained(trainer):
    return {name: w.detach().clone() for name, w in trainer.model.named_parameters() if w.requires_grad}


def gradients(trainer):
    """Return the gradient of the first update, as the optimizer would get it, without the norm clipped."""
    trainer.args.max_grad_norm = 1e9
    seen = {}

    class Look(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, **_):
            if not seen:
                seen.update({n: w.grad.clone() for n, w in trainer.model.named_parameters() if w.requires_grad})

    trainer.add_callback(Look)
    trainer.train()
    return seen


@pytest.mark.parametrize("place", [0, 1])
def test_log_probabilities_in_padded_batches_are_those_of_single_rows(build, rows, members, place):
    trainer = build(rows, members[place])
    expected = by_hand(trainer.model.eval(), rows)
    for row, found, right in zip(rows, trainer.log_probabilities(rows), expected, strict=True):
        assert len(found) == row.num_trained
        assert torch.allclose(found, right, atol=1e-5)


@pytest.mark.parametrize("clip", [None, 0.2])
def test_the_first_loss_and_gradient_are_those_of_eq_14(build, rows, tmp_path, clip):
    """-(1/6) Σ r log p; at the start the clipped loss has the value -(1/6) Σ r · tokens, and the same gradient."""
    trainer = build(rows, batch_size=6, micro_batch_size=6, epochs=1, clip=clip)
    model = build(rows, folder=tmp_path / "hand").model.eval()
    loss = -sum(row.reward * found.sum() for row, found in zip(rows, by_hand(model, rows), strict=True)) / 6
    loss.backward()
    found = gradients(trainer)
    expected = {name: w.grad for name, w in model.named_parameters() if w.requires_grad}
    value = loss.item() if clip is None else -sum(row.reward * row.num_trained for row in rows) / 6
    assert trainer.state.log_history[0]["loss"] == pytest.approx(value, abs=1e-4)
    assert found.keys() == expected.keys()
    assert max(g.abs().max() for g in expected.values()) > 0.05
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, atol=1e-4), name


@pytest.mark.parametrize("clip", [None, 0.2])
def test_how_an_update_is_cut_does_not_change_its_gradient(build, rows, tmp_path, clip):
    """Also of the smaller last update: 6 rows in updates of 4 and 2."""
    cut = {}
    for micro in (4, 2, 1):
        trainer = build(rows, folder=tmp_path / str(micro), batch_size=4, micro_batch_size=micro, epochs=1, clip=clip)
        trainer.train()
        assert trainer.state.global_step == 2
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        cut[micro] = trained(trainer), losses
    for micro in (2, 1):
        assert cut[micro][1] == pytest.approx(cut[4][1], abs=1e-4)
        for name, weight in cut[4][0].items():
            assert torch.allclose(cut[micro][0][name], weight, atol=2e-5), name


def test_only_lora_moves(build, rows):
    trainer = build(rows)
    before = {name: w.detach().clone() for name, w in trainer.model.named_parameters()}
    trainer.train()
    moved = {name for name, w in trainer.model.named_parameters() if not torch.equal(w, before[name])}
    assert moved == set(trained(trainer))
    assert all("lora_" in name for name in moved)


def test_demonstrations_are_learned(build, rows):
    rows = [training.Row(row.ids, row.num_context, 1.0) for row in rows]
    trainer = build(rows, epochs=60, learning_rate=2e-2)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[-1] < 0.2 * losses[0]


def test_refinement_raises_what_is_rewarded_and_lowers_what_is_not_as_far_as_the_clip_lets_it(build, rows, tmp_path):
    spans = {}
    for clip in (None, 0.2):
        trainer = build(rows, folder=tmp_path / str(clip), epochs=30, learning_rate=5e-3, clip=clip)
        before = torch.stack([found.mean() for found in trainer.log_probabilities(rows)])
        trainer.train()
        moved = torch.stack([found.mean() for found in trainer.log_probabilities(rows)]) - before
        spans[clip] = {row.reward: float(by) for row, by in zip(rows, moved, strict=True)}
    for clip in (None, 0.2):
        assert spans[clip][-1.0] < -0.05
        assert spans[clip][1.0] > 0.05
    assert spans[None][-1.0] < 3 * spans[0.2][-1.0]  # unbounded below as written
    shares = [entry["clip_share"] for entry in trainer.state.log_history if "clip_share" in entry]
    assert shares[0] == 0
    assert 0.3 < shares[-1] <= 1


def test_the_clip_is_about_the_weights_that_sampled_not_about_those_of_a_resume(build, rows, tmp_path):
    options = {"save_every": 2, "epochs": 6, "learning_rate": 2e-2, "clip": 0.2}
    straight = build(rows, folder=tmp_path / "straight", **options)
    train(straight, "me")
    stopped = build(rows, folder=tmp_path / "stopped", **options)
    stopped.add_callback(StopAt(5))
    with pytest.raises(Stop):
        train(stopped, "me")
    resumed = build(rows, folder=tmp_path / "stopped", **options)
    train(resumed, "me")
    shares = [[e["clip_share"] for e in t.state.log_history if "clip_share" in e] for t in (straight, resumed)]
    assert shares[0] == shares[1]
    assert shares[0][0] == 0
    assert min(shares[0][4:6]) > 0  # a ratio to the weights of the checkpoint would be 1 right after it


def test_dropout_is_off_where_ratios_are_taken(build, rows, settings):
    lora = replace(settings.lora, dropout=0.5)
    rates = {
        clip: {m.p for m in build(rows, lora=lora, clip=clip).model.modules() if isinstance(m, torch.nn.Dropout)}
        for clip in (None, 0.2)
    }
    assert 0.5 in rates[None]
    assert rates[0.2] == {0.0}


def test_dropout_does_not_blur_the_log_probabilities(build, rows, settings):
    trainer = build(rows, lora=replace(settings.lora, dropout=0.5), learning_rate=2e-2)
    trainer.train()
    trainer.model.train()
    once, again = (torch.cat(trainer.log_probabilities(rows)) for _ in range(2))
    assert torch.equal(once, again)
    assert torch.allclose(once, torch.cat(by_hand(trainer.model.eval(), rows)), atol=1e-5)


def test_a_loss_that_is_no_number_stops_the_training(build, rows):
    trainer = build(rows)
    with torch.no_grad():
        next(w for w in trainer.model.parameters() if w.requires_grad).fill_(float("nan"))
    with pytest.raises(ValueError, match=r"loss of update \d is nan"):
        trainer.train()


class Stop(Exception):
    pass


class StopAt(TrainerCallback):
    def __init__(self, step):
        self.step, self.seen = step, 0

    def on_step_end(self, args, state, control, **_):
        self.seen += 1
        if state.global_step == self.step:
            raise Stop


@pytest.mark.parametrize(("stop", "updates_left"), [(1, 6), (3, 4), (6, 2)])
def test_a_stopped_run_ends_like_one_that_was_not(build, rows, settings, tmp_path, stop, updates_left):
    """Dropout draws random numbers; checkpoints are saved after updates 2, 4 and 6, of 6, but not by one that stops."""
    options = {"save_every": 2, "epochs": 4, "lora": replace(settings.lora, dropout=0.3)}
    straight = build(rows, folder=tmp_path / "straight", **options)
    train(straight, "me")
    first = build(rows, folder=tmp_path / "stopped", **options)
    first.add_callback(StopAt(stop))
    with pytest.raises(Stop):
        train(first, "me")
    second = build(rows, folder=tmp_path / "stopped", **options)
    done = StopAt(-1)
    second.add_callback(done)
    train(second, "me")
    assert done.seen == updates_left
    assert trained(second).keys() == trained(straight).keys()
    assert all(torch.equal(weight, trained(second)[name]) for name, weight in trained(straight).items())
    logs = [[(e["step"], e["loss"]) for e in t.state.log_history if "loss" in e] for t in (straight, second)]
    assert logs[0] == logs[1]
    assert len(logs[0]) == 6


def test_padding_does_not_reach_the_rewards(build, rows, tokenizer):
    trainer = build(rows, clip=0.2)
    batch = trainer.collate([{"row": 0, "num_examples": 4}, {"row": 3, "num_examples": 4}])
    assert batch["num_examples"] == 4
    is_trained = batch["labels"][:, 1:] != -100
    assert torch.equal(batch["sampler"][is_trained], torch.cat([trainer.sampler[0], trainer.sampler[3]]))
    assert not batch["sampler"][~is_trained].any()
    assert batch["rewards"].tolist() == [1.0, -1.0]
    assert torch.equal(batch["input_ids"], pad([rows[0], rows[3]], tokenizer.pad_token_id)["input_ids"])


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"micro_batch_size": 3}, "micro_batch_size"), ({"clip": 1.5}, "clip"), ({"epochs": 0}, "epochs")],
)
def test_settings_that_cannot_be_are_refused_by_name(settings, changes, name):
    with pytest.raises(ValueError, match=name):
        replace(settings, **changes)
