"""Moments as logs write them, in one writing."""

from datetime import UTC, datetime
from typing import Any


def when(value: Any) -> str | None:
    """A time as `2026-01-31T12:00:00.123Z`, from ISO 8601 text or a Unix number; else None.

    Numbers above 1e11 are milliseconds, above 1e14 microseconds, above 1e17 nanoseconds.
    A text without a zone says no moment, and gives None.
    """
    moment = _moment(value)
    if moment is None:
        return None
    try:
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    digits = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    text = moment.isoformat(timespec=digits if moment.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z"


def order(at: str | None) -> str:
    """A key by which what `when` gives sorts in time: `…:01Z` lies before `…:01.100Z`.

    No time lies before any.
    """
    return (at or "").removesuffix("Z")


def _moment(value: Any) -> datetime | None:
    match value:
        case bool():
            return None
        case int() | float():
            return _from_number(value)
        case str() if len(value) < 64:
            moment = _from_text(value)
            return moment if moment is not None and moment.tzinfo is not None else None
    return None


def _from_number(value: int | float) -> datetime | None:
    try:
        for floor, scale in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
            if value > floor:
                value = value / scale  # of a whole number that no float holds, it overflows
                break
        return datetime.fromtimestamp(value, UTC) if value > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _from_text(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    from dateutil.parser import isoparse

    try:
        return isoparse(value)
    except (ValueError, OverflowError):
        return None
