"""The data of Figure 3 of slices: what each mechanism contributes, from the full method to its variants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slmcollab.analysis.points import metric_pair
from slmcollab.analysis.slices_claims.evidence import CL, NO_DISTILLATION, NO_STEP_SCORES, NO_TRAINING, VARIANTS, Run
from slmcollab.analysis.statistics import mean_and_std
from slmcollab.report.tables import format_number, metric_values
from slmcollab.report.titles import title

COLUMNS = ("benchmark", "metric", "method", "label", "step_scorer", "quantity", "seed", "value")
FIRST = (CL, NO_TRAINING, NO_DISTILLATION, NO_STEP_SCORES)  # what the paper shows


@dataclass(frozen=True)
class Ablation:
    """One panel: (method, metric) -> seed -> percent, methods in the order of the figure, two metrics.

    A method without seeds was not run on this benchmark.
    """

    benchmark: str
    methods: tuple[str, ...]
    metrics: tuple[str, str]
    values: Mapping[tuple[str, str], Mapping[int, float]]

    @cached_property
    def means(self) -> dict[tuple[str, str], float]:
        """Return the means over seeds of what was run."""
        return {key: mean_and_std(list(seeds.values()))[0] for key, seeds in self.values.items() if seeds}

    def variants_mean(self, metric: str) -> float | None:
        """Return the mean of the paper's variants that were run, None for none."""
        known = [self.means[method, metric] for method in VARIANTS if (method, metric) in self.means]
        return mean_and_std(known)[0] if known else None

    def gain(self, metric: str) -> float | None:
        """Return what the figure's arrow says: the full method less the mean of the variants."""
        full, variants = self.means.get((CL, metric)), self.variants_mean(metric)
        return None if full is None or variants is None else full - variants


def ablations(scores: Mapping[Run, Mapping[str, Any]]) -> list[Ablation]:
    """Return a panel per benchmark in the order of the runs: the full method, the paper's variants, then the others.

    scores: run -> its scores file. Raises ArtifactError for a file without one of the pairs of metrics, or a value that
    is no percent, and ValueError where there is no run.
    """
    if not scores:
        raise ValueError("no runs to show")
    found = list(dict.fromkeys(run.method for run in scores))
    methods = tuple(sorted(found, key=lambda name: [*FIRST, *found].index(name)))
    panels = []
    for benchmark in dict.fromkeys(run.benchmark for run in scores):
        here = {run: content for run, content in scores.items() if run.benchmark == benchmark}
        metrics = metric_pair(benchmark, next(iter(here.values())))
        values: dict[tuple[str, str], dict[int, float]] = {(name, of): {} for name in methods for of in metrics}
        for run, content in here.items():
            name = f"{benchmark}, {run.method}, seed {run.seed}"
            for metric in metrics:
                for value in metric_values([name], {name: content}, metric):
                    values[run.method, metric][run.seed] = value
        panels.append(Ablation(benchmark, methods, metrics, values))
    return panels


def figure3_rows(panels: list[Ablation], scorers: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Return what the figure shows, one number a row, percent with six decimals.

    quantity: score (of a seed, or "mean" over seeds), drop (the full method's mean less the method's) and, of the full
    method, gain_over_variants. Empty: a method that was not run. scorers: method -> who scored its steps.
    """
    for panel in panels:
        for (method, metric), seeds in panel.values.items():
            mean, full = panel.means.get((method, metric)), panel.means.get((CL, metric))
            drop = None if mean is None or full is None else full - mean
            last = ("gain_over_variants", panel.gain(metric)) if method == CL else ("drop", drop)
            numbers = [("score", str(seed), value) for seed, value in seeds.items()]
            for quantity, seed, value in [*numbers, ("score", "mean", mean), (last[0], "mean", last[1])]:
                row = (panel.benchmark, metric, method, title(method), scorers[method], quantity, seed)
                yield dict(zip(COLUMNS, (*row, format_number(value, 6)), strict=True))
