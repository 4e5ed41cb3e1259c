"""Commands without a network: in a namespace of their own that has no route, where attempts to find one are counted."""

import re
import subprocess
from pathlib import Path

# The kernel's counters are those of the namespace, and gone with it. SLURM's scontrol, which Snakemake's plugin asks on
# import, would look up its controller's name.
COUNTED = """PATH=$(dirname "$0")/no_slurm:$PATH
"$@"; code=$?; cat /proc/net/snmp /proc/net/snmp6 >"$0" 2>/dev/null; exit $code"""
REASON = "unshare -n is not permitted"


def permitted() -> bool:
    """Return whether this user may start a command in a network namespace of its own."""
    return subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0


def without_network(command: list[str], counters: Path) -> list[str]:
    """Return the command that runs another one without a network and writes what the kernel counted."""
    stub = counters.with_name("no_slurm") / "scontrol"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    return ["unshare", "-n", "sh", "-c", COUNTED, str(counters), *command]


def attempts(counters: Path) -> int:
    """Return how often something was to be sent that no route leads to."""
    text = counters.read_text()
    names, values = (line.split()[1:] for line in re.findall(r"^Ip: .*$", text, re.MULTILINE))
    v6 = re.search(r"^Ip6OutNoRoutes\s+(\d+)$", text, re.MULTILINE)
    return int(dict(zip(names, values, strict=True))["OutNoRoutes"]) + (int(v6[1]) if v6 else 0)
