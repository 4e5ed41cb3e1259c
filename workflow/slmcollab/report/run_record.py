"""The record of a finished grid, as an RO-Crate: what software, models, data, code and machines its tables are from.

An RO-Crate (https://w3id.org/ro/crate/1.1, with the terms of its Process Run Crate) is one file of JSON-LD beside the
results, which archives such as Zenodo and WorkflowHub, and `rocrate` in Python, read as it is, and `jq` too. It is
written here and not by `rocrate`, which brings eleven packages to copy files that already lie where they belong.
Hosts and times are left out, but for the day of the record, which an RO-Crate has to hold.
"""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from slmcollab.report.records import find

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
NAME = "ro-crate-metadata.json"
DESCRIPTION = "Tables and figures of two papers on collaboration between small language models, rebuilt."
FORMATS = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "pdf": "application/pdf",
    "png": "image/png",
    "tex": "application/x-tex",
}
PROFILES = {"Process Run Crate": "https://w3id.org/ro/wfrun/process/0.5"}
RULE = "#rule/"  # begins the @id of a rule
CODE_OF = "code digest of "  # begins the name of a property of a rule; the modules follow
Entity = dict[str, Any]
Codes = Mapping[str, Mapping[str, Sequence[str]]]


class Jobs(NamedTuple):
    """The jobs of a rule: where those ran whose log says so, {machine as JSON: jobs}, and how many logs do not."""

    rule: str
    machines: Mapping[str, int]
    unknown: int


def count_jobs(rule: str, machines: Iterable[Mapping[str, Any] | None]) -> Jobs:
    """Return the count of a rule's jobs; machines: of each job, None where it is not known."""
    counted = Counter(machine and json.dumps(machine, sort_keys=True) for machine in machines)
    unknown = counted.pop(None, 0)
    return Jobs(rule, {name: counted[name] for name in sorted(filter(None, counted))}, unknown)


def collect_runs(cells: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, list]]:
    """Return {packages: name -> versions, seeds: paper -> seeds} of the cells of a table's provenance."""
    packages: dict[str, set[str]] = {}
    seeds: dict[str, set[int]] = {}
    for cell in cells:
        seeds.setdefault(cell["paper"], set()).update(cell["seeds"])
        for versions in find(cell, "packages"):
            for name, one in versions.items():
                packages.setdefault(name, set()).add(one)
    found = {"packages": packages, "seeds": seeds}
    return {kind: {name: sorted(values) for name, values in named.items()} for kind, named in found.items()}


def commit_of(folder: Path) -> str | None:
    """Return the commit that is checked out in a folder, with -dirty after it where files differ; None without git."""
    if not (folder / ".git").exists() or shutil.which("git") is None:
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def crate(
    *,
    date: str,
    files: Mapping[str, str],
    models: Iterable[Mapping[str, Any]],
    data: Iterable[Mapping[str, Any]],
    packages: Mapping[str, Sequence[str]],
    seeds: Mapping[str, Sequence[int]],
    codes: Codes,
    jobs: Iterable[Jobs],
    commit: str | None,
) -> Entity:
    """Return the content of NAME.

    date: of the record, ISO 8601; files: path below the results -> sha256; models and data:
    their manifests; packages: name -> versions that runs recorded; seeds: paper -> seeds; codes: rule -> {code digest:
    the modules whose code it is}.
    """
    entities = _Entities()
    used = [*map(entities.model, models), *map(entities.data, data)]
    made = [entities.add(name, "File", sha256=sha256, encodingFormat=_format(name)) for name, sha256 in files.items()]
    workflow, rules = entities.workflow(packages, codes, commit)
    told = [entities.property("#run", f"seeds of {paper}", found) for paper, found in seeds.items()]
    run = {"instrument": workflow, "object": used, "result": made, "additionalProperty": told}
    actions = [entities.add("#run", "CreateAction", name="The run of the grid", **run)]
    actions += [entities.jobs(one, rules.get(one.rule)) for one in jobs]
    about = {"name": "Results of slmcollab", "description": DESCRIPTION, "datePublished": date}
    about |= {"hasPart": made, "mentions": actions}
    about["conformsTo"] = [entities.add(url, "CreativeWork", name=name) for name, url in PROFILES.items()]
    entities.add("./", "Dataset", **about)
    entities.add(NAME, "CreativeWork", conformsTo={"@id": "https://w3id.org/ro/crate/1.1"}, about={"@id": "./"})
    return {"@context": CONTEXT, "@graph": list(entities.graph.values())}


