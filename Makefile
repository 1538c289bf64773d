PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all bench check format calibration null-calibration presence-calibration relations-calibration
.PHONY: exam exam-quick fuzz fuzz-quick torture torture-quick paper paper-quick clean

demo: .venv/installed
	$(BIN)/python examples/demo.py demo-results

test: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(ARGS)

test-all: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term $(ARGS)

bench: .venv/installed
	$(BIN)/python -m benchmarks.bench $(ARGS)

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

calibration: .venv/installed
	$(BIN)/python -m calibration.intervals

null-calibration: .venv/installed
	$(BIN)/python -m calibration.null $(ARGS)

presence-calibration: .venv/installed
	$(BIN)/python -m calibration.presence $(ARGS)

relations-calibration: .venv/installed
	$(BIN)/python -m calibration.relations

exam: .venv/installed
	$(BIN)/python -m exam.run docs/exam.md $(ARGS)

exam-quick: .venv/installed
	$(BIN)/python -m exam.run exam-quick.md --quick $(ARGS)

fuzz: .venv/installed-dev
	$(BIN)/python -m fuzz.run $(ARGS)

fuzz-quick: .venv/installed-dev
	$(BIN)/python -m fuzz.run --quick $(ARGS)

torture: .venv/installed-dev
	$(BIN)/python -m torture.run $(ARGS)

torture-quick: .venv/installed-dev
	$(BIN)/python -m torture.run --quick $(ARGS)

paper: .venv/installed-dev
	$(BIN)/python -m paper.run paper $(ARGS)

paper-quick: .venv/installed-dev
	$(BIN)/python -m paper.run paper-quick --quick $(ARGS)

clean:
	rm -rf .venv demo-results paper-quick exam-quick.md .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch .venv/installed $@
