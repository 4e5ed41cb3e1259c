"""Entry of the rule score_steps."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.checkpoints import one_writer
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.record import describe_light
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision import step_scoring
from slmcollab.supervision.evaluator import read_evaluator_prompt
from slmcollab.supervision.files import write_step_scores


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    evaluator: list[Path],
    trajectories: Path,
    problems: Path,
    prompt: Path,
    checkpoints: Path,
    job: str,
    scores: Path,
    calls: Path,
    evaluation: Path,
) -> None:
    """Let the evaluator read whole trajectories and score their steps."""
    seeding.fix_threads((settings := json.loads(cell))["numeric_threads"])
    read = {"trajectories": trajectories, "problems": problems, "prompt": prompt}
    record = describe_light(settings, code, read | dict(zip(("manifest",), evaluator, strict=False)), seed)
    sources = (read_trajectories(trajectories), artifacts.read_problems(problems), read_evaluator_prompt(prompt))
    with one_writer(checkpoints, job):
        found = step_scoring.score_steps(record, *sources, manifests=evaluator, checkpoints=checkpoints)
        write_step_scores(scores, found.scores)
        write_calls(calls, found.calls)
        made = with_outputs(record, {"step_scores": scores, "evaluator_calls": calls})
        artifacts.write_json(evaluation, found.evaluation | {"record": made})
    print(json.dumps(found.evaluation, sort_keys=True))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
