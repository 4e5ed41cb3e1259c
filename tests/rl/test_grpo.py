"""Training runs of a few steps: what is trained, on what, and that nothing else changes the way it goes."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from transformers import GenerationConfig
from trl import GRPOTrainer

from slmcollab.rl import grpo
from slmcollab.rl.trl_hooks import sample


def rewards(trainer):
    return [entry for entry in trainer.state.log_history if "reward" in entry]


def assert_equal_weights(first, second):
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group_size": 1}, "group_size: a group needs at least 2"),
        ({"completions_per_device": 5}, "completions_per_device: 5 does not divide the 3 × 4 completions"),
        ({"completions_per_device": 24}, "completions_per_device: 24 does not divide"),
        ({"max_steps": 0}, "max_steps: 0 is not at least 1"),
        ({"without_context_every": 0}, "without_context_every: 0 is not at least 1"),
    ],
)
def test_counts_that_do_not_fit_are_refused(settings, changes, message):
    with pytest.raises(ValueError, match=message):
        replace(settings, **changes)


def test_the_loss_is_the_papers_grpo_whatever_trl_would_do_by_itself(build):
    args = build().args
    assert (args.loss_type, args.beta, args.use_bias_correction_kl, args.num_iterations) == ("grpo", 0.04, False, 1)
    assert (args.lr_scheduler_type, args.warmup_steps, args.learning_rate) == ("constant", 0, 5e-3)
    assert (args.num_generations, args.gradient_accumulation_steps, args.steps_per_generation) == (4, 2, 2)
    assert (args.scale_rewards, args.mask_truncated_completions, args.shuffle_dataset) == ("group", False, False)
    assert (args.temperature, args.top_p, args.top_k, args.repetition_penalty) == (1.0, 1.0, 0, 1.0)


def test_rows_are_permutations_one_after_the_other():
    rows = grpo.draw_rows(5, 13, random.Random(0))
    assert sorted(rows[:5]) == sorted(rows[5:10]) == [0, 1, 2, 3, 4]
    assert len(set(rows[10:])) == 3
    assert rows[:5] != rows[5:10]
    assert rows == grpo.draw_rows(5, 13, random.Random(0))
    assert len(set(grpo.draw_rows(1000, 4, random.Random(0)))) == 4


def test_a_step_is_prompts_times_group_and_a_run_one_epoch(build, problems, graders):
    grader = graders["digits"]()
    trainer = build(grader=grader, max_steps=4)
    trainer.train()
    assert trainer.state.global_step == 4
    assert len(rewards(trainer)) == 4
    del grader.seen[1]  # the first step's probe
    assert [len(completions) for completions, _ in grader.seen] == [12, 12, 12, 12]
    for _, graded in grader.seen:
        assert [graded[i] for i in (0, 4, 8)] == [graded[i] for i in (3, 7, 11)]  # groups of four of one problem
    drawn = Counter(problem.id for _, graded in grader.seen for problem in graded[::4])
    assert drawn == {problem.id: 2 for problem in problems}  # 4 × 3 prompts of 6 problems: each twice


def test_a_completion_is_graded_against_the_problem_it_answers(build, problems, tokenizer, monkeypatch, graders):
    asked = []

    def recording(trainer, prompts):
        asked.extend(tokenizer.decode([i for i in prompt if i < len(tokenizer)]) for prompt in prompts)
        return sample(trainer, prompts)

    monkeypatch.setattr("slmcollab.rl.trl_hooks.sample", recording)
    grader = graders["digits"]()
    build(grader=grader, max_steps=2).train()
    graded = [problem.question for _, problems in grader.seen for problem in problems]
    assert asked == [f"<u>{question}<a>" for question in graded]


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_equal_rewards_move_nothing_where_the_kl_has_no_weight(build, trained_weights, graders, score):
    trainer = build(grader=graders["constant"](score), beta=0.0)
    before = trained_weights(trainer)
    trainer.train()
    assert_equal_weights(before, trained_weights(trainer))
    for entry in rewards(trainer):
        assert (entry["reward"], entry["frac_reward_zero_std"], entry["loss"], entry["grad_norm"]) == (score, 1, 0, 0)


def test_what_failed_to_score_counts_zero_and_is_counted(build, graders):
    trainer = build(grader=graders["constant"](0.0, error="timed_out"), max_steps=1)
    trainer.train()
    (entry,) = rewards(trainer)
    assert (entry["reward"], entry["num_timed_out"], entry["share_unparsed"]) == (0.0, 12, 0.0)


def test_a_score_that_is_no_number_stops_the_run(build, graders):
    with pytest.raises(ValueError, match="returned nan as a score"):
        build(grader=graders["constant"](float("nan"))).train()


def test_lora_and_the_adapter_are_trained_and_nothing_else(build):
    trainer = build(max_steps=2)
    frozen = {name: weight.clone() for name, weight in trainer.model.named_parameters() if not weight.requires_grad}
    trained = {name: weight for name, weight in trainer.model.named_parameters() if weight.requires_grad}
    before = {name: weight.detach().clone() for name, weight in trained.items()}
    assert all("lora_" in name or "context_adapter.modules_to_save.default" in name for name in trained)
    assert not any("lora_" in name and "context_adapter" in name for name in trained)
    trainer.train()
    # Keys' and queries' maps are one tensor with the values', so all of the adapter has to move, key bias or not.
    assert [name for name in trained if torch.equal(trained[name], before[name])] == []
    assert all(torch.equal(weight, frozen[name]) for name, weight in trainer.model.named_parameters() if name in frozen)
    assert grpo.count_trainable(trainer) == sum(weight.numel() for weight in trained.values())


def test_nothing_to_train_is_refused(build):
    trainer = build()
    for weight in trainer.model.parameters():
        weight.requires_grad_(False)
    with pytest.raises(ValueError, match="nothing to train"):
        grpo.count_trainable(trainer)
    trainer.model.get_input_embeddings().weight.requires_grad_(True)
    with pytest.raises(ValueError, match="embed_tokens"):
        grpo.count_trainable(trainer)


def test_same_seed_same_weights_another_seed_others(build, load, trained_weights):
    runs = {}
    for name, seed in {"first": 0, "again": 0, "other": 1}.items():
        torch.manual_seed(hash(name) % 1000)  # whatever the process did before
        trainer = build(loaded=load(seed=seed), seed=seed)
        trainer.train()
        runs[name] = trained_weights(trainer)
    assert_equal_weights(runs["first"], runs["again"])
    assert not any(
        torch.equal(runs["first"][name], runs["other"][name]) for name in runs["first"] if "bias" not in name
    )


def test_the_run_seed_starts_lora(build, load):
    def lora(seed):
        named = build(loaded=load("none"), seed=seed).model.named_parameters()
        return torch.cat([weight.detach().flatten() for name, weight in named if "lora_A" in name])

    assert torch.equal(lora(0), lora(0))
    assert not torch.equal(lora(0), lora(1))


def test_the_policys_own_generation_defaults_do_not_reach_the_rollouts(build, load, trained_weights):
    plain = build()
    plain.train()
    loaded = load()
    loaded.model.generation_config = GenerationConfig(suppress_tokens=list(range(90)), no_repeat_ngram_size=1)
    other = build(loaded=loaded)
    other.train()
    assert_equal_weights(trained_weights(plain), trained_weights(other))


def test_the_probe_is_measured_when_it_is_due_and_changes_nothing(build, trained_weights):
    with_probe = build(without_context_every=2)
    with_probe.train()
    without = build(without_context_every=10**6)
    without.train()
    assert_equal_weights(trained_weights(with_probe), trained_weights(without))
    measured = ["reward_without_context" in entry for entry in rewards(with_probe)]
    assert measured == [True, False, True, False]
    assert ["reward_without_context" in entry for entry in rewards(without)] == [True, False, False, False]
    assert [entry["reward"] for entry in rewards(with_probe)] == [entry["reward"] for entry in rewards(without)]


def test_without_a_context_training_is_plain_trl(build, load, trained_weights):
    ours = build(loaded=load("none"))
    ours.train()
    plain = build(loaded=load("none"))
    plain.rollout_func = None  # TRL applies the chat template to the prompt and samples by itself
    plain.train()
    assert_equal_weights(trained_weights(ours), trained_weights(plain))
    assert [e["kl"] for e in rewards(ours)] == [e["kl"] for e in rewards(plain)]
    assert not any("attention_entropy" in entry or "reward_without_context" in entry for entry in rewards(ours))


def gradients(trainer: GRPOTrainer):
    """Return the gradients of the first micro-batch, after LoRA was moved off zero."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, weight in trainer.model.named_parameters():
            if "lora_B" in name:
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
    torch.manual_seed(0)
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 2
    inputs = trainer._prepare_inputs(next(iter(trainer.get_train_dataloader())))
    trainer.compute_loss(trainer.model, inputs).backward()
    return {name: weight.grad for name, weight in trainer.model.named_parameters() if weight.requires_grad}


