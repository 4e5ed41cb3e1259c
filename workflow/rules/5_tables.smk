# IN   results/musketeers/**/{scores.json,run.json}, results/experts/**/probe.json, results/{resources,logs}/, workflow/published/musketeers.csv
# OUT  results/table1.csv, results/table1.provenance.json, results/table_resources.csv
#      results/musketeers/{table1.csv,table1.tex,table2.csv,table2.tex,table_probe.csv}


rule make_musketeers_table1:
    """Table 1 of n-Musketeers: mean, spread over seeds, interval over questions and test, beside the published value."""
    input:
        scores=paths(f"{RUN}/scores.json", shown.table_runs(config)),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        table="results/musketeers/table1.csv",
        tex=report("results/musketeers/table1.tex", caption="../report/table1.rst", category="n-Musketeers"),
    log:
        "results/logs/make_musketeers_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.table_cell),
        code=code("slmcollab.steps.make_musketeers_table1"),
    shell:
        "python -m slmcollab.steps.make_musketeers_table1 --cell {params.cell:q} --scores {input.scores}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"


rule make_table2:
    """Table 2 of n-Musketeers: what is pooled from the experts, beside the last token of the last layer."""
    input:
        scores=paths(f"{RUN}/scores.json", shown.table2_runs(config)),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        table=report("results/musketeers/table2.csv", caption="../report/table2.rst", category="n-Musketeers"),
        tex=report("results/musketeers/table2.tex", caption="../report/table2.rst", category="n-Musketeers"),
    log:
        "results/logs/make_table2.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.table2_cell),
        code=code("slmcollab.steps.make_table2"),
    shell:
        "python -m slmcollab.steps.make_table2 --cell {params.cell:q} --scores {input.scores}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"


rule make_table1:
    """Both papers' Table 1 in one file, and for every cell the files that it came from."""
    input:
        tables=expand("results/{paper}/table1.csv", paper=config["papers"]),
        scores=of_papers(table1_files("scores.json")),
        runs=of_papers(table1_files("run.json")),
    output:
        table=report("results/table1.csv", caption="../report/table1.rst", category="Both papers"),
        provenance="results/table1.provenance.json",
    log:
        "results/logs/make_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(table1_cell),
        code=code("slmcollab.steps.make_table1"),
    shell:
        "python -m slmcollab.steps.make_table1 --cell {params.cell:q} --code {params.code} --tables {input.tables}"
        " --scores {input.scores} --runs {input.runs} --table {output.table} --provenance {output.provenance} > {log} 2>&1"


rule write_probe_table:
    """What a linear map reads from each expert's features: whether a team knows what the policy does not."""
    input:
        [f"results/experts/{expert}/{benchmark}/probe.json" for benchmark, expert in shown.experts_shown(config)],
    output:
        report("results/musketeers/table_probe.csv", caption="../report/table_probe.rst", category="n-Musketeers"),
    log:
        "results/logs/write_probe_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.experts_cell),
        code=code("slmcollab.steps.write_probe_table"),
    shell:
        "python -m slmcollab.steps.write_probe_table --cell {params.cell:q} --probes {input} --table {output} > {log} 2>&1"


rule write_resources_table:
    """Wall time, CPU time and peak memory of trainings and of all that runs a model before and after them."""

    # The files that it reads are no inputs: Snakemake would train again for one that is lost.
    input:
        of_papers(measured()),
    output:
        report("results/table_resources.csv", caption="../report/table_resources.rst", category="Both papers"),
    log:
        "results/logs/write_resources_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.resources_cell),
        code=code("slmcollab.steps.write_resources_table"),
    shell:
        "python -m slmcollab.steps.write_resources_table --cell {params.cell:q} --table {output} > {log} 2>&1"
