# `make tables` takes a fresh machine from nothing to the experiment's tables; `make help` lists the rest.
PYTHON ?= python3
VENV   ?= .venv
CORES  ?= all
STUDY  ?= micro
BIN    := $(VENV)/bin
# Snakemake and promptdp are taken from the environment made here.
RUN    := PATH="$(abspath $(BIN)):$$PATH"
SETTINGS := --cores $(CORES) --config study=$(STUDY)

.DEFAULT_GOAL := help
.PHONY: help tables figures report test test-slow fuzz bench lint format lock record clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

tables: $(VENV)/ready  ## train the study's arms and make its tables (STUDY=micro)
	@$(call campaign,tables)

figures: $(VENV)/ready  ## make the study's figures
	@$(call campaign,figures)

report: $(VENV)/ready  ## make everything, and report.html of it and of what else was made
	@$(call campaign,all)
	@$(call campaign,pages)
	@$(RUN) snakemake all pages --report report.html $(SETTINGS)

test: $(VENV)/dev  ## run the tests
	@$(RUN) pytest -n 2 --dist loadgroup

test-slow: $(VENV)/dev  ## run the tests that take minutes: golden values to the last bit, memory bounds
	@$(RUN) pytest -n 2 -m slow

fuzz: $(VENV)/dev  ## score 100,000 mutated and generated texts by every rule: minutes
	@$(RUN) nice python -m tests.scoring.fuzz --inputs 100000

bench: $(VENV)/ready  ## print what a round, a gradient, a score and the statistics cost, beside other ways
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/noise.py
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/gradient.py
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/contrasts.py
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/scorers.py

lint: $(VENV)/dev  ## check style, types, floors and the workflow
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) snakefmt --check Snakefile workflow
	@$(RUN) mypy
	@$(RUN) lint-imports
	@$(RUN) snakemake --lint

format: $(VENV)/dev  ## write the code in the project's style
	@$(RUN) ruff check --fix .
	@$(RUN) ruff format .
	@$(RUN) snakefmt Snakefile workflow

lock:  ## pin the environments anew from pyproject.toml
	rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet .
	$(VENV)-lock/bin/pip freeze --exclude promptdp | sed 's/+cpu$$//' > envs/train.txt
	$(VENV)-lock/bin/pip install --quiet --requirement envs/train.txt '.[dev]'
	$(VENV)-lock/bin/pip freeze --exclude promptdp | sed 's/+cpu$$//' > envs/dev.txt
	rm -rf $(VENV)-lock build

record:  ## keep the study's finished execution in resources/recorded
	@workflow/scripts/record $(STUDY)

clean:  ## remove what the workflow made, but not private/ (the ledgers) nor the list of executions
	find results -mindepth 2 -maxdepth 2 ! -name executions -exec rm -rf {} +
	rm -rf report.html .snakemake

# One campaign at a time: a second one waits until every job of the first has ended, those of a killed one too,
# since they keep the lock of the one that started them. A lock that Snakemake left behind is then stale.
define campaign
mkdir -p .snakemake && exec 9> .snakemake/campaign.lock && \
{ flock --nonblock 9 || { echo "another campaign is still running here; waiting for it" && flock 9; }; } && \
export $(RUN) && snakemake --unlock --quiet all --config study=$(STUDY) > /dev/null && snakemake $(1) $(SETTINGS)
endef

$(VENV)/ready: envs/train.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement envs/train.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	@touch $@

$(VENV)/dev: envs/dev.txt $(VENV)/ready
	$(BIN)/pip install --quiet --requirement envs/dev.txt
	@touch $@
