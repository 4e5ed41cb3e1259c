"""Hard routing: what is drawn, what is learned from the rewards, and that a stopped run learns the same."""

import math
from dataclasses import replace

import pytest
import torch

from slmcollab.rl import grpo
from slmcollab.rl.routing import RouterTraining, group_advantages, router_loss, routing_metrics


def test_group_advantages_by_hand():
    # groups (1, 0) and (1, 1): means 0.5 and 1; sample deviations 0.70711 and 0; 0.5 / 0.70721 = 0.70701
    advantages = group_advantages(torch.tensor([1.0, 0.0, 1.0, 1.0]), 2)
    torch.testing.assert_close(advantages, torch.tensor([0.70701, -0.70701, 0.0, 0.0]), atol=1e-5, rtol=0)


def test_router_loss_by_hand():
    # p = (0.8, 0.2) and (0.5, 0.5); first takes expert 0 with A = 1, second expert 1 with A = -0.5
    log_probabilities = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
    loss = router_loss(log_probabilities, torch.tensor([0, 1]), torch.tensor([1.0, -0.5]), 0.1)
    # -(ln 0.8 - 0.5 ln 0.5) / 2 = -(-0.22314 + 0.34657) / 2 = -0.06172
    # entropies: 0.8·0.22314 + 0.2·1.60944 = 0.50040, ln 2 = 0.69315; mean 0.59678; times 0.1
    assert loss.item() == pytest.approx(-0.06172 - 0.059678, abs=1e-5)


def test_routing_metrics_by_hand():
    log_probabilities = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
    metrics = routing_metrics(log_probabilities, [0, 0], ["math", "naive"])
    expected = {"router_share/math": 1.0, "router_share/naive": 0.0, "router_entropy": 0.59678}
    assert metrics == pytest.approx(expected, abs=1e-5)


def test_each_choice_is_the_prompt_with_that_experts_answer_alone(load, tokenizer):
    loaded = load("routing")
    for row in range(6):
        texts = [tokenizer.decode(loaded.prompts.conditioned(row, choice)) for choice in range(3)]
        assert [[f"[1] {name} {row}\n" in text for name in loaded.experts] for text in texts] == torch.eye(
            3
        ).bool().tolist()
    together = tokenizer.decode(load("text").prompts.conditioned(0))
    assert "[1] math 0\n[2] string 0\n[3] naive 0\n" in together


def test_each_choice_of_hidden_states_has_slots_of_its_own(load):
    loaded = load("routing_hidden")
    prompts = [loaded.prompts.conditioned(row, choice) for row in range(6) for choice in range(3)]
    slots = [[i for i in ids if i >= loaded.context.first_id] for ids in prompts]
    first, m = loaded.context.first_id, loaded.context.m
    assert slots == [list(range(first + m * k, first + m * (k + 1))) for k in range(6 * 3)]


def test_draws_follow_the_probabilities_the_stream_and_the_seed(load):
    routing = load("routing").routing
    with torch.no_grad():
        probabilities = routing.log_probabilities([2]).exp()[0]
    drawn = routing.draw([2] * 3000, "training", 0)
    for expert, probability in enumerate(probabilities.tolist()):
        deviation = math.sqrt(probability * (1 - probability) / 3000)
        assert abs(drawn.count(expert) / 3000 - probability) < 5 * deviation
    assert drawn == routing.draw([2] * 3000, "training", 0)
    assert drawn != routing.draw([2] * 3000, "training", 1)
    assert drawn != replace(routing, seed=1).draw([2] * 3000, "training", 0)


def test_in_evaluation_the_likeliest_expert_is_taken(load):
    loaded = load("routing")
    decided = loaded.routing.decide(6)
    with torch.no_grad():
        assert decided == loaded.routing.log_probabilities(range(6)).argmax(1).tolist()
    assert loaded.decided_prompts() == [loaded.prompts.conditioned(row, e) for row, e in enumerate(decided)]


def test_the_controls_draw_uniformly_and_take_the_best_alone(load):
    uniform, best = load("routing", selection="uniform"), load("routing", selection="best")
    drawn = uniform.routing.draw([0] * 3000, "training", 0)
    assert all(abs(drawn.count(expert) - 1000) < 130 for expert in range(3))  # 5 standard deviations of 26
    assert set(best.routing.draw(range(6), "training", 3)) == set(best.routing.decide(6)) == {1}
    assert uniform.routing.decide(6) == uniform.routing.decide(6)
    assert (uniform.learned_router, best.learned_router) == (None, None)


