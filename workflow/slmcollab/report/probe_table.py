"""The probe table: which experts know something, before any GPU hour is spent on a team."""

from collections.abc import Collection, Mapping
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "expert", "pooling", "accuracy", "chance", "n_train", "n_test", "reason")


def probe_rows(probes: Mapping[str, Any], benchmarks: Collection[str]) -> list[dict[str, str]]:
    """Return one printed row per pooling of every probe, in the order of the probes; accuracy, chance: percent points.

    probes: name of a file -> {"benchmark", "expert", "poolings": {name: {"accuracy", "chance" (both shares), "n_train",
    "n_test", "reason"}}}. Raises ArtifactError for a benchmark that the grid does not have, an expert that is there
    twice, a file of another form, and a share that is neither in [0, 1] nor null with its reason.
    """
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for name, probe in probes.items():
        try:
            benchmark, expert, poolings = probe["benchmark"], probe["expert"], probe["poolings"]
            if benchmark not in benchmarks:
                raise ArtifactError(f"{name}: benchmark {benchmark!r}, the grid has {sorted(benchmarks)}")
            for pooling, found in poolings.items():
                if (benchmark, expert, pooling) in rows:
                    raise ArtifactError(f"{name}: {expert} on {benchmark} is there twice")
                shares = (_percent(name, found, "accuracy"), _percent(name, found, "chance"))
                counts = (str(found["n_train"]), str(found["n_test"]))
                texts = (benchmark, expert, pooling, *shares, *counts, found["reason"] or "")
                rows[benchmark, expert, pooling] = dict(zip(COLUMNS, texts, strict=True))
        except (KeyError, TypeError) as error:
            raise ArtifactError(f"{name}: not a file of probes ({error!r})") from error
    return list(rows.values())


def _percent(name: str, found: Mapping[str, Any], key: str) -> str:
    share = found[key]
    if share is None and not found["reason"]:
        raise ArtifactError(f"{name}: no {key} and no reason for it")
    if share is not None and not 0 <= share <= 1:
        raise ArtifactError(f"{name}: {key} is {share}, not a share between 0 and 1")
    return format_number(None if share is None else 100 * share)
