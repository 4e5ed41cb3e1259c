"""Score what an expert answers by itself."""

import json
from pathlib import Path
from statistics import fmean

import tyro

from slmcollab.artifacts import read_problems, write_json
from slmcollab.digests import digests
from slmcollab.experts.answers import read_answers
from slmcollab.scoring.bare import grade_both
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.summary import summarise_scores


def main(*, cell: str, answers: Path, problems: Path, train_problems: Path, scores: Path) -> None:
    """Grade an expert's answers to a split by the benchmark's rule, under which an answer without tags is none.

    metrics.accuracy_bare, beside the others: where there are no tags, all that was said is the answer.
    shares.prompt_cut: of problems of which the expert read only the end.
    """
    settings, split = json.loads(cell), read_problems(problems)
    rows = read_answers(answers, split)
    trained = {problem.question for problem in read_problems(train_problems)}
    with Grader(settings["scorer"], settings["time_limit_s"]) as grader:
        graded, forgiving = grade_both(grader, [row["completion"] for row in rows], split)
    summary = summarise_scores(split, graded, cut=[row["cut"] for row in rows], trained=trained)
    del summary["problems"]
    summary["shares"]["prompt_cut"] = fmean(row["prompt_cut"] for row in rows)
    summary["metrics"]["accuracy_bare"] = 100 * fmean(score.correct for score in forgiving)
    named = {key: settings[key] for key in ("benchmark", "expert", "split")}
    write_json(scores, {**named, **summary, **digests(answers, problems, train_problems)})


if __name__ == "__main__":
    tyro.cli(main)
