"""Reads what `scontrol show` prints of a cluster's configuration, partitions and nodes."""

import math
import re
from collections import Counter

UNLIMITED = ("UNLIMITED", "INFINITE", "NONE", "N/A", "(null)")


def config(text: str) -> dict[str, str]:
    """Return the settings in the output of `scontrol show config`."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, _, value in lines}


def records(text: str) -> list[dict[str, str]]:
    """Return one dict per line of `scontrol show partition|node --oneliner`."""
    fields = re.compile(r"(\S+?)=(.*?)(?=\s+[A-Za-z_:/]+=|\s*$)")
    return [dict(fields.findall(line)) for line in text.splitlines() if "=" in line]


def minutes(time: str) -> float:
    """Return the minutes of days-hours:minutes:seconds, hours:minutes:seconds or minutes; infinity for no limit."""
    if time in UNLIMITED:
        return math.inf
    days, _, rest = time.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if days:
        hours, mins, secs = [*parts, 0, 0][:3]
    elif len(parts) == 3:
        hours, mins, secs = parts
    else:
        hours, (mins, secs) = 0, [*parts, 0][:2]
    return int(days or 0) * 1440 + hours * 60 + mins + secs / 60


def megabytes(amount: str) -> float:
    """Return the number of megabytes of a memory limit; infinity for no limit."""
    return math.inf if amount in UNLIMITED else float(amount)


def seconds(time: str) -> int:
    """Return the seconds in a setting such as "300 sec"."""
    return int(time.split()[0])


def gpus(gres: str) -> Counter[str]:
    """Return how many GPUs of each model a node has, from its Gres; "" is a model that has no name.

    "gpu:a100:4(S:0-1),gpu:2,lustre:1" has four of a100 and two without a name.
    """
    found: Counter[str] = Counter()
    for item in re.sub(r"\([^)]*\)", "", gres).split(","):
        kind, *rest = item.split(":")
        if kind == "gpu":
            count = int(rest.pop()) if rest and rest[-1].isdigit() else 1
            found[rest[0] if rest else ""] += count
    return found
