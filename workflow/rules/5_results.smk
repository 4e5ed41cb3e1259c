# IN   results/musketeers/**/{scores.json,history.csv}, results/experts/**/probe.json, workflow/published/musketeers.csv
# OUT  results/table1.csv, results/table1.provenance.json
#      results/musketeers/{table1.csv,table_probe.csv,figure4.pdf,figure4.png,figure4.csv}


rule make_musketeers_table1:
    """Table 1 of n-Musketeers: mean and sample standard deviation over seeds, beside the published value."""
    input:
        scores=paths(f"{RUN}/scores.json", grid.runs(config)),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        "results/musketeers/table1.csv",
    log:
        "results/logs/make_musketeers_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.table_cell),
        code=code("slmcollab.steps.make_musketeers_table1"),
    shell:
        "python -m slmcollab.steps.make_musketeers_table1 --cell {params.cell:q}"
        " --scores {input.scores} --published {input.published:q} --table {output} > {log} 2>&1"


rule make_table1:
    """Both papers' Table 1 in one file, and for every cell the files that it came from."""
    input:
        tables=expand("results/{paper}/table1.csv", paper=config["papers"]),
        scores=paths(f"{RUN}/scores.json", grid.runs(config)),
        runs=paths(f"{RUN}/run.json", grid.runs(config)),
    output:
        table="results/table1.csv",
        provenance="results/table1.provenance.json",
    log:
        "results/logs/make_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.table_cell),
        code=code("slmcollab.steps.make_table1"),
    shell:
        "python -m slmcollab.steps.make_table1 --cell {params.cell:q} --code {params.code} --tables {input.tables}"
        " --scores {input.scores} --runs {input.runs} --table {output.table} --provenance {output.provenance} > {log} 2>&1"


rule plot_figure4:
    """Share of attention per expert, its entropy and the reward over training steps, per benchmark and team."""
    input:
        paths(f"{RUN}/history.csv", grid.attention_runs(config)),
    output:
        pdf="results/musketeers/figure4.pdf",
        png="results/musketeers/figure4.png",
        csv="results/musketeers/figure4.csv",
    log:
        "results/logs/plot_figure4.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.figure4_cell),
        code=code("slmcollab.steps.plot_figure4"),
    shell:
        "python -m slmcollab.steps.plot_figure4 --cell {params.cell:q} --histories {input}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"


rule write_probe_table:
    """What a linear map reads from each expert's features: whether a team knows what the policy does not."""
    input:
        [f"results/experts/{expert}/{benchmark}/probe.json" for benchmark, expert in grid.probed(config)],
    output:
        "results/musketeers/table_probe.csv",
    log:
        "results/logs/write_probe_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.probe_table_cell),
        code=code("slmcollab.steps.write_probe_table"),
    shell:
        "python -m slmcollab.steps.write_probe_table --cell {params.cell:q} --probes {input}"
        " --table {output} > {log} 2>&1"
