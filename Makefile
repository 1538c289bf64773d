PYTHON ?= python3
BIN := .venv/bin

# What the versions of other packages could change: reading, compiling, the streams of random numbers, the command line.
QUICK_TESTS := tests/data --ignore=tests/data/readers/test_untrusted.py tests/kernels/test_kernel_files.py tests/cli/test_clusterer_names.py \
	tests/cli/test_other_clusterers.py::test_a_minimal_clusterer_by_its_dotted_name \
	tests/algorithms/test_replicability.py::test_golden_run_pins_the_random_streams
# Two workers on two cores: with several threads each, those of BLAS and OpenMP spin while they wait for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Behind a company's proxy the system knows its certificate, as pip does; uv asks the system only if it is told to (0.11).
export UV_SYSTEM_CERTS := 1
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --editable

.PHONY: demo dist docs picture sbom sentences test test-all coverage test-oldest test-newest bench check format clean
.PHONY: calibration null-calibration landmark-calibration scale
.PHONY: attack attack-quick exam exam-quick exam-quick-designs exam-quick-batches exam-quick-real files fuzz fuzz-quick stress stress-quick paper paper-quick

demo: .venv/installed
	$(BIN)/python examples/demo.py demo-results

# The site, without a network: warnings are errors, and no page loads anything from elsewhere.
docs: .venv/installed-docs
	$(BIN)/python -m sphinx -q -b html -j 2 -W --keep-going docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# The picture of the README, by Chromium.
picture: .venv/installed
	$(BIN)/python docs/picture.py

# Wheel and sdist, checked, and each installed into an empty environment that then runs.
dist: .venv/installed-release
	rm -rf dist build/bare
	$(BIN)/python -m build --installer uv --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	for file in dist/*.whl dist/*.tar.gz; do \
	  $(BIN)/uv venv --quiet --clear --python $(BIN)/python build/bare && \
	  $(BIN)/uv pip install --quiet --python build/bare/bin/python $$file && \
	  build/bare/bin/clustrep --version || exit 1; done

# What a fresh environment with the wheel holds, for those who must know: CycloneDX.
sbom: dist
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file dist/clustrep.cdx.json build/bare/bin/python

test: .venv/installed-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(ARGS)

test-all: .venv/installed-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

# How much of the package the tests run, half as long again: before a release, and after larger changes.
coverage: .venv/installed-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term $(ARGS)

# What errors say, in one file: review its changes as you would review a page.
sentences: .venv/installed-dev
	rm -f tests/sentences.md
	UPDATE_SENTENCES=1 $(BIN)/python -m pytest -q $$(grep -rlE "\b(check|check_refusal|refused|warned)\(" tests --include="test_*.py") $(ARGS)

# The oldest versions that pyproject.toml allows. Deprecations that they don't know of yet are not ours.
test-oldest: .venv-oldest/installed
	NUMBA_CACHE_DIR=.venv-oldest/kernels .venv-oldest/bin/python -m pytest -q \
	  -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning $(QUICK_TESTS) $(ARGS)

# The newest of all, without anndata, which holds pandas back.
test-newest: .venv-newest/installed
	NUMBA_CACHE_DIR=.venv-newest/kernels .venv-newest/bin/python -m pytest -q \
	  --ignore=tests/data/readers/test_h5ad.py $(QUICK_TESTS) $(ARGS)

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

landmark-calibration: .venv/installed
	$(BIN)/python -m calibration.landmarks $(ARGS)

scale: .venv/installed
	$(BIN)/python -m benchmarks.scale --write docs/scale.md $(ARGS)

# Three pages: kinds of data beside competitors, batch effects and composition, and public data where CLUSTREP_DATA has them.
exam: .venv/installed
	$(BIN)/python -m exam.run docs/exam.md $(ARGS)
	$(ONE_THREAD) $(BIN)/python -m exam.batches docs/exam-batches.md --jobs 2
	$(ONE_THREAD) $(BIN)/python -m exam.real docs/exam-real.md --clusterer kmeans ward gmm leiden --jobs 2

# Three programs of one core each, for `make --jobs`.
exam-quick: exam-quick-designs exam-quick-batches exam-quick-real

exam-quick-designs: .venv/installed
	$(ONE_THREAD) $(BIN)/python -m exam.run exam-quick.md --quick --jobs 1 $(ARGS)

exam-quick-batches: .venv/installed
	$(ONE_THREAD) $(BIN)/python -m exam.batches exam-quick-batches.md --quick --jobs 1

exam-quick-real: .venv/installed
	$(ONE_THREAD) $(BIN)/python -m exam.real exam-quick-real.md --quick

# Continues from the files that earlier runs kept in fuzz/corpus: `make fuzz ARGS="--seed 7"` tries others.
fuzz: .venv/installed-dev
	$(BIN)/python -m fuzz.run --write docs/files.md $(ARGS)

files: .venv/installed-dev
	$(BIN)/python -m fuzz.files --write docs/files.md

fuzz-quick: .venv/installed-dev
	$(BIN)/python -m fuzz.run --quick $(ARGS)

# What partners can learn from the files of federated sites, and with which files they are deceived.
attack: .venv/installed-dev
	$(ONE_THREAD) $(BIN)/python -m attacks.run $(ARGS)

attack-quick: .venv/installed-dev
	$(ONE_THREAD) $(BIN)/python -m attacks.run --quick $(ARGS)

stress: .venv/installed-dev
	$(BIN)/python -m stress.run $(ARGS)

stress-quick: .venv/installed-dev
	$(BIN)/python -m stress.run --quick $(ARGS)

paper: .venv/installed-dev
	$(BIN)/python -m paper.run paper $(ARGS)

paper-quick: .venv/installed-dev
	$(BIN)/python -m paper.run paper-quick --quick $(ARGS)

clean:
	rm -rf docs/_build docs/gallery docs/coming-from docs/reference/api docs/reference/api.rst .venv .venv-oldest .venv-newest demo-results paper-quick exam-quick*.md .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Only the first package by pip: uv takes a fraction of its time.
.venv/bin/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.11"

.venv/installed: pyproject.toml | .venv/bin/uv
	$(INSTALL) . --python $(BIN)/python
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/uv
	$(INSTALL) ".[dev]" --python $(BIN)/python
	touch .venv/installed $@

.venv/installed-docs: pyproject.toml | .venv/bin/uv
	$(INSTALL) ".[docs]" --python $(BIN)/python
	touch .venv/installed $@

.venv/installed-release: pyproject.toml | .venv/bin/uv
	$(INSTALL) ".[release]" --python $(BIN)/python
	touch $@

.venv-oldest/installed: pyproject.toml | .venv/bin/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-oldest
	$(INSTALL) ".[anndata,datasets,graph,parquet,test]" --python .venv-oldest/bin/python --resolution lowest-direct
	touch $@

.venv-newest/installed: pyproject.toml | .venv/bin/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-newest
	$(INSTALL) ".[datasets,graph,parquet,test]" "pandas>=3" --python .venv-newest/bin/python --upgrade
	touch $@
