"""Entry of the rule distill_team."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.digests import with_outputs
from slmcollab.generation.backends import read_members
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.record import TeamFiles, describe_stage
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision.examples import examples
from slmcollab.supervision.training import read_settings, train_members


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    files: TeamFiles,
    demonstrations: Path,
    funnel: Path,
    checkpoints: Path,
    save_every: int,
    job: str,
    adapters: Path,
    training: Path,
    example: Path,
) -> None:
    """Teach every slot its steps of the demonstrations; a killed job goes on from its last checkpoint."""
    seeding.fix_threads((settings := json.loads(cell))["numeric_threads"])
    record = describe_stage(settings, code, seed, files, {"demonstrations": demonstrations, "funnel": funnel})
    shown, learned = read_prompt(files.prompt, actions=settings["actions"]), read_trajectories(demonstrations)
    pairs = examples(learned, artifacts.read_problems(files.problems), shown, settings["slots"])
    members, how = read_members(settings, files.manifests), read_settings(settings, save_every)
    own_seed, folder = seeding.derive(seed, "stage", settings["stage"]), checkpoints / fingerprint(record)
    with one_writer(checkpoints, job):
        slots, text = train_members(members, pairs, how, seed=own_seed, folder=folder, adapters=adapters)
        artifacts.write_text(example, text)
        told = record | {"teacher": artifacts.read_json(funnel), "slots": slots, "stage": settings["stage"]}
        artifacts.write_json(training, with_outputs(told, {"adapters": adapters, "example": example}))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
