"""Claims on how the models work together: B12 to B16."""

from dataclasses import replace
from functools import partial

from slmcollab.analysis.claims.comparisons import ABOVE, BELOW
from slmcollab.analysis.claims.verdicts import NotRun, Part, attempt
from slmcollab.analysis.slices_claims.changes import HOW, change, judged, shown
from slmcollab.analysis.slices_claims.evidence import CL, NO_DISTILLATION, NO_STEP_SCORES, NO_TRAINING, Evidence
from slmcollab.analysis.slices_claims.sides import sides
from slmcollab.analysis.topology import LONG_LINEAR, SHORT_CYCLIC

RULE = "holds where {}; " + HOW


def long_linear(evidence: Evidence) -> list[Part]:
    """B12: training makes long linear trajectories more frequent on MuSiQue and rarer on MultiPL-E, both tested."""
    printed = ("topology_share_pct", "long linear, before CL", "long linear, after CL")
    measure, name = f"share of {LONG_LINEAR}", "share of long linear trajectories after training less before"
    return [
        _trained(evidence, role, measure, name, rule, printed, 100.0)
        for role, rule in (("musique", ABOVE), ("multipl_e", BELOW))
    ]


def short_cyclic(evidence: Evidence) -> list[Part]:
    """B13: training makes short cyclic trajectories shorter on GSM-Hard and longer on MATH, both tested."""
    printed = ("avg_steps_short_cyclic", "before CL", "after CL")
    measure, name = f"steps of {SHORT_CYCLIC}", "mean steps of short cyclic trajectories after training less before"
    return [
        _trained(evidence, role, measure, name, rule, printed, 1.0)
        for role, rule in (("gsm_hard", BELOW), ("math", ABOVE))
    ]


def divided_labour(evidence: Evidence) -> list[Part]:
    """B14: what training changes for the middle and the largest slot, each tested.

    On MuSiQue the middle slot revises more, hands over more and terminates less, and the largest slot gives the final
    answer more often; on GSM-Hard the middle one does.
    """
    parts = []
    for role, who, measure, rule, quantity in (
        ("musique", "middle_slot", "revision", ABOVE, "answer_revision_rate_pct"),
        ("musique", "middle_slot", "handoff", ABOVE, "handoff_rate_pct"),
        ("musique", "middle_slot", "termination", BELOW, "termination_rate_pct"),
        ("musique", "largest_slot", "final_answer", ABOVE, "final_answer_share_pct"),
        ("gsm_hard", "middle_slot", "final_answer", ABOVE, "final_answer_share_pct"),
    ):
        model = "Qwen3-4B" if who == "middle_slot" else "Qwen3-8B"
        printed = (quantity, f"{model}, before CL", f"{model}, after CL")
        slot = evidence.roles.get(who)
        name = f"{who.replace('_', ' ')}'s {measure.replace('_', ' ')} rate after training less before"
        if not slot:
            parts.append(Part(name, "points", RULE.format(rule), method=CL, reason=f"the config gives no {who}"))
            continue
        parts.append(_trained(evidence, role, f"{slot} {measure}", name, rule, printed, 100.0))
    return parts


def without_distillation(evidence: Evidence) -> list[Part]:
    """B15: without distillation more first answers are right on MuSiQue, fewer wrong ones are corrected, both tested.

    Beside it: more trajectories fail at termination on Conifer, more break the protocol on MATH.
    """
    first = ("first_answer_EM_pct", "full", "w/o PD.")
    corrected = ("initially_incorrect_corrected_count", "full", "w/o PD.")
    less = f"{NO_DISTILLATION} less {CL}"
    compare = partial(_compared, evidence, baseline=CL, ours=NO_DISTILLATION)
    return [
        compare("musique", "first answer right", f"first answers right, {less}", ABOVE, first, 100.0),
        compare("musique", "corrected", f"corrected answers, {less}", BELOW, corrected, 1.0),
        replace(
            compare("conifer", "compliant, then failed", f"failed at termination, {less}", ABOVE, None, 100.0),
            beside=True,
        ),
        replace(compare("math", "protocol failure", f"protocol failures, {less}", ABOVE, None, 100.0), beside=True),
    ]


def without_step_scores(evidence: Evidence) -> list[Part]:
    """B16: without step scores MuSiQue takes more steps and fewer wrong first answers are corrected, both tested.

    Beside it: the relative change of corrected answers in percent.
    """
    steps = ("avg_trajectory_steps", "full", "w/o SLS.")
    less = f"{NO_STEP_SCORES} less {CL}"
    compare = partial(_compared, evidence, baseline=CL, ours=NO_STEP_SCORES)
    relative = Part(f"corrected answers, {less}, relative", "%", "", method=NO_STEP_SCORES, beside=True)
    return [
        compare("musique", "steps", f"steps, {less}", ABOVE, steps, 1.0),
        compare("musique", "corrected", f"corrected answers, {less}", BELOW, None, 1.0),
        attempt(relative, partial(_relative, evidence)),
    ]


def _trained(
    evidence: Evidence, role: str, measure: str, name: str, rule: str, printed: tuple[str, str, str], scale: float
) -> Part:
    return _compared(evidence, role, measure, name, rule, printed, scale, baseline=NO_TRAINING, ours=CL)


def _compared(
    evidence: Evidence,
    role: str,
    measure: str,
    name: str,
    rule: str,
    printed: tuple[str, str, str] | None,
    scale: float,
    *,
    baseline: str,
    ours: str,
) -> Part:
    """Return the part "from `baseline` to `ours`, this measure is `rule`" on the benchmark with that role."""
    unit = "points" if scale == 100 else "questions" if measure == "corrected" else "steps"

    def judge(part: Part) -> Part:
        benchmark = evidence.role(role)
        found = change(
            *(evidence.ratios(benchmark, method, measure) for method in (baseline, ours)),
            evidence.generator(benchmark, measure, ours, baseline),
        )
        values = [evidence.printed(printed[0], benchmark, when) for when in printed[1:]] if printed else [None]
        published = None if None in values else values[1] - values[0]
        by = float(found.questions) if measure == "corrected" else scale  # the paper prints their number
        return judged(replace(part, benchmark=benchmark), found, rule, by, published)

    return attempt(Part(name, unit, RULE.format(rule), method=ours), judge)


def _relative(evidence: Evidence, part: Part) -> Part:
    benchmark = evidence.role("musique")
    (full, without), n = sides(*(evidence.ratios(benchmark, name, "corrected") for name in (CL, NO_STEP_SCORES)))
    if full.seeds.mean() == 0:
        raise NotRun(f"{CL} corrected no answer")
    change_pct = 100 * float(without.seeds.mean() / full.seeds.mean() - 1)
    printed = evidence.printed("corrected_answers_relative_change_pct", benchmark, "w/o SLS. vs full")
    before, after = (side.questions * side.seeds.mean() for side in (full, without))
    reason = f"{before:.1f} → {after:.1f} questions"
    found = {"measured": change_pct, "published": printed, "n": n, "n_seeds": min(len(full.seeds), len(without.seeds))}
    return shown(replace(part, benchmark=benchmark), reason, **found)
