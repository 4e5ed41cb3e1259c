# IN   results/slices/**/{eval,eval_sampled}/, results/slices/**/{teacher,distilled,round1,...}/*.json, workflow/published/slices_*.csv
# OUT  results/slices/{table1,table_roles,table_retention,table_overlap}.{csv,html}, results/slices/table1.tex


rule make_slices_table1:
    """Table 1 of slices: mean, spread over seeds, interval over questions and test, beside the published value."""
    input:
        evaluated(["scores.json"], teams_shown.greedy(config)),
        published=published("slices_table1"),
    output:
        **tabled("slices", "table1", tex=True),
    log:
        "results/logs/make_slices_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.table_cell),
        code=code("slmcollab.steps.make_slices_table1", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,  # a pattern: the paths of many seeds would not fit on a command line
    shell:
        "python -m slmcollab.steps.make_slices_table1 --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"
        f"{SHOW}"


rule write_roles_table:
    """Who revises, hands off, terminates and answers last, and how often the protocol is broken."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        published=published("slices_other"),
    output:
        **tabled("slices", "table_roles"),
    log:
        "results/logs/write_roles_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.roles_cell),
        code=code("slmcollab.steps.write_roles_table", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_roles_table --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output.table} > {log} 2>&1"
        f"{SHOW}"


rule write_retention_table:
    """Which right answers are kept, found, rescued and spoiled, and what it costs, with ranks among the systems."""
    input:
        evaluated(SPOKEN, teams_shown.evaluations(config)),
        published=published("slices_other"),
    output:
        **tabled("slices", "table_retention"),
    log:
        "results/logs/write_retention_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.retention_cell),
        code=code("slmcollab.steps.write_retention_table", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.write_retention_table --cell {params.cell:q} --runs {params.runs:q}"
        " --published {input.published:q} --table {output.table} > {log} 2>&1"
        f"{SHOW}"


rule write_overlap_table:
    """How much of a model's reasoning repeats what it was handed."""
    input:
        evaluated(SPOKEN, teams_shown.greedy(config)),
        problems=expand("results/data/{benchmark}/test.jsonl", benchmark=config["slices"]["grid"]["benchmarks"]),
        published=published("slices_other"),
    output:
        **tabled("slices", "table_overlap"),
    log:
        "results/logs/write_overlap_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.overlap_cell),
        code=code("slmcollab.steps.write_overlap_table", "slmcollab.steps.show_table"),
        runs=lambda wildcards: METHOD_RUN,
        problems=lambda wildcards: "results/data/{benchmark}/test.jsonl",
    shell:
        "python -m slmcollab.steps.write_overlap_table --cell {params.cell:q} --runs {params.runs:q}"
        " --problems {params.problems:q} --published {input.published:q} --table {output.table} > {log} 2>&1"
        f"{SHOW}"
