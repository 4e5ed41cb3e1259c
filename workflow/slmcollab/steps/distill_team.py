"""Entry of the rule distill_team."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.digests import with_outputs
from slmcollab.generation.backends import read_members
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.record import StageJob
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision.examples import examples
from slmcollab.supervision.training import read_settings, train_members


def main(
    *,
    stage: StageJob,
    demonstrations: Path,
    funnel: Path,
    save_every: int,
    adapters: Path,
    training: Path,
    example: Path,
) -> None:
    """Teach every slot its steps of the demonstrations; a killed job goes on from its last checkpoint."""
    record, files = stage.describe({"demonstrations": demonstrations, "funnel": funnel}), stage.files
    seeding.fix_threads((settings := record["cell"])["numeric_threads"])
    shown, learned = read_prompt(files.prompt, actions=settings["actions"]), read_trajectories(demonstrations)
    pairs = examples(learned, artifacts.read_problems(files.problems), shown, settings["slots"])
    members, how = read_members(settings, files.manifests), read_settings(settings, save_every)
    own_seed, folder = seeding.derive(stage.seed, "stage", settings["stage"]), stage.checkpoints / fingerprint(record)
    with one_writer(stage.checkpoints, stage.job):
        slots, text = train_members(members, pairs, how, seed=own_seed, folder=folder, adapters=adapters)
        artifacts.write_text(example, text)
        told = record | {"teacher": artifacts.read_json(funnel), "slots": slots, "stage": settings["stage"]}
        artifacts.write_json(training, with_outputs(told, {"adapters": adapters, "example": example}))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
