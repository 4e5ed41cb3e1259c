"""The expert table: how right each expert is by itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import format_number

METRICS = ("accuracy", "accuracy_bare", "accuracy_unseen", "score_mean")
SHARES = ("cut", "unparsed", "prompt_cut")
COLUMNS = ("benchmark", "expert", *METRICS, *(f"share_{share}" for share in SHARES), "num_problems")


def expert_rows(
    scores: Mapping[str, Any], *, benchmarks: Sequence[str], experts: Sequence[str]
) -> list[dict[str, str]]:
    """Return one printed row per file, by benchmark, then by expert, in the order given.

    scores: name of a file -> the scores of an expert's answers to a test split: metrics in percent points (null where
    there is nothing to measure, and printed so), shares from 0 to 1. Raises ArtifactError for a file of another form,
    split, benchmark or expert, for an expert that is there twice, and for a number out of its range.
    """
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for name, found in scores.items():
        try:
            key = (found["benchmark"], found["expert"])
            if found["split"] != "test" or key[0] not in benchmarks or key[1] not in experts:
                raise ArtifactError(f"{name}: {key[1]} on {key[0]}, {found['split']}, is not in the table")
            if key in rows:
                raise ArtifactError(f"{name}: {key[1]} on {key[0]} is there twice")
            metrics = [_printed(name, found["metrics"], metric, most=100) for metric in METRICS]
            shares = [_printed(name, found["shares"], share, most=1) for share in SHARES]
            rows[key] = dict(zip(COLUMNS, (*key, *metrics, *shares, str(found["num_problems"])), strict=True))
        except (KeyError, TypeError) as error:
            raise ArtifactError(f"{name}: not a file of an expert's scores ({error!r})") from error
    return sorted(rows.values(), key=lambda row: (benchmarks.index(row["benchmark"]), experts.index(row["expert"])))


def _printed(name: str, found: Mapping[str, Any], key: str, *, most: int) -> str:
    value = found[key]
    if value is not None and not 0 <= value <= most:
        raise ArtifactError(f"{name}: {key} is {value}, not between 0 and {most}")
    return format_number(value, decimals=2 if most == 100 else 4)
