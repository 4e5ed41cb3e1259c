"""SE-RL by hand: one model answers, judges itself, and learns from r = alpha (2m - 1) + (1 - alpha) J."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml

from slmcollab.generation.calls import TRAIN
from slmcollab.generation.requests import STOP, Response
from slmcollab.protocol.runner import RunNames
from slmcollab.protocol.trajectory import TERMINATED, Trajectory
from slmcollab.supervision.evaluator import EvaluatorSettings, ask_evaluator, read_evaluator_prompt, read_scores
from slmcollab.supervision.losses import reward_weighted_loss
from slmcollab.supervision.rewards import SCORES, rewards

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
ALPHA = {"musique": 0.6, "gsm_hard": 0.35, "math": 0.35, "multipl_e": 0.3, "conifer": 0.5}
RUN = RunNames("toy/se_rl/seed0/round1", "se_rl", "toy", TRAIN, 1)
SETTINGS = EvaluatorSettings(sees_gold=False, retries=0, temperature=0.7, max_new_tokens=50)
# (reasoning, action) of each step of p/0, p/1 and p/2.
SAID = {"0 + 1": [(0.5, -1)], "1 + 1": [(1, 1)], "2 + 1": [(-1, 0), (0.5, 1)]}
METRICS = {"p/0": 0.75, "p/1": 0.0, "p/2": 1.0}


class Itself:
    """The one model of the team, as its own evaluator; keeps for whom it was asked."""

    def __init__(self):
        self.slots = []

    def generate(self, requests, decoding):
        self.slots += [request.slot for request in requests]
        return [Response(self.reply(request.messages[-1]["content"]), 10, 5, STOP) for request in requests]

    def reply(self, text):
        scores = next(found for task, found in SAID.items() if task in text)
        lines = [f"step {at}: reasoning {rea}, action {act}\n" for at, (rea, act) in enumerate(scores, start=1)]
        return f"<scores>\n{''.join(lines)}</scores>"


@pytest.fixture
def alone(problems, step):
    """One model, a1, that terminates at once or says continue first."""
    found = []
    for number, (problem, scores) in enumerate(zip(problems, SAID.values(), strict=False)):
        steps = [step("a1", f"try {number}")] * (len(scores) - 1) + [step("a1", "sure", problem.answer, "terminate")]
        found.append(Trajectory(problem.id, 0, tuple(steps), TERMINATED))
    return found


@pytest.fixture
def judged(alone, problems, members):
    judge, backend = replace(members[0], slot="evaluator", adapter=None), Itself()
    asks = read_evaluator_prompt(ROOT / "workflow" / "prompts" / "evaluator.txt")
    calls = ask_evaluator(alone, problems, backend, judge, asks, SETTINGS, seed=0, run=RUN)
    assert {call.model for call in calls} == {members[0].model}
    assert set(backend.slots) == {"evaluator"}
    return read_scores(alone, calls)[0]


def test_the_reward_of_a_model_that_judges_itself(alone, judged):
    found = rewards(alone, [METRICS[one.problem] for one in alone], SCORES, alpha=0.6, scores=judged)
    expected = {
        "p/0#0": [0.6 * 0.5 + 0.4 * -0.25],  # 2 · 0.75 - 1 = 0.5 and (0.5 - 1) / 2 = -0.25: 0.2
        "p/1#0": [0.6 * -1 + 0.4 * 1],  # praises itself for nothing: -0.2
        "p/2#0": [0.6 * 1 + 0.4 * -0.5, 0.6 * 1 + 0.4 * 0.75],  # 0.4 and 0.9: each step has its own J
    }
    assert {name: pytest.approx(row) for name, row in expected.items()} == found
    assert found["p/0#0"] == pytest.approx([0.2])
    assert found["p/2#0"] == pytest.approx([0.4, 0.9])


def test_its_loss_is_the_sum_of_log_probabilities_weighted_by_it():
    # Two responses with log p of -1 - 2 and -3: -(0.2 · -3 + -0.2 · -3) / 2 = 0; with 0.9: -(0.9 · -3 - 0.2 · -3) / 2.
    log_probs = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]])
    assert reward_weighted_loss(log_probs, torch.tensor([0.2, -0.2]), 2).item() == pytest.approx(0.0)
    assert reward_weighted_loss(log_probs, torch.tensor([0.9, -0.2]), 2).item() == pytest.approx(1.05)


def test_the_config_has_the_model_judge_itself_with_the_alphas_of_cl():
    system = CONFIG["systems"]["se_rl"]
    assert system == {"models": ["qwen3-14b"], "reward": "scores"}
    evaluator = CONFIG["slices"]["evaluator"]
    assert (evaluator["scored_by"], evaluator["model"]) == ("model", "qwen3-14b")
    assert {name: CONFIG["benchmarks"][name]["slices"]["alpha"] for name in ALPHA} == ALPHA
