# IN   results/table1.provenance.json, all tables and figures, results/data/{benchmark}/manifest.json, results/logs/
# OUT  results/ro-crate-metadata.json, results/config.json


rule write_run_record:
    """The record of the whole grid: software, models, data, seeds, code digests and machines; and the config as run."""

    # It follows whatever is made, so its params need no tracking; the logs that it reads are no inputs: Snakemake would
    # train again for one that is lost.
    input:
        of_papers(RECORDS),
        made=[
            *expand("results/{table}.{suffix}", table=["table1", "table_resources"], suffix=PAGED),
            *of_papers(TABLES),
            *of_papers(FIGURES),
        ],
        provenance="results/table1.provenance.json",
        data=expand("results/data/{benchmark}/manifest.json", benchmark=listed_benchmarks()),
    output:
        record="results/ro-crate-metadata.json",
        config="results/config.json",
    log:
        "results/logs/write_run_record.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=lambda wildcards, threads: grid.as_json(recorded_cell(config)),
        codes=lambda wildcards, threads: grid.as_json(codes()),
        code=code("slmcollab.steps.write_run_record"),
        workflow=lambda wildcards, threads: ROOT,
    shell:
        "python -m slmcollab.steps.write_run_record --cell {params.cell:q} --codes {params.codes:q}"
        " --workflow {params.workflow:q} --made {input.made} --provenance {input.provenance} --data {input.data}"
        " --record {output.record} --config {output.config} > {log} 2>&1"
