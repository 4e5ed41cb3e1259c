"""Is a cluster fit for the workflow? Pure functions over what SLURM says of itself and what the rules ask for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cluster import scontrol
from cluster.needs import Need

OK, WARN, FAIL = "ok", "warn", "FAIL"
SET_PARTITION = "set SLMCOLLAB_PARTITION (slurm_partition in your profile)"
UNUSABLE = ("DOWN", "DRAIN", "FAIL", "INVAL", "UNKNOWN", "FUTURE", "NOT_RESPONDING")


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, how it stands (OK, WARN or FAIL), what was found, what to do about it."""

    what: str
    state: str
    found: str
    todo: str = ""


def is_set(config: Mapping[str, str], name: str) -> bool:
    """Return whether SLURM has a plugin of this kind: older releases say `kind/none` where newer ones say (null)."""
    value = config.get(name, "")
    return value not in ("", "(null)") and not value.endswith("/none")


def status(config: Mapping[str, str], profile: Mapping[str, object]) -> Finding:
    """Return whether Snakemake will learn how its jobs end."""
    accounting, has_accounting = config.get("AccountingStorageType", ""), is_set(config, "AccountingStorageType")
    command = profile.get("slurm-status-command", "sacct")
    what = "job states"
    if command != "squeue":
        if has_accounting:
            return Finding(what, OK, f"sacct, {accounting}")
        return Finding(what, FAIL, "sacct without accounting", "slurm-status-command: squeue in the profile")
    age = scontrol.seconds(config["MinJobAge"])
    needed = 3 * int(profile.get("slurm-init-seconds-before-status-checks", 40))
    found = f"squeue, MinJobAge {age} s, {accounting}"
    if age >= needed:
        return Finding(what, OK, found)
    seconds = f"slurm-init-seconds-before-status-checks: {age // 3} in the profile, or MinJobAge={needed} in slurm.conf"
    if has_accounting:
        return Finding(what, WARN, found, f"below {needed} s the plugin asks sacct instead; {seconds}")
    return Finding(what, FAIL, found, f"jobs are forgotten before Snakemake asks: {seconds}")


def account(config: Mapping[str, str], name: str, programs: Mapping[str, str | None]) -> Finding:
    """Return whether jobs can be submitted under the account of this name, "" for none."""
    if not name:
        strict = "associations" in config.get("AccountingStorageEnforce", "")
        todo = "the plugin guesses one from your last job; set SLMCOLLAB_ACCOUNT" if strict else ""
        return Finding("account", WARN if strict else OK, "none named", todo)
    missing = [program for program in ("sacctmgr", "sshare") if not programs.get(program)]
    if not is_set(config, "AccountingStorageType") or missing:
        why = f"no {', '.join(missing)}" if missing else "this cluster has no accounts"
        return Finding("account", FAIL, f"{name}, but {why}", "unset SLMCOLLAB_ACCOUNT (slurm_account in your profile)")
    return Finding("account", OK, name)


def partition(partitions: Iterable[Mapping[str, str]], name: str) -> tuple[Mapping[str, str] | None, Finding]:
    """Return the partition of this name ("": the default one), None where it is not there, and what is to say of it."""
    known = {each["PartitionName"]: each for each in partitions}
    default = next((key for key, each in known.items() if each.get("Default") == "YES"), "")
    chosen = known.get(name or default)
    names = ", ".join(known)
    if chosen is None:
        found = f"{name} is not one of {names}" if name else f"no default one among {names}"
        return None, Finding("partition", FAIL, found, f"{SET_PARTITION} to one of them")
    state, size, limit = (chosen.get(key, "?") for key in ("State", "TotalNodes", "MaxTime"))
    label = f"{name or default}: {state}, {size} nodes, MaxTime {limit}"
    if state != "UP":
        return chosen, Finding("partition", FAIL, label, f"{SET_PARTITION} to another of {names}")
    return chosen, Finding("partition", OK, label)


def preemption(config: Mapping[str, str], chosen: Mapping[str, str]) -> Finding:
    """Return what becomes of a job of the partition that has to give way to another."""
    mode = chosen.get("PreemptMode", config.get("PreemptMode", "OFF"))
    if not is_set(config, "PreemptType") or mode == "OFF":
        return Finding("preemption", OK, "none")
    if "REQUEUE" in mode:
        return Finding("preemption", OK, f"{mode}: a job is queued again and goes on from its checkpoint")
    if "CANCEL" in mode:
        todo = "a preempted job uses up one of the profile's retries; raise `retries:`, or take another partition"
        return Finding("preemption", WARN, mode, todo)
    return Finding("preemption", WARN, mode, "a suspended job keeps its time limit; take another partition if it can")


def enforcement(config: Mapping[str, str]) -> Finding:
    """Return whether a job that can never start is refused."""
    mode = config.get("EnforcePartLimits", "NO")
    if mode == "NO":
        return Finding("limits", WARN, "EnforcePartLimits=NO", "a job beyond a limit waits for ever; `squeue` says why")
    return Finding("limits", OK, f"EnforcePartLimits={mode}")


