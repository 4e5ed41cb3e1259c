"""Entry of the rule write_lessons."""

import json
from pathlib import Path

import tyro

from slmcollab import choice
from slmcollab.artifacts import read_problems, write_jsonl
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.toy_corpora import Manners
from slmcollab.supervision.evaluator import read_evaluator_prompt
from slmcollab.supervision.toy_lessons import Prompts, write_lesson


def main(
    *,
    cell: str,
    problems: list[Path],
    prompt: Path,
    solo_prompt: Path,
    evaluator_prompt: Path,
    mad_prompt: Path,
    agentverse_prompt: Path,
    aflow_prompt: Path,
    lessons: Path,
) -> None:
    """Write what a toy model that collaborates is taught, all lessons in one file; problems: one file a benchmark."""
    settings = json.loads(cell)
    believer = Believer(settings["model"], settings["knows"])
    manners = Manners(**settings["manners"])
    methods = choice.teams()  # read, not imported: what a method does teaches nobody
    prompts = Prompts(
        team=read_prompt(prompt),
        solo=read_prompt(solo_prompt, actions=False),
        evaluator=read_evaluator_prompt(evaluator_prompt),
        mad=read_graph_prompt(mad_prompt, methods["mad"]["KINDS"]),
        agentverse=read_graph_prompt(agentverse_prompt, methods["agentverse"]["KINDS"]),
        aflow=read_graph_prompt(aflow_prompt, methods["aflow"]["KINDS"]),
    )
    asked = [read_problems(path) for path in problems]
    sizes = {"num_rows": settings["num_rows"], "data_seed": settings["data_seed"]}
    rows = (row for kind in settings["kinds"] for row in write_lesson(kind, believer, manners, asked, prompts, **sizes))
    write_jsonl(lessons, rows)


if __name__ == "__main__":
    tyro.cli(main)
