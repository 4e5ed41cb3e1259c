"""All slots in one job: what is written, that kills change nothing, and what is said of the training."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from slmcollab.artifacts import digest, read_json
from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import Decoding, Request
from slmcollab.models.adapters import CONFIG, WEIGHTS, load_adapter
from slmcollab.models.hub import load_model
from slmcollab.supervision import training
from slmcollab.supervision.training import MARKER, train_members

SLOTS = ("a1", "a2", "a3")


@pytest.fixture
def learn(members, settings, make_examples, tmp_path):
    """Return a function that trains the team on demonstrations, or on the rewards given."""

    def make(
        name="run", rewards=(1.0, 1.0, 1.0, 1.0, 1.0), team=members, seed=0, examples=None, may_idle=False, **changes
    ):
        examples = {slot: make_examples(rewards) for slot in SLOTS} if examples is None else examples
        return train_members(
            team,
            examples,
            replace(settings, **changes),
            seed=seed,
            folder=tmp_path / "checkpoints" / "fingerprint" / name,
            adapters=tmp_path / name / "adapters",
            may_idle=may_idle,
        )

    return make


def test_every_slot_gets_an_adapter_of_its_own_that_peft_reads(learn, members, tmp_path):
    records, _ = learn()
    folder = tmp_path / "run" / "adapters"
    assert sorted(path.name for path in folder.iterdir()) == list(SLOTS)
    for member in members:
        assert sorted(path.name for path in (folder / member.slot).iterdir()) == [CONFIG, WEIGHTS]
        config = read_json(folder / member.slot / CONFIG)
        assert config["base_model_name_or_path"] == member.model
        model = load_adapter(load_model(member.folder, dtype="float32"), folder / member.slot).eval()
        ids = torch.tensor([[5, 6, 7]])
        with torch.no_grad(), model.disable_adapter():
            bare = model(input_ids=ids).logits
        with torch.no_grad():
            assert not torch.allclose(model(input_ids=ids).logits, bare, atol=0.01)
    assert digest(folder / "a1") != digest(folder / "a3")  # one model, two seeds
    assert list(records) == list(SLOTS)
    assert not list((tmp_path / "checkpoints").rglob("checkpoint-*"))


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(learn, members, tmp_path):
    made = [learn(name, seed=seed, team=members[:2]) for name, seed in (("one", 0), ("again", 0), ("other", 1))]
    digests = [digest(tmp_path / name / "adapters") for name in ("one", "again", "other")]
    assert digests[0] == digests[1] != digests[2]
    assert made[0] == made[1]


def test_a_base_model_is_loaded_once_and_left_as_it_was(learn, monkeypatch):
    loaded = []

    def load(folder, dtype):
        loaded.append((folder, load_model(folder, dtype=dtype)))
        return loaded[-1][1]

    monkeypatch.setattr(training, "load_model", load)
    learn()
    assert len(loaded) == 2
    for folder, base in loaded:
        fresh = load_model(folder, dtype="float32").state_dict()
        assert base.state_dict().keys() == fresh.keys()
        assert all(torch.equal(weight, fresh[name]) for name, weight in base.state_dict().items())


def test_a_killed_job_ends_like_one_that_was_not_and_does_no_slot_twice(learn, monkeypatch, tmp_path):
    straight = learn("straight")
    real, done = training.train, []

    def stop_in_the_third(trainer, fingerprint):
        done.append(fingerprint)
        if len(done) == 3:
            raise KeyboardInterrupt
        real(trainer, fingerprint)

    monkeypatch.setattr(training, "train", stop_in_the_third)
    with pytest.raises(KeyboardInterrupt):
        learn("killed")
    assert not (tmp_path / "killed" / "adapters").exists()
    done.clear()
    monkeypatch.setattr(
        training, "train", lambda trainer, fingerprint: done.append(fingerprint) or real(trainer, fingerprint)
    )
    assert learn("killed") == straight
    assert len(done) == 1
    assert digest(tmp_path / "killed" / "adapters") == digest(tmp_path / "straight" / "adapters")


@pytest.mark.parametrize("damage", ["marker", "weights", "record"])
def test_a_slot_whose_results_are_not_whole_is_done_again(learn, monkeypatch, tmp_path, damage):
    straight, folder = learn(), tmp_path / "checkpoints" / "fingerprint" / "run" / "a2"
    if damage == "marker":
        marker = read_json(folder / MARKER)
        (folder / MARKER).write_text(json.dumps(marker | {"fingerprint": "another run"}))
    elif damage == "weights":
        weights = folder / "adapter" / WEIGHTS
        weights.write_bytes(weights.read_bytes()[:-4])
    else:
        (folder / "record.json").unlink()
    real, done = training.train, []
    monkeypatch.setattr(
        training, "train", lambda trainer, fingerprint: done.append(fingerprint) or real(trainer, fingerprint)
    )
    assert learn() == straight
    assert done == ["run/a2"]


def test_refinement_goes_on_from_the_adapter_and_says_how_it_went(learn, members, tmp_path, capsys):
    learn("distilled", team=members[:1])
    team = [replace(m, adapter=tmp_path / "distilled" / "adapters" / m.slot) for m in members[:1]]
    records, _ = learn("refined", rewards=(1.0, -1.0, -0.5, 0.25, -1.0), team=team, learning_rate=1e-6, epochs=1)
    before = load_file(team[0].adapter / WEIGHTS)
    after = load_file(tmp_path / "refined" / "adapters" / "a1" / WEIGHTS)
    assert before.keys() == after.keys()
    assert all(torch.allclose(before[name], after[name], atol=1e-4) for name in before)
    record = records["a1"]
    assert record["num_examples"] == 5
    assert record["num_negative"] == 3
    assert record["mean_reward"] == pytest.approx(-0.25)
    assert record["num_updates"] == 2
    assert record["num_tokens"] == 2 + 3 + 4 + 5 + 2  # letters and end token
    assert record["clip_share"] is None
    assert record["num_warnings"] == 1
    assert "warning: a1: the mean reward is -0.250 < 0" in capsys.readouterr().out
    assert record["logp_negative_before"] == pytest.approx(record["logp_negative_after"], abs=0.01)
    assert record["logp_negative_before"] < 0


def test_how_far_unwanted_steps_fell_is_recorded_with_and_without_clip(learn, members):
    falls = {}
    for clip in (None, 0.2):
        rewards = (1.0, -1.0, 0.5, 1.0, -0.5)
        records, _ = learn(str(clip), rewards=rewards, team=members[:1], clip=clip, epochs=20, learning_rate=1e-2)
        record = records["a1"]
        assert record["logp_negative_after"] < record["logp_negative_before"]
        assert record["logp_negative_min"] <= record["logp_negative_before"]
        assert (record["clip_share"] is None) == (clip is None)
        falls[clip] = record["logp_negative_before"] - record["logp_negative_after"]
    assert falls[None] > 2 * falls[0.2]
    assert 0 < record["clip_share"] < 1


def test_demonstrations_have_no_negatives_and_lower_the_loss(learn):
    records, text = learn(epochs=30, learning_rate=2e-2)
    for record in records.values():
        assert record["mean_reward"] == 1.0
        assert record["num_negative"] == record["num_warnings"] == record["num_dropped"] == 0
        assert record["logp_negative_before"] is record["logp_negative_after"] is record["logp_negative_min"] is None
        assert record["loss_last"] < 0.7 * record["loss_first"]
    assert text.startswith("[a1]\n<u>a<a>\n===== trained from here =====\nx<eos>\n===== to here =====\n")
    assert text.count("trained from here") == 3


def test_the_team_says_what_it_was_taught_and_then_stops(learn, members, make_examples, tmp_path):
    """Through the engine, which builds prompts by itself: a header that training lacked, or an end, would show."""
    taught = {slot: make_examples([1.0, 1.0, 1.0]) for slot in ("a1", "a2")}
    learn(team=members[:2], examples=taught, batch_size=3, micro_batch_size=3, epochs=60, learning_rate=2e-2)
    team = [replace(m, adapter=tmp_path / "run" / "adapters" / m.slot) for m in members[:2]]
    backend = LocalBackend(team, dtype="float32", resident="all", batch_size=4)
    asked = [(slot, example) for slot, examples in taught.items() for example in examples]
    said = backend.generate([Request(slot, example.messages, 0) for slot, example in asked], Decoding(10, 0.0))
    assert (
        [response.text for response in said] == [example.completion for _, example in asked] == 2 * ["x", "yy", "zzz"]
    )
    assert {response.finish_reason for response in said} == {"stop"}


def test_long_examples_are_counted_and_a_slot_without_any_other_is_named(learn):
    """<u>a<a>x<eos> is 5 tokens, <u>abc<a>zzz<eos> 9."""
    records, _ = learn(max_tokens=7)
    assert [(r["num_examples"], r["num_dropped"]) for r in records.values()] == 3 * [(3, 2)]
    with pytest.raises(ValueError, match="none of its 5 examples has at most 4 tokens"):
        learn("short", max_tokens=4, may_idle=True)


def test_a_slot_that_never_spoke_keeps_its_weights_where_it_may_and_is_named_where_not(
    learn, members, make_examples, tmp_path
):
    learn("distilled")
    team = [replace(m, adapter=tmp_path / "distilled" / "adapters" / m.slot) for m in members]
    spoken = {"a1": make_examples([1.0, 0.5]), "a2": make_examples([0.5]), "a3": []}
    with pytest.raises(ValueError, match="a3"):
        learn("refused", team=team, examples=spoken)
    records, text = learn("refined", team=team, examples=spoken, may_idle=True)
    refined = tmp_path / "refined" / "adapters"
    assert digest(refined / "a3") == digest(team[2].adapter)
    assert digest(refined / "a2") != digest(team[1].adapter)
    assert records["a3"]["num_examples"] == records["a3"]["num_updates"] == 0
    assert records["a3"].keys() == records["a1"].keys()
    assert text.endswith("[a3]\nno example\n")


def test_what_a_record_holds_can_be_written_as_json(learn):
    records, _ = learn(rewards=(1.0, -1.0, 0.5, 1.0, -0.5), clip=0.2)
    assert json.loads(json.dumps(records, allow_nan=False)) == records
