# make demo: the tiny grid in runs/tiny, and its table; PAPERS=slices or PAPERS=musketeers for one of the papers.
# make test: the tests; MARKED=1 adds those marked slow and cluster.
# make bench: speed against peers; CHECK=1 fails on what is too slow.   make small: two small pretrained models in runs/small.
PYTHON ?= python3.11
export PATH := $(CURDIR)/.venv/bin:$(PATH)
PROFILE := --profile workflow/profiles/tiny
PAPERS ?=
MARKED ?=
CHECK ?=

.PHONY: demo test bench small lint clean

demo: .venv/installed
	snakemake all $(PROFILE) $(if $(PAPERS),--config 'papers=[$(PAPERS)]')
	@echo; echo runs/tiny/results/table1.csv; cat runs/tiny/results/table1.csv

test: lint
	python -m pytest -ra $(if $(MARKED),--strict-skips,-m "not slow and not cluster")

bench: .venv/installed
	OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore python tests/bench/run.py $(if $(CHECK),--check)

small: .venv/installed
	.venv/bin/pip install --quiet --no-deps --requirement requirements-small.txt
	snakemake --profile workflow/profiles/small all

lint: .venv/installed
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow/rules
	snakemake --lint

.venv/installed: requirements.lock
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --requirement requirements.lock
	touch $@

clean:
	rm -rf runs/tiny .venv
