"""The budget of a system: its parameters, what its training read and generated, and what an answer costs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slmcollab.analysis.cost import cost, weighted_sum
from slmcollab.artifacts import ArtifactError, read_json
from slmcollab.generation.calls import EVAL, SEARCH, Call, read_calls
from slmcollab.report.slices_runs import EVAL as EVAL_STAGE
from slmcollab.report.slices_stages import Stages
from slmcollab.report.tables import format_number

TEACHER, ROUNDS, EVALUATOR, TRAINED = "teacher", "rounds", "evaluator", "trained"
B_DECIMALS = 6  # a toy model has millionths of a billion parameters
PHASES = (TEACHER, ROUNDS, EVALUATOR, TRAINED, SEARCH, EVAL)
SUMS = ("num_examples", "num_tokens", "num_updates")  # of training.json, added up over slots and stages
COLUMNS = (
    *("benchmark", "method", "step_scorer", "seed", "parameters", "reference_parameters", "ratio"),
    *("train_problems", "train_prompts", "train_rollouts", "trajectories", *SUMS, "gpu_seconds_learning"),
    *(f"{what}_{phase}" for what in ("calls", "output_tokens", "b_tokens") for phase in PHASES),
    *(
        "invocations_per_question",
        "output_tokens_per_question",
        "b_tokens_per_question",
        "weighted_tokens_per_question",
    ),
    *("published_invocations", "published_source"),
)
Printed = Mapping[tuple[str, str, str], tuple[str, str]]  # see `read_other`


def parameters(models: Sequence[str], reference: str, manifests: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of all slots together, those of the reference model, and the ratio of the two.

    manifests: name of a file -> its content. Raises ArtifactError for a model without a manifest.
    """
    counts = {content["model"]: content["num_parameters"] for content in manifests.values()}
    absent = sorted({*models, reference} - counts.keys())
    if absent:
        raise ArtifactError(f"no manifest of {', '.join(absent)} among {', '.join(manifests)}")
    total = sum(counts[model] for model in models)
    ratio = format_number(total / counts[reference], 4)
    return {"parameters": str(total), "reference_parameters": str(counts[reference]), "ratio": ratio}


def total_size(models: Iterable[str], sizes: Mapping[str, float], manifests: Mapping[str, Any]) -> float:
    """Return the billions of parameters of all these models, each once, by the sizes given and else as counted."""
    known = {content["model"]: content["num_parameters"] / 1e9 for content in manifests.values()} | dict(sizes)
    return sum((known[model] for model in sorted(set(models))), start=0.0)


def read_phases(stages: Stages) -> dict[str, list[Call]]:
    """Return phase -> calls of a run; stages that it shares with other systems count for each of them.

    Files: calls.parquet of the teacher, of each round, of a baseline's training, and of the evaluation, where those of
    a search stand, too; and each round's evaluator_calls.parquet where an evaluator scored its steps.
    """
    found: dict[str, list[Call]] = {phase: [] for phase in PHASES}
    if stages.teacher:
        found[TEACHER] += read_calls(stages.teacher / "calls.parquet")
    for _, sampled, _ in stages.rounds():
        found[ROUNDS] += read_calls(sampled / "calls.parquet")
        if stages.entry["step_scorer"]:
            found[EVALUATOR] += read_calls(sampled / "evaluator_calls.parquet")
    if stages.trained:
        found[TRAINED] += read_calls(stages.trained / "calls.parquet")
    for call in read_calls(stages.folder(stages.entry["method"], EVAL_STAGE) / "calls.parquet"):
        found[SEARCH if call.phase == SEARCH else EVAL].append(call)
    return found


def read_trainings(stages: Stages) -> list[dict[str, Any]]:
    """Return the training.json files of a run."""
    folders = [stages.distilled] if stages.distilled else []
    folders += [trained for _, _, trained in stages.rounds()]
    folders += [stages.trained] if stages.trained else []
    return [read_json(folder / "training.json", "slots") for folder in folders]


def budget_row(
    stages: Stages, phases: Mapping[str, Sequence[Call]], trainings: Sequence[Mapping[str, Any]], divisor: float
) -> dict[str, str]:
    """Return the columns of a run that its calls and trainings tell; empty per question where nothing was asked.

    trajectories: sampled for training, by the teacher, in the rounds and in a baseline's training; train_problems: the
    questions of these. train_prompts: the same questions as often as they were drawn, once a stage of the teacher and
    the rounds; train_rollouts: the responses sampled, retries included. divisor: see `cost`.
    """
    under_protocol = [call for phase in (TEACHER, ROUNDS) for call in phases[phase]]
    sampled = [*under_protocol, *phases[TRAINED]]
    drawn = {(call.run, call.qid) for call in under_protocol}
    slots = [slot for training in trainings for slot in training["slots"].values()]
    row = {
        **stages.names,
        "train_problems": str(len({call.qid for call in sampled})),
        "train_prompts": str(len(drawn) + sum(training.get("num_prompts", 0) for training in trainings)),
        "train_rollouts": str(len(under_protocol) + sum(training.get("num_rollouts", 0) for training in trainings)),
        "trajectories": str(len({(call.run, call.qid, call.sample) for call in sampled})),
        **{name: str(sum(slot[name] for slot in slots)) for name in SUMS},
    }
    for phase in PHASES:
        row[f"calls_{phase}"] = str(len(phases[phase]))
        row[f"output_tokens_{phase}"] = str(sum(call.output_tokens for call in phases[phase]))
        row[f"b_tokens_{phase}"] = format_number(weighted_sum(phases[phase]), B_DECIMALS)
    num_questions = len({call.qid for call in phases[EVAL]})
    if num_questions:
        spent = cost([*phases[SEARCH], *phases[EVAL]], num_questions, divisor)
        row["invocations_per_question"] = format_number(spent.invocations)
        row["output_tokens_per_question"] = format_number(spent.output_tokens)
        row["b_tokens_per_question"] = format_number(spent.b_tokens, B_DECIMALS)
        row["weighted_tokens_per_question"] = format_number(spent.weighted_tokens)
    return row


def printed_invocations(names: Mapping[str, str], printed: Printed) -> dict[str, str]:
    """Return the paper's invocations a question of a row, where it prints them."""
    if names["method"] != "cl":
        return {}
    value, source = printed.get(("model_invocations_per_question", names["benchmark"], "CL"), ("", ""))
    return {"published_invocations": value, "published_source": source}
