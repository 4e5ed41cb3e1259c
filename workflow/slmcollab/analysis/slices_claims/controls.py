"""What step scores add beyond our controls, and B17: which programs are solved."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from slmcollab.analysis.claims.comparisons import ABOVE, BELOW
from slmcollab.analysis.claims.verdicts import NotRun, Part, attempt
from slmcollab.analysis.missed import solved_only_by_other
from slmcollab.analysis.slices_claims.changes import HOW, change, judged, shown
from slmcollab.analysis.slices_claims.evidence import CL, CONSTANT, DISTILLED, NO_STEP_SCORES, SE_RL, Evidence

TESTED = f"holds where {ABOVE}; {HOW}"


def code_sources(evidence: Evidence) -> list[Part]:
    """B17: on code, cl solves more of MBPP and fewer of HumanEval than se_rl, both tested.

    Beside it: of the tasks that only se_rl solves, the share for which cl has no passing intermediate program (paper:
    most; judged per seed that both have, shown as the mean).
    """
    alone = Part("no passing intermediate program, of tasks solved only by se_rl", "share", "holds where above 0.5")
    return [
        attempt(
            Part("MBPP solved, less se_rl", "points", TESTED, method=CL), partial(_source, evidence, "mbpp", ABOVE)
        ),
        attempt(
            Part("HumanEval solved, less se_rl", "points", f"holds where {BELOW}; {HOW}", method=CL),
            partial(_source, evidence, "humaneval", BELOW),
        ),
        attempt(replace(alone, method=CL, beside=True), partial(_only_other, evidence)),
    ]


def step_scores(evidence: Evidence) -> list[Part]:
    """Ours: cl is above a constant reward and the task reward alone on each benchmark, greedy and sampled, tested.

    The first metric of Table 1 decides, on the benchmarks on which a control ran. Beside it: what refinement gains over
    the distilled team that all start from, and the mean reward that it learned from.
    """
    parts = []
    ran = {name for control in (CONSTANT, NO_STEP_SCORES) for name in evidence.benchmarks(CL, control)[0]}
    listed = [name for name in evidence.roles.get("all") or [] if name in ran]
    compared = [(CL, CONSTANT, False), (CL, NO_STEP_SCORES, False), (CONSTANT, DISTILLED, True), (CL, DISTILLED, True)]
    for benchmark in listed or [""]:
        for ours, baseline, beside in compared:
            for sampled in (False, True):
                parts.append(_added(evidence, benchmark, ours, baseline, sampled=sampled, beside=beside))
        parts += _mean_rewards(evidence, benchmark)
    return parts


def _source(evidence: Evidence, source: str, rule: str, part: Part) -> Part:
    benchmark = evidence.role("multipl_e")
    before, after = (evidence.ratios(benchmark, method, f"solved {source}") for method in (SE_RL, CL))
    found = change(before, after, evidence.generator(benchmark, source, CL, SE_RL))
    return judged(replace(part, benchmark=benchmark), found, rule, 100.0)


def _only_other(evidence: Evidence, part: Part) -> Part:
    benchmark = evidence.role("multipl_e")
    ours, other = ({run.seed: run for run in evidence.runs(benchmark, method)} for method in (CL, SE_RL))
    both = sorted(ours.keys() & other.keys())
    rates = [solved_only_by_other(evidence.outcomes[ours[seed]], evidence.outcomes[other[seed]]) for seed in both]
    shares = [rate.share for rate in rates if rate.share is not None]
    if not shares:
        raise NotRun(f"no task that only {SE_RL} solves")
    mean = sum(shares) / len(shares)
    numbers: dict[str, Any] = {"measured": mean, "n_seeds": len(shares), "n": sum(rate.total for rate in rates)}
    return replace(part, benchmark=benchmark).judged(mean > 0.5, reason="n: tasks over all seeds", **numbers)


def _added(evidence: Evidence, benchmark: str, ours: str, baseline: str, *, sampled: bool, beside: bool) -> Part:
    how = "sampled" if sampled else "greedy"
    part = Part(f"{how}, less {baseline}", "points", TESTED, benchmark, ours, beside=beside)

    def measure(part: Part) -> Part:
        if not benchmark:
            raise NotRun(f"no benchmark with runs of {ours} and {baseline}")
        metric = evidence.metrics[benchmark][0]
        sides = [evidence.ratios(benchmark, method, metric, sampled=sampled) for method in (baseline, ours)]
        found = change(*sides, evidence.generator(benchmark, how, ours, baseline))
        return judged(replace(part, quantity=f"{metric}, {part.quantity}"), found, ABOVE)

    return attempt(part, measure)


def _mean_rewards(evidence: Evidence, benchmark: str) -> list[Part]:
    """Return beside parts: the mean reward of the steps that each refinement learned from, its last round."""
    parts = []
    for method in (CL, CONSTANT, NO_STEP_SCORES):
        runs: Sequence = [run for run in evidence.training if run[:2] == (benchmark, method) and evidence.training[run]]
        slots = [slot for run in runs for slot in evidence.training[run][-1]["slots"].values()]
        known = [slot for slot in slots if slot["mean_reward"] is not None and slot["num_examples"]]
        if known:
            total = sum(slot["num_examples"] for slot in known)
            mean = sum(slot["mean_reward"] * slot["num_examples"] for slot in known) / total
            part = Part("mean reward of the last round's steps", "reward", "", benchmark, method, beside=True)
            parts.append(shown(part, "mean over slots and seeds; n: steps", measured=mean, n=total, n_seeds=len(runs)))
    return parts
