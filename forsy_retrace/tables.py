"""Reads the tables that come with the package."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Parse = Callable[[str, bytes], dict[str, Any]]


def table(name: str) -> dict[str, Any]:
    """A TOML file by its path below the package."""
    return _Reader.parse(name, (HERE / name).read_bytes())


def parsed(name: str, text: bytes) -> dict[str, Any]:
    """What a table's text says."""
    import tomli

    return tomli.loads(text.decode())


class _Reader:
    """How tables are parsed."""

    parse: Parse = staticmethod(parsed)


def parse_by(parse: Parse) -> None:
    """From now on tables are parsed in this way; for a program that keeps what they said."""
    _Reader.parse = staticmethod(parse)
