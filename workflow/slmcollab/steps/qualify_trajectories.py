"""Entry of the rule qualify_trajectories."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, read_problems, write_json
from slmcollab.digests import with_outputs
from slmcollab.protocol.record import describe_light
from slmcollab.protocol.trajectory import read_trajectories, write_trajectories
from slmcollab.supervision.grading import grade_trajectories
from slmcollab.supervision.qualify import demonstrations as permuted
from slmcollab.supervision.qualify import qualify


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    workers: int,
    trajectories: Path,
    run: Path,
    problems: Path,
    demonstrations: Path,
    funnel: Path,
) -> None:
    """Keep the teacher's trajectories that qualify, and permute the slots of each; run: how they were sampled."""
    settings, found, sampling = json.loads(cell), read_trajectories(trajectories), read_json(run, "outputs")
    if sampling["outputs"]["trajectories"] != digest(trajectories):
        raise ArtifactError(f"{trajectories}: not what {run} records: sample again")
    scores = grade_trajectories(found, read_problems(problems), settings, workers)
    kept, counts = qualify(found, scores, settings["threshold"])
    if not kept:
        why = f"threshold {settings['threshold']} (benchmarks: slices: threshold)"
        raise ValueError(f"{trajectories}: none of the teacher's trajectories qualifies at {why}: {counts}")
    write_trajectories(demonstrations, permuted(kept, settings["slots"], seed))
    record = describe_light(settings, code, {"trajectories": trajectories, "run": run, "problems": problems}, seed)
    told = with_outputs(record | {"sampling": sampling}, {"demonstrations": demonstrations})
    write_json(funnel, counts | {"record": told})


if __name__ == "__main__":
    tyro.cli(main)
