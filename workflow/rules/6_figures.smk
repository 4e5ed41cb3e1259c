# IN   results/musketeers/**/{history.csv,scores.json}
# OUT  results/musketeers/{figure4,figure6a,figure6b}.{pdf,png,csv}


rule plot_figure4:
    """Share of attention per expert, its entropy and the reward over training steps, per benchmark and team."""
    input:
        paths(f"{RUN}/history.csv", shown.attention_runs(config)),
    output:
        **reported("musketeers", "figure4"),
    log:
        "results/logs/plot_figure4.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.figure4_cell),
        code=code("slmcollab.steps.plot_figure4"),
    shell:
        "python -m slmcollab.steps.plot_figure4 --cell {params.cell:q} --histories {input}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"


rule plot_figure6a:
    """Reward of answers with the context and of answers to the prompt alone over training steps."""
    input:
        paths(f"{RUN}/history.csv", shown.figure6a_runs(config)),
    output:
        **reported("musketeers", "figure6a"),
    log:
        "results/logs/plot_figure6a.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.figure6a_cell),
        code=code("slmcollab.steps.plot_figure6a"),
    shell:
        "python -m slmcollab.steps.plot_figure6a --cell {params.cell:q} --histories {input}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"


rule plot_figure6b:
    """Accuracy against the number m of context tokens."""
    input:
        paths(f"{RUN}/scores.json", shown.figure6b_runs(config)),
    output:
        **reported("musketeers", "figure6b"),
    log:
        "results/logs/plot_figure6b.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.figure6b_cell),
        code=code("slmcollab.steps.plot_figure6b"),
    shell:
        "python -m slmcollab.steps.plot_figure6b --cell {params.cell:q} --scores {input}"
        " --figure-pdf {output.pdf} --figure-png {output.png} --figure-csv {output.csv} > {log} 2>&1"
