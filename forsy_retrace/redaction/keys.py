"""Secrets known by their key: key=value in any language, flags, pairs, and what prose says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

PASSWORD, TOKEN, WEAK = 3, 2, 1

NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
REACH = 60
PASS = later(
    rb"(?:^|[^a-z]|[a-z0-9])pass(?:$|[_.-]?(?:w(?:or|d|rd)|phrase|code|key|wort)"
    rb"|[_.-]?[0-9]{1,2}$)|pwd|_pw(?:$|[^a-z])|psk|contrase|kennwort|wachtwoord|mot_de_passe|senha"
    rb"|secret_word"
)
TAIL = later(
    rb"[\w.-]{0,60}(\\{0,8}[\"'`]|\]|\))?(?:\\{0,8}[\"'`]|\]|\))?(?:"
    rb"[ \t]{0,40}(=>|:=|={1,3}|!={1,2}|=~|:)[ \t]{0,40}"
    rb"|(,)[ \t]{0,8}|(>)|([ \t]{1,8})|(\n))"
)
ANNOTATION = later(
    rb"(?:&?(?:'static )?str|String|string|bytes|Optional\[str\]|SecretStr|Final(?:\[str\])?)"
    rb"(?: \| None)?[ ]{0,4}=[ ]{0,4}"
)
BLOCK = later(rb"[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40}")
IS = later(
    rb"(?:for|of|to|on|in) [^\n:=]{1,60}?(?:: ?| is |=)|(?:is|was|are|will be|set to|changed to"
    rb"|reset to|now|be|should be|to be|becomes?)(?: (?:now|still|just|also|set to|currently"
    rb"|always))?(?::| is)?[ \t]{1,3}|(?:=|:|->|=>)[ \t]{1,3}"
)
FOR = later(rb"(?:for|of|to|on|in) ")
PAIR = later(
    rb"(?:\s{0,40}[,}]?\s{0,40}\\{0,8}[\"']?(?:value|secret|content|Value|default"
    rb"|val)\\{0,8}[\"']?\s{0,8}[:=]\s{0,8})"
)
CLOSING = later(rb"\\{0,8}[\"'`]")
PLACEHOLDER = later(rb"credential_[0-9]{1,9}")
CONNECTION = later(rb"; ?[A-Za-z][A-Za-z ]{1,30}=")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for group in ("password", "token", "weak"):
        for word in rules.words("keys", group):
            yield word, _key_value


@lru_cache(maxsize=1)
def _not_secret() -> re.Pattern[bytes]:
    return rules.expression("keys", "not_secret")


@lru_cache(maxsize=1)
def _weak_ends() -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    return tuple(rules.words("keys", "token")), tuple(rules.words("keys", "weak"))


@lru_cache(maxsize=8192)
def strength(name: bytes) -> int:
    """How much a key promises a secret: PASSWORD, TOKEN, WEAK or 0. The name in lower case."""
    if PASS.search(name):
        return 0 if _not_secret().search(name) else PASSWORD
    strong, weak = _weak_ends()
    bare = name.strip(b"\"'?& ")
    for group, level in ((strong, TOKEN), (weak, WEAK)):
        for word in group:
            if word.strip(b"\"'?&= ") in bare:
                return 0 if _not_secret().search(name) else level
    return 0


def _key_value(scan: Scan, start: int, end: int) -> None:
    if start < scan.named:
        return
    data = scan.data
    if data[end - 1] == 0x3D:  # the literal holds the sign: ?key=
        place, sign = end, b"="
        name_end = end - 1
        closed = False
        tail = None
    else:
        tail = TAIL.match(data, end)
        if tail is None:
            return
        place, sign = tail.end(), tail[2] or b""
        closed = tail[1] is not None and tail[1] not in b")]"
        name_end = tail.start(1) if tail[1] is not None else _name_end(tail)
    before = data[max(0, start - REACH) : start]
    left = start - (len(before) - len(before.rstrip(NAME)))
    name = scan.low[left:name_end]
    if left and data[left - 1] == 0x5B and PLACEHOLDER.fullmatch(name):
        return  # [CREDENTIAL_1] is no key
    level = strength(name)
    if not level:
        if sign:
            scan.named = name_end
        return
    in_url = data[left - 1 : left] in (b"?", b"&") and left > 0
    if sign or tail is None:
        scan.named = name_end
        _assigned(scan, left, name_end, place, sign, level, in_url)
    elif tail[3] and closed and left and data[left - 1] in values.QUOTES:
        _listed(scan, place, level)
    elif tail[4] and left and data[left - 1] in b"<:":
        _element(scan, place, level)
    elif tail[5] and not closed:
        _after_space(scan, left, name_end, place, level)
    elif tail[6] and level != WEAK:
        _pair(scan, name_end, level)
    if closed and level != WEAK:
        _pair(scan, name_end, level)


def _name_end(tail: re.Match[bytes]) -> int:
    for group in (2, 3, 4, 5, 6):
        if tail[group] is not None:
            begin = tail.start(group)
            text = tail.string[tail.start() : begin]
            return tail.start() + len(text.rstrip(b" \t"))
    return tail.end()


def _assigned(
    scan: Scan, left: int, name_end: int, place: int, sign: bytes, level: int, in_url: bool
) -> None:
    data = scan.data
    if sign == b":":
        note = ANNOTATION.match(data, place)
        if note:
            place = note.end()
        block = BLOCK.match(data, place)
        if block:
            place = block.end()
        if data[place : place + 1] == b":":
            return
    value = values.read(data, place, in_url=in_url)
    if value is None or (not value.quoted and data.count(b"=", value.start, value.end) > 3):
        return
    name = data[left:name_end]
    if name.lower().endswith((b"sessionid", b"session_id", b"sessionids")) and (
        name != b"sessionid" or shape.UUID.match(data, value.start)
    ):
        return  # agents name their sessions so; a site's cookie is all in small letters
    if name.lower() == b"pass" and sign == b":" and not value.quoted:
        return  # a test's verdict
    is_env = name.upper() == name and len(name) > 2
    tight = place - name_end == len(sign)
    certain = (sign == b"=" and tight and (is_env or b"." in name)) or in_url
    certain = certain or (sign == b"=" and tight and data[left : left + 2] == b"--")
    certain = certain or (sign == b"=" and left > 0 and data[left - 1] in b";|" and tight)
    certain = certain or CONNECTION.match(data, value.end) is not None
    is_word = shape.WORD.match(data[value.start : value.end]) is not None
    certain = certain or (is_env and value.quoted and (sign == b"=" or not is_word))
    _judge(scan, value, level, certain=certain, rule="key-value")


def _judge(scan: Scan, value: values.Value, level: int, *, certain: bool, rule: str) -> None:
    """Adds the value if it is a secret for a key of this level."""
    start, end, quoted = value
    if end - start <= 4000 and is_secret(
        scan.data[start:end], level, quoted=quoted, certain=certain
    ):
        scan.add(start, end, rule)


def is_secret(text: bytes, level: int, *, quoted: bool, certain: bool) -> bool:
    """Whether a value is a secret under a key of this level."""
    if shape.is_reference(text, quoted=quoted or certain) and (
        level == PASSWORD
        or not certain
        or text[:1] in b"$<{%"
        or not shape.is_token(text, 24, hard=True)
    ):
        return False
    if level == PASSWORD:
        return shape.is_password(text, quoted=quoted, certain=certain)
    if level == TOKEN:
        return shape.is_token(text, 8 if certain or quoted else 10)
    return level == WEAK and shape.is_token(text, 16, hard=True)


def _listed(scan: Scan, place: int, level: int) -> None:
    value = values.read(scan.data, place)
    if value and value.quoted and level != WEAK:
        text = scan.data[value.start : value.end]
        if text[:1] == b"-":
            return  # the next flag of a command
        if level == PASSWORD or shape.is_token(text, 16, hard=True):
            _judge(scan, value, level, certain=False, rule="key-list")


def _element(scan: Scan, place: int, level: int) -> None:
    end = scan.data.find(b"<", place, place + 1000)
    if end > place and scan.data[end + 1 : end + 2] == b"/":
        text = scan.data[place:end]
        if b"\n" not in text:
            _judge(
                scan, values.Value(place, end, True), level, certain=b" " not in text, rule="xml"
            )


def _after_space(scan: Scan, left: int, name_end: int, place: int, level: int) -> None:
    data = scan.data
    if data[left : left + 1] == b"-":
        value = values.read(data, place)
        if value and level != WEAK and data[value.start : value.start + 1] != b"-":
            _judge(scan, value, level, certain=True, rule="flag")
        return
    said = IS.match(data, place)
    if level == WEAK:
        return
    if said is None:
        _right_after(scan, place, level)
        return
    place = said.end()
    if FOR.match(said[0]):
        while data[place : place + 1] in (b" ", b"\t"):
            place += 1
    value = values.read(data, place)
    if value is None:
        return
    start, end, quoted = value
    text = data[start:end].rstrip(b".!?,;:") if not quoted else data[start:end]
    if level == PASSWORD and not quoted and data[start:end].rstrip(b".,;:?") != text:
        text = data[start:end].rstrip(b".,;:?")
    kinds = set(text.translate(shape.KIND))
    is_odd = 3 in kinds and not kinds <= {3, 0}
    if level == PASSWORD and (len(text) < 6 or not (is_odd or shape.is_mixed(text))):
        return
    _judge(scan, values.Value(start, start + len(text), quoted), level, certain=False, rule="said")


def _right_after(scan: Scan, place: int, level: int) -> None:
    """What follows the word with nothing between, if it can be nothing but a secret."""
    value = values.read(scan.data, place)
    if value is None:
        return
    start, end, quoted = value
    text = scan.data[start:end].rstrip(b".,;:?")
    if shape.is_reference(text, quoted=quoted) or shape.is_placeholder(text):
        return
    if level == PASSWORD:
        kinds = set(text.translate(shape.KIND))
        has_sign = not set(text).isdisjoint(b"!@#$%^&*")
        is_secret = len(text) >= 8 and 3 in kinds and len(kinds) >= 3
        is_secret = is_secret and (has_sign or shape.is_wild(text))
        is_secret = is_secret and not shape.SLUG.match(text)
    else:
        is_secret = shape.is_token(text, 20, hard=True) and b"/" not in text[:1]
    if is_secret:
        scan.add(start, start + len(text), "right-after")


def _pair(scan: Scan, name_end: int, level: int) -> None:
    """The value of a pair: {"name": "DB_PASSWORD", "value": "…"}."""
    data = scan.data
    closing = CLOSING.match(data, name_end)
    pair = PAIR.match(data, closing.end() if closing else name_end)
    if pair:
        value = values.read(data, pair.end())
        if value:
            _judge(scan, value, level, certain=value.quoted, rule="name-value")
