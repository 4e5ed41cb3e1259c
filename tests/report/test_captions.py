"""The captions of the report: each can be shown, with the papers' config, without a complaint."""

import re
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
import yaml
from docutils.core import publish_parts

WORKFLOW = Path(__file__).parents[2] / "workflow"
CAPTIONS = sorted((WORKFLOW / "report").glob("*.rst"))
CONFIG = yaml.safe_load((WORKFLOW.parent / "config.yaml").read_text("utf-8"))


@pytest.mark.parametrize("file", CAPTIONS, ids=lambda file: file.stem)
def test_a_caption_is_whole(file):
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    text = environment.from_string(file.read_text("utf-8")).render(snakemake=SimpleNamespace(config=CONFIG))
    body = publish_parts(text, writer="html", settings_overrides={"halt_level": 2, "report_level": 2})["body"]
    assert len(body) > 300
    assert "{" not in body


def test_rules_name_captions_that_are_there():
    named = set()
    for file in (WORKFLOW / "rules").glob("*.smk"):
        named |= set(re.findall(r'caption=f?"\.\./report/([\w{}]+)\.rst"', file.read_text("utf-8")))
    assert named
    known = {file.stem for file in CAPTIONS}
    assert {name for name in named if "{" not in name} <= known
    assert {"figure4", "figure6a", "figure6b"} <= known
