# Rebuilds the papers' experiment grids, from raw problems to tables and figures. Start with README.md.
from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.basedir}/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/common_files.smk"
include: "workflow/rules/common_teams.smk"
include: "workflow/rules/1_models.smk"
include: "workflow/rules/2_data.smk"
include: "workflow/rules/3_experts.smk"
include: "workflow/rules/3b_answers.smk"
include: "workflow/rules/4_training.smk"
include: "workflow/rules/4b_attention.smk"
include: "workflow/rules/5_tables.smk"
include: "workflow/rules/6_figures.smk"
include: "workflow/rules/7_claims.smk"
include: "workflow/rules/8_slices_sampling.smk"
include: "workflow/rules/8b_slices_distillation.smk"
include: "workflow/rules/8c_slices_refinement.smk"
include: "workflow/rules/8d_slices_baselines.smk"
include: "workflow/rules/9_slices_tables.smk"
include: "workflow/rules/9b_slices_figures.smk"
include: "workflow/rules/9c_slices_accounts.smk"


MADE = "results/musketeers"
# What each paper is made of; records are targets too, so that a run that was lost after it was scored is noticed:
# Snakemake does not look between targets.
TABLES = {
    "musketeers": [
        f"{MADE}/table1.tex",
        f"{MADE}/claims.csv",
        *expand(f"{MADE}/table2.{{suffix}}", suffix=["csv", "tex"] if shown.table2_runs(config) else []),
        *expand(f"{MADE}/table_{{kind}}.csv", kind=["probe", "experts"] if shown.experts_shown(config) else []),
    ],
    "slices": [
        "results/slices/table1.tex",
        "results/slices/claims.csv",
        *expand("results/slices/table_{kind}.csv", kind=["roles", "retention", "overlap", "funnel", "budgets"]),
    ],
}
FIGURES = {
    "musketeers": expand(
        f"{MADE}/{{figure}}.{{suffix}}",
        figure=["figure4", "figure6a"] * bool(shown.attention_runs(config))
        + ["figure6b"] * bool(shown.figure6b_runs(config)),
        suffix=["pdf", "png", "csv"],
    ),
    "slices": expand(
        "results/slices/{figure}.{suffix}",
        figure=["figure3"] * bool(teams_shown.figure3_runs(config))
        + ["figure4"]
        + ["figure5"] * bool(teams_shown.figure5_runs(config)),
        suffix=["pdf", "png", "csv"],
    ),
}
RECORDS = {
    "musketeers": paths(f"{RUN}/run.json", grid.runs(config)),
    "slices": paths(f"{SYSTEM}/eval/run.json", slices.team_runs(config)),
}


onstart:
    from slmcollab.models import gated

    fetched = [job.wildcards.model for job in workflow.dag.needrun_jobs() if job.rule.name == "download_model"]
    refused = gated.refusals({model: config["models"][model] for model in fetched})
    if refused:
        raise WorkflowError("\n".join(refused))


rule all:
    """Every table and figure of the grid."""
    default_target: True
    input:
        "results/table1.csv",
        "results/table_resources.csv",
        of_papers(TABLES),
        of_papers(FIGURES),
        of_papers(RECORDS),


rule tables:
    """Every table, from stored scores."""
    input:
        "results/table1.csv",
        "results/table_resources.csv",
        of_papers(TABLES),
        of_papers(RECORDS),


rule figures:
    """Every figure, from stored histories."""
    input:
        of_papers(FIGURES),
