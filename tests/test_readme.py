"""The README says what the code assumes: the `# ASSUME:` marks and "Where the papers are silent" are the same list."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SILENT = README.split("## Where the papers are silent")[1].split("\n## ")[0]


def marked_assumptions() -> set[str]:
    files = [
        REPOSITORY / "config.yaml",
        *(REPOSITORY / "workflow").rglob("*.py"),
        *(REPOSITORY / "workflow").rglob("*.yaml"),
    ]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    found = re.findall(r"# ASSUME: (.*?\.)\n", text, re.DOTALL)
    return {re.sub(r"\n *# ", " ", sentence) for sentence in found}


def test_every_assumption_has_a_row_and_every_row_an_assumption():
    rows = {row.split(" | ")[0].removeprefix("| ") for row in SILENT.splitlines() if row.startswith("| ")}
    assert rows - {"assumption"} == marked_assumptions()


def test_a_row_names_a_key_of_the_config():
    keys = set(re.findall(r"^ *([\w.-]+):", (REPOSITORY / "config.yaml").read_text(encoding="utf-8"), re.MULTILINE))
    for row in SILENT.splitlines():
        if row.startswith("| ") and not row.startswith("| assumption"):
            named = re.findall(r"`([\w.-]+)`", row.split(" | ")[1])
            assert named, row
            assert all(name.split(".")[-1] in keys for name in named), row


def test_paths_in_the_readme_exist():
    made = ("results/", "runs/", "checkpoints/", "~")
    for path in re.findall(r"`((?:workflow|tests|envs|\.ci)/[\w./-]+)`", README):
        assert path.startswith(made) or (REPOSITORY / path).exists(), path
