"""A made-up grid in which every claim holds, and the means to change one thing of it."""

import numpy as np

from slmcollab.analysis.attention import Dynamics, entropy
from slmcollab.analysis.claims.evidence import Evidence, Rewards, Run

PROBLEMS, STEPS = 200, 100
TEAMS = {
    "default": ["math", "code", "general"],
    "naive": ["gpt2", "math", "code", "general"],
    "llm": ["math", "code", "oss"],
}
ROLES = {
    "gain": "arithmetic",
    "no_gain": ["algorithmic"],
    "saturated": ["logic", "gsm8k"],
    "lower_alone": ["logic"],
    "harder": ["algorithmic"],
    "team": "default",
    "naive_expert": "gpt2",
    "large_expert": "oss",
    "math_expert": "math",
    "code_expert": "code",
}
# Right answers of 200, per seed: two are one percent point.
RIGHT = {
    ("arithmetic", "single", "none"): [100, 101, 102],
    ("arithmetic", "hidden_state", "default"): [159, 160, 161],
    ("arithmetic", "hidden_state", "naive"): [100, 160, 198],
    ("arithmetic", "hidden_state", "llm"): [150, 160, 170],
    ("arithmetic", "prefix", "none"): [136, 137, 138],
    ("arithmetic", "hidden_state_shuffled", "default"): [100, 102, 104],
    ("arithmetic", "first_token", "default"): [156, 160, 164],
    ("arithmetic", "first_layer", "default"): [60, 62, 64],
    ("arithmetic", "sampled_layer", "default"): [20, 160, 199],
    ("arithmetic", "sampled_token", "default"): [159, 164, 169],
    ("arithmetic", "m2", "default"): [80, 90, 100],
    ("arithmetic", "m16", "default"): [90, 100, 110],
    ("arithmetic", "m32", "default"): [50, 60, 70],
    ("algorithmic", "single", "none"): [30, 31, 32],
    ("algorithmic", "hidden_state", "default"): [28, 31, 34],
    ("logic", "single", "none"): [190, 191, 192],
    ("logic", "hidden_state", "default"): [180, 184, 187],
    ("gsm8k", "single", "none"): [180, 181, 182],
    ("gsm8k", "hidden_state", "default"): [150, 160, 170],
}
SIZE = {"gpt2": 5, "math": 10, "general": 20, "code": 30, "oss": 40}
FINAL = {"gpt2": 1.0, "math": 2.0, "general": 3.0, "code": 4.0, "oss": 5.0}  # shares in the end, in proportion


def trained(final, seed, steps=STEPS, reverse=False):
    """Shares go from equal to `final` on a line, so that their entropy falls, while the reward rises."""
    shares = np.linspace(np.full(len(final), 1 / len(final)), np.array(final) / sum(final), steps)
    shares = shares[::-1] if reverse else shares
    entropies, reward = entropy(shares), np.linspace(0.1, 0.8, steps) + 0.01 * seed
    return Dynamics(np.arange(1, steps + 1), shares, entropies, entropies, reward)


def rewards(run, lead):
    """Every tenth step samples the prompt alone too; context tokens lead by `lead`, one number or one per such step."""
    with_context = run.reward[::10]
    return Rewards(run.step[::10].astype(float), with_context, with_context - lead)


def attended(run, **changes):
    """Test-time attention: near equal shares on arithmetic, nearly all on one expert elsewhere."""
    rest = 0.3 if run.benchmark == "arithmetic" else 0.05 + 0.001 * run.seed
    shares = dict.fromkeys(TEAMS["default"][1:], rest) | {"math": 1 - 2 * rest}
    numbers = {"accuracy": 80.0, "accuracy_frozen": 79.0 + 0.1 * run.seed, "prompt_variance_share": 0.02}
    return run._asdict() | {"shares": shares} | numbers | changes


def world(
    right=None, *, without=(), roles=None, final=None, lead=0.1, reverse=False, attention=None, seen=None, **changes
):
    """Return the evidence of RIGHT with changes: `right` by cell, cells in `without` left out, and so on."""
    counts = {cell: seeds for cell, seeds in {**RIGHT, **(right or {})}.items() if cell not in without}
    runs = {Run(*cell, seed): count for cell, seeds in counts.items() for seed, count in enumerate(seeds)}
    hidden = [run for run in runs if run.method == "hidden_state"]
    shares = FINAL | (final or {})
    dynamics = {run: trained([shares[name] for name in TEAMS[run.team]], run.seed, reverse=reverse) for run in hidden}
    fields = {
        "correct": {run: (np.arange(PROBLEMS) < count).astype(float) for run, count in runs.items()},
        "seen": {run.benchmark: np.arange(PROBLEMS) < 0 if seen is None else seen for run in runs},
        "dynamics": dynamics,
        "rewards": {run: rewards(found, lead) for run, found in dynamics.items()},
        "attention": {run: attended(run, **(attention or {})) for run in hidden if run.team == "default"},
        "models": {name: {"hidden_size": size, "num_parameters": 1000 * size} for name, size in SIZE.items()},
        "teams": TEAMS,
        "poolings": {"last_token": "hidden_state"}
        | {name: name for name in ("first_token", "sampled_token", "first_layer", "sampled_layer")},
        "sizes": {"2": "m2", "8": "hidden_state", "16": "m16", "32": "m32"},
        "roles": ROLES | (roles or {}),
        "published": {},
    }
    return Evidence(**fields | changes)
