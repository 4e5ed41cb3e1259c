"""What the workflow marks for its report, read from the rules themselves."""

import os
from pathlib import Path
from typing import NamedTuple

from snakemake.api import SnakemakeApi
from snakemake.io import get_flag_value, is_flagged
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

REPOSITORY = Path(__file__).parents[1]
CONFIGS = REPOSITORY / "workflow/config"
SCALES = {"paper": [], "tiny": [CONFIGS / "tiny.yaml"], "small": [CONFIGS / "small.yaml"]}


class Mark(NamedTuple):
    """A file that the report shows, and under which names; caption: the stem of its file in workflow/report."""

    path: str
    rule: str
    caption: str | None
    category: str | None
    subcategory: str | None
    labels: dict[str, str] | None


def marks(scale: str, folder: Path) -> tuple[list[Mark], dict]:
    """Return every mark of the rules at a scale, and its checked config; folder: where Snakemake may write."""
    here = Path.cwd()
    try:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            built = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=SCALES[scale]),
                snakefile=REPOSITORY / "Snakefile",
                workdir=folder,
            )._workflow  # there is no public way to the rules: a name of the version that is pinned
            found = [
                Mark(
                    str(file),
                    rule.name,
                    mark.caption and Path(mark.caption.get_path_or_uri(secret_free=True)).stem,
                    mark.category,
                    mark.subcategory,
                    mark.labels,
                )
                for rule in built.rules
                for file in rule.output
                if is_flagged(file, "report")
                for mark in [get_flag_value(file, "report")]
            ]
            return found, built.globals["config"]
    finally:
        os.chdir(here)
