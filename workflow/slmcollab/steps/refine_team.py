"""Entry of the rule refine_team."""

from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.digests import with_outputs
from slmcollab.generation.backends import read_members
from slmcollab.generation.calls import read_calls
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.record import SampledFiles, StageJob
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision.examples import examples
from slmcollab.supervision.files import read_rewards
from slmcollab.supervision.training import read_settings, train_members


def main(
    *,
    stage: StageJob,
    sampled: SampledFiles,
    save_every: int,
    adapters: Path,
    training: Path,
) -> None:
    """Refine every slot with the rewards of the steps that it sampled."""
    record, files = stage.describe(vars(sampled)), stage.files
    seeding.fix_threads((settings := record["cell"])["numeric_threads"])
    origin = {"before": files.read_before(), "stage": settings["stage"], **sampled.read_records(files.start)}
    learned, shown = read_trajectories(sampled.trajectories), read_prompt(files.prompt, actions=settings["actions"])
    read = (learned, artifacts.read_problems(files.problems), shown, settings["slots"])
    pairs = examples(*read, read_rewards(sampled.rewards, learned), read_calls(sampled.calls))
    members, how = read_members(settings, files.manifests, files.start), read_settings(settings, save_every)
    own_seed, folder = seeding.derive(stage.seed, "stage", settings["stage"]), stage.checkpoints / fingerprint(record)
    with one_writer(stage.checkpoints, stage.job):
        slots, _ = train_members(members, pairs, how, seed=own_seed, folder=folder, adapters=adapters, may_idle=True)
        artifacts.write_json(training, with_outputs(record | origin | {"slots": slots}, {"adapters": adapters}))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
