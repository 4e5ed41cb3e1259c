"""Entry of the rule answer_with_team."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.answers import answer_rows
from slmcollab.protocol.collaboration import collaboration
from slmcollab.protocol.record import StageJob
from slmcollab.protocol.trajectory import write_trajectories


def main(*, stage: StageJob, calls: Path, trajectories: Path, answers: Path, run: Path) -> None:
    """Let a team answer the test problems, one trajectory each."""
    trained, record = stage.files.read_before(), stage.describe()
    seeding.fix_threads(record["cell"]["numeric_threads"])
    with collaboration(record, stage) as (found, made):
        write_trajectories(trajectories, found)
        write_calls(calls, made)
        artifacts.write_jsonl(answers, answer_rows(found))
        outputs = {"calls": calls, "trajectories": trajectories, "answers": answers}
        artifacts.write_json(run, with_outputs(record | {"before": trained}, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
