"""The engine against each request alone, token by token, by a plain loop without batches, caches or PEFT's switches."""

import shutil
import weakref

import pytest
import torch
from peft import PeftModel
from teams import CONTEXT, TOKENIZER, make_adapter, make_model
from transformers import AutoModelForCausalLM

from slmcollab.artifacts import ArtifactError
from slmcollab.generation import engine, greedy
from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import LENGTH, STOP, Decoding, Member, Request
from slmcollab.generation.sampling import seeded_sampler
from slmcollab.models.chat import encode

GREEDY, SAMPLED = Decoding(12, 0.0), Decoding(12, 0.9, 0.95)
TEXTS = ["What is 3 + 4?", "Reverse abc.", "b", "Which comes first, 12 or 31? Give your answer.", "a b c d", "12"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the folders of two models and of two adapters of the first, which differ in rank and in their modules."""
    root = tmp_path_factory.mktemp("team")
    first = make_model(root / "qwen3", "qwen3", seed=1, head_dim=8)
    return {
        "qwen3": first,
        "llama": make_model(root / "llama", "llama", seed=2),
        "one": make_adapter(root / "one", first, seed=3),
        "two": make_adapter(root / "two", first, seed=4, r=2, target_modules=["v_proj"]),
    }


@pytest.fixture
def members(folders):
    return [
        Member("a1", "toy", folders["qwen3"], 0.1, folders["one"]),
        Member("a2", "toy", folders["qwen3"], 0.1, folders["two"]),
        Member("a3", "toy", folders["qwen3"], 0.1),
        Member("a4", "other", folders["llama"], 0.2),
        Member("a5", "toy", folders["qwen3"], 0.1, folders["one"]),
    ]


def make_requests(slots, seed=0):
    """Return every text asked of every slot, in mixed order."""
    asked = [(slot, text) for text in TEXTS for slot in slots]
    return [
        Request(slot, [{"role": "user", "content": text}], seed=100 * seed + at)
        for at, (slot, text) in enumerate(asked)
    ]


def backend(members, *, resident="all", batch_size=4):
    return LocalBackend(members, dtype="float32", resident=resident, batch_size=batch_size)


def by_hand(member, request, decoding, context=CONTEXT):
    """Return the ids that one member says to one request."""
    model = AutoModelForCausalLM.from_pretrained(member.folder, dtype=torch.float32)
    ends = {TOKENIZER.eos_token_id, *model.generation_config.eos_token_id}
    if member.adapter is not None:
        model = PeftModel.from_pretrained(model, str(member.adapter))
    ids, said = encode(TOKENIZER, request.messages), []
    pick = seeded_sampler([request.seed], decoding.temperature, decoding.top_p, num_tokens=decoding.max_new_tokens)
    while len(said) < min(decoding.max_new_tokens, context - len(ids)) and not (said and said[-1] in ends):
        with torch.no_grad():
            logits = model.eval()(torch.tensor([ids + said]), use_cache=False).logits[:, -1]
        said.append(pick(logits, [0]).item())
    return tuple(said)


@pytest.mark.parametrize("decoding", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_responses_are_those_of_each_request_alone_with_its_own_adapter(members, decoding):
    team = {member.slot: member for member in members}
    requests = make_requests(team)
    expected = [by_hand(team[request.slot], request, decoding) for request in requests]
    responses = backend(members).generate(requests, decoding)
    assert [response.output_ids for response in responses] == expected
    assert len(set(expected)) > len(expected) / 2
    assert {response.finish_reason for response in responses} == {STOP, LENGTH}
    for request, response in zip(requests, responses, strict=True):
        assert response.prompt_tokens == len(encode(TOKENIZER, request.messages))
        assert response.output_tokens == len(response.output_ids) <= 12
        assert response.text == TOKENIZER.decode(response.output_ids, skip_special_tokens=True)
        assert (response.finish_reason == LENGTH) == (response.output_tokens == 12 and not _ends(response))


def _ends(response):
    return response.output_ids[-1] in {TOKENIZER.eos_token_id, *range(3, len(TOKENIZER), 20)}


def test_responses_depend_on_neither_batch_size_nor_company(members):
    requests = make_requests(["a1", "a3", "a4"])
    whole = backend(members, batch_size=100).generate(requests, SAMPLED)
    assert backend(members, batch_size=1).generate(requests, SAMPLED) == whole
    engine = backend(members, batch_size=3)
    assert [engine.generate([request], SAMPLED)[0] for request in requests] == whole
    assert engine.generate(requests[::-1], SAMPLED) == whole[::-1]
    assert engine.generate(requests, SAMPLED) == whole
    assert engine.generate(make_requests(["a1", "a3", "a4"], seed=1), SAMPLED) != whole


@pytest.fixture
def loads(monkeypatch):
    """Return the names of models as they are loaded from now on, and weak references to them."""
    names, alive, load = [], [], engine.load_model

    def loading(folder, *, dtype):
        assert sum(reference() is not None for reference in alive) < loading.most, "another model is still in memory"
        model = load(folder, dtype=dtype)
        names.append(folder.name)
        alive.append(weakref.ref(model))
        return model

    loading.most = 9
    monkeypatch.setattr(engine, "load_model", loading)
    return names, loading


def test_a_switch_of_adapters_reloads_nothing(members, loads):
    engine = backend(members)
    assert loads[0] == []
    for slots in (["a1"], ["a2", "a1"], ["a3", "a4"], ["a5", "a1"]):
        engine.generate(make_requests(slots), GREEDY)
    assert loads[0] == ["qwen3", "llama"]


def test_with_one_resident_model_responses_are_the_same_and_no_two_are_in_memory(members, loads):
    requests = make_requests(["a4", "a1", "a3"])
    expected = backend(members).generate(requests, SAMPLED)
    loads[0].clear()
    loads[1].most = 1
    engine = backend(members, resident="one")
    assert engine.generate(requests, SAMPLED) == expected
    assert loads[0] == ["qwen3", "llama"]
    assert engine.generate(requests, SAMPLED) == expected
    assert loads[0] == ["qwen3", "llama", "qwen3"], "what is in memory answers first"


def test_only_models_that_are_asked_are_loaded(members, loads):
    engine = backend(members)
    assert engine.generate([], GREEDY) == []
    engine.generate(make_requests(["a4"]), GREEDY)
    assert loads[0] == ["llama"]


def test_slots_with_the_same_weights_share_batches_the_longest_prompts_first(members, monkeypatch):
    batches = []

    def recording(model, tokenizer, prompts, pick, budgets):
        batches.append([len(prompt) for prompt in prompts])
        return greedy.answer(model, tokenizer, prompts, pick, budgets)

    monkeypatch.setattr(engine, "answer", recording)
    requests = make_requests(["a1", "a5", "a4"])
    backend(members, batch_size=5).generate(requests, GREEDY)
    lengths = sorted((len(encode(TOKENIZER, request.messages)) for request in make_requests(["a1"])), reverse=True)
    twice = [length for length in lengths for _ in range(2)]
    assert batches == [twice[:5], twice[5:10], twice[10:], lengths[:5], lengths[5:]]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_prompt_gets_what_room_the_context_has_left(tmp_path, kind):
    """Prompts of 30, 90, 95, 96, 97 and 200 tokens leave 12, 6, 1, 0, 0 and 0 of 12 tokens in a context of 96."""
    names = {} if kind == "llama" else {"n_positions": CONTEXT, "n_inner": 64}
    folder = make_model(tmp_path / "model", kind, seed=5, **names)
    member = Member("a1", "toy", folder, 0.1)
    frame = len(encode(TOKENIZER, [{"role": "user", "content": ""}]))
    lengths = [30, 90, 95, 96, 97, 200]
    requests = [
        Request("a1", [{"role": "user", "content": (length - frame) * "x"}], seed=at)
        for at, length in enumerate(lengths)
    ]
    responses = backend([member], batch_size=8).generate(requests, SAMPLED)
    assert [response.prompt_tokens for response in responses] == lengths
    assert [response.output_ids for response in responses] == [by_hand(member, each, SAMPLED) for each in requests]
    assert [response.output_tokens for response in responses][2:] == [1, 0, 0, 0]
    assert responses[1].output_tokens <= 6
    for response in responses[3:]:
        assert (response.text, response.finish_reason, response.output_ids) == ("", LENGTH, ())


@pytest.mark.parametrize(
    ("kind", "changes"), [("gemma2", {"head_dim": 8, "sliding_window": 16}), ("mistral", {"sliding_window": 16})]
)
@pytest.mark.parametrize("decoding", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_models_that_only_generate_can_run_say_the_same_as_alone(tmp_path, kind, changes, decoding, monkeypatch):
    folder = make_model(tmp_path / "model", kind, seed=6, **changes)
    adapter = make_adapter(tmp_path / "adapter", folder, seed=7)
    members = [Member("a1", "toy", folder, 0.1), Member("a2", "toy", folder, 0.1, adapter)]
    monkeypatch.setattr(greedy, "decode", None)
    requests = make_requests(["a1", "a2"])
    long = Request("a1", [{"role": "user", "content": 87 * "x"}], seed=5)
    responses = backend(members, batch_size=8).generate([*requests, long], decoding)
    team = {member.slot: member for member in members}
    expected = [by_hand(team[request.slot], request, decoding) for request in [*requests, long]]
    assert [response.output_ids for response in responses] == expected
    assert responses[-1].output_tokens <= CONTEXT - responses[-1].prompt_tokens < 12
    assert len({response.output_tokens for response in responses}) > 2


def test_both_ways_of_decoding_take_the_same_tokens(members, monkeypatch):
    requests = make_requests(["a1", "a4"])
    expected = backend(members).generate(requests, SAMPLED)
    monkeypatch.setattr(greedy, "supports", lambda model, num_tokens: False)
    monkeypatch.setattr(greedy, "decode", None)
    assert backend(members).generate(requests, SAMPLED) == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"resident": "two"}, "resident 'two' is not one of all, one"), ({"batch_size": 0}, "batch_size 0: at least 1")],
)
def test_settings_that_mean_nothing_are_refused(members, changes, message):
    with pytest.raises(ValueError, match=message):
        backend(members, **changes)


def test_slots_are_the_teams_and_each_its_own(members):
    with pytest.raises(ValueError, match="slot 'a7' is not one of a1, a2"):
        backend(members).generate([Request("a7", [{"role": "user", "content": "a"}], 0)], GREEDY)
    with pytest.raises(ValueError, match="a1, a1: each may be there once"):
        backend([members[0], members[0]])


def test_an_adapter_of_another_model_is_refused(tmp_path, folders, members):
    deeper = make_model(tmp_path / "deeper", "qwen3", seed=8, head_dim=8, num_hidden_layers=3)
    adapter = make_adapter(tmp_path / "adapter", deeper, seed=9)
    with pytest.raises(ArtifactError, match=r"adapter_model.safetensors: weights missing: \[\]; weights without a pl"):
        backend([members[0], Member("a2", "toy", folders["qwen3"], 0.1, adapter)]).generate(
            make_requests(["a1"]), GREEDY
        )


@pytest.mark.parametrize("gone", ["adapter_model.safetensors", "adapter_config.json"])
def test_a_folder_without_an_adapter_is_named(tmp_path, folders, gone):
    shutil.copytree(folders["one"], tmp_path / "cut")
    (tmp_path / "cut" / gone).unlink()
    with pytest.raises(ArtifactError, match="cut: not an adapter's folder"):
        backend([Member("a1", "toy", folders["qwen3"], 0.1, tmp_path / "cut")]).generate(make_requests(["a1"]), GREEDY)
