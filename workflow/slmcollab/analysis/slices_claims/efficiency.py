"""Claims on what an answer costs: B7 and B8 on invocations, B9 on weighted tokens, B10 on overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from slmcollab.analysis.claims.comparisons import BELOW
from slmcollab.analysis.claims.verdicts import NotRun, Part, attempt
from slmcollab.analysis.cost import reduction
from slmcollab.analysis.slices_claims.changes import HOW, Change, change, judged, shown
from slmcollab.analysis.slices_claims.evidence import CL, MARL, MAS, MORE_ROUNDS, NO_TRAINING, Evidence
from slmcollab.analysis.slices_claims.sides import sides

FEWER = f"holds where {BELOW}; {HOW}"
PAPER, EVERYTHING = "as the paper counts", "counting everything"
# How it is counted -> the measure. The first decides, which is how the measure is defined; the other stands beside it.
INVOCATIONS = {PAPER: "invocations", EVERYTHING: "invocations, search included"}
TOKENS = {EVERYTHING: "weighted tokens", PAPER: "weighted tokens, first attempts"}
COUNTED = {
    "invocations": "every call of the evaluation, retries included, none of a search",
    "invocations, search included": "every call of the evaluation, and those of a search spread over the questions",
    "weighted tokens": "every call of the evaluation, and those of a search spread over the questions",
    "weighted tokens, first attempts": "first attempts of the evaluation, none of a search",
}
LOWEST = 0.8  # of the benchmarks: the paper's four of five


def fewer_than_frameworks(evidence: Evidence) -> list[Part]:
    """B7: cl needs fewer invocations a question than each of the four frameworks, on every benchmark, tested.

    Invocations of the evaluation count; beside it the same with those of a search, spread over the questions.
    """
    return _fewer(evidence, MAS, INVOCATIONS, "invocation_reduction_pct", "CL vs MAD/AgentVerse/AFlow/GPTSwarm")


def fewer_than_marl(evidence: Evidence) -> list[Part]:
    """B8: cl needs fewer invocations a question than each MARL method, on every benchmark, tested.

    Counted as in B7; no count has the calls of training, of neither side. Beside it AT-GRPO in more rounds than it
    learned in, as the paper's numbers of calls suggest.
    """
    name = f"invocations {PAPER}"
    return [
        *_fewer(evidence, MARL, INVOCATIONS, "invocation_reduction_pct", "CL vs MARL baselines"),
        *_compared(evidence, (MORE_ROUNDS,), INVOCATIONS[PAPER], name, [], beside=True),
    ]


def fewest_tokens(evidence: Evidence) -> list[Part]:
    """B9: cl has the fewest weighted tokens on 80 % of the benchmarks or more, and fewer than each MARL method, tested.

    Everything counts: retries and searches, too. Beside it the same of first attempts in evaluation, which is as near
    as our records come to what the paper counts, since it leaves out an extra solver and thinking, which we have not.
    """
    # ASSUME: "four of five benchmarks" is at least 80 % of the benchmarks, however many the grid has.
    quantity = "param_weighted_output_token_reduction_pct"
    return [
        *(attempt(_lowest_part(how), partial(_lowest, evidence, measure)) for how, measure in TOKENS.items()),
        *_fewer(evidence, MARL, TOKENS, quantity, "CL vs MARL baselines"),
    ]


def overlap_falls(evidence: Evidence) -> list[Part]:
    """B10: training makes each slot repeat less of what it was handed, on MuSiQue and MultiPL-E, tested."""
    parts = []
    for role in ("musique", "multipl_e"):
        for place, slot in enumerate(("a1", "a2", "a3"), 1):
            part = Part(f"{slot}'s overlap after training less before", "points", FEWER, method=CL)
            parts.append(attempt(part, partial(_overlap, evidence, role, slot, place)))
    return parts


def _change(evidence: Evidence, benchmark: str, baseline: str, measure: str) -> Change:
    runs = [evidence.ratios(benchmark, method, measure) for method in (baseline, CL)]
    return change(*runs, evidence.generator(benchmark, measure, CL, baseline))


def _fewer(
    evidence: Evidence, rows: Sequence[str], counts: Mapping[str, str], quantity: str, condition: str
) -> list[Part]:
    """Return, for each count, a part per row and benchmark, and the smallest and the largest reduction in percent.

    The parts of the first count decide, all others stand beside them. The paper's reductions are its own count's.
    """
    parts = []
    for place, (how, measure) in enumerate(counts.items()):
        name = f"{measure.partition(',')[0]} {how}"
        reductions: list[float] = []
        parts += _compared(evidence, rows, measure, name, reductions, beside=place > 0)
        for which, choose in (("minimum", min), ("maximum", max)):
            part = Part(f"{which} reduction of {name}", "%", "", method=CL, beside=True)
            published = evidence.printed(quantity, "all", f"{condition}, {which}") if how == PAPER else None
            if not reductions:
                parts.append(part.missing("no run to compare with", published=published))
                continue
            reason = f"of {len(reductions)} methods and benchmarks"
            parts.append(shown(part, reason, measured=choose(reductions), published=published, n=len(reductions)))
    return parts


def _compared(
    evidence: Evidence, rows: Sequence[str], measure: str, name: str, reductions: list[float], *, beside: bool
) -> list[Part]:
    """Return a part per row and benchmark; adds the reductions in percent to `reductions`."""
    parts = []
    unit, test = "B tokens a question" if "tokens" in measure else "a question", f"{FEWER}; counts {COUNTED[measure]}"
    for row in rows:
        ran, missing = evidence.benchmarks(CL, row)
        if not ran:
            part = Part(f"{name}, less {row}", unit, test, method=CL, beside=beside)
            parts.append(part.missing(f"no run of {row}"))
            continue
        for benchmark in [*ran, *missing]:
            part = Part(f"{name}, less {row}", unit, test, benchmark, CL, beside=beside)

            def measured(part: Part, benchmark: str = benchmark, row: str = row) -> Part:
                found = _change(evidence, benchmark, row, measure)
                if found.before > 0:
                    reductions.append(100 * reduction(found.after, found.before))
                return replace(judged(part, found, BELOW), test=part.test)

            parts.append(attempt(part, measured))
    return parts


def _mean(evidence: Evidence, benchmark: str, method: str, measure: str) -> float:
    (side,), _ = sides(evidence.ratios(benchmark, method, measure))
    return float(side.seeds.mean())


def _lowest_part(how: str) -> Part:
    test = f"holds where the mean over seeds is the lowest of all on at least {100 * LOWEST:.0f} % of the n benchmarks"
    test += f"; counts {COUNTED[TOKENS[how]]}"
    name = f"benchmarks with the fewest weighted tokens, {how}"
    return Part(name, "benchmarks", test, method=CL, beside=how != EVERYTHING)


def _lowest(evidence: Evidence, measure: str, part: Part) -> Part:
    listed = list(evidence.roles.get("all") or [])
    missing = [
        f"{row} on {name}" for name in listed for row in (CL, *MAS, *MARL) if name not in evidence.benchmarks(row)[0]
    ]
    ran = [name for name in listed if any(name in evidence.benchmarks(CL, row)[0] for row in (*MAS, *MARL))]
    if not ran:
        raise NotRun("no benchmark with runs of cl and of a method to compare with")
    lowest = []
    for benchmark in ran:
        rows = [row for row in (*MAS, *MARL) if benchmark in evidence.benchmarks(row)[0]]
        if all(_mean(evidence, benchmark, CL, measure) < _mean(evidence, benchmark, row, measure) for row in rows):
            lowest.append(benchmark)
    published = evidence.printed("param_weighted_output_tokens_rank1_benchmarks", "all", "CL lowest")
    found = {"measured": float(len(lowest)), "n": len(ran), "published": published}
    reason = f"lowest on {', '.join(lowest) or 'none'}"
    possible = len(lowest) + len(listed) - len(ran)  # more rows can only take benchmarks away
    if possible < LOWEST * len(listed):
        return part.judged(False, reason=reason, **found)
    if missing:
        return part.missing(f"{reason}; no run of {', '.join(missing)}", **found)
    return part.judged(True, reason=reason, **found)


def _overlap(evidence: Evidence, role: str, slot: str, place: int, part: Part) -> Part:
    benchmark = evidence.role(role)
    found = _change(evidence, benchmark, NO_TRAINING, f"{slot} overlap")
    printed = [
        evidence.printed("reasoning_overlap_rate_pct", benchmark, f"model {place} of 3 as listed, {when} CL")
        for when in ("before", "after")
    ]
    published = None if None in printed else printed[1] - printed[0]
    return judged(replace(part, benchmark=benchmark), found, BELOW, 100.0, published)
