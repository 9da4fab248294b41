# make run    set up, train on Beyond for about five minutes, evaluate, show where everything is
# make test   set up, all tests
# make bench  set up, the speed table
# make check  lint and types
# make notebooks  run the notebooks anew, in place: about twenty minutes

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test bench check notebooks

run: $(READY)
	$(BIN)/beyond-away train beyond

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

bench: $(READY)-bench
	$(BIN)/beyond-away bench

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy

notebooks: $(READY)
	$(BIN)/jupyter execute --inplace --NotebookClient.record_timing=False notebooks/*.ipynb

# installed once; again only when what is needed has changed
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "beyond-away needs Python 3.11 or newer; name one: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $(READY)

# what the speed table is compared with
$(READY)-bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	touch $(READY)-bench
