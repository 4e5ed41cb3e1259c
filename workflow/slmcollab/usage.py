"""What a job used up, told by the job itself: a look from outside, now and then, misses peaks and ends."""

import json
import re
import resource
import sys
from pathlib import Path

MARK = "usage: "
MIB = 2**20
STATUS = Path("/proc/self/status")


def report_usage() -> None:
    """Print `MARK` and {cpu_s, max_rss_mb, gpu_mb} of this process from its start to now, as JSON on one line.

    cpu_s: seconds of CPU, user and system, without child processes. max_rss_mb: peak of host memory, MiB. gpu_mb: peak
    of what PyTorch had allocated on the fullest GPU, MiB, null where no GPU was used.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"cpu_s": used.ru_utime + used.ru_stime, "max_rss_mb": _max_rss_mb(used), "gpu_mb": _gpu_mb()}
    print(f"{MARK}{json.dumps(found)}", flush=True)


def _max_rss_mb(used: resource.struct_rusage) -> float:
    """Return VmHWM: Linux starts ru_maxrss at the peak of the process that started this one, so it may be too high."""
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", STATUS.read_text("utf-8") if STATUS.exists() else "", re.MULTILINE)
    return (int(peak[1]) if peak else used.ru_maxrss) / 1024  # both in KiB


def _gpu_mb() -> float | None:
    torch = sys.modules.get("torch")  # a job that has not loaded it has no GPU memory, and need not pay for loading
    if torch is None or not torch.cuda.is_initialized():
        return None
    return max(torch.cuda.max_memory_allocated(device) for device in range(torch.cuda.device_count())) / MIB
