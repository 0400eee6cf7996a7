"""Secrets given to a command or a statement, from the rows of commands.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import headers, margins, printed, rules, shape, values
from forsy_retrace.redaction.strength import is_secret, strength

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

LEFT = 200
PIPED = later(
    rb"(?:echo|printf|print|yes|cat <<<|Write-Output)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4})?"
    rb"(?:(?:\"%s(?:\\\\?n)?\"|'%s(?:\\\\?n)?')[ \t]{1,4})?"
    rb"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s|\"']{3,200}))[ \t]{0,4}\|[^|\n]{0,80}$"
)
WRITTEN = later(
    rb"((?:echo|printf)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4})?[\"'])[^\"'\n]{3,100}[\"']$"
)
SECRET_FILE = later(
    rb"[\w./~${}-]{0,80}(?:passw(?:or)?d|passphrase|vault_pass|_pass|\.pass|secret|token|\.key)"
    rb"(?:\.txt)?(?:[\s;&|\"']|$)"
)
ACCOUNT_NAME = later(rb"[\w.@+-]{1,60}")
PAIR = later(rb"[ \t]{0,8}(?:\\\n[ \t]{0,8})?[\"']?(?:([\w.-]{1,80})=|[^\s=|;&\"']{1,200}[\"']?)")
PAIRS = 30
# Windows' switches, addresses without a name, ports, a box's side: no value of such a flag.
NO_SECRET = later(rb"/[A-Za-z]{1,20}(?::|$)|//|[0-9.]{1,20}:[0-9]{1,5}(?:/|$)|\xe2[\x94\x95]")
LINE_END = later(rb"\\{1,4}n")
CODE = later(
    rb"[ \t]{0,40}(?:[-*]|[0-9]{1,2}[.)])?[ \t]{0,4}"
    rb"([a-zA-Z0-9]{4,12}(?:[- ][a-zA-Z0-9]{4,12}){0,3})[ \t]{0,4}(?:\r?\n|$)"
)
CODES = 20
PHRASE = later(rb"[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}")
BASE32 = later(rb"[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?: [a-z2-7]{4}){3,15}")
BYTES = later(rb"\[\s{0,20}[0-9]{1,3}(?:,\s{0,20}[0-9]{1,3}){15,127},?\s{0,20}\]")
WHOLE = {"phrase": PHRASE, "base32": BASE32, "bytes": BYTES}
"""Secrets with blanks in them, by their part."""
ACCOUNT = later(rb"[ \t]{0,40}[\w.@-]{1,60}:([^\s:]{3,80})[ \t]{0,4}(?:\r?\n|$)")
PHRASE_LINE = later(rb"[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}(?=[ \t]{0,8}(?:[\r\n\"']|$))")

OVER_LINES = later(r"\\[ns](?![^\[\]]*\])")
"""What a lead may hold that stands for the end of a line."""
GROUPS = later(rb"[0-9]{6}(?:-[0-9]{6}){7}")
BELOW = 4
"""Lines below a word that are looked at."""
LONGEST = 200
"""Bytes of such a line."""


def rows() -> Iterator[tuple[bytes, Rule]]:
    for row in rules.commands():
        yield row.on.encode(), _Command(row)
    for quote in (b"'", b'"'):
        yield quote + b" > ", _written
    yield b"| base64", _encoded
    for consumer in rules.load("commands.toml")["stdin"]:
        yield consumer.encode(), _piped


class _Command:
    """One row of the table as a rule."""

    __slots__ = ("below", "id", "lead", "left", "low", "part", "stop")

    def __init__(self, row: rules.Command) -> None:
        self.id, self.part, self.low, self.stop = row.id, row.part, row.low, row.stop.encode()
        is_list = row.part in ("codes", "accounts", "phrase-line")
        is_over_lines = OVER_LINES.search(row.lead) or OVER_LINES.search(row.left)
        self.below = CODES if is_list else BELOW if is_over_lines else 0
        self.lead = rules.bounded(row.to_value)
        self.left = rules.bounded(f"(?:{row.before})$", re.IGNORECASE) if row.before else None

    def __call__(self, scan: Scan, start: int, end: int) -> None:
        data = scan.data
        if self.below:
            scan.hanging.append((start, self.below))
        lead = self.lead.match(scan.low if self.low else data, end)
        if lead is None:
            return
        place = lead.end()
        if self.part.startswith("pairs"):
            if self._follows(data, start):
                self._pairs(scan, place)
            return
        if self.part == "codes":
            if self._follows(data, start):
                self._codes(scan, place)
            return
        if self.part == "accounts":
            self._accounts(scan, place)
            return
        if lead[0].endswith(b"\n"):
            place = margins.text_begins(data, start, place)
        if self.part == "cookies":
            headers.cookie_pairs(scan, place)
            return
        value = self._in_quotes(data, lead) or values.read(data, place)
        if value is None:
            return
        if self.part == "phrase-line":
            lines = map(partial(PHRASE_LINE.match, data), _lines(data, place))
            words = next(filter(None, lines), None)
            if words and self._follows(data, start):
                scan.add(words.start(), words.end(), self.id)
            return
        if self.part in WHOLE:
            words = WHOLE[self.part].match(data, place)
            has_figures = words and not shape.DIGIT.isdisjoint(words[0])
            if words and (has_figures or self.part == "phrase") and self._follows(data, start):
                scan.add(place, words.end(), self.id)
            return
        if lead[0].endswith(b"\n") and not values.ends_line(data, value):
            return
        stop = data.rfind(self.stop, value.start, value.end) if self.stop else -1
        if stop > value.start:
            value = value._replace(end=stop)
        name = lead["name"] if self.part == "named" else b""
        if self._is_secret(data[value.start : value.end], value.quoted, name):
            if not self._follows(data, start):
                return
            scan.add(value.start, value.end, self.id)

    def _in_quotes(self, data: bytes, lead: re.Match[bytes]) -> values.Value | None:
        """The rest of an argument in quotes that begins with the user."""
        quote = lead.groupdict().get("quote")
        if not quote:
            return None
        start = lead.end()
        end = data.find(quote, start, start + LONGEST)
        line = data.find(b"\n", start, end)
        return values.Value(start, end, True) if start < end and line < 0 else None

    def _follows(self, data: bytes, start: int) -> bool:
        """What has to stand before the literal does; looked at last, for it takes longest."""
        return self.left is None or bool(self.left.search(data, max(0, start - LEFT), start))

    def _is_secret(self, text: bytes, quoted: bool, name: bytes = b"") -> bool:
        if self.part in ("quoted", "string") and not quoted:
            return False
        if self.part == "token" and b"://" in text:
            return False  # an address is read by its own rules
        if text[:1] in b"-$<{%(|&>" and not (text[:1] in b"-%&" and shape.is_wild(text)):
            return False
        if shape.is_placeholder(text) or len(text) < 3 or shape.is_reference(text, quoted=True):
            return False
        if NO_SECRET.match(text):
            return False
        match self.part:
            case "token":
                return len(text) >= 12 and shape.is_token(text, 12)
            case "community":
                return text not in (b"public", b"private")
            case "groups":
                return GROUPS.fullmatch(text) is not None
            case "hex-32" | "hex-40" | "hex-64":
                is_hex = shape.HEX.fullmatch(text) is not None
                return is_hex and len(text) == int(self.part.removeprefix("hex-"))
            case "digits":
                return text.isdigit() and 4 <= len(text) <= 10
            case "base64":
                return text.endswith(b"=") and len(text) >= 40 and shape.is_token(text, 40)
            case "uuid":
                return shape.UUID.fullmatch(text) is not None
            case "no-id":
                return shape.is_token(text, 12) and not shape.UUID.fullmatch(text)
            case "strong" | "string":
                return shape.is_password(text, quoted=quoted, certain=False)
            case "named":
                return printed.is_named(text, strength(name), quoted=quoted)
            case "quoted":
                return shape.is_password(text, quoted=True, certain=b" " not in text)
            case "pairs" | "pairs-strict":
                if is_secret(text, strength(name), quoted=quoted, certain=True):
                    return True
                if self.part == "pairs":
                    return shape.is_password(text, quoted=quoted, certain=False)
                return shape.is_token(text, 12)
            case _:
                return b" " not in text or quoted

    def _codes(self, scan: Scan, place: int) -> None:
        """Lines of one length that hold digits and nothing but a code each."""
        found: list[tuple[int, int]] = []
        for _ in range(CODES):
            line = CODE.match(scan.data, place)
            if line is None or (found and len(line[1]) != found[0][1] - found[0][0]):
                break
            found.append(line.span(1))
            place = line.end()
        codes = [scan.data[begin:end] for begin, end in found]
        if len(codes) > 1 and all(not shape.DIGIT.isdisjoint(code) for code in codes):
            for begin, end in found:
                scan.add(begin, end, self.id)

    def _accounts(self, scan: Scan, place: int) -> None:
        """The passwords of lines that hold nothing but an account and its password."""
        for _ in range(CODES):
            line = ACCOUNT.match(scan.data, place)
            if line is None:
                return
            if self._is_secret(line[1], False):
                scan.add(*line.span(1), self.id)
            place = line.end()

    def _pairs(self, scan: Scan, place: int) -> None:
        """The KEY=VALUE words of the command."""
        for _ in range(PAIRS):
            pair = PAIR.match(scan.data, place)
            if pair is None:
                return
            place = pair.end()
            if pair[1] is None or pair[1].startswith(b"--"):
                continue
            value = values.read(scan.data, place)
            if value is None:
                return
            if self._is_secret(scan.data[value.start : value.end], value.quoted, pair[1]):
                scan.add(value.start, value.end, self.id)
            place = value.end + value.quoted


def _lines(data: bytes, place: int) -> Iterator[int]:
    """Where the line at a place begins, and the next ones."""
    for _ in range(BELOW):
        yield place
        end = data.find(b"\n", place, place + LONGEST)
        if end < 0:
            return
        place = end + 1


def _written(scan: Scan, start: int, end: int) -> None:
    """`echo 'X' > .vault_pass`"""
    written = WRITTEN.search(scan.data, max(0, start - LEFT), start + 1)
    if written and SECRET_FILE.match(scan.low, end):
        begin = written.end(1)
        if shape.is_password(scan.data[begin:start], quoted=True, certain=False):
            scan.add(begin, start, "written-secret")


def _encoded(scan: Scan, start: int, end: int) -> None:
    """`echo -n 'user:X' | base64`"""
    match = PIPED.search(scan.data, max(0, start - LEFT), start + 1)
    if match is None:
        return
    group = match.lastindex or 1
    name, colon, rest = match[group].partition(b":")
    if (
        colon
        and ACCOUNT_NAME.fullmatch(name)
        and shape.is_password(rest, quoted=True, certain=False)
    ):
        scan.add(match.start(group) + len(name) + 1, match.end(group), "piped-secret")


def _piped(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    match = PIPED.search(data, max(0, start - 300), start + data.startswith(b"|", start))
    if match is None:
        return
    begin, stop = match.span(match.lastindex or 1)
    for line in (*LINE_END.finditer(data, begin, stop), None):
        last = line.start() if line else stop
        text = data[begin:last]
        if scan.low[start:end] == b"chpasswd":
            text = text.partition(b":")[2] or text
        if (
            text[:1] not in b"$<{%(-"
            and b" " not in text
            and shape.is_password(text, quoted=True, certain=True)
        ):
            scan.add(last - len(text), last, "piped-secret")
        begin = line.end() if line else stop
