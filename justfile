# What a developer runs; `.ci/run` is what must be green.

test:
    .venv/bin/pytest

# Logs that are cut and spoilt, time that grows with the text, processes killed at any moment.
slow:
    .venv/bin/pytest -m slow

lint:
    .venv/bin/ruff check . && .venv/bin/ruff format --check .

types:
    .venv/bin/mypy

golden:
    FORSY_UPDATE_GOLDENS=1 .venv/bin/pytest tests/test_adapters.py

# The whole of the laws, over every fixture.
laws:
    FORSY_LAWS=thorough .venv/bin/pytest -m 'slow or not slow' tests/test_adapters.py

# Real logs kept beside the checkout.
corpus:
    .venv/bin/pytest -n 0 -m corpus -s

# Scores against labelled sessions kept beside the checkout.
gold:
    .venv/bin/pytest -n 0 -m gold -s

# Batches as whole processes, killed and on other engines (extra `scale`).
scale:
    .venv/bin/pytest -n 0 -m scale

docs:
    .venv/bin/python -m forsy_retrace.commands.page > docs/commands.md
    .venv/bin/python -m forsy_retrace.builder.page > docs/judgement.md
    .venv/bin/python -m forsy_retrace.audit.page > docs/audit.md

# Coverage-guided fuzzing: `just fuzz source 600`, `just fuzz redactor 600` (extra `fuzz`).
fuzz target seconds="60":
    .venv/bin/python benchmarks/fuzz.py {{target}} {{seconds}}

# How fast each stage is, and a whole conversion against orjson (extra `bench`).
bench:
    .venv/bin/pytest -n 0 benchmarks/test_speed.py --benchmark-only
    .venv/bin/python benchmarks/speed.py --process

# The confidence that stripped logs claim, against what they hold.
calibrate:
    .venv/bin/python benchmarks/calibrate.py