def nodes_of(nodes: Iterable[Mapping[str, str]], chosen: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Return the nodes of a partition that can be used; one that saves power can: SLURM starts it for a job."""
    return [
        node
        for node in nodes
        if chosen["PartitionName"] in node.get("Partitions", "").split(",")
        and not any(word.startswith(UNUSABLE) for word in node.get("State", "").split("+"))
    ]


def gpus(nodes: Iterable[Mapping[str, str]], model: str) -> Finding:
    """Return whether there are GPUs, of the model that the site's settings name ("": any)."""
    counts: Counter[str] = Counter()
    for node in nodes:
        counts += scontrol.gpus(node.get("Gres", ""))
    found = ", ".join(f"{count} × {name or 'gpu'}" for name, count in sorted(counts.items())) or "none"
    named = ", ".join(filter(None, counts))
    if not counts:
        return Finding("GPUs", FAIL, found, f"{SET_PARTITION} to one with GRES gpu")
    if model and model not in counts:
        todo = f"set SLMCOLLAB_GPU_MODEL to one of {named}" if named else "unset SLMCOLLAB_GPU_MODEL"
        return Finding("GPUs", FAIL, f"{found}; no {model}", todo)
    if not model and len(counts) > 1:
        return Finding("GPUs", WARN, found, f"results depend on the GPU: set SLMCOLLAB_GPU_MODEL to one of {named}")
    return Finding("GPUs", OK, found)


def misfits(need: Need, chosen: Mapping[str, str], nodes: Iterable[Mapping[str, str]]) -> list[str]:
    """Return what about a rule's jobs no node of the partition can give; empty where they fit."""
    told = []
    limit = scontrol.minutes(chosen.get("MaxTime", "UNLIMITED"))
    if need.minutes > limit:
        told.append(f"{need.minutes / 60:.1f} h > MaxTime {limit / 60:.1f} h")
    most_memory = scontrol.megabytes(chosen.get("MaxMemPerNode", "UNLIMITED"))

    def gives(node: Mapping[str, str]) -> list[str]:
        counts = scontrol.gpus(node.get("Gres", ""))
        has_gpus = counts[need.model] if need.model else max(counts.values(), default=0)
        memory = min(most_memory, scontrol.megabytes(node.get("RealMemory", "0")))
        offers = [
            (need.cpus, int(node.get("CPUTot", 0)), "CPUs"),
            (need.megabytes, memory, "MB"),
            (need.gpus, has_gpus, f"GPUs {need.model}".rstrip()),
        ]
        return [f"{asked} > {given:g} {unit}" for asked, given, unit in offers if asked > given]

    closest = min((gives(node) for node in nodes), key=len, default=["no usable node"])
    return told + closest


def caps(first: Iterable[Need], last: Iterable[Need], attempts: int) -> list[Finding]:
    """Return which of the profile's `resources` give jobs less than their rules name: at the first attempt a fault."""
    faults, late = _cut(first), _cut(last)
    todo = "it holds for each job too: raise it, or take it out of `resources:` in your profile"
    findings = [
        Finding("resources", FAIL, f"`resources: {name}` gives less than named to {', '.join(rules)}", todo)
        for name, rules in faults.items()
    ]
    findings += [
        Finding(
            "resources",
            WARN,
            f"attempt {attempts}: `resources: {name}` gives less than named to {', '.join(rules)}",
            todo,
        )
        for name, rules in late.items()
        if name not in faults
    ]
    return findings


def _cut(needs: Iterable[Need]) -> dict[str, list[str]]:
    """Return resource -> the rules that get less of it than they name."""
    rules: dict[str, set[str]] = {}
    for need in needs:
        for name in need.cut:
            rules.setdefault(name, set()).add(need.rule)
    return {name: sorted(rules[name]) for name in sorted(rules)}


def resources(
    first: Iterable[Need],
    last: Iterable[Need],
    chosen: Mapping[str, str],
    nodes: list[Mapping[str, str]],
    attempts: int,
) -> list[Finding]:
    """Return whether the jobs of every rule fit: at the first attempt they must, at the last they should.

    Nothing comes back where no job is left.
    """
    last = list(last)
    faults = {need.rule: told for need in first if (told := misfits(need, chosen, nodes))}
    late = {need.rule: told for need in last if (told := misfits(need, chosen, nodes)) and need.rule not in faults}
    wider = "another partition, or set-resources in a second profile"
    findings = [Finding("resources", FAIL, f"{rule}: {'; '.join(told)}", wider) for rule, told in faults.items()]
    findings += [
        Finding(
            "resources", WARN, f"{rule}, attempt {attempts}: {'; '.join(told)}", f"jobs that fail so often: {wider}"
        )
        for rule, told in late.items()
    ]
    unknown = {need.rule: ", ".join(sorted(need.unknown)) for need in last if need.unknown}
    findings += [
        Finding("resources", WARN, f"{rule}: {names} unknown before its input is there", "a number could be judged")
        for rule, names in unknown.items()
    ]
    rules = {need.rule for need in last}
    if rules and not findings:
        findings.append(Finding("resources", OK, f"{len(rules)} rules fit, at attempt {attempts} too"))
    return findings