def test_gradients_reach_everything_that_is_trained(build):
    for name, gradient in gradients(build()).items():
        assert gradient is not None, name
        assert gradient.abs().max() > 0, name


def test_gradient_checkpointing_changes_no_weight(build, trained_weights):
    kept = build(gradient_checkpointing=False, max_steps=2)
    kept.train()
    recomputed = build(gradient_checkpointing=True, max_steps=2)
    recomputed.train()
    assert (kept.model.is_gradient_checkpointing, recomputed.model.is_gradient_checkpointing) == (False, True)
    assert_equal_weights(trained_weights(kept), trained_weights(recomputed))


def test_a_bfloat16_policy_keeps_what_is_trained_in_float32(build, load, trained_weights):
    trainer = build(loaded=load(dtype=torch.bfloat16), max_steps=2)
    assert trainer.args.bf16
    before = trained_weights(trainer)
    trainer.train()
    after = trained_weights(trainer)
    assert {weight.dtype for weight in after.values()} == {torch.float32}
    assert {weight.dtype for weight in trainer.model.parameters() if not weight.requires_grad} >= {torch.bfloat16}
    assert not any(torch.equal(before[name], after[name]) for name in after)


def test_kl_starts_at_the_context_and_is_measured_against_the_bare_policy(build, load):
    """Without a context policy and reference are equal before the first update; with one they are not (zero rows)."""
    alone = build(loaded=load("none"), max_steps=1)
    alone.train()
    conditioned = build(max_steps=1)
    conditioned.train()
    assert rewards(alone)[0]["kl"] == pytest.approx(0.0, abs=1e-6)
    assert rewards(conditioned)[0]["kl"] > 1e-4


def test_attention_is_logged_per_expert(build):
    trainer = build(max_steps=1)
    trainer.train()
    (entry,) = rewards(trainer)
    shares = [entry[f"attention_share/{name}"] for name in ("math", "string", "naive")]
    assert sum(shares) == pytest.approx(1.0, abs=1e-6)
    assert all(0 < share < 1 for share in shares)
