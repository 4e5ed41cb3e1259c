"""The house rules of the package that a machine can check: who may import whom, and how long things may get."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from slmcollab.code_digest import imported_names, modules

WORKFLOW = Path(__file__).parents[1] / "workflow"
FILES = modules(WORKFLOW)
TREES = {name: ast.parse(file.read_text("utf-8")) for name, file in FILES.items()}
STEPS = sorted(name for name in FILES if name.startswith("slmcollab.steps."))
PARSE_TIME = sorted(WORKFLOW.glob("*.py"))  # what Snakemake imports, again in every job

LAYERS = [  # a module imports from its own layer and from those above it in this list
    {
        "artifacts",
        "checkpoints",
        "choice",
        "code_digest",
        "digests",
        "made_by",
        "seeding",
        "snapshots",
        "usage",
        "whole",
    },
    {"models", "generation", "benchmarks", "scoring"},
    {"experts", "context", "protocol", "graph"},
    {"rl", "supervision", "marl", "search", "teams"},
    {"analysis", "report"},
    {"steps"},
]
TRL_STEPS = {"train_grpo", "distill_team", "refine_team"}  # importing trl takes four seconds
TORCH_STEPS = {
    *TRL_STEPS,
    *("analyse_attention", "answer_problems", "download_model", "embed_questions", "extract_features"),
    *("generate_expert_answers", "probe_experts", "train_toy_model"),
    *("sample_trajectories", "answer_with_team", "score_steps", "train_toy_member"),
    *("search_workflow", "train_baseline", "answer_with_baseline"),
}
CHOSEN = {  # packages of which a step loads a module by name, so that no import shows it
    "score_answers": "scoring",
    "score_expert_answers": "scoring",
    "generate_problems": "benchmarks",
    "download_problems": "benchmarks",
    "train_grpo": "scoring",
    "answer_problems": "context",
    "analyse_attention": "scoring",
    "qualify_trajectories": "scoring",
    "reward_steps": "scoring",
    "score_team": "scoring",
    "search_workflow": "scoring",
    "train_baseline": "scoring",
}
BRINGS_TORCH = {"torch", "transformers", "trl", "peft", "accelerate"}
LINES = {"module": 200, "entry": 50, "function": 40}
LONGER: dict[str, tuple[int, str]] = {}  # what may pass its limit -> (its own limit, the reason)


def part(name):
    """Return the package or module right below slmcollab, "" for slmcollab itself."""
    return name.partition(".")[2].partition(".")[0]


def statements(tree):
    """Yield every node of a tree, but not what only a type checker runs."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        waiting += node.orelse if typing_only else ast.iter_child_nodes(node)


def imports(name):
    """Return the dotted names that a module imports when it runs, at any depth."""
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    return {found for node in statements(TREES[name]) for found in imported_names(node, package)}


def first_party(name):
    return {found for found in imports(name) if found in FILES and FILES[found].name != "__init__.py"}


def reach(*names):
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += first_party(name)
    return found


def loaded_by(step):
    """Return all modules that a step may load, by import or by a name from the config."""
    chosen = CHOSEN.get(step_name(step), "nothing")
    return reach(step, *(name for name in FILES if name.startswith(f"slmcollab.{chosen}.")))


def step_name(step):
    return step.rpartition(".")[2]


def test_imports_go_one_way():
    layer = {package: index for index, packages in enumerate(LAYERS) for package in packages}
    assert {part(name) for name in FILES} - {""} <= set(layer), "a package without a layer"
    assert [
        f"{name} imports {found}"
        for name in FILES
        for found in sorted(first_party(name))
        if layer[part(found)] > layer[part(name)]
    ] == []


def test_packages_do_not_import_each_other_in_a_circle():
    graph = {part(name): set() for name in FILES}
    for name in FILES:
        graph[part(name)] |= {part(found) for found in first_party(name)} - {part(name)}
    TopologicalSorter(graph).prepare()


def test_nothing_imports_a_step():
    assert [name for name in FILES if any(part(found) == "steps" for found in first_party(name))] == []


def test_the_package_knows_neither_workflow_nor_environment_nor_results():
    faults = []
    for name, tree in TREES.items():
        alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings, too
        for node in ast.walk(tree):
            names = {found.partition(".")[0] for found in imported_names(node, name.rpartition(".")[0])}
            if names & {"snakemake", "yaml"}:
                faults.append(f"{name}:{node.lineno} imports {names}")
            if getattr(node, "attr", None) in ("environ", "environb", "getenv", "putenv"):
                faults.append(f"{name}:{node.lineno} uses os.{node.attr}")
            if isinstance(node, ast.ImportFrom) and node.module == "os" and "env" in ast.dump(node):
                faults.append(f"{name}:{node.lineno} imports from os")
            if isinstance(node, ast.Constant) and "results/" in str(node.value) and node not in alone:
                faults.append(f"{name}:{node.lineno} holds the path {node.value!r}")
    assert faults == []


def test_init_files_are_empty():
    assert [name for name, file in FILES.items() if file.name == "__init__.py" and file.read_text().strip()] == []


def test_only_training_reaches_trl():
    assert {step_name(step) for step in STEPS} >= TORCH_STEPS
    assert [
        f"{step_name(step)} through {name}"
        for step in STEPS
        for name in sorted(loaded_by(step))
        if step_name(step) not in TRL_STEPS and any(found.partition(".")[0] == "trl" for found in imports(name))
    ] == []


def test_steps_that_read_and_count_do_not_reach_torch():
    assert [
        f"{step_name(step)} through {name}"
        for step in STEPS
        for name in sorted(loaded_by(step))
        if step_name(step) not in TORCH_STEPS
        and name != "slmcollab.seeding"  # loads torch and numpy only in the functions that need them
        and any(found.partition(".")[0] in BRINGS_TORCH or found == "safetensors.torch" for found in imports(name))
    ] == []


def test_steps_that_read_and_count_load_no_torch_by_way_of_other_packages():
    names = sorted({name for step in STEPS if step_name(step) not in TORCH_STEPS for name in loaded_by(step)})
    program = "import sys, importlib\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    program += "    assert 'torch' not in sys.modules, name"
    done = subprocess.run([sys.executable, "-c", program, *names], cwd=WORKFLOW, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("file", PARSE_TIME, ids=lambda file: file.stem)
def test_what_snakemake_parses_loads_nothing_heavy(file):
    own = {other.stem for other in PARSE_TIME}
    found = {name.partition(".")[0] for node in ast.parse(file.read_text()).body for name in imported_names(node, "")}
    assert found - sys.stdlib_module_names - own <= {"yaml", "slmcollab"}
    first = {name for node in ast.parse(file.read_text()).body for name in imported_names(node, "")} & FILES.keys()
    assert first <= {"slmcollab", "slmcollab.choice"}
    assert {name.partition(".")[0] for name in imports("slmcollab.choice")} <= sys.stdlib_module_names


def test_nothing_is_longer_than_it_may_be():
    lengths = []
    for name, file in {**FILES, **{file.stem: file for file in PARSE_TIME}}.items():
        text = file.read_text("utf-8")
        lengths.append((name, len(text.splitlines()), LINES["entry" if part(name) == "steps" else "module"]))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths.append((f"{name}.{node.name}", node.end_lineno - node.lineno + 1, LINES["function"]))
    allowed = {name: limit for name, (limit, _) in LONGER.items()}
    assert set(allowed) <= {name for name, _, _ in lengths}, "an exception for what is not there"
    assert [
        f"{name}: {lines} lines, at most {allowed.get(name, limit)}"
        for name, lines, limit in lengths
        if lines > allowed.get(name, limit)
    ] == []
