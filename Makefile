# make run    set up, train on Beyond for about five minutes, evaluate, show where everything is
# make test   set up, all tests
# make bench  set up, the speed table
# make check  lint and types
# make notebooks  run the notebooks anew, in place: about twenty minutes
# make study  the study of docs/study-variants.md, from nothing: under half an hour on two cores

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test bench check notebooks study

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

study: $(READY)
	$(BIN)/beyond-away variants beyond --vary protection=false,true --vary summoning=false,true --also end_distinct=true --players 2 3 4 \
	  --agents heuristic flat:samples=2 --games 20000 2000 --ladder-games 0 --positions 200 --out runs/study-beyond
	$(BIN)/beyond-away variants away --also many_one_way:cards=examples/cards/many_one_way.toml \
	  --also few_one_way:cards=examples/cards/few_one_way.toml --also max_rounds=20 --also max_rounds=12 \
	  --games 20000 --ladder-games 0 --positions 200 --out runs/study-away
	$(BIN)/beyond-away variants away --also many_one_way:cards=examples/cards/many_one_way.toml \
	  --also few_one_way:cards=examples/cards/few_one_way.toml --also max_rounds=20 --also max_rounds=12 \
	  --agents flat:samples=3 --games 2000 --ladder-games 0 --positions 200 --out runs/study-away-flat

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