def test_a_rewarded_expert_is_drawn_more_and_the_entropy_bonus_falls_to_nothing(load):
    routing = load("routing").routing
    training = RouterTraining(routing, group_size=4, learning_rate=0.01, max_steps=40)
    rows, experts = [0] * 4 + [1] * 4, [0, 1, 2, 0, 0, 1, 2, 0]
    before = routing.log_probabilities([0, 1]).exp().detach()
    for step in range(40):
        training.update(rows, experts, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], step)
    after = routing.log_probabilities([0, 1]).exp().detach()
    assert after[0, 0] > before[0, 0] + 0.2
    assert after[1, 2] > before[1, 2] + 0.2


def test_the_entropy_bonus_alone_evens_out_and_is_nothing_at_the_last_step(load):
    routing = load("routing").routing
    routing = replace(routing, settings=replace(routing.settings, entropy_bonus=1.0))
    training = RouterTraining(routing, group_size=2, learning_rate=0.01, max_steps=100)
    entropy = [routing_metrics(routing.log_probabilities([0]).detach(), [0], ["a", "b", "c"])["router_entropy"]]
    for step in (0, 100):
        weights = [weight.clone() for weight in routing.router.parameters()]
        training.optimizer = torch.optim.SGD(routing.router.parameters(), lr=0.05)
        training.update([0, 0], [0, 1], [1.0, 1.0], step)
        moved = any(not torch.equal(a, b) for a, b in zip(weights, routing.router.parameters(), strict=True))
        assert moved == (step == 0)
        entropy.append(routing_metrics(routing.log_probabilities([0]).detach(), [0], ["a", "b", "c"])["router_entropy"])
    assert entropy[1] > entropy[0]


@pytest.mark.parametrize("operator", ["routing", "routing_hidden"])
def test_training_teaches_the_router_and_logs_what_it_does(build, load, operator):
    loaded = load(operator)
    before = {name: weight.clone() for name, weight in loaded.routing.router.state_dict().items()}
    trainer = build(loaded=loaded)
    grpo.train(trainer)
    assert all(not torch.equal(weight, before[name]) for name, weight in loaded.routing.router.state_dict().items())
    for entry in [entry for entry in trainer.state.log_history if "reward" in entry]:
        shares = [entry[f"router_share/{name}"] for name in loaded.experts]
        assert sum(shares) == pytest.approx(1.0)
        assert 0 < entry["router_entropy"] <= math.log(3) + 1e-6
    assert (loaded.context is None) == (operator == "routing")


def test_a_control_is_trained_on_what_it_draws_and_learns_no_router(build, load):
    loaded = load("routing", selection="best")
    before = {name: weight.clone() for name, weight in loaded.routing.router.state_dict().items()}
    trainer = build(loaded=loaded, max_steps=2)
    grpo.train(trainer)
    assert all(torch.equal(weight, before[name]) for name, weight in loaded.routing.router.state_dict().items())
    assert trainer.state.log_history[0]["router_share/string"] == 1.0


def test_a_stopped_run_goes_on_with_its_router(build, load, tmp_path, trained_weights):
    def run(folder, *stops):
        for stop in (*stops, 4):
            loaded = load("routing")
            trainer = build(loaded=loaded, folder=tmp_path / folder, save_every=2)
            if stop != 4:
                trainer.args.max_steps = stop
            grpo.train(trainer)
        return {**trained_weights(trainer), **loaded.routing.router.state_dict()}

    straight, resumed = run("straight"), run("resumed", 2)
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def test_text_without_experts_is_the_policy_alone(build, load, trained_weights):
    alone = build(loaded=load("none", experts=()))
    nobody = build(loaded=load("text", experts=()))
    for trainer in (alone, nobody):
        grpo.train(trainer)
    first, second = trained_weights(alone), trained_weights(nobody)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("operator", ["text", "prefix", "no_cross_attention"])
def test_every_operator_trains_and_answers_without_it_are_measured(build, load, operator):
    trainer = build(loaded=load(operator), max_steps=2, without_context_every=1)
    grpo.train(trainer)
    entries = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(entries) == 2
    assert all("reward_without_context" in entry for entry in entries)
    assert not any("attention_entropy" in entry for entry in entries)
