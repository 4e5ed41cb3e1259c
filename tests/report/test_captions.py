"""What the report shows: items with names and captions that tell what, how, of how many, and what the paper says."""

import copy
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from docutils.core import publish_parts
from reported import SCALES, marks

REPORT = Path(__file__).parents[2] / "workflow/report"
CAPTIONS = sorted(file for file in REPORT.glob("*.rst") if file.stem != "workflow")
CATEGORIES = {"Both papers", "n-Musketeers", "Model slices"}
SUBCATEGORIES = {"Tables", "Figures", "Claims", "Cost"}
CONTENTS = {
    "HTML": "table",
    "LaTeX": "table, for print",
    "PNG": "figure",
    "PDF": "figure, for print",
    "CSV": "values",
}
PAPERS = ["musketeers", "slices"]
PARTS = ["Made.", "n.", "The paper says."]


@pytest.fixture(scope="module")
def scales(tmp_path_factory):
    return {scale: marks(scale, tmp_path_factory.mktemp(scale)) for scale in SCALES}


@pytest.fixture(scope="module")
def config(scales):
    return scales["paper"][1]


def shown(file: Path, config) -> str:
    """Return a caption as HTML, made as Snakemake makes it, but that a name it lacks and a fault in it are errors."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    text = environment.from_string(file.read_text("utf-8")).render(snakemake=SimpleNamespace(config=config))
    return publish_parts(text, writer="html", settings_overrides={"halt_level": 2, "report_level": 2})["body"]


def parts(file: Path, config) -> dict[str, str]:
    """Return the paragraphs of a caption without tags by the bold words that begin one; others go to the one before."""
    found = {}
    for paragraph in re.findall(r"<p>(.*?)</p>", shown(file, config), re.DOTALL):
        begin = re.match(r"<strong>(.*?)</strong>", paragraph, re.DOTALL)
        lead = begin[1].replace("\n", " ") if begin else list(found)[-1]
        found[lead] = found.get(lead, "") + re.sub(r"<.*?>", "", paragraph)
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_every_item_of_the_report_has_its_names_and_a_caption(scales, scale):
    found, _ = scales[scale]
    for mark in found:
        assert mark.category in CATEGORIES, mark
        assert mark.subcategory in SUBCATEGORIES, mark
        assert list(mark.labels) == ["item", "content", "format"], mark
        assert CONTENTS[mark.labels["format"]] == mark.labels["content"], mark
        assert REPORT / f"{mark.caption}.rst" in CAPTIONS, mark
    names = Counter((mark.category, *mark.labels.values()) for mark in found)
    assert max(names.values()) == 1, names.most_common(1)
    assert {mark.caption for mark in found} == {file.stem for file in CAPTIONS}


@pytest.mark.parametrize("scale", SCALES)
def test_every_item_can_be_read_in_the_browser_and_taken_along_as_numbers(scales, scale):
    formats = {}
    for mark in scales[scale][0]:
        formats.setdefault((mark.category, mark.labels["item"]), set()).add(mark.labels["format"])
    for item, found in formats.items():
        assert found & {"HTML", "PNG"}, item
        assert "CSV" in found, item


def test_every_table_figure_and_claim_of_the_grid_is_in_the_report(scales):
    found = {mark.path for mark in scales["paper"][0]}
    items = [
        *("table1", "table_resources", "musketeers/claims", "slices/claims"),
        *(f"musketeers/{name}" for name in ("table1", "table2", "table_experts", "table_probe")),
        *("musketeers/figure4", "musketeers/figure6a", "musketeers/figure6b"),
        *(f"slices/{name}" for name in ("table1", "table_roles", "table_retention", "table_overlap")),
        *(f"slices/{name}" for name in ("table_funnel", "table_budgets", "figure3", "figure4", "figure5")),
    ]
    tex = [f"results/{paper}.tex" for paper in ("musketeers/table1", "musketeers/table2", "slices/table1")]
    suffixes = {name: ("png", "pdf", "csv") if "figure" in name else ("html", "csv") for name in items}
    assert found == {*tex, *(f"results/{name}.{suffix}" for name in items for suffix in suffixes[name])}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("file", CAPTIONS, ids=lambda file: file.stem)
def test_a_caption_tells_what_how_of_how_many_and_what_the_paper_says(scales, file, scale):
    for papers in [["musketeers"], ["slices"], ["musketeers", "slices"]] if "both" in file.stem else [PAPERS]:
        found = parts(file, {**scales[scale][1], "papers": papers})
        first, *others = found
        assert others == PARTS
        assert len(first) > 10
        for lead, text in found.items():
            assert len(text) > len(lead) + 20
            assert not re.search(r"\*\*|``|[{}]", text), text
        assert re.search(r"Source:\s\w", found["Made."])


@pytest.mark.parametrize("file", CAPTIONS, ids=lambda file: file.stem)
def test_how_many_comes_from_the_config(config, file):
    other = copy.deepcopy(config)
    for grid in (other["grid"], other["slices"]["grid"]):
        grid["seeds"] = [71, 72]
    for block in other["benchmarks"].values():
        block |= {"num_train": 73, "num_test": 74}
    told = parts(file, other)["n."]
    if file.stem == "both_table_resources":
        assert "jobs counts" in told
        return
    assert "71, 72" in told or "No seeds" in told
    assert re.search(r"\b7[34]\b", told) or file.stem in ("figure4", "figure6a")  # of prompts of a training step


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("papers", [["musketeers"], ["slices"], PAPERS], ids="+".join)
def test_the_first_page_speaks_of_the_papers_that_were_run(scales, scale, papers):
    body = shown(REPORT / "workflow.rst", {**scales[scale][1], "papers": papers})
    assert "**" not in body
    assert ("<strong>n-Musketeers</strong>" in body) == ("musketeers" in papers)
    assert ("<strong>Model slices</strong>" in body) == ("slices" in papers)
    assert ("Scale: toy." in body) == (scale == "tiny")
    assert "<strong>How to read it.</strong>" in body
    assert "<strong>What was never run</strong>" in body
