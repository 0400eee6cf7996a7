"""Tokens that begin with, hold or end in a vendor's literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

ALNUM = shape.ALNUM
# A long token is broken over two lines by terminals and by mail, and over two texts in code.
BETWEEN = (
    rb"(?: ?(?:\.\.|[+.&,])? ?[\\`]?\r?\n?[ \t]{0,40}"
    rb"|;?\r?\n[ \t]{0,40}[\w.$]{1,40} ?(?:\+|\.|&)= ?)"
)
BREAK = later(rb"\\?\r?\n[ \t]{0,8}(?:[>|+] ?)?|\"" + BETWEEN + rb"\"|'" + BETWEEN + rb"'")
BREAKS = frozenset((b"\\", b"\r", b"\n", b'"', b"'"))
QUOTES = b'"', b"'"
RUN = later(rb"[A-Za-z0-9_+/=.%-]{1,400}")
BLOCK_LINE = later(rb"[A-Za-z0-9+/]{60,200}")
AFTER_PART = later(rb"[\s\"'`,;)<\\]|$")
JOINTS = b"+/_-"
"""Signs of base64, which the letters of a hash may stand behind."""
WIDTH = 60
MOST_LINES = 20
HEX = "[a-f0-9]", "[a-fA-F0-9]"
DIGITS = [b"%x" % digit for digit in range(16)]
"""A short start is looked for with the digit that has to follow: `ac` alone stands everywhere."""

# Discord's bot tokens begin with the base64 of a number, which is no fixed literal.
DISCORD_REST = later(rb"[A-Za-z0-9_-]{19,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for row in rules.tokens():
        start = row.start.encode()
        is_strong = len(start) >= 4 and any(byte not in ALNUM for byte in start)
        rule = _Token(
            row.id,
            start,
            rules.bounded(row.rest),
            rules.bounded(f"(?:{row.back})$") if row.back else None,
            row.full,
            (not is_strong and not row.back) if row.edge is None else row.edge,
            row.right,
            row.mixed,
            row.digits,
            row.letters,
        )
        for following in DIGITS if len(start) < 4 and row.rest.startswith(HEX) else (b"",):
            yield start.lower() + following, rule
    for literal in sorted({begin.lower() for begin in _discord()}):
        yield literal, _discord_token


class _Token:
    """One row of the table as a rule."""

    __slots__ = (
        "back",
        "digits",
        "edge",
        "full",
        "id",
        "letters",
        "mixed",
        "rest",
        "right",
        "start",
    )

    def __init__(
        self,
        id: str,
        start: bytes,
        rest: re.Pattern[bytes],
        back: re.Pattern[bytes] | None,
        full: int,
        edge: bool,
        right: bool,
        mixed: bool,
        digits: int,
        letters: bool,
    ) -> None:
        self.id, self.start, self.rest, self.back, self.full = id, start, rest, back, full
        self.edge, self.right, self.mixed, self.digits, self.letters = (
            edge,
            right,
            mixed,
            digits,
            letters,
        )

    def __call__(self, scan: Scan, start: int, end: int) -> None:
        data = scan.data
        if self.edge and start and data[start - 1] in ALNUM:
            return
        if not data.startswith(self.start, start):
            return
        if self.edge and start and data[start - 1] in JOINTS and _is_inside_a_run(data, start):
            return
        if self.edge and start and data[start - 1] == 0x0A and self._is_inside_a_block(data, start):
            return
        end = start + len(self.start)
        match = self.rest.match(data, end)
        stop = match.end() if match else end
        joined = self._over_the_break(data, start, end, stop)
        if joined > stop:
            stop = joined
        elif match is None:
            return
        if self.right and stop < len(data) and data[stop] in ALNUM:
            return
        begin = start
        if self.back:
            before = self.back.search(data, max(0, start - 210), start)
            if before is None:
                return
            begin = before.start()
            if begin and data[begin - 1] in ALNUM:
                return
        if match and match.lastindex and joined <= match.end():
            begin, stop = match.span(1)  # only a part of it is secret
        if self._is_real(data[begin:stop], data[end:stop] if not self.back else data[begin:stop]):
            scan.add(begin, stop, self.id)

    def _is_inside_a_block(self, data: bytes, start: int) -> bool:
        """The line before is a full line of base64: a certificate's, a picture's."""
        line = data.rfind(b"\n", max(0, start - 202), start - 1) + 1
        run = BLOCK_LINE.fullmatch(data, line, start - 1)
        return run is not None and not run[0].startswith(self.start)

    def _is_real(self, token: bytes, secret: bytes) -> bool:
        if shape.is_placeholder(token):
            return False
        kinds = set(secret.translate(shape.KIND))
        if len(set(secret)) < 6:
            return False
        if 3 not in kinds and not {1, 2} <= kinds and not self.letters:
            return False
        if self.mixed and not {1, 2, 3} <= kinds:
            return False
        return not self.digits or sum(byte in shape.DIGIT for byte in secret) >= self.digits

    def _over_the_break(self, data: bytes, start: int, end: int, stop: int) -> int:
        """Where the token ends if line breaks stand within it, else its end."""
        run = RUN.match(data, end)
        here = run.end() if run and stop == end else stop
        if data[here : here + 1] not in BREAKS:
            return stop
        text = data[end:here]
        if stop == end and text.endswith(b"=") and data[here] != 0x22:
            text = text[:-1]  # a line of quoted-printable mail goes on
        for _ in range(MOST_LINES):
            gap = BREAK.match(data, here)
            is_begun = text or end - start >= 6 or data[here : here + 1] in QUOTES
            rest = RUN.match(data, gap.end()) if gap and is_begun else None
            if gap is None or rest is None:
                return stop
            part = rest[0]
            if b"=" in part.rstrip(b"="):
                return stop  # the next line's NAME=value
            if b"," in gap[0] and not (_is_a_part(part) and data[start - 2 : start - 1] == b"["):
                return stop  # the next item of a list, but in ["…", "…"].join("")
            if stop > end and not self._goes_on(data, start, stop, rest):
                return stop
            text, before = text + part, len(text)
            whole = self.rest.match(text)
            if whole is None and len(part) >= WIDTH and _is_a_part(part):
                here = rest.end()
                continue
            if whole is None or whole.end() <= before:
                return stop
            joined, here = gap.end() + whole.end() - before, rest.end()
            if joined < here and (data[joined] in ALNUM or data[joined] == 0x5F):
                return stop  # what begins there is longer than any rest: the next line's own
            stop = joined
            if stop < here:
                return stop
        return stop

    def _goes_on(self, data: bytes, start: int, stop: int, rest: re.Match[bytes]) -> bool:
        """A token that is whole as it is may be longer."""
        part = rest[0]
        if not _is_a_part(part) or part.startswith(self.start):
            return False
        if stop - start < self.full:
            return True
        is_wide = stop - data.rfind(b"\n", max(0, stop - 400), stop) - 1 >= WIDTH
        return (
            (is_wide or self.full == 0)
            and len(part) >= 8
            and shape.turns(part) * 4 >= len(part)
            and AFTER_PART.match(data, rest.end()) is not None
        )


def _is_inside_a_run(data: bytes, start: int) -> bool:
    """Letters and digits in no order stand right before the sign before a token."""
    run = data[max(0, start - 11) : start - 1]
    kinds = set(run.translate(shape.KIND))
    return kinds == {1, 2, 3} and len(run) == 10 and shape.turns(run) >= 4


def _is_a_part(part: bytes) -> bool:
    """The second half of a broken token, not the next line's first word."""
    kinds = set(part.translate(shape.KIND))
    return (
        len(part) >= 4
        and b"=" not in part
        and (3 in kinds or {1, 2} <= kinds)
        and len(kinds - {0}) >= 2
        and shape.turns(part) * 6 >= len(part)
    )


def _discord() -> Iterator[bytes]:
    """The first four letters of the base64 of a number."""
    for first in b"MNO":
        for second in b"DTjz":
            for third in b"AEIMQUYcgk":
                for fourth in b"wxyz012345":
                    yield bytes((first, second, third, fourth))


def _discord_token(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if data[start] not in b"MNO" or (start and data[start - 1] in ALNUM):
        return
    match = DISCORD_REST.match(data, end)
    if match and shape.turns(match[0]) >= 12:
        scan.add(start, match.end(), "discord-bot")
