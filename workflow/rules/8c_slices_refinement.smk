# IN   results/slices/{benchmark}/{system}/seed{seed}/round{number}/{calls.parquet,trajectories.jsonl}, results/data/{benchmark}/train.jsonl
# OUT  results/slices/{benchmark}/{system}/seed{seed}/round{number}/{step_scores.jsonl,evaluator_calls.parquet,evaluation.json}
#      results/slices/{benchmark}/{system}/seed{seed}/round{number}/{rewards.jsonl,rewards.json,adapters/,training.json}


rule score_steps:
    """Scores of every step of a round's trajectories: each trajectory is read whole, in one call."""
    input:
        evaluator=lambda wildcards: manifests_of(evaluators()),
        weights=ancient(lambda wildcards: [f"results/models/{model}/weights" for model in evaluators()]),
        trajectories="results/slices/{benchmark}/{system}/seed{seed}/round{number}/trajectories.jsonl",
        problems="results/data/{benchmark}/train.jsonl",
        prompt=prompt_file("evaluator", "prompt"),
    output:
        scores="results/slices/{benchmark}/{system}/seed{seed}/round{number}/step_scores.jsonl",
        calls="results/slices/{benchmark}/{system}/seed{seed}/round{number}/evaluator_calls.parquet",
        evaluation="results/slices/{benchmark}/{system}/seed{seed}/round{number}/evaluation.json",
    log:
        "results/logs/score_steps/{benchmark}/{system}/seed{seed}/round{number}.log",
    benchmark:
        "results/resources/score_steps/{benchmark}/{system}/seed{seed}/round{number}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(480),
    params:
        cell=cell(slices_cells.evaluate_cell),
        code=code("slmcollab.steps.score_steps"),
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/round{number}_scores",
    shell:
        "python -m slmcollab.steps.score_steps --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --evaluator {input.evaluator} --trajectories {input.trajectories} --problems {input.problems}"
        " --prompt {input.prompt:q} --checkpoints {params.checkpoints} --job ${{SLURM_JOB_ID:-local}}"
        " --scores {output.scores} --calls {output.calls} --evaluation {output.evaluation} > {log} 2>&1"


rule reward_steps:
    """Reward of every step of a round's trajectories (eq. 11 and 12)."""
    input:
        trajectories=lambda wildcards: of_round(wildcards, "trajectories.jsonl"),
        scores=lambda wildcards: of_round(wildcards, "step_scores.jsonl"),
        evaluation=lambda wildcards: of_round(wildcards, "evaluation.json"),
        problems="results/data/{benchmark}/train.jsonl",
    output:
        rewards="results/slices/{benchmark}/{system}/seed{seed}/round{number}/rewards.jsonl",
        counts="results/slices/{benchmark}/{system}/seed{seed}/round{number}/rewards.json",
    log:
        "results/logs/reward_steps/{benchmark}/{system}/seed{seed}/round{number}.log",
    conda:
        "../../envs/code.yaml"
    threads: config["evaluation"]["num_workers"]
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
    params:
        cell=cell(slices_cells.reward_cell),
        code=code("slmcollab.steps.reward_steps", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.reward_steps --cell {params.cell:q} --code {params.code} --workers {threads}"
        " --trajectories {input.trajectories} --scores {input.scores} --evaluation {input.evaluation}"
        " --problems {input.problems}"
        " --rewards {output.rewards} --counts {output.counts} > {log} 2>&1"


rule refine_team:
    """Refinement with rewards (eq. 14): every slot of a team learns from its own sampled steps, in one job."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        start=speaking,
        before=trained,
        calls=lambda wildcards: of_round(wildcards, "calls.parquet"),
        trajectories=lambda wildcards: of_round(wildcards, "trajectories.jsonl"),
        sampling=lambda wildcards: of_round(wildcards, "run.json"),
        rewards="results/slices/{benchmark}/{system}/seed{seed}/round{number}/rewards.jsonl",
        counts="results/slices/{benchmark}/{system}/seed{seed}/round{number}/rewards.json",
        problems="results/data/{benchmark}/train.jsonl",
        prompt=team_prompt,
    output:
        adapters=directory("results/slices/{benchmark}/{system}/seed{seed}/round{number}/adapters"),
        training="results/slices/{benchmark}/{system}/seed{seed}/round{number}/training.json",
    log:
        "results/logs/refine_team/{benchmark}/{system}/seed{seed}/round{number}.log",
    benchmark:
        "results/resources/refine_team/{benchmark}/{system}/seed{seed}/round{number}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(720),
    params:
        cell=cell(slices_cells.refine_cell),
        code=code("slmcollab.steps.refine_team"),
        save_every=lambda wildcards, threads: config["slices"]["refine"]["save_every"],
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/round{number}_refined",
    shell:
        "python -m slmcollab.steps.refine_team --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --start {input.start} --before {input.before} --calls {input.calls}"
        " --trajectories {input.trajectories} --sampling {input.sampling} --rewards {input.rewards} --counts {input.counts}"
        " --problems {input.problems}"
        " --prompt {input.prompt:q} --checkpoints {params.checkpoints} --save-every {params.save_every}"
        " --job ${{SLURM_JOB_ID:-local}} --adapters {output.adapters} --training {output.training} > {log} 2>&1"
