"""The data of Figure 4 of slices: what an answer costs, and how good it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from slmcollab.analysis.cost import cost
from slmcollab.analysis.points import metric_pair
from slmcollab.analysis.slices_claims.evidence import CL, Run
from slmcollab.analysis.slices_claims.gather import read_scores
from slmcollab.artifacts import ArtifactError
from slmcollab.generation.calls import TRAIN, Call, read_calls
from slmcollab.report.rows import Published
from slmcollab.report.tables import format_number, metric_values

QUANTITIES = ("performance", "weighted_tokens", "b_tokens", "invocations")
PUBLISHED = ("published_performance", "published_invocations")
COLUMNS = ("benchmark", "method", "step_scorer", "metric", "seed", *QUANTITIES, *PUBLISHED)


class Spent(NamedTuple):
    """One run: its first metric in percent; billions of parameters x tokens and invocations a question."""

    metric: str
    performance: float
    b_tokens: float
    invocations: float


@dataclass(frozen=True)
class Circle:
    """One method on one benchmark: seed -> the numbers of QUANTITIES."""

    benchmark: str
    method: str
    metric: str
    seeds: Mapping[int, tuple[float, float, float, float]]

    @property
    def mean(self) -> tuple[float, ...]:
        return tuple(fmean(values) for values in zip(*self.seeds.values(), strict=True))


def spent(name: str, scores: Mapping[str, Any], calls: Sequence[Call]) -> Spent | None:
    """Return what a run spent, None where no problem was graded; raises ArtifactError for a run without calls."""
    counted = [call for call in calls if call.phase != TRAIN]
    if not counted:
        raise ArtifactError(f"{name}: no call in evaluation")
    metric = metric_pair(name, scores)[0]
    value = next(iter(metric_values([name], {name: scores}, metric)), None)
    if value is None:
        return None
    found = cost(counted, len(scores["problems"]), 1.0)
    return Spent(metric, value, found.b_tokens, found.invocations)


def read_spent(folder: Path, run: Run) -> Spent | None:
    """Return what a run spent by the files of its folder eval; see `spent`."""
    scores, calls = read_scores(folder / "scores.json", run, "eval"), folder / "calls.parquet"
    return spent(str(calls), scores, read_calls(calls))


def circles(runs: Mapping[Run, Spent], divisor: float) -> list[Circle]:
    """Return the methods of each benchmark, in the order of the runs; raises ValueError where there is no run.

    divisor: see `cost`.
    """
    if not runs:
        raise ValueError("no runs to show")
    found: dict[tuple[str, str], Circle] = {}
    for run, of in runs.items():
        circle = found.setdefault((run.benchmark, run.method), Circle(*run[:2], of.metric, {}))
        numbers = (of.performance, of.b_tokens / divisor, of.b_tokens, of.invocations)
        found[run.benchmark, run.method] = Circle(*run[:2], of.metric, {**circle.seeds, run.seed: numbers})
    return list(found.values())


def figure4_rows(
    found: Sequence[Circle],
    scorers: Mapping[str, str],
    table1: Published,
    other: Mapping[tuple[str, str, str], tuple[str, str]],
) -> Iterator[dict[str, str]]:
    """Return a row a seed and one for their mean, with six decimals, beside the mean what the paper prints.

    performance: percent of `metric`; weighted_tokens, b_tokens and invocations: per question. The paper prints the
    performance in its Table 1 and the invocations of cl in its text: see `read_table1` and `read_other`.
    """
    for circle in found:
        performance = table1.get((circle.benchmark, circle.method, "none", circle.metric), (None, ""))[0]
        asked = ("model_invocations_per_question", circle.benchmark, "CL")
        invocations = other[asked][0] if circle.method == CL and asked in other else ""
        for seed, numbers in [*((str(seed), of) for seed, of in circle.seeds.items()), ("mean", circle.mean)]:
            texts = (format_number(value, 6) for value in numbers)
            printed = (format_number(performance), invocations) if seed == "mean" else ("", "")
            row = (circle.benchmark, circle.method, scorers[circle.method], circle.metric, seed, *texts, *printed)
            yield dict(zip(COLUMNS, row, strict=True))
