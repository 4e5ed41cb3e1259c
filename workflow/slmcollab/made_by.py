"""Which rule of the workflow makes a file, told by the file's place in the tree: errors about files say what to do."""

import re
from pathlib import Path

_RUN = r"musketeers/[^/]+/[^/]+/[^/]+/seed\d+"
_SYSTEM = r"slices/[^/]+/[^/]+/seed\d+"
_ROUND = rf"{_SYSTEM}/round\d+"
# The first pattern that fits counts. Where a config decides between rules, all of them are named.
_RULES = (
    (r"corpora/[^/]+\.jsonl", "write_toy_corpus"),
    (r"models/[^/]+/lessons\.jsonl", "write_lessons"),
    (r"models/[^/]+/(?:weights|manifest\.json)", "download_model train_toy_member train_toy_model"),
    (
        r"data/[^/]+/(?:train\.jsonl|dev\.jsonl|test\.jsonl|manifest\.json)",
        "download_problems download_team_problems generate_problems generate_team_problems",
    ),
    (r"experts/[^/]+/[^/]+/probe\.json", "probe_experts"),
    (r"experts/[^/]+/[^/]+/[^/]+/answers\.jsonl", "generate_expert_answers"),
    (r"experts/[^/]+/[^/]+/[^/]+/scores\.json", "score_expert_answers"),
    (r"experts/[^/]+/[^/]+/[^/]+/embedding\.safetensors", "embed_questions"),
    (r"experts/[^/]+/[^/]+/[^/]+/[^/]+\.safetensors", "extract_features"),
    (rf"{_RUN}/(?:adapter|run\.json|history\.csv)", "train_grpo"),
    (rf"{_RUN}/(?:answers\.jsonl|answering\.json)", "answer_problems"),
    (rf"{_RUN}/scores\.json", "score_answers"),
    (rf"{_RUN}/attention\.json", "analyse_attention"),
    (rf"{_SYSTEM}/teacher/(?:demonstrations\.jsonl|funnel\.json)", "qualify_trajectories"),
    (rf"{_SYSTEM}/distilled/(?:adapters|training\.json|example\.txt)", "distill_team"),
    (rf"{_ROUND}/(?:step_scores\.jsonl|evaluator_calls\.parquet|evaluation\.json)", "score_steps"),
    (rf"{_ROUND}/(?:rewards\.jsonl|rewards\.json)", "reward_steps"),
    (rf"{_ROUND}/(?:adapters|training\.json)", "refine_team"),
    (rf"{_SYSTEM}/(?:teacher|round\d+)/(?:calls\.parquet|trajectories\.jsonl|run\.json)", "sample_trajectories"),
    (rf"{_SYSTEM}/search/(?:workflow\.json|search\.csv|calls\.parquet|run\.json)", "search_workflow"),
    (rf"{_SYSTEM}/trained/(?:adapters|training\.json|history\.csv|calls\.parquet)", "train_baseline"),
    (rf"{_SYSTEM}/eval(?:_sampled)?/scores\.json", "score_team"),
    (
        rf"{_SYSTEM}/eval(?:_sampled)?/(?:calls\.parquet|trajectories\.jsonl|answers\.jsonl|run\.json)",
        "answer_with_baseline answer_with_team",
    ),
    (r"musketeers/table1\.\w+", "make_musketeers_table1"),
    (r"musketeers/table2\.\w+", "make_table2"),
    (r"musketeers/table_experts\.\w+", "write_expert_table"),
    (r"musketeers/claims\.\w+", "write_claims"),
    (r"musketeers/(figure\w+)\.\w+", r"plot_\1"),
    (r"slices/table1\.\w+", "make_slices_table1"),
    (r"slices/claims\.\w+", "write_slices_claims"),
    (r"slices/(figure\w+)\.\w+", r"plot_slices_\1"),
    (r"(?:musketeers/|slices/)?table_(\w+)\.\w+", r"write_\1_table"),
    (r"table1(?:\.provenance)?\.\w+", "make_table1"),
    (r"(?:ro-crate-metadata|config)\.json", "write_run_record"),
    (r"(?:logs|resources)/(\w+)(?:/.+)?\.(?:log|resources\.tsv)", r"\1"),
)


def made_by(path: Path) -> tuple[list[str], Path] | None:
    """Return the rules that may make a file, and the output that it is or lies in, as Snakemake calls it from the run's
    folder; None for what no rule makes.

    Several rules only where the config decides which of them it is, and not one of them alone left a log.
    """
    for pattern, names in _RULES:
        if found := re.fullmatch(rf"(?P<root>(?:.*/)?results)/(?P<output>{pattern})(?:/.*)?", Path(path).as_posix()):
            root, output = Path(found["root"]), Path(found["output"])
            rules = re.sub(r"\\1", lambda _: found[3], names).split()
            job = "/".join(output.parts[1:-1])
            ran = [rule for rule in rules if (root / "logs" / rule / f"{job}.log").is_file()]
            return (ran if len(ran) == 1 else rules), "results" / output
    return None


def advice(path: Path) -> str:
    """Return what to do about a file that cannot be used, to be put after the reason; "" for what no rule makes.

    Forced it is made again whatever the target is: Snakemake does not look for files between targets and what is there.
    """
    found = made_by(path)
    if found is None:
        return ""
    rules, output = found
    return f"; made by rule {' or '.join(rules)}: add `--forcerun {output}` to make it again"
