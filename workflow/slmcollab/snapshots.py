"""A hub repository's files at a pinned commit: from the local cache, else from the hub, else an error that says so.

A commit does not change, so what is cached is read without asking the hub, and works where there is no network.
"""

from collections.abc import Sequence
from pathlib import Path

import httpx2
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

from slmcollab.artifacts import ArtifactError

TIMEOUT = 10  # seconds until a hub that does not answer counts as out of reach


class NotFetchedError(ArtifactError):
    """A model or data set is not in the local cache, and the hub did not deliver it."""


def cached(repository: str, revision: str, *, kind: str, files: Sequence[str] | None = None) -> Path | None:
    """Return the cache's folder of a commit; None where there is none, or one that its listing shows to be a part.

    kind: model or dataset; files: patterns of those wanted, all by default. A cache that was filled file by file has no
    listing: the caller checks what it needs.
    """
    try:
        return Path(
            snapshot_download(
                repository, repo_type=kind, revision=revision, allow_patterns=files, local_files_only=True
            )
        )
    except LocalEntryNotFoundError:
        return None


def fetch(
    repository: str,
    revision: str,
    *,
    kind: str,
    files: Sequence[str] | None = None,
    folder: Path | None = None,
    part: str | None = None,
) -> Path:
    """Fetch a commit's files from the hub, to `folder` or to the cache, and return where they are.

    part: the configuration of a data set that is wanted, for the message. Raises GatedRepoError, and at once, without a
    second try, NotFetchedError where the hub cannot be reached or has no such repository or commit.
    """
    try:
        # Asked first, since snapshot_download tries six times, half a minute, before it says that there is no network.
        HfApi().repo_info(repository, repo_type=kind, revision=revision, timeout=TIMEOUT)
        return Path(
            snapshot_download(repository, repo_type=kind, revision=revision, allow_patterns=files, local_dir=folder)
        )
    except GatedRepoError:
        raise
    except (httpx2.TransportError, HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        described = ", ".join([*filter(None, [part]), f"revision {revision}"])
        reason = str(error).strip().partition("\n")[0]
        raise NotFetchedError(
            f"{repository} ({described}) is not in the local cache and the hub did not deliver it"
            f" ({type(error).__name__}: {reason})"
        ) from error


def advice(target: Path, *options: str) -> str:
    """Return how to fetch what a file of the workflow is made from."""
    command = " ".join(["snakemake --profile slurm", *options, str(target)])
    return f"Fetch it where there is internet access: `{command}`"
