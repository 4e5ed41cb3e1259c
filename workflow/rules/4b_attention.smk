# IN   the runs of the method hidden_state
# OUT  results/musketeers/{benchmark}/hidden_state/{team}/seed{seed}/attention.json


rule analyse_attention:
    """How far attention depends on the prompt, and what is lost when it is frozen at its mean."""
    input:
        policy=f"results/models/{POLICY}/manifest.json",
        weights=ancient(f"results/models/{POLICY}/weights"),
        adapter=ancient("results/musketeers/{benchmark}/{method}/{team}/seed{seed}/adapter"),
        run="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/run.json",
        scores="results/musketeers/{benchmark}/{method}/{team}/seed{seed}/scores.json",
        train_features=exposed("features", "train"),
        problems="results/data/{benchmark}/test.jsonl",
        manifests=exposed("manifests", "test"),
        features=exposed("features", "test"),
        answers=exposed("answers", "test"),
        embedding=exposed("embedding", "test"),
        expert_scores=exposed("expert_scores", "test"),
    output:
        "results/musketeers/{benchmark}/{method}/{team}/seed{seed}/attention.json",
    log:
        "results/logs/analyse_attention/{benchmark}/{method}/{team}/seed{seed}.log",
    benchmark:
        "results/resources/analyse_attention/{benchmark}/{method}/{team}/seed{seed}.resources.tsv"
    wildcard_constraints:
        method=grid.BASE,
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(32000),
        runtime=growing(60),
        turn=1,
    params:
        cell=cell(grid.attention_cell),
        code=code("slmcollab.steps.analyse_attention", "slmcollab.context.{operator}", "slmcollab.scoring.{scorer}"),
        train_cell=cell(grid.train_cell),
        train_code=code("slmcollab.steps.train_grpo", "slmcollab.context.{operator}", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.analyse_attention --cell {params.cell:q} --seed {wildcards.seed}"
        " --run {input.run} --train-cell {params.train_cell:q} --train-code {params.train_code}"
        " --policy {input.policy} --adapter {input.adapter}"
        " --scores {input.scores} --train-features {input.train_features} --problems {input.problems} "
        + EXPOSED
        + " --attention {output} > {log} 2>&1"
