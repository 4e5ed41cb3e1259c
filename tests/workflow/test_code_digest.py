"""Which edits change which digests, on a package of a few lines."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from slmcollab.code_digest import code_digest, modules, reached

WORKFLOW = Path(__file__).parents[2] / "workflow"
PACKAGE = {
    "__init__.py": "",
    "seeding.py": "def derive(seed):\n    return seed + 1\n",
    "rl/__init__.py": "",
    "rl/grpo.py": "from slmcollab.rl.loss import loss\nfrom .. import seeding\n\nloss(seeding.derive(1))\n",
    "rl/loss.py": "BETA = 0.04\n\ndef loss(x):\n    return BETA * x\n",
    "experts/__init__.py": "",
    "experts/features.py": "POOLINGS = ('last_token',)\n",
    "steps/__init__.py": "",
    "steps/train.py": "def main():\n    from slmcollab.rl import grpo\n\n    grpo.train()\n",
    "steps/extract.py": "import torch\nfrom slmcollab.experts import features\n\nfeatures.POOLINGS\n",
}
TRAIN, EXTRACT = "slmcollab.steps.train", "slmcollab.steps.extract"


@pytest.fixture
def digest(tmp_path):
    """Return a function: the digest of `names` in the package with some files replaced, added or (None) removed."""
    count = 0

    def digest(*names, **edits):
        nonlocal count
        count += 1
        root = tmp_path / str(count)
        for file, text in {**PACKAGE, **edits.pop("files", {})}.items():
            if text is not None:
                path = root / "slmcollab" / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return code_digest(*names, root=root)

    return digest


def changed(digest, files):
    return {name.rpartition(".")[2] for name in (TRAIN, EXTRACT) if digest(name) != digest(name, files=files)}


@pytest.mark.parametrize(
    "text",
    [
        "BETA = 0.04  # weight of the KL term\n\n\n\n# f\ndef loss(x):\n    return BETA * x\n",
        '"""Docs."""\n\nBETA = 0.04\n"""A weight."""\n\ndef loss(x):\n    """L."""\n    return (BETA\n * x)\n',
        "BETA = 4e-2\ndef loss( x ) :\n  return BETA*x",
    ],
)
def test_comments_docstrings_and_layout_do_not_count(digest, text):
    assert changed(digest, {"rl/loss.py": text}) == set()


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("rl/loss.py", PACKAGE["rl/loss.py"].replace("0.04", "0.05"), {"train"}),
        ("rl/loss.py", PACKAGE["rl/loss.py"].replace("BETA * x", "x * BETA"), {"train"}),
        ("rl/loss.py", PACKAGE["rl/loss.py"].replace("(x)", "(x=None)"), {"train"}),
        ("seeding.py", PACKAGE["seeding.py"].replace("1", "1.0"), {"train"}),  # equal numbers, another type
        ("seeding.py", PACKAGE["seeding.py"].replace("1", "True"), {"train"}),
        ("rl/__init__.py", "X = 1\n", {"train"}),  # importing a module runs the packages around it
        ("__init__.py", "X = 1\n", {"train", "extract"}),
        ("experts/features.py", "POOLINGS = ('first_token',)\n", {"extract"}),
        ("rl/unused.py", "X = 1\n", set()),
        ("experts/__init__.py", None, {"extract"}),
    ],
)
def test_an_edit_changes_exactly_the_digests_that_reach_it(digest, file, text, expected):
    assert changed(digest, {file: text}) == expected


def test_a_renamed_module_changes_the_digest(digest):
    files = {
        "rl/loss.py": None,
        "rl/losses.py": PACKAGE["rl/loss.py"],
        "rl/grpo.py": PACKAGE["rl/grpo.py"].replace("rl.loss", "rl.losses"),
    }
    assert changed(digest, files) == {"train"}


@pytest.mark.parametrize(
    "statement",
    [
        "import slmcollab.experts.features",
        "import slmcollab.experts.features as f",
        "from slmcollab.experts import features as f",
        "from slmcollab.experts.features import POOLINGS",
        "from ..experts import features",
        "from ..experts.features import POOLINGS",
        "def f():\n    class A:\n        from slmcollab.experts import features",
        "try:\n    import slmcollab.experts.features\nexcept ImportError:\n    pass",
    ],
)
def test_every_form_of_import_is_followed(digest, statement):
    files = {"rl/loss.py": statement}
    before = digest(TRAIN, files=files)
    assert digest(TRAIN, files={**files, "experts/features.py": "POOLINGS = ()\n"}) != before


def test_relative_imports_of_a_package_start_at_itself(digest):
    files = {"rl/__init__.py": "from . import other\n", "rl/other.py": "X = 1\n"}
    assert digest(TRAIN, files=files) != digest(TRAIN, files={**files, "rl/other.py": "X = 2\n"})


def test_cycles_end_and_reach_both_sides(digest):
    files = {"rl/loss.py": "from slmcollab.rl import grpo\nX = 1\n"}
    assert digest(TRAIN, files=files) != digest(TRAIN, files={"rl/loss.py": "from slmcollab.rl import grpo\nX = 2\n"})


def test_a_copy_under_another_name_has_another_digest(digest):
    files = {"steps/again.py": PACKAGE["steps/train.py"]}
    assert digest("slmcollab.steps.again", files=files) != digest(TRAIN, files=files)


def test_several_names_count_once_and_in_any_order(digest):
    both = digest(TRAIN, EXTRACT)
    assert digest(EXTRACT, TRAIN, TRAIN) == both
    assert both not in (digest(TRAIN), digest(EXTRACT))


@pytest.mark.parametrize("name", ["slmcollab.steps.trian", "slmcollab.steps.train.main", "torch", ""])
def test_an_unknown_name_is_refused(digest, name):
    with pytest.raises(ValueError, match=f"no module {name} "):
        digest(name)


def test_a_misspelt_name_gets_its_neighbours(digest):
    with pytest.raises(ValueError, match=r"slmcollab\.steps\.trian .*slmcollab\.steps\.train"):
        digest("slmcollab.steps.trian")


@pytest.mark.parametrize("text", ["def loss(:\n", "x = '\0'\n"])
def test_a_file_that_is_no_python_is_named(digest, text):
    with pytest.raises(ValueError, match=r"rl.loss\.py"):
        digest(TRAIN, files={"rl/loss.py": text})
    digest(EXTRACT, files={"rl/loss.py": text})


def test_the_digest_does_not_depend_on_the_process():
    name = "slmcollab.artifacts"
    program = "from pathlib import Path; from slmcollab.code_digest import code_digest; "
    program += f"print(code_digest({name!r}, root=Path()))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=WORKFLOW, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "12"
    }
    assert printed == {f"{code_digest(name, root=WORKFLOW)}\n".encode()}


def test_the_module_itself_needs_nothing_but_the_standard_library():
    tree = ast.parse((WORKFLOW / "slmcollab/code_digest.py").read_text())
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_every_module_of_the_package_has_a_digest():
    names = modules(WORKFLOW)
    assert "slmcollab" in names
    assert reached(*names, root=WORKFLOW) == set(names)
    assert code_digest(*names, root=WORKFLOW)
