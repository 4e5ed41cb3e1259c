# IN   results/slices/{benchmark}/{system}/seed{seed}/teacher/trajectories.jsonl, results/data/{benchmark}/train.jsonl, results/models/{model}/
# OUT  results/slices/{benchmark}/{system}/seed{seed}/teacher/{demonstrations.jsonl,funnel.json}
#      results/slices/{benchmark}/{system}/seed{seed}/distilled/{adapters/,training.json,example.txt}


rule qualify_trajectories:
    """A teacher's trajectories that a team may learn from, their slots permuted, and how many were dropped for what."""
    input:
        trajectories="results/slices/{benchmark}/{system}/seed{seed}/teacher/trajectories.jsonl",
        run="results/slices/{benchmark}/{system}/seed{seed}/teacher/run.json",
        problems="results/data/{benchmark}/train.jsonl",
    output:
        demonstrations="results/slices/{benchmark}/{system}/seed{seed}/teacher/demonstrations.jsonl",
        funnel="results/slices/{benchmark}/{system}/seed{seed}/teacher/funnel.json",
    log:
        "results/logs/qualify_trajectories/{benchmark}/{system}/seed{seed}.log",
    conda:
        "../../envs/code.yaml"
    threads: config["evaluation"]["num_workers"]
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
    params:
        cell=cell(slices_cells.qualify_cell),
        code=code("slmcollab.steps.qualify_trajectories", "slmcollab.scoring.{scorer}"),
    shell:
        "python -m slmcollab.steps.qualify_trajectories --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --workers {threads} --trajectories {input.trajectories} --run {input.run} --problems {input.problems}"
        " --demonstrations {output.demonstrations} --funnel {output.funnel} > {log} 2>&1"


rule distill_team:
    """Protocol distillation (eq. 8): every slot of a team learns its steps of the demonstrations, in one job."""
    input:
        manifests=team_manifests,
        weights=ancient(team_weights),
        demonstrations=demonstrated("demonstrations.jsonl"),
        funnel=demonstrated("funnel.json"),
        problems="results/data/{benchmark}/train.jsonl",
        prompt=team_prompt,
    output:
        adapters=directory("results/slices/{benchmark}/{system}/seed{seed}/distilled/adapters"),
        training="results/slices/{benchmark}/{system}/seed{seed}/distilled/training.json",
        example="results/slices/{benchmark}/{system}/seed{seed}/distilled/example.txt",
    log:
        "results/logs/distill_team/{benchmark}/{system}/seed{seed}.log",
    benchmark:
        "results/resources/distill_team/{benchmark}/{system}/seed{seed}.resources.tsv"
    conda:
        "../../envs/gpu.yaml"
    threads: config["numeric_threads"]
    resources:
        gpu=1,
        mem_mb=growing(96000),
        runtime=growing(720),
    params:
        cell=cell(slices_cells.distill_cell),
        code=code("slmcollab.steps.distill_team"),
        save_every=lambda wildcards, threads: config["slices"]["distill"]["save_every"],  # not tracked: see save_every
        checkpoints="checkpoints/slices/{benchmark}/{system}/seed{seed}/distilled",
    shell:
        "python -m slmcollab.steps.distill_team --cell {params.cell:q} --code {params.code} --seed {wildcards.seed}"
        " --manifests {input.manifests} --demonstrations {input.demonstrations} --funnel {input.funnel} --problems {input.problems}"
        " --prompt {input.prompt:q} --checkpoints {params.checkpoints} --save-every {params.save_every}"
        " --job ${{SLURM_JOB_ID:-local}} --adapters {output.adapters} --training {output.training}"
        " --example {output.example} > {log} 2>&1"
