"""What stands against the release of a trace beside its format: see `validate` for that."""

from collections.abc import Iterator
from pathlib import Path

from forsy_retrace.loaded import json_of
from forsy_retrace.redact import OFF
from forsy_retrace.validate import Problem


def unfit(folder: Path) -> list[Problem]:
    """Why a trace folder is not fit to leave its owner."""
    return list(_unmasked(folder / "manifest.json"))


def _unmasked(manifest: Path) -> Iterator[Problem]:
    told = json_of(manifest) if manifest.is_file() else None
    if isinstance(told, dict) and told.get("redaction") == OFF:
        text = "Redaction was off: whatever the log holds stands in the trace."
        yield Problem(None, "manifest.redaction", "masked", text)
