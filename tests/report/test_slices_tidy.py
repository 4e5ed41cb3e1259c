"""The tidy tables of slices: their quantities, and rows over seeds beside the paper's numbers."""

from dataclasses import replace

import pytest
from recorded import call, step, trajectory

from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.rates import Rate
from slmcollab.artifacts import ArtifactError
from slmcollab.report import overlap_table, retention_table, roles_table
from slmcollab.report.budgets_table import parameters, printed_invocations, total_size
from slmcollab.report.slices_runs import Quantity
from slmcollab.report.tidy import Measured, tidy_rows

MODELS = {"a1": "qwen3-4b", "a2": "qwen3-8b"}
TRAJECTORIES = [
    trajectory(
        step("a1", "a2", answer="1", reasoning="one two three four"),
        step("a2", "terminate", answer="2", reasoning="one two three four"),
    ),
    trajectory(step("a1", "terminate", answer="3"), problem="q1"),
]


def run(method="cl", stage="eval", seed=0, quantities=None, benchmark="musique"):
    names = {"benchmark": benchmark, "method": method, "stage": stage, "step_scorer": "oracle"}
    return Measured(names, seed, quantities or {})


def outcome(correct, *, first=None, discovered=False, num_steps=2, score=0.0):
    return Outcome(first, discovered, correct, num_steps, score, None)


def test_rows_over_seeds_by_hand():
    # 1 of 4 and 3 of 4: mean 50, deviations ±25, 2 * 625 / 1, root 35.36; together 4 of 8: centre 0.5, half width
    # 1.96 sqrt(0.25 / 8 + 1.96² / 256) / (1 + 1.96² / 8) = 0.2848.
    runs = [
        run(seed=0, quantities={("x",): Quantity.share(Rate(1, 4)), ("y",): Quantity(None, "steps", n=0)}),
        run(seed=1, quantities={("x",): Quantity.share(Rate(3, 4)), ("y",): Quantity(2.5, "steps", n=3)}),
        run(seed=0, stage="eval_sampled", quantities={("x",): Quantity.share(Rate(0, 0))}),
    ]
    printed = {("quantity", "musique", "x of cl"): ("51.5", "page 1")}
    rows = tidy_rows(runs, ["measure"], printed, lambda names: ("quantity", f"{names['measure']} of {names['method']}"))
    assert [list(row.values()) for row in rows] == [
        [
            *("musique", "cl", "eval", "oracle", "x", "percent", "50.00", "35.36", "2", "8", "21.52", "78.48"),
            *("51.50", "page 1", "-1.50"),
        ],
        ["musique", "cl", "eval", "oracle", "y", "steps", "2.50", "", "1", "3", "", "", "", "", ""],
        ["musique", "cl", "eval_sampled", "oracle", "x", "percent", "", "", "0", "0", "", "", "", "", ""],
    ]


def test_role_quantities_by_hand():
    # q0: a1 hands over, a2 revises and ends; q1: a1 ends. Three calls, one with an anomaly.
    calls = [call(0), replace(call(1, anomaly="truncated"), agent="a2"), call(2)]
    found = roles_table.role_quantities(TRAJECTORIES, calls, MODELS)
    assert found["a1", "qwen3-4b", "handoff"] == Quantity(50.0, "percent", Rate(1, 2), 2)
    assert found["a2", "qwen3-8b", "revision"].rate == Rate(1, 1)
    assert found["a2", "qwen3-8b", "final_answer"].rate == Rate(1, 2)
    assert found["a1", "qwen3-4b", "steps"] == Quantity(1.0, "steps", n=2)
    assert found["all", "", "share_short_linear"].rate == Rate(2, 2)
    assert found["all", "", "steps_short_linear"] == Quantity(1.5, "steps", n=2)
    assert found["all", "", "protocol_failure"].rate == Rate(0, 2)
    assert found["all", "", "calls_truncated"].rate == found["all", "", "calls_anomalous"].rate == Rate(1, 3)
    assert found["a1", "qwen3-4b", "calls_truncated"].rate == Rate(0, 2)
    assert (
        found["a2", "qwen3-8b", "calls_truncated"].rate == found["a2", "qwen3-8b", "calls_anomalous"].rate == Rate(1, 1)
    )


def test_a_baseline_has_only_anomalies():
    calls = [call(0, anomaly="truncated"), call(1, retry_of="c0"), call(2, anomaly="malformed", phase="search")]
    said = [trajectory(step("a1", None, answer="1")), trajectory(step("a1", None), problem="q1", end="anomalies")]
    found = roles_table.failure_quantities(said, calls, MODELS)
    kinds = ("anomalous", "truncated", "malformed", "empty_answer")
    # One of two calls in evaluation; the search's does not count.
    assert [found["all", "", f"calls_{kind}"].rate for kind in kinds] == [
        Rate(1, 2),
        Rate(1, 2),
        Rate(0, 2),
        Rate(0, 2),
    ]
    assert found["a2", "qwen3-8b", "calls_anomalous"].rate == Rate(0, 0)
    assert found["all", "", "no_answer"].rate == Rate(1, 2)
    assert {key[2] for key in found} == {
        *(f"calls_{kind}" for kind in kinds),
        "any_anomaly",
        "no_answer",
        "protocol_failure",
    }


