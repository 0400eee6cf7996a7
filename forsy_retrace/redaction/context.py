"""Secrets known by what stands before them: keys, headers, cookies, addresses, vendors' names."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

PASSWORD, TOKEN, WEAK = 3, 2, 1

NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
REACH = 60
PASS = re.compile(
    rb"(?:^|[^a-z]|[a-z0-9])pass(?:$|[_.-]?(?:w(?:or|d|rd)|phrase|code|key|wort)|[_.-]?[0-9]{1,2}$)|pwd|_pw(?:$|[^a-z])|psk|contrase|kennwort|wachtwoord|mot_de_passe|senha|secret_word"
)
TAIL = re.compile(
    rb"[\w.-]{0,60}(\\{0,8}[\"'`]|\]|\))?(?:\\{0,8}[\"'`]|\]|\))?(?:"
    rb"[ \t]{0,40}(=>|:=|={1,3}|!={1,2}|=~|:)[ \t]{0,40}"
    rb"|(,)[ \t]{0,8}|(>)|([ \t]{1,8})|(\n))"
)
ANNOTATION = re.compile(
    rb"(?:&?(?:'static )?str|String|string|bytes|Optional\[str\]|SecretStr|Final(?:\[str\])?)(?: \| None)?[ ]{0,4}=[ ]{0,4}"
)
BLOCK = re.compile(rb"[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40}")
IS = re.compile(
    rb"(?:for|of|to|on|in) [^\n:=]{1,60}?(?:: ?| is |=)|(?:is|was|are|will be|set to|changed to|reset to|now|be|should be|to be|becomes?)(?: (?:now|still|just|also|set to|currently|always))?(?::| is)?[ \t]{1,3}|(?:=|:|->|=>)[ \t]{1,3}"
)
FOR = re.compile(rb"(?:for|of|to|on|in) ")
PAIR = re.compile(
    rb"(?:\s{0,40}[,}]?\s{0,40}\\{0,8}[\"']?(?:value|secret|content|Value|default|val)\\{0,8}[\"']?\s{0,8}[:=]\s{0,8})"
)
CLOSING = re.compile(rb"\\{0,8}[\"'`]")
SCHEME = re.compile(
    rb"\\{0,8}[\"'`]?\]?\)?[ \t]{0,4}(?:[:=,]|=>|:=)[ \t]{0,4}[b]?\\{0,8}[\"'`]?"
    rb"(?:(Basic|Bearer|Token|ApiKey|Api-Key|Key|Digest|Negotiate|NTLM|SSWS|Splunk|GenieKey|OAuth|Bot|Apikey|basic|bearer|token|JWT|PRIVATE-TOKEN|Signature|Hawk|GoogleLogin auth=|AWS)[ \t]{1,3})?"
)
CONNECTION = re.compile(rb"; ?[A-Za-z][A-Za-z ]{1,30}=")
BEARER = re.compile(rb"[\"'`]?[ \t]{1,3}[\"'`]?([A-Za-z0-9_.~+/=|:-]{12,999})")
COOKIE_HEADER = re.compile(rb"s?2?\\{0,8}[\"'`]?[ \t]{0,2}[:=,][ \t]{0,3}[bf]?\\{0,8}[\"'`]?")
COOKIE_PAIR = re.compile(rb"[; \t]{0,4}([\w.%!$#&*+^|~-]{1,80})=([^;\s\"'\\,]{0,1999})")
COOKIE_PLAIN = re.compile(
    rb"(?:path|domain|expires|max-age|samesite|version|theme|lang|locale|language|tz|timezone|_ga\w{0,20}|_gid|_gat\w{0,9}|_fbp|utm_\w{1,20}|consent|cookieconsent\w{0,20}|debug|country|currency|mode|color\w{0,8}|sidebar\w{0,20})$"
)
COOKIE_SECRET = re.compile(rb"sess|sid$|auth|token|jwt|csrf|xsrf|secret|remember|login|identity|ticket|key|credential|passw|sso|id_?token|\.asp|connect\.|__host|__secure|clearance|access|refresh")
USERINFO = re.compile(rb"([^\s/@:\"'`<>\\?#,(){}]{0,100}):([^\s\"'`<>\\/]{1,300})@[A-Za-z0-9\[$%{_-]")
USER_ONLY = re.compile(rb"([A-Za-z0-9_.~%-]{16,300})@[A-Za-z0-9\[]")
USERINFO_SLASH = re.compile(rb"(?:[^\s/@:\"'`<>\\?#]{0,60}:)?([A-Za-z0-9+/=_.-]{16,200})@[A-Za-z0-9]")
AUTH_VALUE = re.compile(rb"\\{0,8}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,8}[\"']?([A-Za-z0-9+/]{8,999}={0,2})")
K8S_KIND = re.compile(rb"kind\\{0,3}[\"']?[ \t]{0,4}:[ \t]{0,4}\\{0,3}[\"']?secret\b")
K8S_DATA = re.compile(rb"\b(?:string)?data\\{0,3}[\"']?[ \t]{0,4}:")
K8S_LINE = re.compile(rb"[ \t]{0,40}([{,][ \t]{0,4})?\\{0,3}[\"']?([\w.-]{1,100})\\{0,3}[\"']?[ \t]{0,4}:[ \t]{0,4}(?:[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40})?\\{0,3}[\"']?([A-Za-z0-9+/=]{4,8000})\\{0,3}[\"']?[ \t]{0,4},?[ \t\r]{0,4}(?:#[^\n]{0,80})?(?:\n|$)?")
JWK = re.compile(rb"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]{0,4}:[ \t]{0,4}\"([A-Za-z0-9_-]{20,999})\"")
VENDOR_GAP = re.compile(rb"[^\n]{0,90}")
RUN = re.compile(rb"[A-Za-z0-9_+/=.~-]{20,200}")
HASH_WORD = re.compile(rb"sha\d|sha-|md5|digest|commit|hash|checksum|integrity|uuid|guid|etag|revision|\brev\b|blob|tree|version|trace|span|request.?id|fingerprint|build.?id|image|\bid\b|_id|id=|signature|/")
KEY_WORD = re.compile(rb"key|token|secret|auth|pass|cred|\bpat\b|api")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for group in ("password", "token", "weak"):
        for word in rules.words("keys", group):
            yield word, _key_value
    yield b"authorization", _authorization
    yield b"bearer", _bearer
    yield b"cookie", _cookies
    yield b"://", _userinfo
    yield b"\"auth\"", _docker_auth
    yield b"_auth", _docker_auth
    yield b"\"kty\"", _jwk


def vendor_rows() -> Iterator[tuple[bytes, Rule]]:
    """Rules of the text that do not serve the gate: what they find depends on what is near."""
    yield b"kind", _kubernetes
    for name in rules.words("vendors", "names"):
        yield name, _vendor


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
    if value is None:
        return
    name = data[left:name_end]
    if b"session" in name.lower() and (name != b"sessionid" or shape.UUID.match(data, value.start)):
        if name.lower().endswith((b"id", b"ids")):
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


def _judge(
    scan: Scan, value: values.Value, level: int, *, certain: bool, rule: str
) -> None:
    """Adds the value if it is a secret for a key of this level."""
    start, end, quoted = value
    if end - start > 4000:
        return
    text = scan.data[start:end]
    if shape.is_reference(text, quoted=quoted or certain):
        if level == PASSWORD or not certain or text[:1] in b"$<{%" or not shape.is_token(text, 24, hard=True):
            return
    if level == PASSWORD:
        if shape.is_password(text, quoted=quoted, certain=certain):
            scan.add(start, end, rule)
    elif level == TOKEN:
        if shape.is_token(text, 8 if certain or quoted else 10):
            scan.add(start, end, rule)
    elif shape.is_token(text, 16, hard=True):
        scan.add(start, end, rule)


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
            _judge(scan, values.Value(place, end, True), level, certain=b" " not in text, rule="xml")


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
    if level == PASSWORD and (len(text) < 6 or 3 not in kinds or kinds <= {3, 0}):
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
        is_secret = len(text) >= 8 and 3 in kinds and shape.is_wild(text) and len(kinds) >= 3
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


def _authorization(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    head = SCHEME.match(data, end)
    if head is None:
        return
    run = values.BARE.match(data, head.end())
    if run is None:
        return
    text = run[0]
    entity = values.ENTITY.search(text)
    text = (text[: entity.start()] if entity else text).rstrip(b",;)]}")
    if len(text) < 6 or text[:1] in b"$<{%+*(" or shape.is_placeholder(text):
        return
    scheme = (head[1] or b"").lower()
    if b"=" in text.rstrip(b"=") and scheme not in (b"basic", b"bearer"):
        return
    if scheme == b"basic":
        if not re.fullmatch(rb"[A-Za-z0-9+/_-]{6,999}={0,2}", text):
            return
        if len(text) < 16 and not _is_user_and_password(text):
            return
    elif not shape.is_token(text, 8) and not (scheme and len(text) >= 16 and shape.classes(text) >= 2 and not shape.is_reference(text, quoted=False) and not shape.SLUG.match(text[:200])):
        return
    scan.add(head.end(), head.end() + len(text), "authorization")


def _bearer(scan: Scan, start: int, end: int) -> None:
    match = BEARER.match(scan.data, end)
    if match:
        text = match[1].rstrip(b".:")
        if shape.is_token(text, 16) and not shape.is_reference(text, quoted=True):
            scan.add(match.start(1), match.start(1) + len(text), "bearer")


def _cookies(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    head = COOKIE_HEADER.match(data, end)
    if head is None:
        return
    place = head.end()
    for _ in range(60):
        pair = COOKIE_PAIR.match(data, place)
        if pair is None:
            skipped = re.compile(rb"[; \t]{1,4}[A-Za-z]{3,20}(?=;|$)").match(data, place)
            if skipped is None:
                return
            place = skipped.end()
            continue
        place = pair.end()
        name, value = pair[1].lower(), pair[2]
        if COOKIE_PLAIN.match(name) or len(value) < 6 or shape.is_placeholder(value):
            continue
        plain = re.sub(rb"%[0-9A-Fa-f]{2}", b"", value)
        if shape.is_reference(value, quoted=True):
            continue
        if shape.is_token(plain, 16) or (COOKIE_SECRET.search(name) and shape.is_token(plain, 8)):
            scan.add(pair.start(2), pair.end(2), "cookie")


def _userinfo(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    match = USERINFO.match(data, end)
    if match is None:
        with_slash = USERINFO_SLASH.match(data, end)
        if with_slash and shape.is_token(with_slash[1], 16, hard=True):
            scan.add(*with_slash.span(1), "url-token")
            return
        alone = USER_ONLY.match(data, end)
        if alone and shape.is_token(alone[1], 16):
            scan.add(alone.start(1), alone.end(1), "url-token")
        return
    password = match[2]
    if password[:1] in b"$<{%*[" and (password[:1] != b"%" or not re.match(rb"%[0-9A-Fa-f]{2}", password)):
        if re.match(rb"\$[A-Za-z_{(]|<|\{|%|\*{2,}|\[", password):
            return
    if len(password) >= 4 and not shape.is_placeholder(password):
        scan.add(match.start(2), match.end(2), "url-password")
    elif shape.is_token(match[1], 16):
        scan.add(match.start(1), match.end(1), "url-token")


def _docker_auth(scan: Scan, start: int, end: int) -> None:
    match = AUTH_VALUE.match(scan.data, end)
    if match and _is_user_and_password(match[1]):
        scan.add(match.start(1), match.end(1), "docker-auth")


def _is_user_and_password(text: bytes) -> bool:
    try:
        plain = base64.b64decode(text + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[1:] and plain.isascii() and b"\n" not in plain


def _jwk(scan: Scan, start: int, end: int) -> None:
    for match in JWK.finditer(scan.data, max(0, start - 3000), end + 3000):
        if match.start() >= scan.pem or match.start() < start:
            scan.add(match.start(1), match.end(1), "jwk")


def _kubernetes(scan: Scan, start: int, end: int) -> None:
    """The base64 values of a Secret, whether its kind stands before or after them."""
    low, data = scan.low, scan.data
    if not K8S_KIND.match(low, start):
        return
    blocks = list(K8S_DATA.finditer(low, end, end + 4000))[:2]
    floor = max(0, start - 16000)
    edge = max(low.rfind(b"\n---", floor, start), low.rfind(b"kind: secret", floor, start), floor)
    back = low.rfind(b"\ndata:", edge, start)
    if back < 0:
        back = low.rfind(b'"data"', edge, start)
    begins = [match.end() for match in blocks]
    if back >= 0:
        begins.append(low.find(b":", back) + 1)
    for begin in begins:
        place = begin
        while data[place : place + 1] in (b"\r", b"\n"):
            place += 1
        for _ in range(200):
            line = K8S_LINE.match(data, place)
            if line is None:
                break
            if len(line[3]) >= 4 and not shape.NUMBER.match(line[3]):
                scan.add(line.start(3), line.end(3), "kubernetes-secret", value=_decoded(line[3]))
            place = line.end()


def _decoded(text: bytes) -> bytes:
    """What the base64 says, where that is text; else the base64."""
    try:
        plain = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text
    return plain if plain.isascii() and len(plain) >= 4 and plain.isalnum() else text


def _vendor(scan: Scan, start: int, end: int) -> None:
    """A run like a token after a vendor's name, where nothing says that it is a hash or an id."""
    data, low = scan.data, scan.low
    gap = VENDOR_GAP.match(data, end)
    if gap is None or len(gap[0]) < 20:
        return
    run = RUN.search(data, end, min(len(data), gap.end() + 200))
    if run is None or run.start() > gap.end() or b"\n" in data[end : run.start()]:
        return
    text = run[0].rstrip(b".=-/")
    between = low[end : run.start()]
    if b"[credential_" in between or (run.start() and data[run.start() - 1] in b"/#@"):
        return
    if not between or between[-1:] not in b" \t\"'`=:>(,[" or HASH_WORD.search(between):
        return
    has_key = KEY_WORD.search(low, max(0, start - 30), run.start()) is not None
    if (b"/" in text and shape.turns(text) * 3 < len(text)) or (b"." in text and not has_key) or shape.is_reference(text, quoted=True):
        return
    if shape.is_token(text, 20, hard=True) and (
        has_key or (len(text) >= 24 and shape.turns(text) * 3 >= len(text) and shape.classes(text) >= 3 and not shape.HEX.fullmatch(text) and not shape.UUID.fullmatch(text))
    ):
        scan.add(run.start(), run.start() + len(text), "vendor-near")


