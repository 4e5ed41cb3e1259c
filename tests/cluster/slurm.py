"""A real SLURM on this machine: munged, slurmctld and three slurmd with fake GPUs, in a folder of its own."""

import contextlib
import os
import pwd
import re
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue")
SBIN = os.pathsep.join(["/usr/sbin", "/sbin"])  # where Debian has the daemons, not on every user's PATH
# Nodes are as large as the profile's requests need on a third attempt, whatever this machine has: nothing enforces it.
CONF = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=5
MpiDefault=none
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherParams=OverMemoryKill
JobAcctGatherFrequency=task=1
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=0
JobFileAppend=1
EnforcePartLimits=ALL
KillWait=2
CompleteWait=0
MinJobAge=3600
SlurmdTimeout=10
SlurmctldTimeout=10
SlurmdParameters=config_overrides
DefMemPerCPU=500
GresTypes=gpu
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=16 RealMemory=300000 Gres=gpu:1
PartitionName=main Nodes=ALL Default=YES MaxTime=3-0 DefaultTime=10 PriorityTier=10
PartitionName=low Nodes=ALL MaxTime=3-0 DefaultTime=10 PriorityTier=1 PreemptMode=REQUEUE
PartitionName=lowcancel Nodes=ALL MaxTime=3-0 DefaultTime=10 PriorityTier=1 PreemptMode=CANCEL
"""
# A fake GPU is a device that everybody may open.
GRES = "AutoDetect=off\nNodeName={nodes} Name=gpu File=/dev/null\n"
# The plugin's nested srun is started without SLURM_CONF; a real cluster has its file in /etc/slurm.
SRUN = '#!/bin/sh\nSLURM_CONF={conf} exec /usr/bin/srun "$@"\n'


def missing_programs() -> list[str]:
    """Return the programs that a cluster needs and this machine does not have."""
    path = f"{os.environ['PATH']}{os.pathsep}{SBIN}"
    folders = [Path(folder) for folder in path.split(os.pathsep)]
    return [name for name in PROGRAMS if not any((folder / name).is_file() for folder in folders)]


def wait_until(holds: Callable[[], object], what: str, seconds: float = 300.0) -> object:
    """Return what `holds` returns once that is true. Raises TimeoutError naming `what` after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:.0f} s: not {what}")
        time.sleep(0.1)
    return value


