"""AFlow: a workflow that a search over dev questions found (Zhang et al., 2025; `search` says how it is searched)."""

from collections.abc import Mapping
from typing import Any

from slmcollab.graph.nodes import Method
from slmcollab.search.workflow import Compiled, read_workflow

KINDS = {
    "solve": {"instruction"},
    "revise": {"instruction"},
    "ensemble": set(),
    "extract": set(),
    "propose": {"workflow", "accuracy", "score", "num_questions", "failures", "team", "max_nodes", "max_characters"},
    "failure": {"answer"},
}
SETTINGS = ("temperature",)
SEARCH = (
    "optimiser",
    "iterations",
    "dev_questions",
    "patience",
    "exploration",
    "failures",
    "max_characters",
    "max_nodes",
    "max_new_tokens",
    "temperature",
)


def build(settings: Mapping[str, Any]) -> Method:
    """Return the workflow settings["workflow"], the parsed JSON of `Workflow.written`, as a method.

    settings["temperature"]: of solve nodes; ensemble and extract are greedy. Raises WorkflowError, a ValueError, where
    the workflow is not of the language.
    """
    return Compiled(read_workflow(settings["workflow"]), settings["temperature"])
