# Every command sets itself up from a bare Python >= 3.10: `make book`, `make lab`, `make test`, `make figures`.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python

.PHONY: help book lab test figures notebooks results bench lint venv browser clean

help:
	@echo "make book       build the book; prints the page to open"
	@echo "make lab        open the chapters in JupyterLab, with live sliders"
	@echo "make test       run every check"
	@echo "make figures    write the papers' figures to figures/ as PNG and SVG"
	@echo "make notebooks  execute the chapters whose notebook is stale"
	@echo "make results    run the sweeps of the results page, about an hour; what is done is not repeated"
	@echo "make bench      measure speed as ratios, for the results page; tell which goals are met and what got slower"

# One stamp an extra: an extra is installed once, and again when what is declared changes.
$(VENV)/.has-%: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python >= 3.10 is needed, got %s: set PYTHON=..." % sys.version.split()[0])'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@

venv: $(VENV)/.has-test

book: $(VENV)/.has-book
	$(PY) book/build.py --execute

lab: $(VENV)/.has-lab
	$(PY) -m jupyter lab notebooks/01_rank_based_metrics.ipynb

figures: $(VENV)/.has-lab
	$(PY) -m rankedu figures --out figures
	cp figures/rambo_fig_1.png book/_static/rambo_fig_1.png

notebooks: $(VENV)/.has-lab
	$(PY) book/pairs.py execute

results: $(VENV)/.has-lab
	$(PY) book/papers.py | PATH="$(abspath $(VENV))/bin:$$PATH" sh -e
	$(PY) -m rankedu results --keep book/data/runs > /dev/null

lint: $(VENV)/.has-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# The chapters are executed once, by nbval, which proves the committed notebooks current; the book is built from them.
# Two processes with one thread each: more threads than cores would wait for each other.
test: export OMP_NUM_THREADS ?= 1
test: lint
	$(PY) -m pytest -n 2 --dist loadscope --ignore=tests/browser --ignore=tests/book/test_built_book.py
	$(PY) book/pairs.py check
	$(PY) -m pytest -p no:cacheprovider -n 2 --dist loadscope --nbval --nbval-current-env --nbval-cell-timeout 120 notebooks/[0-9]*.ipynb
	$(PY) book/build.py
	$(PY) -m pytest -s tests/book/test_built_book.py tests/browser

# What could be measured is recorded, and held against the goals, also if a benchmark fails.
bench: export OMP_NUM_THREADS = 1
bench: $(VENV)/.has-test
	mkdir -p book/_build
	$(PY) -m pytest benchmarks --benchmark-only --benchmark-json=book/_build/benchmarks.json; failed=$$?; \
	$(PY) benchmarks/record.py book/_build/benchmarks.json book/data/speed.json && exit $$failed

clean:
	rm -rf book/_build figures .pytest_cache .mypy_cache .ruff_cache .hypothesis