def _format(name: str) -> str:
    return FORMATS[name.rpartition(".")[2]]


class _Entities:
    """The entities of a crate by @id; every method adds some and returns the reference to one."""

    def __init__(self) -> None:
        self.graph: dict[str, Entity] = {}

    def add(self, id_: str, kind: str | list[str], **about: Any) -> Entity:
        self.graph[id_] = {"@id": id_, "@type": kind, "name": id_, **about}
        return {"@id": id_}

    def property(self, owner: str, name: str, value: Any, **about: Any) -> Entity:
        flat = json.dumps(value, sort_keys=True) if isinstance(value, dict) else value  # nothing nests in a crate
        return self.add(f"{owner}/{name}".replace(" ", "_"), "PropertyValue", **{"name": name, "value": flat} | about)

    def workflow(
        self, packages: Mapping[str, Sequence[str]], codes: Codes, commit: str | None
    ) -> tuple[Entity, dict[str, Entity]]:
        """Return the workflow, and its rules by name."""
        rules = {rule: self.rule(rule, found) for rule, found in sorted(codes.items())}
        about = {"programmingLanguage": f"Snakemake {version('snakemake')}", "hasPart": list(rules.values())}
        about["softwareRequirements"] = [self.package(name, versions) for name, versions in packages.items()]
        kinds = ["SoftwareSourceCode", "SoftwareApplication"]
        return self.add("#workflow", kinds, name="slmcollab", **about, **_given({"version": commit})), rules

    def model(self, manifest: Mapping[str, Any]) -> Entity:
        owner = f"#model/{manifest['model']}"
        weights = {file: sha256 for file, sha256 in manifest["files"].items() if file.endswith(".safetensors")}
        told = [self.property(owner, f"sha256 of {file}", sha256) for file, sha256 in sorted(weights.items())]
        told.append(self.property(owner, "parameters", manifest["num_parameters"]))
        origin = {"identifier": manifest.get("id"), "version": manifest.get("revision")}
        return self.add(owner, "SoftwareApplication", name=manifest["model"], **_given(origin), additionalProperty=told)

    def data(self, manifest: Mapping[str, Any]) -> Entity:
        owner = f"#data/{manifest['benchmark']}"
        told = [self.property(owner, f"sha256 of {split}", sha256) for split, sha256 in manifest["sha256"].items()]
        told += [self.property(owner, name, manifest[name]) for name in ("data_seed", *_origin(manifest))]
        about = {"name": manifest["benchmark"], "description": manifest["rule"], "additionalProperty": told}
        return self.add(owner, "Dataset", **about)

    def package(self, name: str, versions: Sequence[str]) -> Entity:
        return self.add(f"#package/{name}", "SoftwareApplication", name=name, version=versions)

    def rule(self, name: str, codes: Mapping[str, Sequence[str]]) -> Entity:
        named = sorted((" ".join(modules), sha256) for sha256, modules in codes.items())
        told = [self.property(f"{RULE}{name}", f"{CODE_OF}{modules}", sha256) for modules, sha256 in named]
        return self.add(f"{RULE}{name}", "SoftwareApplication", name=name, additionalProperty=told)

    def jobs(self, jobs: Jobs, rule: Entity | None) -> Entity:
        owner = f"#jobs/{jobs.rule}"
        told = [self.property(owner, "jobs", sum(jobs.machines.values()) + jobs.unknown)]
        told.append(self.property(owner, "jobs on unknown machines", jobs.unknown))
        for machine, count in jobs.machines.items():
            where = self.machine(machine)
            name = f"jobs on {where['@id'].removeprefix('#')}"
            told.append(self.property(owner, name, count, valueReference=where))
        about = {"name": f"The jobs of {jobs.rule}", "additionalProperty": told}
        return self.add(owner, "CreateAction", **about, **_given({"instrument": rule}))

    def machine(self, told: str) -> Entity:
        known = [name for name, one in self.graph.items() if one.get("identifier") == told]
        if known:
            return {"@id": known[0]}
        owner = f"#machine{sum(name.startswith('#machine') and '/' not in name for name in self.graph) + 1}"
        machine = json.loads(told)
        rest = [self.property(owner, name, value) for name, value in sorted(machine.items()) if name != "cpu"]
        return self.add(owner, "Product", name=machine["cpu"], identifier=told, additionalProperty=rest)


def _origin(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name in ("source", "versions") if name in manifest)


def _given(about: Mapping[str, Any]) -> Entity:
    return {name: value for name, value in about.items() if value is not None}
