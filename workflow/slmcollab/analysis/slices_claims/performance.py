"""Claims on performance: B1 to B5 and B18 (Table 1), and B6 (Figure 3)."""

from functools import partial

from slmcollab.analysis.claims.comparisons import ABOVE
from slmcollab.analysis.claims.verdicts import NotRun, Part, attempt
from slmcollab.analysis.slices_claims.changes import ALONE, HOW, change, judged, mean_change, shown
from slmcollab.analysis.slices_claims.evidence import (
    CL,
    HOMO_CL,
    HOMO_MAS,
    MARL,
    MAS,
    NO_DISTILLATION,
    NO_STEP_SCORES,
    NO_TRAINING,
    SE_RL,
    SINGLE,
    VARIANTS,
    Evidence,
)

TESTED = f"holds where {ABOVE}; {HOW}"
METRICS = 2  # of a benchmark in Table 1
MANY = 0.8  # of the metrics: the paper's eight of ten
DROPS = {  # the paper's names of its variants
    NO_TRAINING: "w/o CL. (zero-shot, no training)",
    NO_DISTILLATION: "w/o PD. (no protocol distillation)",
    NO_STEP_SCORES: "w/o SLS. (no step-level score)",
}


def above_single(evidence: Evidence) -> list[Part]:
    """B1: cl is above qwen3_14b on every metric (means over seeds), and on average, tested."""
    return [*_counted(evidence, SINGLE, 1.0), _gain(evidence, CL, SINGLE)]


def above_se_rl(evidence: Evidence) -> list[Part]:
    """B2: cl is above se_rl on at least 80 % of the metrics (means over seeds), and on average, tested."""
    # ASSUME: "eight of ten metrics" is at least 80 % of the metrics, however many the grid has.
    return [*_counted(evidence, SE_RL, MANY), _gain(evidence, CL, SE_RL)]


def above_homo_mas(evidence: Evidence) -> list[Part]:
    """B3: cl is above homo_mas on every metric (means over seeds), and on average, tested."""
    return [*_counted(evidence, HOMO_MAS, 1.0), _gain(evidence, CL, HOMO_MAS)]


def above_homo_cl(evidence: Evidence) -> list[Part]:
    """B4: cl is above homo_cl on every metric (means over seeds), and on average, tested."""
    return [*_counted(evidence, HOMO_CL, 1.0), _gain(evidence, CL, HOMO_CL)]


def above_frameworks(evidence: Evidence) -> list[Part]:
    """B5: cl is above each of the four frameworks and the three MARL methods on average, tested."""
    return [_gain(evidence, CL, method) for method in (*MAS, *MARL)]


def ablations(evidence: Evidence) -> list[Part]:
    """B6: each variant is below cl on every metric (means over seeds), and on average, tested."""
    parts = []
    for variant in VARIANTS:
        parts += [*_counted(evidence, variant, 1.0), _gain(evidence, CL, variant)]
    return parts


def heterogeneous(evidence: Evidence) -> list[Part]:
    """B18: cl is above homo_cl on average, tested; beside it, the updates that each side's refinement had."""
    updates = Part("updates of refinement, of those of homo_cl", "ratio", "", method=CL, beside=True)
    return [_gain(evidence, CL, HOMO_CL), attempt(updates, partial(_updates, evidence))]


def _counted(evidence: Evidence, baseline: str, share: float) -> list[Part]:
    """Return the part "above on so many metrics", and beside it every metric, tested."""
    test = f"holds where the mean over seeds is above on at least {100 * share:.0f} % of the n metrics"
    part = Part(f"metrics above {baseline}", "metrics", test, method=CL)
    try:
        every = [_metric(evidence, baseline, *cell) for cell in _cells(evidence, baseline)]
    except NotRun as nothing:
        return [part.stopped(nothing)]
    won, total = sum(one.measured > 0 for one in every), len(every)
    published = None if None in [one.published for one in every] else float(sum(one.published > 0 for one in every))
    lost = ", ".join(f"{one.benchmark} {one.quantity.split()[0]}" for one in every if one.measured <= 0)
    numbers = {"measured": float(won), "n": total, "published": published}
    alone = ALONE if any(one.reason.endswith(ALONE) for one in every) else ""
    reason = f"above on {won} of {total}" + (f"; not on {lost}" if lost else "") + alone
    missing = evidence.benchmarks(CL, baseline)[1]
    # What was not run could still be above: only what is short of the mark with all of it there fails.
    possible = won + METRICS * len(missing)
    if possible < share * (total + METRICS * len(missing)) or not missing:
        return [part.judged(won >= share * total, reason=reason, **numbers), *every]
    return [part.missing(f"{reason}; not run on {', '.join(missing)}", **numbers), *every]


def _cells(evidence: Evidence, baseline: str) -> list[tuple[str, str]]:
    return [(benchmark, metric) for benchmark, of in evidence.pairs(CL, baseline).items() for metric in of]


def _metric(evidence: Evidence, baseline: str, benchmark: str, metric: str) -> Part:
    part = Part(f"{metric} less {baseline}", "points", "", benchmark, CL, beside=True)
    before, after = evidence.pairs(CL, baseline)[benchmark][metric]
    found = change(before, after, evidence.generator(benchmark, metric, CL, baseline))
    return judged(part, found, ABOVE, 1.0, evidence.published_gain(CL, baseline, [(benchmark, metric)]))


def _gain(evidence: Evidence, ours: str, baseline: str) -> Part:
    part = Part(f"mean over metrics, less {baseline}", "points", TESTED, method=ours)
    return attempt(part, partial(_mean_gain, evidence, ours, baseline))


def _mean_gain(evidence: Evidence, ours: str, baseline: str, part: Part) -> Part:
    pairs = evidence.pairs(ours, baseline)
    found = mean_change(
        {name: list(metrics.values()) for name, metrics in pairs.items()}, evidence.generator(ours, baseline)
    )
    published = evidence.published_gain(ours, baseline, [(name, metric) for name, of in pairs.items() for metric in of])
    missing = evidence.benchmarks(ours, baseline)[1]
    if published is None and not missing and baseline in DROPS:
        published = evidence.printed("ablation_avg_absolute_drop_points", "all 10 metrics", DROPS[baseline])
    result = judged(part, found, ABOVE, 1.0, published)
    if not missing:
        return result
    return result.missing(f"{result.reason}; not run on {', '.join(missing)}")


def _updates(evidence: Evidence, part: Part) -> Part:
    sums: dict[str, int] = {}
    for benchmark in evidence.benchmarks(CL, HOMO_CL)[0]:
        for method in (CL, HOMO_CL):
            rounds = [one for run in evidence.runs(benchmark, method) for one in evidence.training.get(run, [])]
            slots = [slot for one in rounds for slot in one["slots"].values()]
            sums[method] = sums.get(method, 0) + sum(slot["num_updates"] or 0 for slot in slots)
    if not sums.get(HOMO_CL):
        raise NotRun(f"no training.json of {HOMO_CL}")
    reason = f"{sums[CL]} and {sums[HOMO_CL]} updates over all slots, rounds, seeds and benchmarks"
    return shown(part, reason, measured=sums[CL] / sums[HOMO_CL])
