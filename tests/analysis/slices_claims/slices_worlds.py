"""A made-up grid of slices in which every claim holds, and the means to change one thing of it."""

import numpy as np

from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.slices_claims.evidence import (
    CL,
    CONSTANT,
    DISTILLED,
    HOMO_MAS,
    NO_DISTILLATION,
    NO_STEP_SCORES,
    NO_TRAINING,
    ROWS,
    SINGLE,
    VARIANTS,
    Evidence,
    Run,
)
from slmcollab.analysis.slices_claims.measures import Ratio

Q = 100
BENCHMARKS = ["musique", "gsm_hard", "math", "multipl_e", "conifer"]
METRICS = dict.fromkeys(BENCHMARKS[:3], ("accuracy", "f1"))
METRICS |= {"multipl_e": ("weighted", "macro"), "conifer": ("coverage", "explicit")}
ROLES = {"all": BENCHMARKS, **{name: name for name in BENCHMARKS}, "middle_slot": "a2", "largest_slot": "a3"}
RIGHT = {CL: 80, CONSTANT: 60, DISTILLED: 60, **dict.fromkeys(VARIANTS, 50)}  # of 100; every other system: 60
IDS = tuple(f"q{number:03d}" for number in range(Q))


def share(count, seed=0, *, scale=1.0, under=None):
    """Return a ratio of which `count` + `seed` of the 100 questions are hits; under: its denominators, else 1."""
    over = np.zeros(Q)
    over[: count + seed] = scale
    return Ratio(IDS, over, np.ones(Q) if under is None else np.asarray(under, dtype=float))


def each(value, seed=0):
    """Return a ratio to which each question adds `value`, the first `seed` of them one more."""
    over = np.full(Q, float(value))
    over[:seed] += 1
    return Ratio(IDS, over, np.ones(Q))


def outcome(correct):
    return Outcome(first=correct, discovered=False, correct=correct, num_steps=2, score=float(correct), group="mbpp-py")


def measured(benchmark, method, seed):
    """Return a run's measures: cl is best, costs least and keeps answers; training changed what the paper says."""
    metrics = {metric: share(RIGHT.get(method, 60), seed, scale=100.0) for metric in METRICS[benchmark]}
    trained = method != NO_TRAINING
    corrected = {NO_DISTILLATION: 10, NO_STEP_SCORES: 20}.get(method, 40)
    first = 45 if method == NO_DISTILLATION else 25
    longer, more = 4 if method == NO_STEP_SCORES else 3, benchmark in ("musique", "math")
    cheap = 1 if method == CL else 2
    found = {
        "first answer right": share(first, seed),
        "corrected": share(corrected, seed),
        "retention": share(40 if method == CL else 30, seed, under=np.arange(Q) < 60),
        "compliant, then failed": share(30 if method == NO_DISTILLATION else 10, seed),
        "protocol failure": share(30 if method == NO_DISTILLATION else 10, seed),
        "steps": each(longer, seed),
        "share of long_linear": share(60 if trained == more else 10, seed),
        "steps of short_cyclic": each(4 if trained == more else 3, seed),
        "invocations": each(cheap, seed),
        "invocations, search included": each(cheap, seed),
        "weighted tokens": each(10 * cheap, seed),
        "weighted tokens, first attempts": each(10 * cheap, seed),
        "solved mbpp": share(80 if method == CL else 40, seed),
        "solved humaneval": share(30 if method == CL else 70, seed),
    }
    for slot in ("a1", "a2", "a3"):
        found[f"{slot} overlap"] = share(5 if trained else 40, seed)
        for name, rises in (("revision", True), ("handoff", True), ("termination", False), ("final_answer", True)):
            found[f"{slot} {name}"] = share(60 if trained == rises else 15, seed)
    return found | metrics


def world(change=lambda run, measures: measures, *, seeds=(0, 1, 2), benchmarks=BENCHMARKS, without=(), **other):
    """Return the evidence; change(run, measures) -> the measures of a run; without: systems that are not run."""
    methods = [name for name in (*ROWS, *VARIANTS, CONSTANT, DISTILLED) if name not in without]
    runs = [Run(name, method, seed) for name in benchmarks for method in methods for seed in seeds]
    measures = {run: change(run, measured(*run)) for run in runs}
    sampled = {run: {metric: measures[run][metric] for metric in METRICS[run.benchmark]} for run in runs}
    alone = {run: {name: outcome(run.method != CL) for name in IDS} for run in runs}
    slot = {"num_examples": 10, "num_updates": 5, "mean_reward": 0.25}
    given = {
        "measures": measures,
        "outcomes": alone,
        "sampled": sampled,
        "training": {run: [{"slots": {"a1": slot}}] for run in runs},
        "varies": {name for name in methods if name not in (SINGLE, HOMO_MAS, NO_TRAINING)},
        "metrics": {name: METRICS[name] for name in benchmarks},
        "roles": ROLES,
        "table1": {},
        "other": {},
    }
    return Evidence(**given | other)
