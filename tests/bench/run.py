"""Prints speed figures, all of them or those named; with --check, fails where one is worse than its bound by over 15 %.

Figures are medians of CPU time at one thread; ours and the peer take turns in one process.
"""

import argparse
import importlib
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "workflow"))
from measure import HEADER, Figure

FIGURES = {
    "grpo_step_fp32": "grpo_step",
    "grpo_step_bf16": "grpo_step",
    "features_one": "features",
    "features_five": "features",
    "expert_answers": "answers",
    "startup": "startup",
    "engine_trajectories": "engine",
    "mad_questions": "baselines",
    "at_grpo_trees": "baselines",
    "math_grading": "math_grading",
    "code_scoring": "code_scoring",
    "plan_grid": "planning",
    "nothing_to_do": "planning",
}


def main(arguments: list[str]) -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="figure", help=f"one of {', '.join(FIGURES)}; all if none is named")
    parser.add_argument(
        "--check", action="store_true", help="exit 1 where a figure is worse than its bound by over 15 %%"
    )
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(FIGURES)
    if unknown:
        parser.error(f"no figure {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}")
    torch.set_num_threads(1)
    print(HEADER)
    worse = False
    for name in options.names or FIGURES:
        figure = getattr(importlib.import_module(FIGURES[name]), name)()
        print(figure, flush=True)
        worse |= isinstance(figure, Figure) and not figure.holds
    return 1 if worse and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
