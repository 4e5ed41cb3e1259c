# IN   results/models/{expert}/manifest.json, results/data/{benchmark}/{split}.jsonl
#      results/experts/{expert}/{benchmark}/{split}/answers.jsonl   read where {sequence} is completion
# OUT  results/experts/{expert}/{benchmark}/{split}/{sequence}.safetensors   all poolings, shared by every team, method and seed
#      results/experts/{expert}/{benchmark}/probe.json


rule extract_features:
    """Hidden states of a frozen expert on one split, every pooling from one forward pass."""
    input:
        expert="results/models/{expert}/manifest.json",
        weights=ancient("results/models/{expert}/weights"),
        problems="results/data/{benchmark}/{split}.jsonl",
        answers=lambda wildcards: (
            f"results/experts/{wildcards.expert}/{wildcards.benchmark}/{wildcards.split}/answers.jsonl"
            if wildcards.sequence == "completion"
            else []
        ),
    output:
        "results/experts/{expert}/{benchmark}/{split}/{sequence}.safetensors",
    log:
        "results/logs/extract_features/{expert}/{benchmark}/{split}/{sequence}.log",
    benchmark:
        "results/resources/extract_features/{expert}/{benchmark}/{split}/{sequence}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(64000),
        runtime=growing(60),
    params:
        cell=cell(grid.features_cell),
        code=code("slmcollab.steps.extract_features"),
    shell:
        "python -m slmcollab.steps.extract_features --cell {params.cell:q} --code {params.code}"
        " --expert {input.expert} --problems {input.problems} --answers {input.answers}"
        " --features {output} > {log} 2>&1"


rule probe_experts:
    """Share of held-out answers that a linear map reads from an expert's features."""
    input:
        features_train="results/experts/{expert}/{benchmark}/train/prompt.safetensors",
        features_test="results/experts/{expert}/{benchmark}/test/prompt.safetensors",
        train="results/data/{benchmark}/train.jsonl",
        test="results/data/{benchmark}/test.jsonl",
    output:
        "results/experts/{expert}/{benchmark}/probe.json",
    log:
        "results/logs/probe_experts/{expert}/{benchmark}.log",
    conda:
        "../../envs/cpu.yaml"
    threads: config["numeric_threads"]
    resources:
        mem_mb=growing(8000),
        runtime=growing(20),
        turn=1,
    params:
        cell=cell(grid.probe_cell),
        code=code("slmcollab.steps.probe_experts"),
    shell:
        "python -m slmcollab.steps.probe_experts --cell {params.cell:q}"
        " --features-train {input.features_train} --features-test {input.features_test}"
        " --train-problems {input.train} --test-problems {input.test} --probe {output} > {log} 2>&1"
