"""Claims on accuracy: A1 to A4 on the main method (Table 1), A18 and A19 on its controls."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from slmcollab.analysis.claims.comparisons import (
    ABOVE,
    BELOW,
    FEW,
    HOW,
    NOT_ABOVE,
    SAME,
    SPREAD,
    Cell,
    Comparison,
    compare,
    compared,
    more_variable,
    rule_in_words,
)
from slmcollab.analysis.claims.evidence import HIDDEN, NO_TEAM, PREFIX, SHUFFLED, SINGLE, Evidence
from slmcollab.analysis.claims.verdicts import HOLDS, SUBSTANTIAL, UNDECIDED, NotRun, Part, Undecided, attempt

GAIN = "gain over single"


def main_cell(evidence: Evidence, benchmark: str | None = None) -> Cell:
    """Return the cell of the main method and team, on the gain benchmark unless another is named."""
    return benchmark or evidence.role("gain"), HIDDEN, evidence.role("team")


def single_cell(evidence: Evidence, benchmark: str | None = None) -> Cell:
    return benchmark or evidence.role("gain"), SINGLE, NO_TEAM


def gain(evidence: Evidence) -> list[Part]:
    """A1: hidden states of experts lift the policy above training alone on the gain benchmark."""
    test = "holds where the largest difference of mean accuracy over the n benchmarks and teams is above 0"
    best = Part("largest gain over single", "points", test, beside=True)
    return [*_against_single(evidence, ABOVE, None), attempt(best, partial(_largest, evidence))]


def variance(evidence: Evidence) -> list[Part]:
    """A2: accuracy varies more over seeds than without experts, and more for larger teams."""
    part = Part("variance over seeds, relative to single", "ratio", SPREAD, method=HIDDEN)
    larger = Part("variance over seeds, larger teams relative to the smallest", "ratio", SPREAD, method=HIDDEN)
    try:
        pairs = _spread_pairs(evidence)
    except NotRun as missing:
        return [part.stopped(missing), attempt(larger, partial(_larger_teams, evidence))]
    part = replace(part, team=evidence.role("team"))
    parts = [attempt(part, lambda part: more_variable(part, *zip(*pairs.values(), strict=True)))]
    for benchmark, (ours, baseline) in pairs.items():
        judge = partial(more_variable, ours=[ours], baseline=[baseline])
        parts.append(attempt(replace(part, benchmark=benchmark, beside=True), judge))
    return [*parts, attempt(larger, partial(_larger_teams, evidence))]


def no_gain(evidence: Evidence) -> list[Part]:
    """A3: no effect on the benchmarks that training alone does not solve either."""
    return _on_benchmarks(evidence, SAME, "no_gain")


def saturated(evidence: Evidence) -> list[Part]:
    """A4: no gain, or a loss, on the benchmarks where training alone is near saturation."""
    return _on_benchmarks(evidence, NOT_ABOVE, "saturated")


def prefix_fraction(evidence: Evidence) -> list[Part]:
    """A18: free learned rows, without any expert, give a substantial fraction of the gain.

    (prefix - single) / (hidden_state - single), in accuracy; undefined where hidden_state is not above single.
    """
    test = f"holds where the fraction is at least {SUBSTANTIAL} and prefix is above single (p, n); {HOW}"
    part = Part("(prefix - single) / (hidden_state - single)", "fraction", test, method=PREFIX, team=NO_TEAM)
    return [attempt(part, partial(_fraction, evidence))]


def shuffled(evidence: Evidence) -> list[Part]:
    """A19: features of another prompt fall below those of the prompt, to the level of the controls without experts."""

    def own() -> Cell:
        return evidence.role("gain"), SHUFFLED, evidence.role("team")

    def control() -> Cell:
        return _best_control(evidence)

    below = compared(evidence, "shuffled less hidden_state", BELOW, own, partial(main_cell, evidence))
    try:
        gain_of_main(evidence)
    except NotRun as missing:
        return [below[0].stopped(missing)]
    return below + compared(evidence, "shuffled less the better of prefix and single", NOT_ABOVE, own, control)


def _against_single(evidence: Evidence, rule: str, benchmark: str | None) -> list[Part]:
    ours, baseline = partial(main_cell, evidence, benchmark), partial(single_cell, evidence, benchmark)
    return compared(evidence, GAIN, rule, ours, baseline)


def _on_benchmarks(evidence: Evidence, rule: str, role: str) -> list[Part]:
    parts = [part for benchmark in evidence.listed(role) for part in _against_single(evidence, rule, benchmark)]
    return parts or [Part(GAIN, "points", rule_in_words(rule), reason=f"the config gives no {role}")]


def _with_single(evidence: Evidence) -> list[Cell]:
    """Return the cells of hidden_state on benchmarks that single ran on; raises NotRun where there is none."""
    baseline = {run.benchmark for run in evidence.correct if run[1:3] == (SINGLE, NO_TEAM)}
    cells = [(benchmark, HIDDEN, team) for benchmark, team in evidence.cells() if benchmark in baseline]
    if not cells:
        raise NotRun(f"no benchmark with runs of {HIDDEN} and {SINGLE}")
    return cells


def _largest(evidence: Evidence, part: Part) -> Part:
    cells = _with_single(evidence)
    gains = [evidence.accuracies(*cell).mean() - evidence.accuracies(cell[0], SINGLE, NO_TEAM).mean() for cell in cells]
    where = int(np.argmax(gains))
    published = evidence.published_overall("best", "gain_over_single")
    numbers = {"measured": float(gains[where]), "published": published, "n": len(cells)}
    named = Part(part.quantity, part.unit, part.test, *cells[where], beside=True)
    return named.judged(bool(gains[where] > 0), reason="the largest of n differences: no test", **numbers)


def _spread_pairs(evidence: Evidence) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return benchmark -> the seeds' accuracies of the main method and team, and of single."""
    team = evidence.role("team")
    cells = [cell for cell in _with_single(evidence) if cell[2] == team]
    if not cells:
        raise NotRun(f"no benchmark with runs of {HIDDEN} with team {team} and of {SINGLE}")
    return {
        cell[0]: (evidence.accuracies(*cell), evidence.accuracies(*single_cell(evidence, cell[0]))) for cell in cells
    }


