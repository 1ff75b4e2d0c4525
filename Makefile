# Every target sets up what it needs: a virtual environment in .venv with the pinned versions.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BASE := $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.base)
REPO ?= .
# In two parts, so that the answer does not list this file for holding the goal's text.
ifeq ($(origin GOAL),undefined)
FIELD := budget
GOAL := validate the flight plan's $(FIELD)
endif
TOKENS ?= 700
MODELS ?= scripted

# What is typed, such as an issue's title with backticks or dollars, reaches commands through the environment:
# neither make nor the shell reads it as anything but text.
override PYTHON := $(value PYTHON)
override REPO := $(value REPO)
override GOAL := $(value GOAL)
override TOKENS := $(value TOKENS)
override MODELS := $(value MODELS)
override CONFORMANCE := $(value CONFORMANCE)
export PYTHON REPO GOAL TOKENS MODELS CONFORMANCE
# The tests start hundreds of processes: each would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-oldest test-slow conformance bundle manifests recording release check lint types layers format bench bench-agents clean

## help: what there is to make
help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

define install
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 …")'
	@echo 'Setting up $(VENV) ($(2)) …'
	@"$$PYTHON" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(1)
	@touch $@
endef

$(STAMP): pyproject.toml constraints.txt
	$(call install,--editable '.[dev]',some minutes; about 650 MB)

# What a user installs, without the tools of development.
$(VENV)/.base: pyproject.toml constraints.txt
	$(call install,--no-compile --editable .,a minute; about 340 MB)

## demo: navigate a repository (REPO=path GOAL="…" TOKENS=700); this one by default
demo: $(BASE)
	$(BIN)/repo-navigator navigate "$$REPO" --goal "$$GOAL" --tokens "$$TOKENS"

## test: run the tests, one process per core; the tests of a file stay together
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

## test-oldest: run them on the distribution's Python 3.11, in .venv-oldest; root installs what is missing with apt-get
test-oldest:
	.ci/test-oldest

## test-slow: run the others, which start many processes or wait on purpose
test-slow: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile -m slow

## conformance: the official MCP conformance suite and Inspector; installs them with npm
conformance: $(STAMP)
	$(BIN)/python -m tests.conformance $$CONFORMANCE

## check: what CI runs after the tests: lint, types, layers
check: lint types layers

## lint: the rules of ruff, and its format
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

## types: mypy on every package, strict
types: $(STAMP)
	$(BIN)/mypy

## layers: the contracts of import-linter: nothing points up
layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

## format: let ruff mend what it can
format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## bundle: the MCPB bundle for Claude Desktop, in dist/
bundle: $(STAMP)
	$(BIN)/python packaging/bundle.py

## manifests: write the plugins, the skill, the example configuration and the texts that a model is sent
manifests: $(STAMP)
	$(BIN)/python packaging/manifests.py
	$(BIN)/python packaging/model_texts.py

## recording: record the README's first minute, before a release
recording: $(STAMP)
	$(BIN)/python docs/recording.py

## release: what a release publishes, in dist/, built twice; checks the workflows and installs the wheel
release: $(STAMP)
	$(BIN)/python packaging/release.py

## bench: speed and memory of the index, and start-up of the server, as ratios within one run
bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.startup

## bench-agents: agents with and without retrieved context; a scripted model, or MODELS=gemini-… and a key
bench-agents: $(STAMP)
	$(BIN)/python -m benchmarks agents run --models "$$MODELS"

## clean: remove what was set up and built
clean:
	rm -rf $(VENV) .venv-oldest build dist *.egg-info
