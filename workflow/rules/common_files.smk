# Shared by the rules: what they read of runs and experts, what they write for the report, and what they ask for.

POLICY = config["policy"]["model"]
RUN = "results/musketeers/{benchmark}/{method}/{team}/seed{seed}"
# How the steps that load a policy name what they read of the experts.
EXPOSED = (
    "--manifests {input.manifests} --features {input.features} --answers {input.answers}"
    " --embedding {input.embedding} --expert-scores {input.expert_scores}"
)


def growing(amount):
    """Return a resources function: `amount` times the attempt, so that a job killed by a limit gets more the next time."""
    return lambda wildcards, attempt: amount * attempt


def paths(pattern, runs):
    """Return the pattern filled in for each run."""
    return [pattern.format(**run._asdict()) for run in runs]


def exposed(kind, split):
    """Return an input function: what a run reads of its team's experts on a split, in the team's order.

    kind: manifests, features, answers, embedding or expert_scores; none where the operator does not use it.
    """

    def files(wildcards):
        benchmark = wildcards.benchmark
        used = grid.run_cell(config, benchmark, wildcards.method, wildcards.team)
        of_experts = [f"results/experts/{expert}/{benchmark}" for expert in used["experts"]]
        if kind == "features" and "features" in used:
            return [f"{folder}/{split}/{used['features']['sequence']}.safetensors" for folder in of_experts]
        if kind == "answers" and "text" in used:
            return [f"{folder}/{split}/answers.jsonl" for folder in of_experts]
        if kind == "embedding" and "router" in used:
            return [f"results/experts/{used['router']['encoder']}/{benchmark}/{split}/embedding.safetensors"]
        if kind == "expert_scores" and used.get("router", {}).get("selection") == "best":
            return [f"{folder}/train/scores.json" for folder in of_experts]
        return manifests_of(used["experts"]) if kind == "manifests" else []

    return files


def of_papers(made):
    """Return the files of the papers that the config lists; made: paper -> files."""
    return [file for paper in config["papers"] for file in made[paper]]


def manifests_of(models):
    return [f"results/models/{model}/manifest.json" for model in models]


PAPERS = {"musketeers": "n-Musketeers", "slices": "Model slices"}
CAPTIONS = {"musketeers": "", "slices": "slices_"}  # how the captions of a paper's items begin


def reported(paper, figure):
    """Return the output files of a figure by name, each with its caption for the report."""
    files = {}
    for suffix, content in (("pdf", "figure, for print"), ("png", "figure"), ("csv", "numbers behind it")):
        files[suffix] = report(
            f"results/{paper}/{figure}.{suffix}",
            caption=f"../report/{CAPTIONS[paper]}{figure}.rst",
            category=PAPERS[paper],
            labels={"item": figure.replace("figure", "Figure "), "content": content},
        )
    return files
