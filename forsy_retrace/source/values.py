"""One JSON value from its bytes: exact, and never fatal."""

import json
from math import isinf
from typing import Any, Literal

import msgspec

from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later

MAX_LINE = 256 << 20
MAX_DEPTH = 512
"""Caps against a file that was made to exhaust memory, in bytes (depth: in brackets)."""

DECODE = msgspec.json.Decoder().decode
BRACKETS = b"[]{}"
OPENING = b"[{"
OTHERS = bytes(byte for byte in range(256) if byte not in BRACKETS)
PREFIX = later(rb"\[(\d{4}-\d\d-\d\dT[\d:.]+Z?)\] \[[A-Z]{1,8}\] (?=\{)")
"""What a program puts before each line of another whose output it logs."""
LOGGED = "logged_at"
"""The field that holds the time of such a prefix."""
SURROGATE = later("[\ud800-\udfff]")

Problem = Literal[
    "",
    "archive of files",
    "comment line",
    "frame of a stream",
    "text around records",
    "unreadable: not JSON",
    "unreadable: cut off",
    "unreadable: nested too deep",
    "unreadable: line too long",
    "unreadable: unknown form",
]
NOT_JSON: Problem = "unreadable: not JSON"


class Record(msgspec.Struct, frozen=True, gc=False):
    """One value of a log and where it stands. `problem` says why there is no value."""

    here: Evidence
    value: Any = None
    problem: Problem = ""
    repaired: bool = False
    """Bytes that are no UTF-8, lone surrogates or NaN were replaced."""


def decode(data: bytes, here: Evidence) -> Record:
    """One JSON value, exact integers included; odd bytes are replaced, never fatal."""
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        return Record(here, problem="unreadable: nested too deep")
    try:
        return Record(here, DECODE(data))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        text = data.decode("utf-8", "replace")
        value = json.loads(
            text, parse_constant=str, parse_int=_integer, parse_float=_number, strict=False
        )
    except (ValueError, RecursionError):
        return _logged(data, here)
    return Record(here, _clean(value), repaired=True)


def _integer(text: str) -> int | str:
    """The number; its own digits where Python makes none of so many."""
    try:
        return int(text)
    except ValueError:
        return text


def _number(text: str) -> float | str:
    """The number; its own digits where it is beyond what a float holds."""
    value = float(text)
    return text if isinf(value) else value


def _logged(data: bytes, here: Evidence) -> Record:
    """An object behind the prefix of a log, with the prefix's time as a field of it."""
    lead = PREFIX.match(data)
    if lead is None:
        return Record(here, problem=NOT_JSON)
    found = decode(data[lead.end() :], here)
    if not isinstance(found.value, dict):
        return found
    value = {LOGGED: lead[1].decode(), **found.value}
    return Record(here, value, repaired=found.repaired)


def _depth(data: bytes) -> int:
    depth = deepest = 0
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")  # each quote left begins or ends a text
    for mark in b"".join(bare.split(b'"')[::2]).translate(None, OTHERS):
        if mark in OPENING:
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _clean(value: Any) -> Any:
    """Lone surrogates become U+FFFD, since no UTF-8 file can hold them; lists in place.

    One call a level: comprehensions would be two, and the deepest value too deep for Python.
    """
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list():
            for index, item in enumerate(value):
                value[index] = _clean(item)
        case dict():
            clean = {}
            for key, item in value.items():
                clean[_clean(key)] = _clean(item)
            return clean
    return value
