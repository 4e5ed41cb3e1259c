"""The probe table: which experts know something, before any GPU hour is spent on a team."""

from collections.abc import Collection, Mapping
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "expert", "task", "pooling", "accuracy", "chance", "n_train", "n_test", "reason")
WHOLE = "all"


def probe_rows(probes: Mapping[str, Any], benchmarks: Collection[str]) -> list[dict[str, str]]:
    """Return one printed row per task and pooling of every probe, in the order of the probes, `all` before the tasks.

    probes: name of a file -> {"benchmark", "expert", "tasks": {task: {pooling: {"accuracy", "chance" (both shares, then
    printed in percent points), "n_train", "n_test", "reason"}}}}; the task `all` is the whole benchmark. Raises
    ArtifactError for a benchmark that the grid does not have, an expert that is there twice, a file of another form,
    and a share that is neither in [0, 1] nor null with its reason.
    """
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for name, probe in probes.items():
        try:
            key, tasks = (probe["benchmark"], probe["expert"]), probe["tasks"]
            if key[0] not in benchmarks:
                raise ArtifactError(f"{name}: benchmark {key[0]!r}, the grid has {sorted(benchmarks)}")
            if key in rows:
                raise ArtifactError(f"{name}: {key[1]} on {key[0]} is there twice")
            ordered = sorted(tasks.items(), key=lambda item: (item[0] != WHOLE, item[0]))
            rows[key] = [
                _row(name, (*key, task, pooling), found)
                for task, poolings in ordered
                for pooling, found in poolings.items()
            ]
        except (AttributeError, KeyError, TypeError) as error:
            raise ArtifactError(f"{name}: not a file of probes ({error!r})") from error
    return [row for found in rows.values() for row in found]


def _row(name: str, key: tuple[str, ...], found: Mapping[str, Any]) -> dict[str, str]:
    shares = (_percent(name, found, "accuracy"), _percent(name, found, "chance"))
    texts = (*key, *shares, str(found["n_train"]), str(found["n_test"]), found["reason"] or "")
    return dict(zip(COLUMNS, texts, strict=True))


def _percent(name: str, found: Mapping[str, Any], key: str) -> str:
    share = found[key]
    if share is None and not found["reason"]:
        raise ArtifactError(f"{name}: no {key} and no reason for it")
    if share is not None and not 0 <= share <= 1:
        raise ArtifactError(f"{name}: {key} is {share}, not a share between 0 and 1")
    return format_number(None if share is None else 100 * share)
