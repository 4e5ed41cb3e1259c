# IN   results/slices/**/{teacher,distilled,round1,...}/, results/slices/**/{eval,eval_sampled}/, workflow/published/slices_*.csv
# OUT  results/slices/{table_funnel.csv,table_budgets.csv,claims.csv}


rule write_funnel_table:
    """What was kept and dropped at every stage of learning, and what could not be judged at the end."""
    input:
        evaluated(["scores.json"], teams_shown.greedy(config)),
        learned(
            teacher=["funnel.json"],
            distilled=RECORD,
            scored=["evaluation.json"],
            round=["rewards.json", *RECORD],
            trained=RECORD,
        ),
    output:
        slices_table("table_funnel.csv"),
    log:
        "results/logs/write_funnel_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.funnel_cell),
        code=code("slmcollab.steps.write_funnel_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_funnel_table --cell {params.cell:q} --runs {params.runs:q} --table {output}"
        " > {log} 2>&1"


rule write_budgets_table:
    """What every system was given: parameters, problems, trajectories, tokens and calls."""
    input:
        evaluated(["calls.parquet"], teams_shown.greedy(config)),
        learned(
            teacher=CALLS,
            distilled=RECORD,
            sampled=CALLS,
            scored=["evaluator_calls.parquet"],
            round=RECORD,
            trained=[*CALLS, *RECORD],
        ),
        manifests=manifests_of(teams_shown.shown_models(config)),
        published=published("slices_other"),
    output:
        slices_table("table_budgets.csv"),
    log:
        "results/logs/write_budgets_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.budgets_cell),
        code=code("slmcollab.steps.write_budgets_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_budgets_table --cell {params.cell:q} --runs {params.runs:q}"
        " --manifests {input.manifests} --published {input.published:q} --table {output} > {log} 2>&1"


rule write_slices_claims:
    """Every claim of slices, what was measured of it, and whether it holds; and what step scores add to controls."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        learned(round=RECORD),
        table1=published("slices_table1"),
        other=published("slices_other"),
    output:
        slices_table("claims.csv"),
    log:
        "results/logs/write_slices_claims.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.claims_cell),
        code=code("slmcollab.steps.write_slices_claims"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_slices_claims --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.table1:q} --published-other {input.other:q} --claims {output} > {log} 2>&1"
