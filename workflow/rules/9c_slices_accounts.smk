# IN   results/slices/**/{teacher,distilled,round1,...}/, results/slices/**/{eval,eval_sampled}/, workflow/published/slices_*.csv
# OUT  results/slices/{table_funnel,table_budgets,claims}.{csv,html}


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
        **tabled("slices", "table_funnel"),
    log:
        "results/logs/write_funnel_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.funnel_cell),
        code=code("slmcollab.steps.write_funnel_table", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_funnel_table --cell {params.cell:q} --runs {params.runs:q} --table {output.table}"
        " > {log} 2>&1"
        f"{SHOW}"


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
        **tabled("slices", "table_budgets"),
    log:
        "results/logs/write_budgets_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.budgets_cell),
        code=code("slmcollab.steps.write_budgets_table", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_budgets_table --cell {params.cell:q} --runs {params.runs:q}"
        " --manifests {input.manifests} --published {input.published:q} --table {output.table} > {log} 2>&1"
        f"{SHOW}"


rule write_slices_claims:
    """Every claim of slices, what was measured of it, and whether it holds; and what step scores add to controls."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        learned(round=RECORD),
        table1=published("slices_table1"),
        other=published("slices_other"),
    output:
        **tabled("slices", "claims"),
    log:
        "results/logs/write_slices_claims.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.claims_cell),
        code=code("slmcollab.steps.write_slices_claims", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_slices_claims --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.table1:q} --published-other {input.other:q} --claims {output.table} > {log} 2>&1"
        f"{SHOW}"
