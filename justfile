# What a developer runs; `.ci/run` is what must be green.

test:
    .venv/bin/pytest

lint:
    .venv/bin/ruff check . && .venv/bin/ruff format --check .

types:
    .venv/bin/mypy

golden:
    FORSY_UPDATE_GOLDENS=1 .venv/bin/pytest tests/test_adapters.py

# Real logs kept beside the checkout.
corpus:
    .venv/bin/pytest -m corpus -s

# Scores against labelled sessions kept beside the checkout.
gold:
    .venv/bin/pytest -m gold -s

docs:
    .venv/bin/python -m forsy_retrace.commands.page > docs/commands.md
