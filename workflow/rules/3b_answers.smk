# IN   results/models/{expert}/manifest.json, results/data/{benchmark}/{train,test}.jsonl
# OUT  results/experts/{expert}/{benchmark}/{split}/{answers.jsonl,scores.json}   what an expert says by itself, and how right that is
#      results/experts/{encoder}/{benchmark}/{split}/embedding.safetensors   of the questions, for a router to choose by
#      results/musketeers/table_experts.{csv,html}


rule generate_expert_answers:
    """A frozen expert's own greedy answers to one split, shared by all that reads what experts say."""
    input:
        expert="results/models/{expert}/manifest.json",
        weights=ancient("results/models/{expert}/weights"),
        problems="results/data/{benchmark}/{split}.jsonl",
    output:
        "results/experts/{expert}/{benchmark}/{split}/answers.jsonl",
    log:
        "results/logs/generate_expert_answers/{expert}/{benchmark}/{split}.log",
    benchmark:
        "results/resources/generate_expert_answers/{expert}/{benchmark}/{split}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(64000),
        runtime=growing(120),
    params:
        cell=cell(grid.expert_answers_cell),
        code=code("slmcollab.steps.generate_expert_answers"),
    shell:
        "python -m slmcollab.steps.generate_expert_answers --cell {params.cell:q}"
        " --expert {input.expert} --problems {input.problems} --answers {output} > {log} 2>&1"


rule score_expert_answers:
    """How right an expert is by itself."""
    input:
        answers="results/experts/{expert}/{benchmark}/{split}/answers.jsonl",
        problems="results/data/{benchmark}/{split}.jsonl",
        train="results/data/{benchmark}/train.jsonl",
    output:
        "results/experts/{expert}/{benchmark}/{split}/scores.json",
    log:
        "results/logs/score_expert_answers/{expert}/{benchmark}/{split}.log",
    conda:
        "../../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
        turn=1,
    params:
        cell=cell(grid.expert_scores_cell),
        code=code("slmcollab.steps.score_expert_answers", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.score_expert_answers --cell {params.cell:q} --answers {input.answers}"
        " --problems {input.problems} --train-problems {input.train} --scores {output} > {log} 2>&1"


rule embed_questions:
    """Sentence embeddings of a split's questions by a frozen encoder."""
    input:
        encoder="results/models/{encoder}/manifest.json",
        weights=ancient("results/models/{encoder}/weights"),
        problems="results/data/{benchmark}/{split}.jsonl",
    output:
        "results/experts/{encoder}/{benchmark}/{split}/embedding.safetensors",
    log:
        "results/logs/embed_questions/{encoder}/{benchmark}/{split}.log",
    benchmark:
        "results/resources/embed_questions/{encoder}/{benchmark}/{split}.resources.tsv"
    wildcard_constraints:
        encoder=named(config["models"]),
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(8000),
        runtime=growing(20),
    params:
        cell=cell(grid.embedding_cell),
        code=code("slmcollab.steps.embed_questions"),
    shell:
        "python -m slmcollab.steps.embed_questions --cell {params.cell:q} --code {params.code}"
        " --encoder {input.encoder} --problems {input.problems} --embedding {output} > {log} 2>&1"


rule write_expert_table:
    """How right each expert is by itself on the test problems."""
    input:
        [f"results/experts/{expert}/{benchmark}/test/scores.json" for benchmark, expert in shown.experts_shown(config)],
    output:
        **tabled("musketeers", "table_experts"),
    log:
        "results/logs/write_expert_table.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.experts_cell),
        code=code("slmcollab.steps.write_expert_table", "slmcollab.steps.show_table"),
    shell:
        "python -m slmcollab.steps.write_expert_table --cell {params.cell:q} --scores {input}"
        " --table {output.table} > {log} 2>&1"
        f"{SHOW}"
