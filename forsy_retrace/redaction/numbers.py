"""Telephone numbers, and the numbers of bank accounts and of payment cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape
from forsy_retrace.redaction.names import CUSTOMER, PHONE

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

# A number with its country: groups of digits with one kind of sign between them, or none.
INTERNATIONAL = later(
    rb"\+(?:1\)?[ .-]?\(?[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4}"
    rb"|[2-9][0-9]{1,2}\)?[ .-]?(?:\(0?[0-9]{1,4}\)[ .-]?)?[0-9]{1,4}"
    rb"(?:(?: ?[0-9]{2,4}){2,4}|(?:-?[0-9]{2,8}){1,3}|(?:\.[0-9]{2,4}){2,4}))"
)
# A number behind a word for one.
NATIONAL = later(
    rb"\+?[0-9]{7,15}"
    rb"|\+?[0-9]{1,5}(?:[ .-]?\([0-9]{1,4}\)|[ ./-][0-9]{1,4})(?:[ ./-]?[0-9]{2,8}){1,5}"
    rb"|\([0-9]{2,5}\)(?:[ ./-]?[0-9]{2,8}){1,4}"
)
# A number with its area in brackets, as they are written in North America.
WITH_AREA = later(rb"\([2-9][0-9]{2}\) [2-9][0-9]{2}[-.][0-9]{4}")
AREA = 4
"""Bytes of such a number before the bracket that closes."""
BETWEEN = later(
    rb"[a-z_. -]{0,12}\\{0,3}[\"'`]?[ \t]{0,4}(?:[:=]|=>|is|at|on|</[a-z]{1,8}>|>)?[ \t]{0,4}"
    rb"\\{0,3}[\"'`]?(?=[+(0-9])"
)
SIGNS = frozenset(b" -./(")
FEWEST, MOST = 9, 15
"""Digits of a number with its country."""
# Numbers of films and manuals.
NOBODYS = later(rb"1234567|5550[01][0-9]{2}$|" + b"|".join(b"%d{6}" % digit for digit in range(10)))

IBAN = later(rb"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?")
CARD = later(
    rb"\b(?:[3-6][0-9]{3}(?:[ -]?[0-9]{4}){3}(?:[0-9]{3})?"
    rb"|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})\b"
)
NEAR = 60


def rows() -> Iterator[tuple[bytes, Rule]]:
    for country in range(20, 100):
        yield b"+%d" % country, _international
    for area in (b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b" ", b"-", b".", b"(", b")"):
        yield b"+1" + area, _international
    for first in range(2, 10):
        yield b") %d" % first, _with_area
    for word in rules.words("numbers", "phone"):
        yield word, _after_phone
    for word in rules.words("numbers", "bank"):
        yield word, _iban
    for word in rules.words("numbers", "card"):
        yield word, _card


def _international(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    before = data[start - 1] if start else 0x20
    if before in b"\n+-_./=)]}" or before in shape.ALNUM:
        return  # the line of a diff, a sum
    match = INTERNATIONAL.match(data, start)
    if match is None or not _ends(data, match.end()):
        return
    digits = _digits(match[0])
    if FEWEST <= len(digits) <= MOST and not NOBODYS.search(digits):
        scan.add(start, match.end(), "phone", PHONE)


def _with_area(scan: Scan, start: int, end: int) -> None:
    data, begin = scan.data, start - AREA
    if begin < 0 or (begin and (data[begin - 1] in shape.ALNUM or data[begin - 1] in b"_)]}")):
        return  # a call, an index
    match = WITH_AREA.match(data, begin)
    if match and _ends(data, match.end()) and not NOBODYS.search(_digits(match[0])):
        scan.add(*match.span(), "phone", PHONE)


def _after_phone(scan: Scan, start: int, end: int) -> None:
    """A number that its word tells."""
    data = scan.data
    if start and data[start - 1 : start].isalpha() and data[start : start + 1].islower():
        return  # microphone, motel
    said = BETWEEN.match(scan.low, end)
    match = NATIONAL.match(data, said.end()) if said else None
    if match is None or not _ends(data, match.end()):
        return
    number, digits = match[0], _digits(match[0])
    least = 8 if number[:1] in b"+0(" else FEWEST
    if not least <= len(digits) <= MOST or NOBODYS.search(digits) or shape.TIME.match(number):
        return
    if number[:1] in b"+0" or not SIGNS.isdisjoint(number) or len(digits) >= 10:
        scan.add(*match.span(), "phone", PHONE)


def _ends(data: bytes, end: int) -> bool:
    """No longer number, no name and no product goes on here."""
    after = data[end : end + 2]
    return not (
        after[:1].isalnum()
        or after[:1] in (b"_", b"%", b"*", b":")
        or (after[:1] in (b".", b"-", b"/", b",") and after[1:].isdigit())
        or (after[:1] == b"-" and after[1:].isalpha())
    )


def _digits(number: bytes) -> bytes:
    return bytes(byte for byte in number if byte in shape.DIGIT)


def _iban(scan: Scan, start: int, end: int) -> None:
    for match in IBAN.finditer(scan.data, end, min(len(scan.data), end + NEAR)):
        number = match[0]
        while len(number) >= 15:
            if _adds_up(number.replace(b" ", b"")):
                scan.add(match.start(), match.start() + len(number), "iban", CUSTOMER)
                return
            number = number.rpartition(b" ")[0]


def _adds_up(iban: bytes) -> bool:
    """By the rule of ISO 13616: the rest is one."""
    if not 15 <= len(iban) <= 34 or len(set(iban)) < 6:
        return False
    return int("".join(str(int(chr(sign), 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def _card(scan: Scan, start: int, end: int) -> None:
    match = CARD.search(scan.data, end, min(len(scan.data), end + NEAR))
    if match is None:
        return
    digits = _digits(match[0])
    doubled = [int(chr(d)) * (1 + at % 2) for at, d in enumerate(reversed(digits))]
    if len(set(digits)) > 4 and sum(d - 9 * (d > 9) for d in doubled) % 10 == 0:
        scan.add(*match.span(), "card", CUSTOMER)
