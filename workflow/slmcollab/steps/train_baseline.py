"""Entry of the rule train_baseline."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.digests import with_outputs
from slmcollab.generation.calls import write_calls
from slmcollab.marl.job import trained
from slmcollab.marl.loop import summarise
from slmcollab.protocol.record import StageJob


def main(
    *,
    stage: StageJob,
    save_every: int,
    workers: int,
    adapters: Path,
    training: Path,
    history: Path,
    calls: Path,
) -> None:
    """Train a baseline by reinforcement learning; a killed job goes on after its last checkpoint."""
    record = stage.describe()
    settings = record["cell"]
    seeding.fix_threads(settings["numeric_threads"])
    with trained(record, stage, workers=workers, save_every=save_every) as (policies, rows, made):
        policies.write(adapters)
        artifacts.write_csv(history, rows)
        write_calls(calls, made)
        slots = {slot: summarise(rows, slot) for slot in settings["slots"]}
        counts = {"num_prompts": sum(row["num_questions"] for row in rows), "num_rollouts": len(made)}
        outputs = {"adapters": adapters, "calls": calls, "history": history}
        written = {"before": stage.files.read_before(), "stage": settings["stage"], "slots": slots, **counts}
        artifacts.write_json(training, with_outputs(record | written, outputs))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
