"""Reads the tables that come with the package."""

from pathlib import Path
from typing import Any

import tomli

HERE = Path(__file__).parent


def table(name: str) -> dict[str, Any]:
    """A TOML file by its path below the package."""
    return tomli.loads((HERE / name).read_text(encoding="utf-8"))
