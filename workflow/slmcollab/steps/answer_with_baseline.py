"""Entry of the rule answer_with_baseline."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import read_calls, write_calls
from slmcollab.graph.evaluation import SearchFiles, evaluation
from slmcollab.protocol.record import StageJob
from slmcollab.protocol.trajectory import write_trajectories


def main(
    *,
    stage: StageJob,
    found: SearchFiles,
    calls: Path,
    trajectories: Path,
    answers: Path,
    run: Path,
) -> None:
    """Let a baseline answer the test problems, once each; the calls of its search stand before its own."""
    origin = {"before": stage.files.read_before(), "searched": found.read_record()}
    record = stage.describe(found.named())
    seeding.fix_threads(record["cell"]["numeric_threads"])
    searched = [call for path in found.search_calls for call in read_calls(path)]
    with evaluation(record, stage, found) as (said, made, rows):
        write_trajectories(trajectories, said)
        write_calls(calls, [*searched, *made])
        artifacts.write_jsonl(answers, rows)
        outputs = {"calls": calls, "trajectories": trajectories, "answers": answers}
        artifacts.write_json(run, with_outputs(record | origin, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
