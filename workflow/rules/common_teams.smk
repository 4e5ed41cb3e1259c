# Shared by the rules of slices: where a stage finds models, adapters, prompts and the trajectories of its round.

SYSTEM = "results/slices/{benchmark}/{system}/seed{seed}"
METHOD_RUN = SYSTEM.replace("system", "method")  # as the steps of tables and figures fill it in
CALLS, RECORD = ["calls.parquet"], ["training.json"]
SPOKEN = ["scores.json", "calls.parquet", "trajectories.jsonl", "answers.jsonl"]


def team_manifests(wildcards):
    """Return the manifest of each slot's model."""
    return manifests_of(slices.models_of(config, wildcards.system))


def team_weights(wildcards):
    return [f"results/models/{model}/weights" for model in dict.fromkeys(slices.models_of(config, wildcards.system))]


def systems_with(key):
    """Return the systems whose block has a key."""
    return [name for name, block in config["systems"].items() if key in block]


def systems_under(protocol):
    """Return the systems under the protocol (True), or the baselines, those whose base is one too (False)."""
    return [name for name in config["systems"] if slices.is_baseline(config, name) != protocol]


def prompt_path(name):
    return os.path.normpath(f"{ROOT}/workflow/prompts/{name}.txt")


def prompt_file(block, key):
    """Return the file of a prompt that the config names."""
    return prompt_path(config["slices"][block][key])


def baseline_prompt(wildcards):
    return prompt_path(config["systems"][slices.base_of(config, wildcards.system)]["prompt"])


def proposer(wildcards):
    """Return the model that proposes workflows."""
    return baselines.of_baseline(config, wildcards.benchmark, wildcards.system, "search")["optimiser"]


def optimiser(wildcards):
    return manifests_of([proposer(wildcards)])


def searching_weights(wildcards):
    """Return the weights of a team and of the model that proposes workflows to it."""
    models = [*slices.models_of(config, wildcards.system), proposer(wildcards)]
    return [f"results/models/{model}/weights" for model in dict.fromkeys(models)]


def found_workflow(file):
    """Return an input function: a file of the search for a baseline's workflow; [] where there is none."""

    def files(wildcards):
        stage = slices.searched(config, wildcards.system)
        return [in_stage(wildcards, stage, file)] if stage else []

    return files


def team_prompt(wildcards):
    base = config["systems"][slices.base_of(config, wildcards.system)]
    return prompt_file("protocol", "prompt" if base.get("actions", True) else "solo_prompt")


def in_stage(wildcards, stage, file):
    """Return the path of a file of a Stage of this benchmark and seed."""
    folder = SYSTEM.format(benchmark=wildcards.benchmark, system=stage.system, seed=wildcards.seed)
    return f"{folder}/{stage.stage}/{file}"


def speaking(wildcards):
    """Return the adapters that a team speaks with in a stage or starts a round's refinement from; [] for none."""
    return _before(wildcards, "adapters")


def trained(wildcards):
    """Return the record of the training that made them; [] for none."""
    return _before(wildcards, "training.json")


def _before(wildcards, file):
    stage = wildcards.stage if "stage" in wildcards.keys() else f"round{wildcards.number}"
    found = slices.before(config, wildcards.system, stage)
    return [in_stage(wildcards, found, file)] if found else []


def demonstrated(file):
    """Return an input function: a file of the teacher whose trajectories a system learns from."""
    return lambda wildcards: in_stage(
        wildcards, slices.Stage(slices.teacher_of(config, wildcards.system), "teacher"), file
    )


def of_round(wildcards, file):
    """Return a file of the stage that holds a round's trajectories; step scores only where they are the reward."""
    if file in ("step_scores.jsonl", "evaluation.json") and slices.reward_of(config, wildcards.system) != slices.SCORES:
        return []
    return in_stage(wildcards, slices.sampled_at(config, wildcards.system, int(wildcards.number)), file)


def evaluators():
    """Return the models that score steps; none where rules score all of them."""
    block = config["slices"]["evaluator"]
    return [block["model"]] if block["scored_by"] == "model" or block["share"] > 0 else []


def published(name):
    """Return the file of the paper's own numbers."""
    return os.path.normpath(f"{ROOT}/workflow/published/{name}.csv")


def evaluated(names, evaluations):
    """Return these files of each (run, stage)."""
    return [f"{SYSTEM.format(**run._asdict())}/{stage}/{name}" for run, stage in evaluations for name in names]


def learned(**names):
    """Return these files of the stages that the grid's runs learned in, by kind: see slices_jobs.learning."""
    found = []
    for run in slices.team_runs(config):
        for kind, stage in teams_shown.learning(config, run):
            folder = SYSTEM.format(benchmark=run.benchmark, system=stage.system, seed=run.seed)
            found += [f"{folder}/{stage.stage}/{name}" for name in names.get(kind, [])]
    return list(dict.fromkeys(found))


def table1_files(name):
    """Return, by paper, this file of every run behind its Table 1."""
    return {
        "musketeers": paths(f"{RUN}/{name}", shown.table_runs(config)),
        "slices": evaluated([name], teams_shown.greedy(config)),
    }


def table1_cell(config):
    """Return the cells of the papers' own tables."""
    cells = {"musketeers": shown.table_cell(config), "slices": teams_shown.table_cell(config)}
    return {"papers": [cells[paper] for paper in config["papers"]]}


def recorded_cell(config):
    """Return the config, and both papers' jobs with what Snakemake leaves of one."""
    return {"config": config, **teams_shown.resources_cell(config)}


def listed_benchmarks():
    """Return the benchmarks of the papers' grids."""
    listed = {"musketeers": config["grid"]["benchmarks"], "slices": config["slices"]["grid"]["benchmarks"]}
    return list(dict.fromkeys(of_papers(listed)))


def measured():
    """Return, by paper, the last files of what is measured."""
    of_experts = [
        f"results/experts/{expert}/{benchmark}/{name}"
        for benchmark, expert in shown.experts_shown(config)
        for name in ("probe.json", "test/answers.jsonl")
    ]
    attention = paths(f"{RUN}/attention.json", shown.attention_runs(config))
    return {
        "musketeers": [*paths(f"{RUN}/answers.jsonl", grid.runs(config)), *attention, *of_experts],
        "slices": [*evaluated(["run.json"], teams_shown.evaluations(config)), *learned(scored=["evaluation.json"])],
    }
