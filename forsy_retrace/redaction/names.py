"""Who is nobody and what is public: the lists that people, accounts and hosts are held against."""

from __future__ import annotations

import re
from functools import lru_cache

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape

USER, PERSON, EMAIL, PHONE = "USER", "PERSON", "EMAIL", "PHONE"
HOST, CUSTOMER = "INTERNAL_URL", "CUSTOMER_ID"
PLACEHOLDER = later(
    r"\[(CREDENTIAL|EMAIL|PHONE|INTERNAL_URL|CUSTOMER_ID|PERSON|USER|TERM)_([0-9]{1,9})\]"
)
"""What stands for what was masked: its kind, and its number among those."""
PLACEHOLDER_BYTES = later(PLACEHOLDER.pattern.encode())

CONTAINER = later(rb"[0-9a-f]{12}|[a-z0-9]{1,12}|fv-az[0-9-]{1,20}")
"""A machine's name by Docker or by GitHub, or a short word: it tells nothing of itself."""
ESCAPE = later(rb"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf0]")


@lru_cache(maxsize=1)
def nobody() -> frozenset[bytes]:
    return rules.words("names", "nobody")


@lru_cache(maxsize=1)
def common() -> frozenset[bytes]:
    """Words that are not masked outside their place, though a person may be called so."""
    return rules.words("names", "common") | nobody()


@lru_cache(maxsize=1)
def public() -> tuple[re.Pattern[bytes], re.Pattern[bytes], frozenset[bytes]]:
    """Expressions for public hosts and public mail, and the ends of mail domains."""
    return (
        rules.expression("names", "public_host"),
        rules.expression("names", "public_mail"),
        rules.words("names", "tlds"),
    )


@lru_cache(maxsize=2048)  # a log has the same few homes in every other line
def is_somebody(name: bytes, *, at_home: bool = False) -> bool:
    """An account that may be a person's; by its home also one that begins with a digit."""
    low = name.lower()
    return (
        len(low) >= 3
        and low not in nobody()
        and (at_home or not low[:1].isdigit())
        and not shape.is_placeholder(low)
        and (low.rstrip(b"0123456789") not in nobody() or low.rstrip(b"0123456789") == b"")
    )


def after_escape(data: bytes, start: int, end: int) -> int:
    """The start, or a later one where the letters of an escape were taken for a part of the run."""
    slash = data.rfind(b"\\", max(0, start - 5), start)
    if slash >= 0:
        escape = ESCAPE.match(data, slash + 1)
        if escape and start < escape.end() <= end:
            return escape.end()
    return start
