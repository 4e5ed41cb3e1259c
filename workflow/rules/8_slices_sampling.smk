# IN   results/models/{model}/manifest.json, results/data/{benchmark}/{train,test}.jsonl, workflow/prompts/, adapters of the stage before
# OUT  results/slices/{benchmark}/{system}/seed{seed}/{teacher,round1,...}/{calls.parquet,trajectories.jsonl}
#      results/slices/{benchmark}/{system}/seed{seed}/{eval,eval_sampled}/{calls.parquet,trajectories.jsonl,answers.jsonl,scores.json}


rule sample_trajectories:
    """Trajectories of a team on train problems: a teacher's, or those that a round of refinement learns from."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        start=speaking,
        before=trained,
        problems="results/data/{benchmark}/train.jsonl",
        prompt=team_prompt,
    output:
        calls="results/slices/{benchmark}/{system}/seed{seed}/{stage}/calls.parquet",
        trajectories="results/slices/{benchmark}/{system}/seed{seed}/{stage}/trajectories.jsonl",
        run="results/slices/{benchmark}/{system}/seed{seed}/{stage}/run.json",
    log:
        "results/logs/sample_trajectories/{benchmark}/{system}/seed{seed}/{stage}.log",
    benchmark:
        "results/resources/sample_trajectories/{benchmark}/{system}/seed{seed}/{stage}.resources.tsv"
    wildcard_constraints:
        stage=r"teacher|round[1-9]\d*",
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(480),
    params:
        cell=cell(slices_cells.sample_cell),
        code=code("slmcollab.steps.sample_trajectories"),
        # Undeclared on purpose: what a killed job has finished has to survive the retry.
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/{stage}",
    shell:
        "python -m slmcollab.steps.sample_trajectories --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --start {input.start} --before {input.before} --problems {input.problems} --prompt {input.prompt:q}"
        " --checkpoints {params.checkpoints} --job ${{SLURM_JOB_ID:-local}}"
        " --calls {output.calls} --trajectories {output.trajectories} --run {output.run} > {log} 2>&1"


rule answer_with_team:
    """A team's trajectories on the test problems, and the answers that they end with."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        start=speaking,
        before=trained,
        problems="results/data/{benchmark}/test.jsonl",
        prompt=team_prompt,
    output:
        calls="results/slices/{benchmark}/{system}/seed{seed}/{stage}/calls.parquet",
        trajectories="results/slices/{benchmark}/{system}/seed{seed}/{stage}/trajectories.jsonl",
        answers="results/slices/{benchmark}/{system}/seed{seed}/{stage}/answers.jsonl",
        run="results/slices/{benchmark}/{system}/seed{seed}/{stage}/run.json",
    log:
        "results/logs/answer_with_team/{benchmark}/{system}/seed{seed}/{stage}.log",
    benchmark:
        "results/resources/answer_with_team/{benchmark}/{system}/seed{seed}/{stage}.resources.tsv"
    wildcard_constraints:
        stage="eval|eval_sampled",
        system=named(systems_under(protocol=True)),
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(480),
    params:
        cell=cell(slices_cells.answer_cell),
        code=code("slmcollab.steps.answer_with_team"),
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/{stage}",
    shell:
        "python -m slmcollab.steps.answer_with_team --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --start {input.start} --before {input.before} --problems {input.problems} --prompt {input.prompt:q}"
        " --checkpoints {params.checkpoints} --job ${{SLURM_JOB_ID:-local}}"
        " --calls {output.calls} --trajectories {output.trajectories} --answers {output.answers} --run {output.run} > {log} 2>&1"


rule score_team:
    """Scores of a system's answers and of the answers that its trajectories held before."""
    input:
        answers="results/slices/{benchmark}/{system}/seed{seed}/{stage}/answers.jsonl",
        run="results/slices/{benchmark}/{system}/seed{seed}/{stage}/run.json",
        problems="results/data/{benchmark}/test.jsonl",
    output:
        "results/slices/{benchmark}/{system}/seed{seed}/{stage}/scores.json",
    log:
        "results/logs/score_team/{benchmark}/{system}/seed{seed}/{stage}.log",
    wildcard_constraints:
        stage="eval|eval_sampled",
    conda:
        "../../envs/code.yaml"
    threads: config["evaluation"]["num_workers"]
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
        turn=1,
    params:
        cell=cell(slices_cells.grade_cell),
        code=code("slmcollab.steps.score_team", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.score_team --cell {params.cell:q} --code {params.code}"
        " --seed {wildcards.seed} --workers {threads} --answers {input.answers} --run {input.run}"
        " --problems {input.problems} --scores {output} > {log} 2>&1"
