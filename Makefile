# Every target works on a fresh machine: it makes .venv itself.
.DEFAULT_GOAL := help
.PHONY: help setup run test check bench stress

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$name && break; done)
PY := .venv/bin/python
PORT ?= 8000
SESSIONS ?=
STAMP := .venv/requirements.stamp
DEV_STAMP := .venv/requirements-dev.stamp

help:
	@echo "make run [SESSIONS=PATH] [PORT=N] | test | check | setup | bench | stress"

$(STAMP): requirements.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 was found: install one, or name it: make PYTHON=/path/to/python3"; exit 1; }
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	touch $@

$(DEV_STAMP): requirements-dev.txt $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	touch $@

setup: $(DEV_STAMP)

run: $(STAMP)
	$(if $(SESSIONS),$(PY) manage.py import_sessions "$(patsubst ~/%,$(HOME)/%,$(SESSIONS))" || echo "Not everything was imported; the reasons stand above.")
	@exec $(PY) manage.py serve --port $(PORT)

test: $(DEV_STAMP)
	$(PY) -m tests.run

check: $(DEV_STAMP)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy .
	.venv/bin/lint-imports
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py check

bench: $(DEV_STAMP)
	$(PY) -m benchmarks.run

stress: $(DEV_STAMP)
	CTXWEB_STRESS=full $(PY) -m pytest -m "stress or not stress" tests/stress tests/evidence/test_growth_of_queries.py tests/ctxweb/durable/test_hostile_summaries.py
