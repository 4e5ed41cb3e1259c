# IN   the `benchmarks:` blocks of the config
# OUT  results/data/{benchmark}/{train.jsonl,test.jsonl,manifest.json}, for slices dev.jsonl too


rule generate_problems:
    """Both splits of a procedurally generated benchmark, once, for every method, team and seed."""
    output:
        train="results/data/{benchmark}/train.jsonl",
        test="results/data/{benchmark}/test.jsonl",
        manifest="results/data/{benchmark}/manifest.json",
    log:
        "results/logs/generate_problems/{benchmark}.log",
    benchmark:
        "results/resources/generate_problems/{benchmark}.resources.tsv"
    wildcard_constraints:
        benchmark=named(benchmarks_with(source=False, num_dev=False)),
    conda:
        "../../envs/cpu.yaml"
    threads: config["numeric_threads"]
    resources:
        mem_mb=growing(8000),
        runtime=growing(30),
    params:
        cell=cell(grid.problems_cell),
        code=code("slmcollab.steps.generate_problems", "slmcollab.benchmarks.{loader}"),
    shell:
        "python -m slmcollab.steps.generate_problems --cell {params.cell:q} --processes {threads}"
        " --train {output.train} --test {output.test} --manifest {output.manifest} > {log} 2>&1"


use rule generate_problems as generate_team_problems with:
    output:
        train="results/data/{benchmark}/train.jsonl",
        dev="results/data/{benchmark}/dev.jsonl",
        test="results/data/{benchmark}/test.jsonl",
        manifest="results/data/{benchmark}/manifest.json",
    log:
        "results/logs/generate_team_problems/{benchmark}.log",
    benchmark:
        "results/resources/generate_team_problems/{benchmark}.resources.tsv"
    wildcard_constraints:
        benchmark=named(benchmarks_with(source=False, num_dev=True)),


rule download_problems:
    """Both splits of a published benchmark at its pinned revision; runs on the login node."""
    input:
        lambda wildcards: local_files(config["benchmarks"][wildcards.benchmark]["source"]),
    output:
        train="results/data/{benchmark}/train.jsonl",
        test="results/data/{benchmark}/test.jsonl",
        manifest="results/data/{benchmark}/manifest.json",
    log:
        "results/logs/download_problems/{benchmark}.log",
    wildcard_constraints:
        benchmark=named(benchmarks_with(source=True, num_dev=False)),
    retries: 0  # where there is no network there is none a minute later
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.problems_cell),
        code=code("slmcollab.steps.download_problems", "slmcollab.benchmarks.{loader}"),
    shell:
        "HF_HUB_OFFLINE=0 python -m slmcollab.steps.download_problems --cell {params.cell:q}"
        " --train {output.train} --test {output.test} --manifest {output.manifest} > {log} 2>&1"


use rule download_problems as download_team_problems with:
    output:
        train="results/data/{benchmark}/train.jsonl",
        dev="results/data/{benchmark}/dev.jsonl",
        test="results/data/{benchmark}/test.jsonl",
        manifest="results/data/{benchmark}/manifest.json",
    log:
        "results/logs/download_team_problems/{benchmark}.log",
    wildcard_constraints:
        benchmark=named(benchmarks_with(source=True, num_dev=True)),
    localrule: True  # the copy does not take it over
