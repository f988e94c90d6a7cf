PYTHON ?= python3
BIN := .venv/bin
LOCK := requirements/dev.txt

.PHONY: bench test lint types unit test-container test-examples benchmark lock sample schema clean
.DELETE_ON_ERROR:

bench: .venv/installed ## measure the embedded sample corpus with the default model
	$(BIN)/membench fetch all-minilm-l6-v2
	$(BIN)/membench retrieval sample --timeline now --timeline anchored

test: lint types unit ## everything that has to hold before a change lands

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint Dockerfile
	$(BIN)/zizmor --offline --quiet --strict-collection .github action.yml examples/repository examples/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/workflows/*.yml examples/repository/.github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

types: .venv/installed
	$(BIN)/mypy

unit: .venv/installed
	$(BIN)/pytest

test-container: .venv/installed ## build the image, and run the action in it as the runner does
	scripts/container/build.sh membench-action:test $(BIN)/python
	$(BIN)/pytest -m container tests/container

test-examples: .venv-examples/installed ## the memories of examples/memories, against their real libraries
	.venv-examples/bin/pytest -m examples tests/examples

benchmark: .venv/installed ## speed and memory, as ratios within one run; LONGMEMEVAL=path/of/longmemeval_s for the large corpus too
	$(BIN)/python -m benchmarks $(LONGMEMEVAL)

.venv/installed: pyproject.toml $(LOCK) requirements/llama.txt scripts/llama_wheel.sh
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "membench needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	wheel=$$(scripts/llama_wheel.sh $(BIN)/python) && $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$$wheel"
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv-examples/installed: pyproject.toml requirements/examples.txt requirements/llama.txt scripts/llama_wheel.sh examples/memories/minisearch/package-lock.json
	test -x .venv-examples/bin/python || $(PYTHON) -m venv .venv-examples
	wheel=$$(scripts/llama_wheel.sh .venv-examples/bin/python) && .venv-examples/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$$wheel"
	.venv-examples/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/examples.txt
	.venv-examples/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	! command -v npm >/dev/null || npm ci --silent --no-audit --no-fund --prefix examples/memories/minisearch
	touch $@

PIP_COMPILE = .venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

lock: ## resolve the locked dependencies anew
	test -x .venv-lock/bin/pip-compile || ($(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install --quiet pip-tools==7.6.2)
	$(PIP_COMPILE) --output-file requirements/runtime.txt pyproject.toml
	$(PIP_COMPILE) --extra dev --extra dask --output-file requirements/dev.txt pyproject.toml
	$(PIP_COMPILE) --constraint requirements/dev.txt --extra mem0 --extra chroma --extra lancedb --extra pgvector --extra examples --output-file requirements/examples.txt pyproject.toml
	awk '/^llama-cpp-python==/ {on = 1} on && !/#/ {print} on && !/\\$$/ {on = 0}' requirements/runtime.txt | sed '$$ s/ \\$$//' > requirements/llama.txt

sample: .venv/installed ## write the embedded sample corpus anew
	$(BIN)/python -m membench.corpora.sample.generate

schema: .venv/installed ## write the published JSON Schemas anew
	for name in measurement provenance comparison comparisons memory memory-check; do $(BIN)/membench schema $$name > schemas/$$name.json; done
	$(BIN)/membench schema http > schemas/memory-http.json

clean:
	rm -rf .venv .venv-lock .venv-examples build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
