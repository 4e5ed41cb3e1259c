# IN   results/musketeers/**/{scores.json,run.json}, results/experts/**/probe.json, results/{resources,logs}/, workflow/published/musketeers.csv
# OUT  results/{table1,table_resources}.{csv,html}, results/table1.provenance.json
#      results/musketeers/{table1,table2}.{csv,html,tex}, results/musketeers/table_probe.{csv,html}


rule make_musketeers_table1:
    """Table 1 of n-Musketeers: mean, spread over seeds, interval over questions and test, beside the published value."""
    input:
        scores=paths(f"{RUN}/scores.json", shown.table_runs(config)),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        **tabled("musketeers", "table1", tex=True),
    log:
        "results/logs/make_musketeers_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.table_cell),
        code=code("slmcollab.steps.make_musketeers_table1", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.make_musketeers_table1 --cell {params.cell:q} --scores {input.scores}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"
        f"{SHOW}"


rule make_table2:
    """Table 2 of n-Musketeers: what is pooled from the experts, beside the last token of the last layer."""
    input:
        scores=paths(f"{RUN}/scores.json", shown.table2_runs(config)),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        **tabled("musketeers", "table2", tex=True),
    log:
        "results/logs/make_table2.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.table2_cell),
        code=code("slmcollab.steps.make_table2", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.make_table2 --cell {params.cell:q} --scores {input.scores}"
        " --published {input.published:q} --table {output.table} --tex {output.tex} > {log} 2>&1"
        f"{SHOW}"


rule make_table1:
    """Both papers' Table 1 in one file, and for every cell the files that it came from."""
    input:
        tables=expand("results/{paper}/table1.csv", paper=config["papers"]),
        published=of_papers({"musketeers": [published("musketeers")], "slices": [published("slices_table1")]}),
        scores=of_papers(table1_files("scores.json")),
        runs=of_papers(table1_files("run.json")),
    output:
        **tabled(None, "table1"),
        provenance="results/table1.provenance.json",
    log:
        "results/logs/make_table1.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(table1_cell),
        code=code("slmcollab.steps.make_table1", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.make_table1 --cell {params.cell:q} --code {params.code} --tables {input.tables}"
        " --published {input.published:q} --scores {input.scores} --runs {input.runs} --table {output.table} --provenance {output.provenance} > {log} 2>&1"
        f"{SHOW}"


rule write_probe_table:
    """What a linear map reads from each expert's features: whether a team knows what the policy does not."""
    input:
        [f"results/experts/{expert}/{benchmark}/probe.json" for benchmark, expert in shown.experts_shown(config)],
    output:
        **tabled("musketeers", "table_probe"),
    log:
        "results/logs/write_probe_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.experts_cell),
        code=code("slmcollab.steps.write_probe_table", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.write_probe_table --cell {params.cell:q} --probes {input} --table {output.table} > {log} 2>&1"
        f"{SHOW}"


rule write_resources_table:
    """Wall time, CPU time and peak memory of trainings and of all that runs a model before and after them."""

    # The files that it reads are no inputs: Snakemake would train again for one that is lost.
    input:
        of_papers(measured()),
    output:
        **tabled(None, "table_resources"),
    log:
        "results/logs/write_resources_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(teams_shown.resources_cell),
        code=code("slmcollab.steps.write_resources_table", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.write_resources_table --cell {params.cell:q} --table {output.table} > {log} 2>&1"
        f"{SHOW}"