@pytest.mark.parametrize(
    ("method", "model", "measure", "expected"),
    [
        ("cl", "qwen3-4b", "revision", ("answer_revision_rate_pct", "Qwen3-4B, after CL")),
        ("cl_no_training", "qwen3-8b", "final_answer", ("final_answer_share_pct", "Qwen3-8B, before CL")),
        ("cl", "", "share_long_linear", ("topology_share_pct", "long linear, after CL")),
        ("cl_no_training", "", "steps_short_cyclic", ("avg_steps_short_cyclic", "before CL")),
        ("cl", "", "steps_long_cyclic", None),
        ("homo_mas", "qwen3-8b", "revision", None),
    ],
)
def test_what_the_paper_prints_of_roles(method, model, measure, expected):
    assert roles_table.printed_role({"method": method, "model": model, "measure": measure}) == expected


def test_overlap_quantities_by_hand():
    # The one handoff is repeated word for word; all of it stands in the question.
    found = overlap_table.overlap_quantities(TRAJECTORIES, MODELS, {"q0": "One two three four?", "q1": ""})
    assert found["a2", "qwen3-8b", "whole", "rouge_l_0.5"] == Quantity(100.0, "percent", Rate(1, 1), 1)
    assert found["a2", "qwen3-8b", "whole", "containment_4"] == Quantity(100.0, "percent", n=1)
    assert found["a2", "qwen3-8b", "without_question", "rouge_l_0.5"].rate == Rate(0, 0)
    assert found["a2", "qwen3-8b", "without_question", "containment_4"].value is None
    names = {"method": "cl", "slot": "a2", "text": "whole", "measure": "rouge_l_0.5"}
    assert overlap_table.printed_overlap(names) == ("reasoning_overlap_rate_pct", "model 2 of 3 as listed, after CL")
    assert overlap_table.printed_overlap(names | {"text": "without_question"}) is None


OURS = {
    "q0": outcome(True, first=True, discovered=True),
    "q1": outcome(False, first=True, discovered=True, score=0.5),
    "q2": outcome(True, first=False),
    "q3": outcome(False, first=False, num_steps=1),
}


def test_outcome_quantities_by_hand():
    found = retention_table.outcome_quantities(OURS, compliance=False)
    assert {measure: (one.rate.count, one.rate.total) for (measure, _), one in found.items() if one.rate} == {
        "retention": (1, 2),
        "discovery": (2, 3),
        "rescue": (1, 1),
        "retention_with_last": (2, 3),
        "discovery_with_last": (3, 4),
        "rescue_with_last": (0, 1),
        "first_answer_accuracy": (2, 4),
    }
    counts = {measure: one.value for (measure, _), one in found.items() if one.unit in ("questions", "steps")}
    assert counts == {"first_wrong": 2, "corrected": 1, "spoiled": 1, "unanswered": 0, "steps": 1.75}
    single = retention_table.outcome_quantities({"q0": outcome(True, first=True, num_steps=1)}, compliance=False)
    assert single["retention", ""].value is None
    assert single["retention_with_last", ""].value is None
    found = retention_table.outcome_quantities(OURS, compliance=True)
    assert found["compliance_kept", ""].rate == Rate(1, 2)
    assert found["compliant_then_failed", ""].rate == Rate(1, 4)
    assert not any(measure.startswith(("retention", "discovery", "rescue")) for measure, _ in found)


def test_comparisons_by_hand():
    # Both miss q1 (0.5 against 0.25); q3 is solved by the other alone, and we had no right answer of it on the way.
    other = {"q0": OURS["q0"], "q1": outcome(False, score=0.25), "q2": OURS["q2"], "q3": outcome(True)}
    found = retention_table.comparison_quantities(OURS, {"se_rl": other})
    assert {measure: one.value for (measure, _), one in found.items()} == {
        "missed_by_both": 1,
        "partial_match": 50.0,
        "partial_match_against": 25.0,
        "solved_only_by_other": 1,
        "without_right_candidate": 100.0,
    }
    assert {against for _, against in found} == {"se_rl"}


def test_ranks_are_among_the_methods_of_a_benchmark_that_have_a_retention():
    def row(method, mean, measure="retention", benchmark="musique"):
        return {"benchmark": benchmark, "stage": "eval", "method": method, "measure": measure, "mean": mean}

    rows = [
        row("cl", "80.00"),
        row("mad", "90.00"),
        row("cl_no_training", "95.00"),
        row("se_rl", ""),
        row("cl", "99.00", "discovery"),
        row("cl", "10.00", benchmark="math"),
    ]
    ranked = retention_table.with_ranks(rows, ["cl_no_training"])
    assert [found["rank"] for found in ranked] == ["2", "1", "", "", "", "1"]


def test_parameters_against_the_reference():
    manifests = {name: {"model": name, "num_parameters": size} for name, size in (("s", 17), ("m", 40), ("xl", 140))}
    found = parameters(["s", "m", "m"], "xl", manifests)
    assert found == {"parameters": "97", "reference_parameters": "140", "ratio": "0.6929"}
    with pytest.raises(ArtifactError, match="no manifest of l among s, m, xl"):
        parameters(["s", "l"], "xl", manifests)


def test_sizes_that_the_config_fixes_stand_for_counted_ones():
    manifests = {
        "f": {"model": "s", "num_parameters": 1_720_000_000},
        "g": {"model": "m", "num_parameters": 500_000_000},
    }
    assert total_size(["m", "s", "m"], {"s": 1.7, "other": 9.0}, manifests) == 2.2


def test_invocations_of_the_paper_stand_beside_cl_only():
    printed = {("model_invocations_per_question", "musique", "CL"): ("4.0", "section 3.4")}
    expected = {"published_invocations": "4.0", "published_source": "section 3.4"}
    assert printed_invocations({"method": "cl", "benchmark": "musique"}, printed) == expected
    assert printed_invocations({"method": "mad", "benchmark": "musique"}, printed) == {}
