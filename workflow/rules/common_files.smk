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
# What the report calls an item; a category has an item once.
ITEMS = {
    "table1": "Table 1: accuracy",
    "table2": "Table 2: hidden states",
    "table_experts": "Experts alone",
    "table_probe": "Experts' features",
    "table_resources": "Time and memory",
    "table_roles": "Roles",
    "table_retention": "Retention",
    "table_overlap": "Overlap",
    "table_funnel": "Funnel",
    "table_budgets": "Budgets",
    "claims": "Claims",
    "musketeers/figure4": "Figure 4: attention",
    "musketeers/figure6a": "Figure 6a: context",
    "musketeers/figure6b": "Figure 6b: tokens m",
    "slices/figure3": "Figure 3: ablation",
    "slices/figure4": "Figure 4: cost",
    "slices/figure5": "Figure 5: topologies",
}
COST = ("table_resources", "table_budgets")
# A table's CSV file as a page, after the step that wrote it.
SHOW = " && python -m slmcollab.steps.show_table --table {output.table} --page {output.page} >> {log} 2>&1"


def in_report(path, caption, category, subcategory, item, content):
    """Return an output file that the report shows under these names."""
    formats = {"png": "PNG", "pdf": "PDF", "csv": "CSV", "tex": "LaTeX", "html": "HTML"}
    return report(
        path,
        caption=f"../report/{caption}.rst",
        category=category,
        subcategory=subcategory,
        labels={"item": item, "content": content, "format": formats[path.rpartition(".")[2]]},
    )


def reported(paper, figure):
    """Return the output files of a figure by name, each with its caption for the report."""
    return {
        suffix: in_report(
            f"results/{paper}/{figure}.{suffix}",
            f"{CAPTIONS[paper]}{figure}",
            PAPERS[paper],
            "Figures",
            ITEMS[f"{paper}/{figure}"],
            content,
        )
        for suffix, content in (("png", "figure"), ("pdf", "figure, for print"), ("csv", "values"))
    }


def tabled(paper, table, tex=False):
    """Return the output files of a table by name, each with its caption for the report; paper: None for both papers."""
    folder = f"results/{paper}" if paper else "results"
    caption = f"{CAPTIONS[paper]}{table}" if paper else f"both_{table}"
    subcategory = "Cost" if table in COST else "Claims" if table == "claims" else "Tables"
    contents = {"table": ("csv", "values"), "page": ("html", "table")}
    if tex:
        contents["tex"] = ("tex", "table, for print")
    return {
        name: in_report(
            f"{folder}/{table}.{suffix}", caption, PAPERS.get(paper, "Both papers"), subcategory, ITEMS[table], content
        )
        for name, (suffix, content) in contents.items()
    }
