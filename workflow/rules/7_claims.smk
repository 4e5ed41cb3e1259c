# IN   results/musketeers/**/{scores.json,history.csv,attention.json}, results/models/{expert}/manifest.json, workflow/published/musketeers.csv
# OUT  results/musketeers/claims.{csv,html}


rule write_claims:
    """Every claim of n-Musketeers, what was measured of it, and whether it holds."""
    input:
        scores=paths(f"{RUN}/scores.json", grid.runs(config)),
        histories=paths(f"{RUN}/history.csv", grid.runs(config)),
        attention=paths(f"{RUN}/attention.json", shown.attention_runs(config)),
        manifests=manifests_of(dict.fromkeys(expert for _, expert in shown.experts_shown(config))),
        published=os.path.normpath(f"{ROOT}/workflow/published/musketeers.csv"),
    output:
        **tabled("musketeers", "claims"),
    log:
        "results/logs/write_claims.log",
    localrule: True
    conda:
        "../../envs/cpu.yaml"
    params:
        cell=cell(shown.claims_cell),
        code=code("slmcollab.steps.write_claims", "slmcollab.steps.show_table"),
        runs=lambda wildcards: RUN,  # a pattern: the paths of many seeds would not fit on a command line
    shell:
        "python -m slmcollab.steps.write_claims --cell {params.cell:q} --runs {params.runs:q} --manifests {input.manifests}"
        " --published {input.published:q} --claims {output.table} > {log} 2>&1"
        f"{SHOW}"
