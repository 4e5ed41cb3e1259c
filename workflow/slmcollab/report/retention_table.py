"""The table of retention: what becomes of first and intermediate answers, alone and beside other systems."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from slmcollab.analysis.corrections import corrections
from slmcollab.analysis.missed import (
    first_compliant_then_failed,
    missed_by_both,
    shared,
    solved_only_by_other,
    source_rates,
)
from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.points import metric_pair
from slmcollab.analysis.rates import Rate
from slmcollab.analysis.retention import ranks, retention
from slmcollab.artifacts import ArtifactError
from slmcollab.report.slices_runs import NAMES, Quantities, Quantity, RunFiles
from slmcollab.report.tidy import NUMBERS, Measured

KEYS = ("measure", "against")
COLUMNS = (*NAMES, *KEYS, *NUMBERS, "rank")
RANKED, GROUP = ("retention", "retention_with_last"), ("benchmark", "stage", "measure")
Outcomes = Mapping[str, Outcome]
PRINTED = {
    ("cl", "retention"): ("correct_answer_retention_pct", "CL"),
    ("cl", "first_answer_accuracy"): ("first_answer_EM_pct", "full"),
    ("cl_no_distillation", "first_answer_accuracy"): ("first_answer_EM_pct", "w/o PD."),
    ("cl", "corrected"): ("initially_incorrect_corrected_count", "full"),
    ("cl_no_distillation", "corrected"): ("initially_incorrect_corrected_count", "w/o PD."),
    ("cl", "steps"): ("avg_trajectory_steps", "full"),
    ("cl_no_step_scores", "steps"): ("avg_trajectory_steps", "w/o SLS."),
}


def constrained(scores: Mapping[str, Any]) -> bool:
    """Return whether a scores file is of a benchmark of constraints (Conifer), for which retention is not defined."""
    return metric_pair(str(scores.get("benchmark")), scores) == ("coverage", "explicit")


def outcome_quantities(outcomes: Outcomes, *, compliance: bool) -> Quantities:
    """Return (measure, "") -> quantity of a run.

    retention, discovery and rescue under both conventions (`_with_last`), in percent; where compliance, instead
    compliance_kept (right at the end when an intermediate answer was) and compliant_then_failed (right first, not at
    the end, of all questions). Those of answers kept have no value where every question ended at its first step. Then
    first_answer_accuracy in percent of all questions, counts of questions first_wrong, corrected, spoiled and
    unanswered, steps a question, and accuracy by source of the problems where they have one.
    """
    found: dict[tuple[str, ...], Quantity] = {}
    several = any(outcome.num_steps > 1 for outcome in outcomes.values())  # else the last answer is the only one
    for last in (False, True):
        counted, suffix = outcomes.values() if several else [], "_with_last" if last else ""
        counts = retention(counted, last_step=last)
        kept = Quantity.share(Rate(counts.num_kept, counts.num_discovered))
        found[("compliance_kept" if compliance else "retention") + suffix, ""] = kept
        if not compliance:
            others = counts.num_questions - counts.num_discovered
            found["discovery" + suffix, ""] = Quantity.share(Rate(counts.num_discovered, counts.num_questions))
            found["rescue" + suffix, ""] = Quantity.share(Rate(counts.num_rescued, others))
    if compliance:
        found["compliant_then_failed", ""] = Quantity.share(first_compliant_then_failed(outcomes.values()))
    changed = corrections(outcomes.values())
    first = Rate(changed.num_first_right, changed.num_questions)
    found["first_answer_accuracy", ""] = Quantity.share(first)
    for measure in ("first_wrong", "corrected", "spoiled", "unanswered"):
        found[measure, ""] = Quantity.count(getattr(changed, f"num_{measure}"), changed.num_questions)
    found["steps", ""] = Quantity(changed.mean_steps, "steps", n=changed.num_questions)
    for source, solved in source_rates(outcomes).items():
        found[f"accuracy_{source}", ""] = Quantity.share(solved)
    return found


def comparison_quantities(ours: Outcomes, others: Mapping[str, Outcomes]) -> Quantities:
    """Return (measure, method) -> quantity of a run beside each other method's run of the same seed.

    Questions that one side was not judged on do not count. missed_by_both: questions; partial_match and
    partial_match_against: both sides' mean metric on these in percent; solved_only_by_other: questions;
    without_right_candidate: the percentage of these of which we had no right intermediate answer.
    """
    found: dict[tuple[str, ...], Quantity] = {}
    for method, outcomes in others.items():
        missed, alone = missed_by_both(ours, outcomes), solved_only_by_other(ours, outcomes)
        num_judged = len(shared(ours, outcomes))
        found["missed_by_both", method] = Quantity.count(missed.count, num_judged)
        found["partial_match", method] = Quantity.percent(missed.ours, missed.count)
        found["partial_match_against", method] = Quantity.percent(missed.baseline, missed.count)
        found["solved_only_by_other", method] = Quantity.count(alone.total, num_judged)
        found["without_right_candidate", method] = Quantity.share(alone)
    return found


def retention_measures(runs: Iterable[RunFiles], reference: str) -> list[Measured]:
    """Return the quantities of every run, those of the reference beside the runs of its benchmark, stage and seed.

    Raises ArtifactError naming a run that answered other questions than those.
    """
    found: dict[tuple[str, str, int], dict[str, Outcomes]] = {}
    asked: dict[tuple[str, str, int], Set[str]] = {}
    measured = []
    for run in runs:
        outcomes, scores = run.outcomes(), run.scores()
        key = (run.names["benchmark"], run.names["stage"], run.seed)
        if asked.setdefault(key, scores["problems"].keys()) != scores["problems"].keys():
            raise ArtifactError(f"{run.folder}: not the questions of the other runs of {key}")
        found.setdefault(key, {})[run.names["method"]] = outcomes
        quantities = outcome_quantities(outcomes, compliance=constrained(scores))
        measured.append(Measured(run.names, run.seed, quantities))
    for index, (names, seed, quantities) in enumerate(measured):
        if names["method"] == reference:
            others = dict(found[names["benchmark"], names["stage"], seed])
            ours = others.pop(reference)
            measured[index] = Measured(names, seed, {**quantities, **comparison_quantities(ours, others)})
    return measured


def printed_retention(names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the paper's (quantity, condition) of a row."""
    return PRINTED.get((names["method"], names["measure"])) if not names["against"] else None


def with_ranks(rows: Sequence[Mapping[str, str]], left_out: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return the rows with the rank of their mean retention, of either convention, among the methods of a benchmark.

    Methods without intermediate answers have none, and so have those `left_out`, which are no rows of Table 1. Means
    are compared as they are printed.
    """
    groups: dict[tuple[str, ...], dict[str, float | None]] = {}
    for row in rows:
        if row["measure"] in RANKED and row["method"] not in left_out:
            group = groups.setdefault(tuple(row[name] for name in GROUP), {})
            group[row["method"]] = float(row["mean"]) if row["mean"] else None
    places = {group: ranks(means) for group, means in groups.items()}
    found = [places.get(tuple(row[name] for name in GROUP), {}).get(row["method"]) for row in rows]
    return [{**row, "rank": "" if place is None else str(place)} for row, place in zip(rows, found, strict=True)]
