# By Hand, at Scale. `make` alone lists what there is; the README gives the plain
# commands behind each line.

PY := .venv/bin/python
# nbgrader calls `alembic`, kernels call `python`: the ones in .venv
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help course test book experiments bench gpu clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1 \2/p' Makefile | \
	    awk '{ printf "  make %-12s", $$2; $$1 = $$2 = ""; print }'

course: ## everything: environment, notebooks, book, a simulated class, its grades
	@scripts/setup
	@$(PY) -m autograder.course

test: ## everything that guards the project
	@scripts/setup test
	@scripts/system
	@$(PY) -m autograder.guard

book: ## the book alone, as strictly as the tests build it
	@scripts/setup
	@$(PY) -m autograder.course --only book --strict

experiments: ## record the chapters' long experiments again (minutes)
	@scripts/setup experiments
	@for e in solutions/*/experiment.py; do $(PY) "$$e" all || exit; done

bench: ## how fast grading is, against stock nbgrader in the same run (minutes)
	@scripts/setup
	@$(PY) -m autograder.grading.bench

gpu: ## the experiments that want a GPU, where there is one
	@scripts/setup
	@$(PY) solutions/attention/experiment.py cost --device cuda

clean: ## remove what can be built again (never class/, never a committed file)
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis .jupyter_cache \
	    *.egg-info build
	find autograder book solutions exercises -name __pycache__ -prune -exec rm -rf {} +
