"""Runs on a compute node: looks at what the workflow's jobs will need there.

`python -m cluster.probe FOLDER` reads FOLDER/token and FOLDER/sandboxes.json, and writes FOLDER/answer.json.
"""

import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def answer(folder: Path) -> dict[str, object]:
    """Return what is seen from here: token, time, GPUs, who may lock a file, sandboxes, missing toolchains."""
    return {
        "token": (folder / "token").read_text("utf-8"),
        "host": platform.node(),
        "time": time.time(),
        "gpus": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
        "lock": lock(folder / "lock"),
        "sandboxes": [sandbox(options) for options in json.loads((folder / "sandboxes.json").read_text("utf-8"))],
        "apptainer": shutil.which("apptainer") or shutil.which("singularity") or "",
        "toolchains": toolchains(),
    }


def lock(file: Path) -> str:
    """Return "held elsewhere" where another process holds the lock, "free" where none does, else what went wrong."""
    with file.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held elsewhere"
        except OSError as error:
            return str(error)
    return "free"


def sandbox(options: dict[str, object]) -> dict[str, object]:
    """Return the kind of sandbox that works here with a scorer's options, or why none does, and the image they name."""
    from slmcollab.scoring.code.sandbox import SandboxError, choose

    image = {"image": options.get("image")}
    try:
        return {**image, "kind": choose(**options).kind}
    except (SandboxError, OSError) as error:
        return {**image, "error": str(error)}


def toolchains() -> list[str]:
    """Return what MultiPL-E's programs need and is not on this machine, conda environments aside."""
    command = ["bash", str(CHECKOUT / "envs/install-toolchains.sh"), "--check"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line.removeprefix("missing: ") for line in said]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "answer.new").write_text(json.dumps(answer(place)), "utf-8")
    (place / "answer.new").replace(place / "answer.json")