def _larger_teams(evidence: Evidence, part: Part) -> Part:
    sizes = {team: len(evidence.teams[team]) for _, team in evidence.cells()}
    smallest = min(sizes.values())
    if max(sizes.values()) == smallest:
        raise NotRun(f"all teams in the grid have {smallest} experts")
    both = {
        benchmark
        for benchmark in evidence.seen
        if len({sizes[team] > smallest for other, team in evidence.cells() if other == benchmark}) == 2
    }
    if not both:
        raise NotRun("no benchmark has runs of teams of different sizes")

    def side(larger: bool) -> Sequence[np.ndarray]:
        return [
            evidence.accuracies(benchmark, HIDDEN, team)
            for benchmark, team in evidence.cells()
            if benchmark in both and (sizes[team] > smallest) == larger
        ]

    return more_variable(part, side(True), side(False))


def _fraction(evidence: Evidence, part: Part) -> Part:
    whole = gain_of_main(evidence)
    cells = (evidence.role("gain"), PREFIX, NO_TEAM), single_cell(evidence)
    prefix, single = (evidence.answers(*cell) for cell in cells)
    found = compare(prefix, single, evidence.generator(*cells[0], *cells[1]))
    fraction = found.difference / whole.difference
    numbers = {"measured": fraction, "n_seeds": min(whole.n_seeds, found.n_seeds), "n": found.n}
    reason = f"{PREFIX} is {found.found} against {SINGLE} ({found.difference:.2f} of {whole.difference:.2f} points)"
    named = Part(part.quantity, part.unit, part.test, *cells[0])
    numbers["p_value"], verdict = found.p_value, found.verdict(ABOVE)
    if fraction >= SUBSTANTIAL and verdict == UNDECIDED:
        return named.undecided(f"{reason}; {FEW}", **numbers)
    return named.judged(fraction >= SUBSTANTIAL and verdict == HOLDS, reason=reason, **numbers)


def gain_of_main(evidence: Evidence) -> Comparison:
    """Return hidden_state against single on the gain benchmark.

    Raises NotRun where it is not above, Undecided where a side has one seed.
    """
    cells = main_cell(evidence), single_cell(evidence)
    ours, single = (evidence.answers(*cell) for cell in cells)
    found = compare(ours, single, evidence.generator(*cells[0], *cells[1]))
    if found.found != ABOVE:
        raise NotRun(f"undefined: {HIDDEN} is {found.found} against {SINGLE} on {cells[0][0]}, so there is no gain")
    if found.verdict(ABOVE) == UNDECIDED:
        raise Undecided(f"{HIDDEN} against {SINGLE} on {cells[0][0]}: {FEW}")
    return found


def _best_control(evidence: Evidence) -> Cell:
    """Return the control of higher mean accuracy; raises NotRun unless both have runs."""
    controls = [(evidence.role("gain"), PREFIX, NO_TEAM), single_cell(evidence)]
    return max(controls, key=lambda cell: evidence.accuracies(*cell).mean())
