# Needs Python 3.11 or newer, make, and the package index; everything else is set up here.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=

.PHONY: demo test check format bench mutants frameworks upstream simulate stress soak capabilities release clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Hexad needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)  ## Show what it does on this repository's documents and history
	$(BIN)/hexad demo $(ARGS)

test: $(STAMP)  ## Run the tests, short stress forms included
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(STAMP)  ## Format, lint, types, architecture, capability table, stub
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py
	$(BIN)/python docs/capabilities.py --check
	$(BIN)/python docs/awaited_stub.py --check
	$(BIN)/python docs/assurance.py --check

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

capabilities: $(STAMP)  ## Rewrite docs/capabilities.md from the tests' markers
	$(BIN)/python docs/capabilities.py

bench: $(STAMP)  ## Measure; see benchmarks/README.md
	$(BIN)/python -m benchmarks $(ARGS)

mutants: $(STAMP)  ## Put small mistakes into the code of a sample of capability rows; a test of each must notice
	$(BIN)/python tests/mutation $(ARGS)

frameworks:  ## The public suites of frameworks, and schemathesis, in environments of their own: they bring plugins of pytest, and CrewAI older packages
	$(PYTHON) -m venv build/frameworks
	build/frameworks/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,agent-framework,google-adk,langchain,llama-index,openai-agents]' langchain-tests langgraph-checkpoint-sqlite
	build/frameworks/bin/python -m pytest -p no:xdist -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function tests/test_agent_framework.py tests/test_agent_memory.py tests/test_anthropic.py tests/test_google_adk.py tests/test_langchain*.py tests/test_langgraph*.py tests/test_llama_index.py tests/test_openai_agents.py tests/test_pydantic_ai*.py tests/test_integrations.py tests/unit/docs/test_examples.py $(ARGS)
	$(PYTHON) -m venv build/crewai
	build/crewai/bin/python -m pip install --quiet --disable-pip-version-check -e '.[crewai]' hypothesis pytest pytest-timeout
	build/crewai/bin/python -m pytest -p no:xdist tests/test_crewai.py "tests/unit/docs/test_examples.py::test_the_examples_of_a_page_run_as_they_are_shown[crewai.md]" $(ARGS)
	$(PYTHON) -m venv build/schemathesis
	build/schemathesis/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' schemathesis
	build/schemathesis/bin/python -m pytest -p no:xdist tests/stress/test_http_openapi.py $(ARGS)

upstream:  ## The tests that frameworks have for their own memories, over our adapters; ANTHROPIC_SDK=, CREWAI=, LANGGRAPH_SQLITE=: folders of their sources
	ANTHROPIC_SDK="$(ANTHROPIC_SDK)" CREWAI="$(CREWAI)" LANGGRAPH_SQLITE="$(LANGGRAPH_SQLITE)" $(PYTHON) tests/upstream $(ARGS)

simulate: $(STAMP)  ## 10,000 lives of stores over a simulated clock, disk and scheduler, with seeds of their own: a night
	$(BIN)/python tests/simulation --runs 10000 $(ARGS)

stress: $(STAMP)  ## The long forms: kills, lost power, I/O faults, damaged files, many examples
	$(BIN)/python -m pytest -m long -p no:xdist --timeout 0 --junitxml build/stress.xml $(ARGS)
	$(BIN)/python docs/assurance.py --counted build/stress.xml
	TEST_EXAMPLES_TIMES=10 $(BIN)/python -m pytest -p no:xdist --timeout 0 tests/property $(ARGS)
	$(BIN)/python tests/mutation --all

soak: $(STAMP)  ## One process lives for 8 hours (ARGS="--minutes 60"): memory, handles, threads and CPU must not grow
	$(BIN)/python -m benchmarks.soak --out build/soak $(ARGS)

release: $(STAMP)  ## Build the wheel twice, compare, and say what is in it: dist/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build cyclonedx-bom
	rm -rf dist build/release
	for folder in first second; do \
	  git clone --quiet . build/release/$$folder && \
	  (cd build/release/$$folder && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(CURDIR)/$(BIN)/python -m build) || exit 1; \
	done
	cmp build/release/first/dist/*.whl build/release/second/dist/*.whl
	cmp build/release/first/dist/*.tar.gz build/release/second/dist/*.tar.gz
	cp -r build/release/first/dist dist
	$(PYTHON) -m venv build/release/installed
	build/release/installed/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/release/installed/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(BIN)/cyclonedx-py environment build/release/installed --output-reproducible -o dist/hexad.cdx.json
	cd dist && sha256sum * > SHA256SUMS

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache
