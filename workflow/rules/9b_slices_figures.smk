# IN   results/slices/**/eval/{scores.json,calls.parquet,trajectories.jsonl}
# OUT  results/slices/{figure3,figure4,figure5}.{pdf,png,csv}


rule plot_slices_figure3:
    """What is lost without training, without distillation and without step scores, beside controls."""
    input:
        evaluated(["scores.json"], teams_shown.greedy(config, teams_shown.figure3_runs(config))),
    output:
        **reported("slices", "figure3"),
    log:
        "results/logs/plot_slices_figure3.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.figure3_cell),
        code=code("slmcollab.steps.plot_slices_figure3"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.plot_slices_figure3 --cell {params.cell:q} --runs {params.runs:q}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"


rule plot_slices_figure4:
    """Performance against parameter-weighted output tokens, with the number of invocations."""
    input:
        evaluated(["scores.json", "calls.parquet"], teams_shown.greedy(config, teams_shown.figure4_runs(config))),
        manifests=manifests_of(teams_shown.spoken_models(config)),
        table1=published("slices_table1"),
        other=published("slices_other"),
    output:
        **reported("slices", "figure4"),
    log:
        "results/logs/plot_slices_figure4.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.figure4_cell),
        code=code("slmcollab.steps.plot_slices_figure4"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.plot_slices_figure4 --cell {params.cell:q} --runs {params.runs:q}"
        " --manifests {input.manifests} --published {input.table1:q} --published-other {input.other:q}"
        " --figure-pdf {output.pdf} --figure-png {output.png}"
        " --figure-csv {output.csv} > {log} 2>&1"


rule plot_slices_figure5:
    """Shapes of trajectories before the team learns and after."""
    input:
        evaluated(["trajectories.jsonl"], teams_shown.greedy(config, teams_shown.figure5_runs(config))),
    output:
        **reported("slices", "figure5"),
    log:
        "results/logs/plot_slices_figure5.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.figure5_cell),
        code=code("slmcollab.steps.plot_slices_figure5"),
        runs=lambda wildcards: METHOD_RUN,
    shell:
        "python -m slmcollab.steps.plot_slices_figure5 --cell {params.cell:q} --runs {params.runs:q}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"
