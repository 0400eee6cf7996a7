"""What may be printed: logs can hold escape sequences, so everything goes through `safe`."""

import re

from forsy_retrace.patterns import later

UNSAFE = later("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """The text with control characters and direction marks written out as `\\xNN`."""
    return UNSAFE.sub(_written_out, text)


def safe_line(text: str) -> str:
    """The same on one line: a name of a file may hold a line feed."""
    return safe(text).replace("\n", "\\n")


def safe_json(text: str) -> str:
    """One line of JSON with the same characters as its own escapes, so that it stays JSON."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
