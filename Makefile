# Every command sets itself up from a bare Python >= 3.10: `make book`, `make lab`, `make test`, `make figures`.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python

# Dozens of processes read the package: let the first of them keep what it has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help book lab figures offline notebooks check lint validate test venv dist release-check clean

help:  ## say what there is to make
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	/^[a-z-]+:.*## / {printf "  make %-11s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# One stamp an extra: an extra is installed once, and again when what is declared changes.
$(VENV)/.has-%: pyproject.toml constraints.txt
	@$(PYTHON) book/tools/install.py $(VENV) $*
	@touch $@

##@ For readers

book: $(VENV)/.has-book  ## build the book; prints the page to open
	$(PY) book/tools build

# A notebook that is saved keeps its sliders' pictures, and an extension that an older edition needed is off: see book/jupyter.
lab: export JUPYTER_CONFIG_PATH = $(CURDIR)/book/jupyter
lab: $(VENV)/.has-lab  ## open your own copies of the chapters in JupyterLab, in my-notebooks/, with live sliders
	$(PY) book/tools copies
	cd my-notebooks && $(abspath $(PY)) -m jupyter lab notebooks/01_rank_based_metrics.ipynb

figures: $(VENV)/.has-lab  ## write the papers' figures to figures/ as PNG and SVG
	$(PY) -m rankedu figures --out figures

offline: $(VENV)/.has-book  ## write the whole book as PDF and as EPUB to offline/
	$(PY) book/tools build
	$(PY) book/tools offline --out offline

##@ For authors

notebooks: $(VENV)/.has-lab  ## execute the chapters whose notebook is stale, and derive the exercises' notebooks
	$(PY) book/tools notebooks execute
	$(PY) book/tools exercises

##@ For contributors

venv: $(VENV)/.has-test  ## make .venv with everything that the checks need

check: lint  ## check style and types, and run the tests of what changed since main: a minute for a chapter's figures
	$(PY) tests/changed.py

lint: $(VENV)/.has-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# The chapters are executed, and what they print is compared with what is committed: first of all, while a fresh
# environment holds what `lab` brings and nothing else but nbval. The kernels run as on an old processor and with two
# threads, the notebooks were made with one: a digit that hangs on either is found here.
validate: export OMP_NUM_THREADS = 2
validate: export OMP_WAIT_POLICY = passive
validate: export RANKEDU_DATA = $(CURDIR)/book/_build/validated
validate: $(VENV)/.has-validate
	rm -rf book/_build/validated
	$(PY) tests/elsewhere.py $(PY) -m pytest -p no:cacheprovider -n 2 --dist loadscope --no-loadscope-reorder --nbval --nbval-current-env \
	  --nbval-cell-timeout 900 notebooks/[0-9]*.ipynb notebooks/solutions notebooks/claims.ipynb notebooks/errata.ipynb

# Two processes with one thread each: more threads than cores would wait for each other.
test: export OMP_NUM_THREADS = 1
test: validate lint  ## run every check
	$(PY) -m pytest -n 2 --dist loadscope --ignore=tests/book/browser --ignore=tests/book/site/test_built_book.py
	$(PY) book/tools build
	$(PY) -m pytest -n 2 --dist worksteal tests/book/site/test_built_book.py tests/book/browser

##@ For a release

# As a user would: built from a clean environment, and installed into another with torch and NumPy alone.
dist: $(VENV)/.has-test  ## build wheel and sdist into dist/, check them, and try the library in a clean environment
	rm -rf dist
	$(PY) -m build > /dev/null
	$(PY) -m twine check --strict dist/*
	$(PY) .ci/release/contents.py dist
	rm -rf book/_build/clean
	$(PY) -m venv book/_build/clean
	book/_build/clean/bin/python -m pip install --quiet -c constraints.txt dist/*.whl
	book/_build/clean/bin/python -I .ci/release/smoke.py

# What the workflow of a release does before it sends anything; `release/` then holds the site, and the book as an archive.
release-check: $(VENV)/.has-test  ## do all of a release except sending it, and list what is left to do
	bash .ci/run
	$(MAKE) dist
	$(PY) book/tools offline --out offline
	$(PY) .ci/release/ready.py --out release
	cp offline/book.* release/

clean:  ## remove what was built; not the environment, and no run
	rm -rf book/_build dist release figures offline .pytest_cache .mypy_cache .ruff_cache .hypothesis
