VENV ?= .venv
WORKERS ?= 2
SEEDS ?= 200000
BIN = $(VENV)/bin
INSTALLED = $(VENV)/.installed
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS)
COVERAGE = --cov --cov-report=term:skip-covered

export PYTHON
# Where this is set, as in many images, each of the hundred processes that tests start would compile all it imports.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo up local test test-all acceptance simulate check format bench explorer publish statements reference lock clean FORCE

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

demo: $(INSTALLED) ## Run the example flow end to end on this machine, and say whether it went as expected
	$(BIN)/orchestrator-sandbox demo $(ARGS)

up: $(INSTALLED) ## Start the service with its database, token issuer and provider doubles; Ctrl-C stops it
	$(BIN)/orchestrator-sandbox up $(ARGS)

local: $(INSTALLED) .env ## Run the service itself against `docker compose up -d postgres mocks`; Ctrl-C stops it
	tools/local.sh $(BIN)/orchestrator .env

.env:
	"$$(tools/python.sh)" tools/make_env.py .env

test: check explorer ## Run the checks and the tests, with branch coverage of the domain
	$(PYTEST) $(COVERAGE) -m "not exhaustive" $(ARGS)

test-all: check explorer ## Run the checks and every test, the exhaustive ones included
	$(PYTEST) $(COVERAGE) $(ARGS)

acceptance: $(INSTALLED) ## Run what the specification wants to see: A01 to A20, and every point of its section 16
	$(PYTEST) tests/acceptance tests/examples/test_demo.py $(ARGS)

simulate: $(INSTALLED) ## Run the seeded simulation alone, SEEDS=200000 of them
	SIMULATION_SEEDS=$(SEEDS) $(PYTEST) -m "not exhaustive" tests/simulation $(ARGS)

check: $(INSTALLED) ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	tools/check_types.sh $(BIN)/mypy
	$(BIN)/lint-imports --no-logo importlinter.ini

format: $(INSTALLED) ## Rewrite the sources in the project's format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(INSTALLED) ## Measure against targets and peers; ONLY=name runs one figure
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY))

explorer: .venv-exploration/.installed ## Install what generates requests from the contract, in an environment of its own

.venv-exploration/.installed: requirements/exploration.txt
	tools/uv.sh venv --quiet --clear --no-project --python "$$(tools/python.sh)" .venv-exploration
	tools/uv.sh pip sync --quiet --python .venv-exploration --require-hashes requirements/exploration.txt
	@touch "$@"

publish: $(INSTALLED) ## Copy the contract and the problem catalogue into the package that serves them
	$(BIN)/python tools/publish_documents.py

statements: $(INSTALLED) ## Compile the statements composed with SQLAlchemy Core into the package that sends them
	$(BIN)/python -m tools.compile_statements

reference: $(INSTALLED) ## Make docs/reference and docs/pictures anew from the code
	$(BIN)/python -m tools.reference

lock: ## Remake the pinned requirements; ARGS=--upgrade takes newer versions
	tools/lock.sh $(ARGS)

clean: ## Remove environments, tools and everything that running leaves behind
	rm -rf .venv* .tools .sandbox .bench .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache
	rm -rf .hypothesis .import_linter_cache
	find apps packages tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV): $(INSTALLED)

$(INSTALLED): requirements/dev.txt requirements/build.txt $(wildcard apps/*/pyproject.toml packages/*/pyproject.toml)
	tools/environment.sh "$(VENV)"
	@touch "$@"

# Naming another interpreter than the environment was made with remakes it.
ifneq ($(PYTHON),)
ifneq ($(shell cat "$(INSTALLED:.installed=.interpreter)" 2>/dev/null),$(shell PYTHON="$(PYTHON)" tools/python.sh 2>/dev/null))
$(INSTALLED): FORCE
endif
endif
