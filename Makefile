# make demo: the tiny grid in runs/tiny, and its table; PAPERS=slices or PAPERS=musketeers for one of the papers.
# make test: the tests; MARKED=1 adds those marked slow and cluster; WORKERS=4 for a machine with more cores.
# make takeover RUN=runs/tiny: sees to what is left of a killed workflow and frees its folder; NOW=1 waits for no running job.
# make check-cluster: is this SLURM cluster fit for the paper grid? QUICK=1 submits no job.
# make plan: jobs, allocations, hours and disk of each item; SCALE=tiny, GPUS=16; also in plan.csv.
# Both: CONFIG=a.yaml on top of the config; PROFILE=mine, as in `snakemake --profile slurm --profile mine`.
# make bench: speed against peers; CHECK=1 fails on what is too slow.   make small: two small pretrained models in runs/small.
PYTHON ?= python3.11
export PATH := $(CURDIR)/.venv/bin:$(PATH)
TINY := --profile workflow/profiles/tiny
PAPERS ?=
MARKED ?=
WORKERS ?= 2
CHECK ?=
RUN ?= .
NOW ?=
QUICK ?=
SCALE ?= paper
GPUS ?= 8
CONFIG ?=
PROFILE ?=
GIVEN = $(if $(CONFIG), --configfile $(CONFIG))$(if $(PROFILE), --profile $(PROFILE))

.PHONY: demo test takeover check-cluster plan bench small lint clean

demo: .venv/installed
	snakemake all $(TINY) $(if $(PAPERS),--config 'papers=[$(PAPERS)]')
	@echo; echo runs/tiny/results/table1.csv; cat runs/tiny/results/table1.csv

# A file has one worker; what measures wall time, and SLURM, which fills the machine, come after the others, one by one.
test: export OMP_NUM_THREADS := 1
test: lint
	@python -m pytest -ra $(if $(MARKED),--strict-skips) -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
	  -m "not alone and not cluster$(if $(MARKED),, and not slow)"; status=$$?; \
	python -m pytest -ra $(if $(MARKED),--strict-skips -m "alone or cluster",-m "alone and not slow and not cluster") && exit $$status

takeover: .venv/installed
	PYTHONPATH=workflow python -m cluster.takeover '$(RUN)' $(if $(NOW),--now)

check-cluster: .venv/installed
	PYTHONPATH=workflow python -m cluster.check $(if $(QUICK),--no-job)$(GIVEN)

plan: .venv/installed
	@PYTHONPATH=workflow python -m plan --scale $(SCALE) --gpus $(GPUS)$(GIVEN)

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
