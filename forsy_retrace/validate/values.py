"""What fields hold, of whatever type somebody put there."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any


def fields_of(value: object) -> Mapping[str, Any]:
    """Those of an object; none of anything else."""
    return value if isinstance(value, dict | Mapping) else {}


def items_of(value: object) -> Sequence[Any]:
    """Those of a list; none of anything else."""
    return value if isinstance(value, list | tuple) else ()


def is_share(value: object) -> bool:
    """Whether it is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def whole(value: object) -> int | None:
    """A whole number as JSON Schema has it: 2.0 is one, true is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 2**53 and value == int(value) else None


def moment_of(value: object) -> datetime | None:
    """A time without a zone, as old traces have it, is taken for UTC."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time