class Cluster:
    """A cluster that runs inside a `with` block: three nodes with a GPU each, and nothing outside its folder.

    Partitions: main; low, whose jobs are requeued for those of main; lowcancel, whose jobs are cancelled for them.
    """

    nodes = ("n1", "n2", "n3")
    gpus = 3

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).resolve()
        self.conf = self.folder / "slurm.conf"
        self.daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "Cluster":
        try:
            self._write_files()
            self._start_munged()
            self.start_controller("-c")
            for node in self.nodes:
                self.start_node(node)
            wait_until(lambda: self._node_states() == {"idle"}, f"all nodes idle, see {self.folder}/*.log")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        assert not self.processes(), f"left running: {self.processes()}"

    def environment(self) -> dict[str, str]:
        """Return what a process needs in its environment to use this cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"], SBIN])
        return {"SLURM_CONF": str(self.conf), "PATH": path}

    def run(self, *command: str) -> str:
        """Return what a command prints when it is run on the login node. Raises RuntimeError where it fails."""
        done = subprocess.run(command, env={**os.environ, **self.environment()}, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def jobs(self, **having: str) -> list[dict[str, str]]:
        """Return what SLURM knows of each job, ended ones included, in the words of `scontrol show job`.

        having: only jobs with these values, such as JobState="RUNNING". `Comment` names the rule and its wildcards.
        """
        lines = self.run("scontrol", "show", "job", "--oneliner").splitlines()
        jobs = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines if line.startswith("JobId=")]
        return [job for job in jobs if having.items() <= job.items()]

    def job(self, job_id: str) -> dict[str, str]:
        return next(job for job in self.jobs() if job["JobId"] == job_id)

    def cancel(self, job_id: str) -> None:
        self.run("scancel", job_id)

    def end_time(self, job_id: str) -> None:
        """Let a job's time limit pass now; SLURM notices within 30 s."""
        self.run("scontrol", "update", f"jobid={job_id}", "EndTime=now")

    def block(self, node: str, seconds: int) -> str:
        """Return the id of a job of the partition main that wants a node's GPU for a while: its user gives way."""
        wish = ["--partition=main", f"--nodelist={node}", "--gpus=1", "--mem=100", "--time=60", "--job-name=blocker"]
        return self.run("sbatch", "--parsable", "--output=/dev/null", *wish, f"--wrap=sleep {seconds}").strip()

    def lose_node(self, node: str) -> None:
        """Kill a node's daemon and everything that runs on it, as a power cut does."""
        processes, daemon = self.processes(node), self.daemons.pop(node)
        _signal(processes, signal.SIGSTOP)  # or those that watch others would tell of their deaths
        _signal(processes, signal.SIGKILL)
        daemon.wait()

    def start_node(self, node: str) -> None:
        self._start(node, "slurmd", "-D", "-N", node, SLURMD_NODENAME=node)

    def start_controller(self, *options: str) -> None:
        self._start("slurmctld", "slurmctld", "-D", *options)

    def stop_controller(self) -> None:
        """Stop the controller, as for an upgrade: jobs run on, nobody is answered."""
        self._end("slurmctld")

    def answers(self) -> bool:
        """Return whether the controller is there."""
        try:
            return "UP" in self.run("scontrol", "ping")
        except RuntimeError:
            return False

    def processes(self, node: str | None = None) -> list[int]:
        """Return the processes that belong to this cluster: its daemons, its jobs and what was started to use it.

        node: only what runs there. A process is known by its environment, which its children inherit.
        """
        words = [f"SLURM_CONF={self.conf}", *([f"SLURMD_NODENAME={node}"] if node else [])]
        return [pid for pid, environment in _environments() if all(word in environment for word in words)]

    def stop(self) -> None:
        """End every job and every daemon; safe to call after a start that failed half-way."""
        if "slurmctld" in self.daemons:
            with contextlib.suppress(RuntimeError, TimeoutError):
                self.run("scancel", "--me")
                wait_until(lambda: not self.run("squeue", "--noheader"), "all jobs ended", 60)
        for name in reversed(list(self.daemons)):
            self._end(name)
        with contextlib.suppress(TimeoutError):
            wait_until(self._is_dead, "all processes ended", 60)

    def _write_files(self) -> None:
        for name in ("state", "bin", *(f"spool/{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        port, nodes = _free_ports(1 + len(self.nodes)), ",".join(self.nodes)
        values = {"folder": self.folder, "port": port, "first": port + 1, "last": port + len(self.nodes)}
        names = {"host": socket.gethostname().split(".")[0], "user": _user(), "nodes": nodes}
        self.conf.write_text(CONF.format(**values, **names))
        (self.folder / "gres.conf").write_text(GRES.format(nodes=nodes))
        (self.folder / "cgroup.conf").touch()
        srun = self.folder / "bin/srun"
        srun.write_text(SRUN.format(conf=self.conf))
        srun.chmod(0o755)

    def _start_munged(self) -> None:
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        files = {"key-file": key.name, "socket": "munge.sock", "pid-file": "munged.pid", "seed-file": "munge.seed"}
        options = [f"--{option}={self.folder / name}" for option, name in files.items()]
        self._start("munged", "munged", "--foreground", "--force", *options)
        wait_until((self.folder / "munge.sock").exists, f"answered by munged, see {self.folder}/munged.log")

    def _start(self, name: str, *command: str, **variables: str) -> None:
        environment = {**os.environ, **self.environment(), **variables}
        # A session of its own: Ctrl-C in the terminal of the tests must not come before the jobs are cancelled.
        with (self.folder / f"{name}.log").open("a") as file:
            self.daemons[name] = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )

    def _end(self, name: str) -> None:
        daemon = self.daemons.pop(name)
        daemon.terminate()
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def _is_dead(self) -> bool:
        """Kill what there is, also what was started meanwhile, and return whether nothing was."""
        left = self.processes()
        _signal(left, signal.SIGKILL)
        return not left

    def _node_states(self) -> set[str]:
        if dead := [name for name, daemon in self.daemons.items() if daemon.poll() is not None]:
            raise RuntimeError("\n".join((self.folder / f"{name}.log").read_text() for name in dead))
        try:
            return set(self.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%T").split())
        except RuntimeError:
            return set()


def _environments() -> Iterator[tuple[int, list[str]]]:
    """Yield (process id, environment) of the living processes that may be looked at, this one left out."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            if int(folder.name) != os.getpid() and words != [""]:  # a zombie's is empty
                yield int(folder.name), words


def _signal(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _free_ports(count: int) -> int:
    """Return the first of so many ports in a row that nobody listens on."""
    for first in range(17000 + os.getpid() % 1000 * 10, 60000, 10):
        with contextlib.ExitStack() as sockets, contextlib.suppress(OSError):
            for port in range(first, first + count):
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise RuntimeError("no free ports")


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name
