"""The data of Figure 6b: accuracy against the number m of context tokens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.analysis.statistics import mean_and_std
from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import Scores, format_number, group_scores, metric_values

COLUMNS = ("benchmark", "team", "m", "method", "metric", "seed", "value")
METRICS = ("accuracy", "accuracy_unseen")


@dataclass(frozen=True)
class Point:
    """One metric at one m, in percent points: per seed, None where a seed has nothing to measure.

    mean and std (sample standard deviation) are over the seeds with a value; None where there is none, std for one too.
    """

    m: int
    method: str
    metric: str
    seeds: dict[int, float | None]
    mean: float | None
    std: float | None


@dataclass(frozen=True)
class Sweep:
    """One panel of the figure: one team on one benchmark, by rising m; a point without seeds was not run."""

    benchmark: str
    team: str
    points: tuple[Point, ...]

    @property
    def sizes(self) -> list[int]:
        return list(dict.fromkeys(point.m for point in self.points))

    @property
    def not_run(self) -> list[int]:
        return list(dict.fromkeys(point.m for point in self.points if not point.seeds))

    def series(self, metric: str) -> list[Point]:
        return [point for point in self.points if point.metric == metric]


def sweeps(scores: Mapping[str, Scores], points: Sequence[Mapping[str, Any]]) -> list[Sweep]:
    """Return the panels in the order in which their first point is given.

    scores: name of a scores file -> its contents; points: {"benchmark", "team", "m", "method", "seeds"}. Raises
    ArtifactError where points and files do not match (see `group_scores`), a metric is no number from 0 to 100, an m is
    there twice in a panel or no whole number from 1 on, or there is no point.
    """
    if not points:
        raise ArtifactError("no points to show")
    _check_points(points)
    files = group_scores(scores, points)
    panels: dict[tuple[str, str], list[Point]] = {}
    for point in sorted(points, key=lambda point: point["m"]):
        seeds = files[point["benchmark"], point["method"], point["team"]]
        panel = panels.setdefault((point["benchmark"], point["team"]), [])
        for metric in METRICS:
            values = {seed: next(iter(metric_values([name], scores, metric)), None) for seed, name in seeds.items()}
            known = [value for value in values.values() if value is not None]
            spread = mean_and_std(known) if known else (None, None)
            panel.append(Point(point["m"], point["method"], metric, values, *spread))
    order = dict.fromkeys((point["benchmark"], point["team"]) for point in points)
    return [Sweep(*key, tuple(panels[key])) for key in order]


def _check_points(points: Sequence[Mapping[str, Any]]) -> None:
    seen = set()
    for point in points:
        if not isinstance(point["m"], int) or point["m"] < 1:
            raise ArtifactError(f"method {point['method']}: m is {point['m']!r}, not a whole number from 1 on")
        key = (point["benchmark"], point["team"], point["m"])
        if key in seen:
            raise ArtifactError(f"two methods for {key[:2]}, m = {point['m']}")
        seen.add(key)


def figure6b_rows(panels: Sequence[Sweep]) -> Iterator[dict[str, str]]:
    """Return what the figure shows, one number a row, percent points with six decimals.

    seed: a seed, "mean" or "std" (the sample standard deviation). Empty values: a seed that has no such question, the
    std of one seed, and the mean and std of a point that was not run.
    """
    for panel in panels:
        for point in panel.points:
            named = [(str(seed), value) for seed, value in point.seeds.items()]
            for seed, value in [*named, ("mean", point.mean), ("std", point.std)]:
                row = (panel.benchmark, panel.team, str(point.m), point.method, point.metric, seed)
                yield dict(zip(COLUMNS, (*row, format_number(value, 6)), strict=True))
