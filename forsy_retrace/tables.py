"""Reads the tables that come with the package, and what is made of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Make = Callable[[bytes], Any]
Keep = Callable[[str, bytes, Make], Any]


def table(name: str) -> dict[str, Any]:
    """A TOML file by its path below the package."""
    found: dict[str, Any] = made(name, (HERE / name).read_bytes(), _parsed)
    return found


def made(name: str, of: bytes, make: Make) -> Any:
    """What is made of some bytes of the package's own: maps, lists, texts and bytes.

    A program may keep it by its name as long as the bytes are the same: on nothing else may it
    depend, the code that makes it included.
    """
    return _Keeper.made(name, of, make)


def _parsed(text: bytes) -> dict[str, Any]:
    import tomli

    return tomli.loads(text.decode())


def anew(name: str, of: bytes, make: Make) -> Any:
    """Keeps nothing."""
    return make(of)


class _Keeper:
    """How what is made is kept."""

    made: Keep = staticmethod(anew)


def keep_by(keep: Keep) -> None:
    """From now on what is made is kept in this way; for a program that is run often."""
    _Keeper.made = staticmethod(keep)
