"""What a job used up and ran on, told by the job itself: a look from outside, now and then, misses peaks and ends."""

import json
import os
import platform
import re
import resource
import sys
from pathlib import Path
from typing import Any

MARK, MACHINE = "usage: ", "machine: "
MIB = 2**20
STATUS, PROCESSORS, MEMORY = Path("/proc/self/status"), Path("/proc/cpuinfo"), Path("/proc/meminfo")


def report_usage() -> None:
    """Print `MACHINE` and `describe_machine`, then `MARK` and what this process used from its start to now, as JSON.

    Used: {cpu_s, max_rss_mb, gpu_mb}. cpu_s: seconds of CPU, user and system, without child processes. max_rss_mb: peak
    of host memory, MiB. gpu_mb: peak of what PyTorch had allocated on the fullest GPU, MiB, null where no GPU was used.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"cpu_s": used.ru_utime + used.ru_stime, "max_rss_mb": _max_rss_mb(used), "gpu_mb": _gpu_mb()}
    print(f"{MACHINE}{json.dumps(describe_machine())}", flush=True)
    print(f"{MARK}{json.dumps(found)}", flush=True)


def describe_machine() -> dict[str, Any]:
    """Return {cpu, cpus, memory_mb, gpus, platform, python}: what a job runs on, which no record of a run holds.

    cpu: model, or the architecture where the system names no model; cpus: logical ones of the machine; memory_mb: MiB,
    null where the system does not tell; gpus: names of the GPUs that PyTorch sees, empty where the job used none.
    """
    cpu, memory = _first(PROCESSORS, r"^model name\s*:\s*(.+)$"), _first(MEMORY, r"^MemTotal:\s+(\d+) kB$")
    return {
        "cpu": cpu or platform.machine(),
        "cpus": os.cpu_count(),
        "memory_mb": int(memory) // 1024 if memory else None,
        "gpus": _gpus(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def _first(path: Path, pattern: str) -> str | None:
    found = re.search(pattern, path.read_text("utf-8") if path.exists() else "", re.MULTILINE)
    return found[1].strip() if found else None


def _max_rss_mb(used: resource.struct_rusage) -> float:
    """Return VmHWM: Linux starts ru_maxrss at the peak of the process that started this one, so it may be too high."""
    peak = _first(STATUS, r"^VmHWM:\s+(\d+) kB$")
    return (int(peak) if peak else used.ru_maxrss) / 1024  # both in KiB


def _gpu_mb() -> float | None:
    cuda = _cuda()
    return max(map(cuda.max_memory_allocated, range(cuda.device_count()))) / MIB if cuda else None


def _gpus() -> list[str]:
    cuda = _cuda()
    return [cuda.get_device_name(device) for device in range(cuda.device_count())] if cuda else []


def _cuda() -> Any:
    """Return PyTorch's module of GPUs, None where none was used."""
    torch = sys.modules.get("torch")  # a job that has not loaded it has no GPU memory, and need not pay for loading
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None
