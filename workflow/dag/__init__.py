"""Snakemake's own view of a grid: what profiles say, and the jobs of its graph. For `make plan` and `check-cluster`."""
