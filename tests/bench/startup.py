"""CPU seconds from the start of a training job to the end of its first step, at the size of the toy models."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import Figure

ROUNDS = 3


def startup() -> Figure:
    runs = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, folder]
            env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            if done.returncode:
                raise RuntimeError(f"the job failed:\n{done.stderr}")
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    parts = {name: median(run[name] for run in runs) for name in runs[0]}
    total = sum(parts.values())
    note = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items())
    return Figure("startup", total, 12, total, "s", note=note)


def job(folder: Path) -> dict[str, float]:
    """Start as a training job does, on a model in a folder; return the CPU seconds of each part."""
    marks = {}
    from slmcollab.steps import train_grpo  # noqa: F401  everything that a job imports

    marks["imports"] = time.process_time()
    from dataclasses import replace

    import grpo_step

    from slmcollab.models import hub, toy
    from slmcollab.models.toy_tokenizer import build_tokenizer

    tokenizer = build_tokenizer()
    toy.build_model(toy.Architecture("qwen2", 64, 2, 4), tokenizer, seed=0).save_pretrained(folder / "weights")
    tokenizer.save_pretrained(folder / "weights")
    written = time.process_time()
    loaded = grpo_step.condition(
        hub.load_model(folder / "weights", dtype="float32"), hub.load_tokenizer(folder / "weights")
    )
    marks["models"] = time.process_time() - written
    settings = replace(grpo_step.SETTINGS, max_steps=1)
    start = time.process_time()
    trainer = grpo_step.build(loaded, settings, folder / "run")
    marks["trainer"] = time.process_time() - start
    start = time.process_time()
    trainer.train()
    marks["first step"] = time.process_time() - start
    return marks


if __name__ == "__main__":
    print(json.dumps(job(Path(sys.argv[1]))))
