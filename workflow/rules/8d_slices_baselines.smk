# IN   results/models/{model}/manifest.json, results/data/{benchmark}/{train,dev,test}.jsonl, workflow/prompts/
# OUT  results/slices/{benchmark}/{system}/seed{seed}/search/{workflow.json,search.csv,calls.parquet,run.json}
#      results/slices/{benchmark}/{system}/seed{seed}/trained/{adapters/,training.json,history.csv,calls.parquet}
#      results/slices/{benchmark}/{system}/seed{seed}/eval/{calls.parquet,trajectories.jsonl,answers.jsonl,run.json}


rule search_workflow:
    """A search for the workflow that solves most dev problems: a larger model proposes changes, the team tries them."""
    input:
        manifests=team_manifests,
        optimiser=optimiser,
        weights=ancient(searching_weights),
        problems="results/data/{benchmark}/dev.jsonl",
        prompt=baseline_prompt,
    output:
        workflow="results/slices/{benchmark}/{system}/seed{seed}/search/workflow.json",
        search="results/slices/{benchmark}/{system}/seed{seed}/search/search.csv",
        calls="results/slices/{benchmark}/{system}/seed{seed}/search/calls.parquet",
        run="results/slices/{benchmark}/{system}/seed{seed}/search/run.json",
    log:
        "results/logs/search_workflow/{benchmark}/{system}/seed{seed}.log",
    benchmark:
        "results/resources/search_workflow/{benchmark}/{system}/seed{seed}.resources.tsv"
    wildcard_constraints:
        system=named(systems_with("search")),
    conda:
        "../../envs/gpu_code.yaml"
    threads: max(config["numeric_threads"], config["evaluation"]["num_workers"])
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(480),
    params:
        cell=cell(baselines.search_cell),
        code=code("slmcollab.steps.search_workflow", "slmcollab.teams.{team}", "slmcollab.scoring.{scorer}"),
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/search",
        workers=lambda wildcards, threads: config["evaluation"]["num_workers"],
    shell:
        "python -m slmcollab.steps.search_workflow --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --optimiser {input.optimiser} --problems {input.problems} --prompt {input.prompt:q}"
        " --checkpoints {params.checkpoints} --job ${{SLURM_JOB_ID:-local}} --workers {params.workers}"
        " --workflow {output.workflow} --search {output.search} --calls {output.calls} --run {output.run} > {log} 2>&1"


rule train_baseline:
    """A baseline's reinforcement learning: all slots of a team sample together, and each learns from its own responses."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        problems="results/data/{benchmark}/train.jsonl",
        prompt=baseline_prompt,
    output:
        adapters=directory("results/slices/{benchmark}/{system}/seed{seed}/trained/adapters"),
        training="results/slices/{benchmark}/{system}/seed{seed}/trained/training.json",
        history="results/slices/{benchmark}/{system}/seed{seed}/trained/history.csv",
        calls="results/slices/{benchmark}/{system}/seed{seed}/trained/calls.parquet",
    log:
        "results/logs/train_baseline/{benchmark}/{system}/seed{seed}.log",
    benchmark:
        "results/resources/train_baseline/{benchmark}/{system}/seed{seed}.resources.tsv"
    wildcard_constraints:
        system=named(systems_with("learning")),
    conda:
        "../../envs/gpu_code.yaml"
    threads: max(config["numeric_threads"], config["evaluation"]["num_workers"])
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(2160),
    params:
        cell=cell(baselines.train_baseline_cell),
        code=code("slmcollab.steps.train_baseline", "slmcollab.teams.{team}", "slmcollab.scoring.{scorer}"),
        save_every=lambda wildcards, threads: config["slices"]["marl"]["save_every"],  # not tracked: see save_every
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/trained",
        workers=lambda wildcards, threads: config["evaluation"]["num_workers"],
    shell:
        "python -m slmcollab.steps.train_baseline --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --problems {input.problems} --prompt {input.prompt:q}"
        " --checkpoints {params.checkpoints} --save-every {params.save_every} --job ${{SLURM_JOB_ID:-local}}"
        " --workers {params.workers} --adapters {output.adapters} --training {output.training}"
        " --history {output.history} --calls {output.calls} > {log} 2>&1"


rule answer_with_baseline:
    """A baseline's answers to the test problems."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        start=speaking,
        before=trained,
        workflow=found_workflow("workflow.json"),
        search_calls=found_workflow("calls.parquet"),
        search_run=found_workflow("run.json"),
        problems="results/data/{benchmark}/test.jsonl",
        prompt=baseline_prompt,
    output:
        calls="results/slices/{benchmark}/{system}/seed{seed}/{stage}/calls.parquet",
        trajectories="results/slices/{benchmark}/{system}/seed{seed}/{stage}/trajectories.jsonl",
        answers="results/slices/{benchmark}/{system}/seed{seed}/{stage}/answers.jsonl",
        run="results/slices/{benchmark}/{system}/seed{seed}/{stage}/run.json",
    log:
        "results/logs/answer_with_baseline/{benchmark}/{system}/seed{seed}/{stage}.log",
    benchmark:
        "results/resources/answer_with_baseline/{benchmark}/{system}/seed{seed}/{stage}.resources.tsv"
    wildcard_constraints:
        stage="eval",
        system=named(systems_under(protocol=False)),
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(480),
    params:
        cell=cell(baselines.answer_baseline_cell),
        code=code("slmcollab.steps.answer_with_baseline", "slmcollab.teams.{team}"),
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/{stage}",
    shell:
        "python -m slmcollab.steps.answer_with_baseline --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --start {input.start} --before {input.before}"
        " --workflow {input.workflow} --search-calls {input.search_calls} --search-run {input.search_run}"
        " --problems {input.problems} --prompt {input.prompt:q}"
        " --checkpoints {params.checkpoints} --job ${{SLURM_JOB_ID:-local}}"
        " --calls {output.calls} --trajectories {output.trajectories} --answers {output.answers} --run {output.run} > {log} 2>&1"
