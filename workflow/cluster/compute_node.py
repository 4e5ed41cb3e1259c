"""Submits the probe to the partition that jobs will go to, and judges what it answers."""

import contextlib
import fcntl
import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cluster.fitness import FAIL, OK, WARN, Finding
from cluster.needs import Place

CLOCK_S = 2  # Snakemake compares times of files that different nodes wrote
WITHIN_S = 300
JOB = "job on a node"
NO_GPU = ("", "NoDevFiles")  # what SLURM sets where it has no device to hand out


def check(
    checkout: Path, run: Path, place: Place, sandboxes: Sequence[Mapping], within_s: float = WITHIN_S
) -> list[Finding]:
    """Return how a compute node sees the shared folder, its clock, sandboxes and toolchains.

    run: the folder that the workflow runs in; it and the checkout have to lie where compute nodes see them. sandboxes:
    a scorer's options each; without any, sandboxes and toolchains are not looked at.
    """
    folder = run / ".snakemake" / f"probe-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    token = secrets.token_hex(16)
    (folder / "token").write_text(token, "utf-8")
    (folder / "sandboxes.json").write_text(json.dumps(sandboxes), "utf-8")
    try:
        with _locked(folder / "lock"):
            failure = _submit(checkout, run, folder, place, within_s)
        if failure:
            return [failure]
        answer = json.loads((folder / "answer.json").read_text("utf-8"))
        return judge(answer, token, time.time(), gpu=bool(place.models))
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as stream:
        with contextlib.suppress(OSError):  # a file system without locks: the probe says so
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _submit(checkout: Path, run: Path, folder: Path, place: Place, within_s: float) -> Finding | None:
    """Return once the probe has ended; what was in its way, None for nothing."""
    flags = {"partition": place.partition, "account": place.account}
    options = [f"--{flag}={value}" for flag, value in flags.items() if value]
    options += [f"--gpus={model}:1" if model else "--gpus=1" for model in sorted(place.models)[:1]]
    words = [sys.executable, "-m", "cluster.probe", str(folder)]
    command = ["sbatch", "--wait", "--parsable", "--time=5", "--mem=1000", *options]
    command += [f"--output={folder}/log", f"--chdir={run}", f"--wrap={shlex.join(words)}"]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "workflow")}
    sbatch = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        number, errors = sbatch.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        sbatch.kill()
        return _give_up(sbatch.communicate()[0], within_s)
    if not number.strip():
        return Finding(JOB, FAIL, errors.strip()[-300:], "what sbatch refuses here it refuses the workflow too")
    end = time.monotonic() + 60  # an NFS client may learn late of a new file
    while not (folder / "answer.json").is_file() and sbatch.returncode == 0 and time.monotonic() < end:
        time.sleep(1)
    if (folder / "answer.json").is_file():
        return None
    log = folder / "log"
    said = log.read_text("utf-8").strip()[-300:] if log.is_file() else "no output came back"
    todo = f"put the checkout ({checkout}) and its .venv on a file system that compute nodes share"
    return Finding("shared folder", FAIL, said or "no answer came back", todo)


def _give_up(said: str, within_s: float) -> Finding:
    """Cancel the probe that has not ended; said: what --parsable printed, number[;cluster], "" where sbatch hangs."""
    number, _, cluster = said.strip().partition(";")
    if number:
        subprocess.run(["scancel", *([f"--clusters={cluster}"] if cluster else []), number], check=False)
    found = f"job {number} had not ended" if number else "sbatch had not answered"
    return Finding(JOB, WARN, f"{found} after {within_s:.0f} s", "nothing is known of nodes: try again")


def judge(answer: Mapping[str, object], token: str, now: float, *, gpu: bool = True) -> list[Finding]:
    """Return the findings in the probe's answer.

    token: what it should have read; now: the time when it was back; gpu: whether it had asked for one.
    """
    host, what = answer["host"], "shared folder"
    if answer["token"] == token:
        shared = Finding(what, OK, f"{host} reads and writes it")
    else:
        shared = Finding(
            what, FAIL, f"{host} reads old contents", "a shared file system with close-to-open consistency"
        )
    lock, todo = answer["lock"], "two jobs could train into one folder: a file system with flock (NFS: not nolock)"
    held = lock == "held elsewhere"
    locks = Finding(
        "file locks", OK if held else FAIL, "seen across nodes" if held else str(lock), "" if held else todo
    )
    ahead = float(answer["time"]) - now
    clock = Finding("clocks", OK, f"within {CLOCK_S} s")
    if ahead > CLOCK_S or ahead < -60:  # the answer is a while under way
        clock = Finding("clocks", WARN, f"{host} is {ahead:+.0f} s off", "files look older or newer than they are: NTP")
    seen = [_gpus(answer)] if gpu else []
    boxes = [_sandbox(box, host, answer["apptainer"]) for box in answer["sandboxes"]]
    return [shared, locks, clock, *seen, *boxes, *([_toolchains(answer)] if boxes else [])]


def _gpus(answer: Mapping[str, object]) -> Finding:
    host = answer["host"]
    if answer["gpus"] in NO_GPU:
        todo = "CUDA_VISIBLE_DEVICES is empty: gres.conf on the node has to name its devices (File=, AutoDetect=)"
        return Finding("GPUs", WARN, f"no GPU visible in the job on {host}", todo)
    return Finding("GPUs", OK, f"visible in a job on {host}")


def _sandbox(box: Mapping[str, str | None], host: str, apptainer: str) -> Finding:
    """Return the finding on one sandbox of the answer; apptainer: where that program is, "" for nowhere."""
    what, image = "sandbox", box["image"]
    if "error" in box:
        todo = "bubblewrap, or apptainer with an image: answers that are programs run in it"
        return Finding(what, FAIL, str(box["error"])[:300], todo)
    kind = box["kind"]
    if image is None:
        return Finding(what, OK, f"{kind} on {host}")
    if kind == "apptainer":
        return Finding(what, OK, f"apptainer on {host}, with {image}")
    if kind == "bubblewrap":
        return Finding(what, OK, f"bubblewrap on {host}, which comes before the image {image}")
    found = f"{kind} on {host}, not the image {image}"
    if apptainer:
        return Finding(what, WARN, found, f"`{apptainer} exec {image} /bin/sh` on {host} says why")
    return Finding(what, WARN, f"{found}: no apptainer there", f"put apptainer on PATH on {host}, or drop `image:`")


def _toolchains(answer: Mapping[str, object]) -> Finding:
    what, host, missing = "toolchains", answer["host"], answer["toolchains"]
    kinds = {box.get("kind") for box in answer["sandboxes"]}
    if kinds == {"apptainer"}:
        return Finding(what, OK, "the image's own, not looked at")
    if not missing:
        return Finding(what, OK, f"on {host}")
    todo = "with --sdm conda, envs/code.yaml brings them; else envs/install-toolchains.sh"
    return Finding(what, WARN, f"not on {host}: {', '.join(missing)}", todo)
