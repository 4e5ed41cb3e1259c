# IN   results/slices/**/{eval,eval_sampled}/, results/slices/**/{teacher,distilled,round1,...}/*.json, workflow/published/slices_*.csv
# OUT  results/slices/{table1.csv,table1.tex,table_roles.csv,table_retention.csv,table_overlap.csv,table_funnel.csv,table_budgets.csv,claims.csv}


rule make_slices_table1:
    """Table 1 of slices: mean, spread over seeds, interval over questions and test, beside the published value."""
    input:
        evaluated(["scores.json"], teams_shown.greedy(config)),
        published=published("slices_table1"),
    output:
        table="results/slices/table1.csv",
        tex=slices_table("table1.tex"),
    log:
        "results/logs/make_slices_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.table_cell),
        code=code("slmcollab.steps.make_slices_table1"),
        runs=lambda wildcards: METHOD_RUN,  # a pattern: the paths of many seeds would not fit on a command line
    shell:
        "python -m slmcollab.steps.make_slices_table1 --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"


rule write_roles_table:
    """Who revises, hands off, terminates and answers last, and how often the protocol is broken."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        published=published("slices_other"),
    output:
        slices_table("table_roles.csv"),
    log:
        "results/logs/write_roles_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.roles_cell),
        code=code("slmcollab.steps.write_roles_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_roles_table --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output} > {log} 2>&1"


rule write_retention_table:
    """Which right answers are kept, found, rescued and spoiled, and what it costs, with ranks among the systems."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        published=published("slices_other"),
    output:
        slices_table("table_retention.csv"),
    log:
        "results/logs/write_retention_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.retention_cell),
        code=code("slmcollab.steps.write_retention_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_retention_table --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output} > {log} 2>&1"


rule write_overlap_table:
    """How much of a model's reasoning repeats what it was handed."""
    input:
        evaluated(SPOKEN, teams_shown.greedy(config)),
        problems=expand("results/data/{benchmark}/test.jsonl", benchmark=config["slices"]["grid"]["benchmarks"]),
        published=published("slices_other"),
    output:
        slices_table("table_overlap.csv"),
    log:
        "results/logs/write_overlap_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.overlap_cell),
        code=code("slmcollab.steps.write_overlap_table"),
        runs=lambda wildcards: METHOD_RUN,
        problems=lambda wildcards: "results/data/{benchmark}/test.jsonl",
    shell:
        "python -m slmcollab.steps.write_overlap_table --cell {params.cell:q} --runs {params.runs:q}"
        " --problems {params.problems:q} --published {input.published:q} --table {output} > {log} 2>&1"


rule write_funnel_table:
    """What was kept and dropped at every stage of learning."""
    input:
        learned(teacher=["funnel.json"], distilled=RECORD, scored=["evaluation.json"], round=["rewards.json", *RECORD]),
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
        learned(teacher=CALLS, distilled=RECORD, sampled=CALLS, scored=["evaluator_calls.parquet"], round=RECORD),
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
