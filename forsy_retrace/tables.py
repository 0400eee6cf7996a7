"""Reads the tables that come with the package."""

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def table(name: str) -> dict[str, Any]:
    """A TOML file by its path below the package."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))
