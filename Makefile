# Every target sets up what it needs: a virtual environment in .venv with the pinned versions.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
REPO ?= .
GOAL ?= The token budget must hold: where is a map made to fit it?
TOKENS ?= 8000
MODELS ?= scripted

.PHONY: demo test conformance bundle check lint types layers format bench bench-agents clean

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 …")'
	@echo 'Setting up $(VENV) (some minutes; about 450 MB) …'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

## demo: navigate a repository (REPO=path GOAL="…" TOKENS=8000); this one by default
demo: $(STAMP)
	$(BIN)/repo-navigator navigate "$(REPO)" --goal "$(GOAL)" --tokens $(TOKENS)

## test: run every test, one process per core; the tests of a file stay together
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile

## conformance: the official MCP conformance suite and Inspector; installs them with npm
conformance: $(STAMP)
	$(BIN)/python -m tests.conformance $(CONFORMANCE)

## check: what CI runs after the tests: lint, types, layers
check: lint types layers

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## bundle: the MCPB bundle for Claude Desktop, in dist/
bundle: $(STAMP)
	$(BIN)/python bundle/build.py

## bench: speed and memory of the index, and start-up of the server, as ratios within one run
bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.startup

## bench-agents: agents with and without retrieved context; a scripted mind, or MODELS=gemini-… and a key
bench-agents: $(STAMP)
	$(BIN)/repo-navigator bench agents run --models $(MODELS) --figure bench-agents/figure.svg

clean:
	rm -rf $(VENV) build dist *.egg-info
