# Rebuilds the papers' experiment grids, from raw problems to tables and figures. Start with README.md.
from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.basedir}/config.yaml"


report: "workflow/report/workflow.rst"


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
PAGED = ["csv", "html"]  # a table and its page in the report
# What each paper is made of; records are targets too, so that a run that was lost after it was scored is noticed:
# Snakemake does not look between targets.
TABLES = {
    "musketeers": [
        f"{MADE}/table1.tex",
        *expand(f"{MADE}/table1.{{suffix}}", suffix=PAGED),
        *expand(f"{MADE}/claims.{{suffix}}", suffix=PAGED),
        *expand(f"{MADE}/table2.{{suffix}}", suffix=[*PAGED, "tex"] if shown.table2_runs(config) else []),
        *expand(
            f"{MADE}/table_{{kind}}.{{suffix}}",
            kind=["probe", "experts"] if shown.experts_shown(config) else [],
            suffix=PAGED,
        ),
    ],
    "slices": [
        "results/slices/table1.tex",
        *expand("results/slices/{table}.{suffix}", table=["table1", "claims"], suffix=PAGED),
        *expand(
            "results/slices/table_{kind}.{suffix}",
            kind=["roles", "retention", "overlap", "funnel", "budgets"],
            suffix=PAGED,
        ),
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


include: "workflow/rules/9d_record.smk"  # of all of the above


onstart:
    from cluster import hooks
    from slmcollab.models import gated

    needed = [] if workflow.touch else workflow.dag.needrun_jobs()
    fetched = [job.wildcards.model for job in needed if job.rule.name == "download_model"]
    refused = gated.refusals({model: config["models"][model] for model in fetched})
    refused += hooks.misplaced(Path(workflow.basedir), slurm=not workflow.local_exec)
    refused += hooks.left_over(Path.cwd(), Path(workflow.basedir), slurm=not workflow.local_exec)
    if refused:
        raise WorkflowError("\n".join(refused))
    driver.write(Path.cwd(), slurm=not workflow.local_exec)


onsuccess:
    driver.remove(Path.cwd())


onerror:
    from cluster import hooks

    hooks.fail(Path.cwd(), slurm=not workflow.local_exec)


rule all:
    """Every table and figure of the grid."""
    default_target: True
    input:
        expand("results/{table}.{suffix}", table=["table1", "table_resources"], suffix=PAGED),
        "results/ro-crate-metadata.json",
        of_papers(TABLES),
        of_papers(FIGURES),
        of_papers(RECORDS),


rule tables:
    """Every table, from stored scores."""
    input:
        expand("results/{table}.{suffix}", table=["table1", "table_resources"], suffix=PAGED),
        of_papers(TABLES),
        of_papers(RECORDS),


rule figures:
    """Every figure, from stored histories."""
    input:
        of_papers(FIGURES),
