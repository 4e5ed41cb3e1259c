# IN   results/models/{policy}/manifest.json, results/data/{benchmark}/{split}.jsonl, results/experts/
# OUT  results/musketeers/{benchmark}/{method}/{team}/seed{seed}/{adapter/,run.json,history.csv,answers.jsonl,answering.json,scores.json}


rule train_grpo:
    """A policy and its context adapter, trained with GRPO under verifiable rewards, one seed."""
    input:
        policy=f"results/models/{POLICY}/manifest.json",
        weights=ancient(f"results/models/{POLICY}/weights"),
        problems="results/data/{benchmark}/train.jsonl",
        manifests=exposed("manifests", "train"),
        features=exposed("features", "train"),
        answers=exposed("answers", "train"),
        embedding=exposed("embedding", "train"),
        expert_scores=exposed("expert_scores", "train"),
    output:
        adapter=directory("results/musketeers/{benchmark}/{method}/{team}/seed{seed}/adapter"),
        run="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/run.json",
        history="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/history.csv",
    log:
        "results/logs/train_grpo/{benchmark}/{method}/{team}/seed{seed}.log",
    benchmark:
        "results/resources/train_grpo/{benchmark}/{method}/{team}/seed{seed}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(64000),
        runtime=growing(720),
    params:
        cell=cell(grid.train_cell),
        code=code("slmcollab.steps.train_grpo", "slmcollab.context.{operator}", "slmcollab.scoring.{scorer}"),
        save_every=save_every,
        # Undeclared on purpose: Snakemake empties declared outputs before a retry, checkpoints have to survive it.
        checkpoints="checkpoints/musketeers/{benchmark}/{method}/{team}/seed{seed}",
    shell:
        "python -m slmcollab.steps.train_grpo --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --policy {input.policy} --problems {input.problems} "
        + EXPOSED
        + " --checkpoints {params.checkpoints} --save-every {params.save_every} --job ${{SLURM_JOB_ID:-local}}"
        " --adapter {output.adapter} --run {output.run} --history {output.history} > {log} 2>&1"


rule answer_problems:
    """Greedy answers of a trained policy to the test split."""
    input:
        policy=f"results/models/{POLICY}/manifest.json",
        weights=ancient(f"results/models/{POLICY}/weights"),
        adapter=ancient("results/musketeers/{benchmark}/{method}/{team}/seed{seed}/adapter"),
        run="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/run.json",
        problems="results/data/{benchmark}/test.jsonl",
        manifests=exposed("manifests", "test"),
        features=exposed("features", "test"),
        answers=exposed("answers", "test"),
        embedding=exposed("embedding", "test"),
        expert_scores=exposed("expert_scores", "test"),
    output:
        answers="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/answers.jsonl",
        answering="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/answering.json",
    log:
        "results/logs/answer_problems/{benchmark}/{method}/{team}/seed{seed}.log",
    benchmark:
        "results/resources/answer_problems/{benchmark}/{method}/{team}/seed{seed}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(32000),
        runtime=growing(60),
    params:
        cell=cell(grid.answer_cell),
        code=code("slmcollab.steps.answer_problems", "slmcollab.context.{operator}"),
        # What the run has to be of: a job that outlived its workflow may have written it under another config.
        train_cell=cell(grid.train_cell),
        train_code=code("slmcollab.steps.train_grpo", "slmcollab.context.{operator}", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.answer_problems --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --run {input.run} --train-cell {params.train_cell:q} --train-code {params.train_code}"
        " --policy {input.policy} --adapter {input.adapter} --problems {input.problems} "
        + EXPOSED
        + " --output {output.answers} --answering {output.answering} > {log} 2>&1"


rule score_answers:
    """Scores of one run: accuracy on all, seen and unseen test problems, and what could not be scored."""
    input:
        answers="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/answers.jsonl",
        answering="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/answering.json",
        run="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/run.json",
        history="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/history.csv",
        test="results/data/{benchmark}/test.jsonl",
        train="results/data/{benchmark}/train.jsonl",
    output:
        "results/musketeers/{benchmark}/{method}/{team}/seed{seed}/scores.json",
    log:
        "results/logs/score_answers/{benchmark}/{method}/{team}/seed{seed}.log",
    conda:
        "../../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
        turn=1,
    params:
        cell=cell(grid.score_cell),
        code=code("slmcollab.steps.score_answers", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.score_answers --cell {params.cell:q} --code {params.code}"
        " --seed {wildcards.seed} --answers {input.answers} --answering {input.answering} --problems {input.test} --train-problems {input.train}"
        " --run {input.run} --history {input.history} --scores {output} > {log} 2>&1"
