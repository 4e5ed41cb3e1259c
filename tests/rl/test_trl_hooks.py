"""What TRL computes with virtual ids, against the same computed by hand, and the private names."""

import pytest
import torch
import trl
import trl.trainer.utils
from trl.trainer.utils import use_adapter

from slmcollab.rl import trl_hooks


@pytest.fixture
def scored(build):
    """Return a trainer with non-zero LoRA, a padded batch of prompts and completions, and its mask."""
    trainer = build()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, weight in trainer.model.named_parameters():
            if "lora_B" in name:
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
    prompts = trainer.rollout_func.policy.decided_prompts()
    width = max(map(len, prompts))
    completions = torch.randint(0, 90, (len(prompts), 5), generator=generator)
    ids = torch.cat([torch.tensor([(width - len(p)) * [0] + p for p in prompts]), completions], dim=1)
    mask = torch.tensor([(width - len(p)) * [0] + (len(p) + 5) * [1] for p in prompts])
    return trainer, ids, mask


def trl_scores(trainer, ids, mask):
    """Return TRL's log-probabilities of the last five tokens, computed four rows at a time."""
    with torch.no_grad():
        scores, _, _ = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 5, batch_size=4)
    return scores


def log_probs_by_hand(model, ids, mask):
    """Return the log-softmax of each row, unpadded and alone, at the tokens of its completion."""
    rows = []
    for row, keep in zip(ids, mask.bool(), strict=True):
        with torch.no_grad():
            logits = model(input_ids=row[keep].unsqueeze(0)).logits[0, -6:-1]
        rows.append(logits.log_softmax(-1).gather(-1, row[-5:, None])[:, 0])
    return torch.stack(rows)


def test_policy_log_probs(scored):
    trainer, ids, mask = scored
    expected = log_probs_by_hand(trainer.model, ids, mask)
    torch.testing.assert_close(trl_scores(trainer, ids, mask), expected, atol=1e-5, rtol=1e-4)


def test_reference_log_probs_are_the_untouched_policy_after_zero_rows(scored, base):
    trainer, ids, mask = scored
    plain = base()
    table = plain.get_input_embeddings().weight
    embedded = torch.where((ids < len(table)).unsqueeze(-1), table[ids.clamp(max=len(table) - 1)], torch.zeros(32))
    rows = []
    for row, keep, vectors in zip(ids, mask.bool(), embedded, strict=True):
        with torch.no_grad():
            logits = plain(inputs_embeds=vectors[keep].unsqueeze(0)).logits[0, -6:-1]
        rows.append(logits.log_softmax(-1).gather(-1, row[-5:, None])[:, 0])
    with use_adapter(trainer.model, adapter_name=None):
        reference = trl_scores(trainer, ids, mask)
    torch.testing.assert_close(reference, torch.stack(rows), atol=1e-5, rtol=1e-4)
    assert (trl_scores(trainer, ids, mask) - reference).abs().mean() > 0.01


def test_the_policy_is_itself_again_after_the_reference(scored, trained_weights):
    trainer, ids, mask = scored
    before, trained = trl_scores(trainer, ids, mask), trained_weights(trainer).keys()
    with use_adapter(trainer.model, adapter_name=None):
        reference = trl_scores(trainer, ids, mask)
    assert torch.equal(trl_scores(trainer, ids, mask), before)
    assert trained_weights(trainer).keys() == trained
    assert (reference - before).abs().mean() > 0.01


def test_scoring_completions_only_changes_no_score(scored, monkeypatch):
    trainer, ids, mask = scored
    assert trl.trainer.utils._use_triton(torch.device("cpu"))
    less = trl_scores(trainer, ids, mask)
    monkeypatch.setattr(trl.trainer.utils, "_use_triton", lambda device: False)
    torch.testing.assert_close(less, trl_scores(trainer, ids, mask), atol=1e-6, rtol=1e-6)


def group_prompts(trainer):
    return [prompt for prompt in trainer.rollout_func.policy.decided_prompts() for _ in range(trainer.num_generations)]


def end_with(trainer, ends):
    trainer.eos_token_ids = ends
    trainer.generation_config.eos_token_id = ends


def drawn(sample):
    """Return what `sample` gives from a fixed random state, and the numbers that come after."""
    torch.manual_seed(0)
    return sample(), torch.rand(3).tolist()


def drawn_by_trl(trainer, prompts):
    return drawn(lambda: trainer._generate_single_turn(prompts, None, {}, trainer.num_generations)[0])


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_samples_are_those_of_trl_though_rows_end_at_different_times(scored, temperature, checkpointing, monkeypatch):
    trainer, _, _ = scored
    trainer.temperature = trainer.generation_config.temperature = temperature
    trainer.model.train()
    if checkpointing:
        trainer.model.gradient_checkpointing_enable()
    prompts = group_prompts(trainer)
    end_with(trainer, list(range(0, 90, 4)))
    expected = drawn_by_trl(trainer, prompts)
    monkeypatch.setattr(trainer, "_generate_single_turn", None)
    assert drawn(lambda: trl_hooks.sample(trainer, prompts)) == expected
    assert len({len(completion) for completion in expected[0]}) > 2
    assert (trainer.model.training, trainer.model.is_gradient_checkpointing) == (True, checkpointing)


def test_log_probs_of_our_samples_are_those_of_the_plain_path(scored, monkeypatch):
    """The loop samples, TRL scores completions only; against TRL's own sampling and its scores of every position."""
    trainer, _, _ = scored
    prompts = group_prompts(trainer)
    samples = {"ours": drawn(lambda: trl_hooks.sample(trainer, prompts))[0], "plain": drawn_by_trl(trainer, prompts)[0]}
    scores = {}
    for name, completions in samples.items():
        if name == "plain":
            monkeypatch.setattr(trl.trainer.utils, "_use_triton", lambda device: False)
        rows = [(prompt, completion[:5]) for prompt, completion in zip(prompts, completions, strict=True)]
        rows = [(prompt, completion) for prompt, completion in rows if len(completion) == 5]
        width = max(len(prompt) for prompt, _ in rows)
        ids = torch.tensor([(width - len(prompt)) * [0] + prompt + completion for prompt, completion in rows])
        mask = torch.tensor([(width - len(prompt)) * [0] + (len(prompt) + 5) * [1] for prompt, _ in rows])
        scores[name] = trl_scores(trainer, ids, mask)
    assert len(scores["ours"]) > len(prompts) / 2
    torch.testing.assert_close(scores["ours"], scores["plain"], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("why", ["dropout", "top_k", "window"])
def test_where_the_loop_would_draw_others_trl_samples(build, why, monkeypatch):
    trainer = build()
    prompts = group_prompts(trainer)
    if why == "dropout":
        trainer.model.add_module("drops", torch.nn.Dropout(0.1))
    elif why == "top_k":
        trainer.args.top_k = trainer.generation_config.top_k = 3
    else:
        monkeypatch.setattr(trl_hooks, "supports", lambda model, num_tokens: False)
    monkeypatch.setattr(trl_hooks, "decode", None)
    assert drawn(lambda: trl_hooks.sample(trainer, prompts)) == drawn_by_trl(trainer, prompts)


def test_another_version_of_trl_is_refused(monkeypatch):
    trl_hooks.check_version()
    monkeypatch.setattr(trl, "__version__", "1.17.0")
    with pytest.raises(RuntimeError, match=r"trl 1\.17\.0 is installed, .* written for 1\.16\.0"):
        trl_hooks.check_version()
