"""Runs a step and kills it at one moment of its checkpoints: `python dies_at.py CHECKPOINTS half|whole STEP MODULE …`.

The process itself does the killing, before it opens or renames the next file: a test that watches from outside may look
too late.
"""

import os
import runpy
import signal
import sys
from pathlib import Path

LAST_FILE = {"half": "adapter_model.safetensors", "whole": "complete.json"}
checkpoints, moment, step, module = sys.argv[1:5]


def die(event, arguments):
    if event in ("open", "os.rename") and any(Path(checkpoints).glob(f"*/checkpoint-{step}/{LAST_FILE[moment]}")):
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(die)
sys.argv[1:] = sys.argv[5:]
runpy.run_module(module, run_name="__main__", alter_sys=True)
