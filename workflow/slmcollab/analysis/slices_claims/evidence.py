"""What the claims of slices are judged on: the runs' measures, found by benchmark, system and seed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from slmcollab.analysis.claims.verdicts import NotRun
from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.slices_claims.measures import Measures, Ratio
from slmcollab.seeding import derive

CL, SINGLE, SE_RL, HOMO_MAS, HOMO_CL = "cl", "qwen3_14b", "se_rl", "homo_mas", "homo_cl"
MAS, MARL = ("mad", "agentverse", "aflow", "gptswarm"), ("magrpo", "maporl", "at_grpo")
ROWS = (SINGLE, SE_RL, HOMO_MAS, HOMO_CL, *MAS, *MARL, CL)  # of Table 1
NO_TRAINING, NO_DISTILLATION, NO_STEP_SCORES = "cl_no_training", "cl_no_distillation", "cl_no_step_scores"
VARIANTS = (NO_TRAINING, NO_DISTILLATION, NO_STEP_SCORES)
CONSTANT, DISTILLED = "cl_constant_reward", "cl_distilled"
WITH_TRAJECTORIES = (CL, *VARIANTS)  # systems whose steps the claims are about
MORE_ROUNDS = "at_grpo_more_rounds"  # than it learned in, as the paper's numbers of calls suggest
WITH_CALLS = (CL, *MAS, *MARL, MORE_ROUNDS)


class Run(NamedTuple):
    benchmark: str
    method: str
    seed: int


@dataclass(frozen=True)
class Evidence:
    """measures: of greedy answers; sampled: the metrics of sampled ones; training: the rounds' training.json, in order.

    varies: the systems of which another seed gives other answers in stage eval, as they learn or sample; of any other
    they are the same. metrics: benchmark -> the two that Table 1 prints. roles: the benchmarks and slots that the
    sentences are about. table1: (benchmark, method, "none", metric) -> percent points; other: (quantity, benchmark,
    condition) -> number.
    """

    measures: Mapping[Run, Measures]
    outcomes: Mapping[Run, Mapping[str, Outcome]]
    sampled: Mapping[Run, Measures]
    training: Mapping[Run, Sequence[Mapping[str, Any]]]
    varies: Collection[str]
    metrics: Mapping[str, tuple[str, str]]
    roles: Mapping[str, Any]
    table1: Mapping[tuple[str, ...], float]
    other: Mapping[tuple[str, str, str], float]

    def role(self, name: str) -> str:
        """Return the benchmark or slot with a role; raises NotRun where the config names none."""
        if not self.roles.get(name):
            raise NotRun(f"the config gives no {name}")
        return self.roles[name]

    def runs(self, benchmark: str, method: str) -> list[Run]:
        """Return the seeds of a system; raises NotRun where the grid runs none."""
        found = [run for run in self.measures if run[:2] == (benchmark, method)]
        if not found:
            raise NotRun(f"no run of {method} on {benchmark}")
        return found

    def ratios(self, benchmark: str, method: str, name: str, *, sampled: bool = False) -> list[Ratio]:
        """Return a measure of each seed; raises NotRun where no seed has it."""
        source = self.sampled if sampled else self.measures
        found = [source[run][name] for run in self.runs(benchmark, method) if name in source.get(run, {})]
        if not found:
            kind = "sampled answers" if sampled else "runs"
            raise NotRun(f"the {kind} of {method} on {benchmark} have no {name}")
        fixed = method not in self.varies and not sampled
        return [one._replace(fixed=fixed) for one in found]

    def benchmarks(self, *methods: str) -> tuple[list[str], list[str]]:
        """Return the benchmarks of the grid on which all these systems ran, and the others."""
        known = {run[:2] for run in self.measures}
        listed = list(self.roles.get("all") or [])
        ran = [name for name in listed if all((name, method) in known for method in methods)]
        return ran, [name for name in listed if name not in ran]

    def pairs(self, ours: str, baseline: str) -> dict[str, dict[str, tuple[list[Ratio], list[Ratio]]]]:
        """Return benchmark -> metric -> (the baseline's runs, ours) where both ran; raises NotRun for none."""
        ran, _ = self.benchmarks(ours, baseline)
        if not ran:
            raise NotRun(f"no benchmark with runs of {ours} and {baseline}")
        return {
            benchmark: {
                metric: (self.ratios(benchmark, baseline, metric), self.ratios(benchmark, ours, metric))
                for metric in self.metrics[benchmark]
            }
            for benchmark in ran
        }

    def published_gain(self, ours: str, baseline: str, cells: Sequence[tuple[str, str]]) -> float | None:
        """Return the paper's mean difference over (benchmark, metric) cells, None unless it prints all of them."""
        keys = [[(benchmark, method, "none", metric) for method in (ours, baseline)] for benchmark, metric in cells]
        if not keys or not all(key in self.table1 for pair in keys for key in pair):
            return None
        return float(np.mean([self.table1[first] - self.table1[second] for first, second in keys]))

    def printed(self, quantity: str, benchmark: str, condition: str) -> float | None:
        """Return another number of the paper; one over "all" benchmarks only where the grid has the paper's."""
        if benchmark.startswith("all") and not self.whole:
            return None
        return self.other.get((quantity, benchmark, condition))

    @property
    def whole(self) -> bool:
        """Return whether the grid has exactly the paper's benchmarks."""
        return {benchmark for benchmark, *_ in self.table1} == set(self.roles.get("all") or [])

    def generator(self, *names: str) -> np.random.Generator:
        """Return the random numbers of one comparison: the same for the same names, whatever else is judged."""
        return np.random.default_rng(derive(0, "slices claims", *names))
