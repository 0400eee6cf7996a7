"""Secrets known by the form around them: headers, cookies, addresses, manifests, vendors' names."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

SCHEME = later(
    rb"\\{0,8}[\"'`]?\]?\)?[ \t]{0,4}(?:[:=,]|=>|:=)[ \t]{0,4}[b]?\\{0,8}[\"'`]?"
    rb"(?:(Basic|Bearer|Token|ApiKey|Api-Key|Key|Digest|Negotiate|NTLM|SSWS|Splunk|GenieKey|OAuth"
    rb"|Bot|Apikey|basic|bearer|token|JWT|PRIVATE-TOKEN|Signature|Hawk|GoogleLogin auth="
    rb"|AWS)[ \t]{1,3})?"
)
# Another scheme's parameters, and those that follow a scheme: each is judged by its own name.
PARAMETERS = later(
    rb"(?:[A-Za-z][A-Za-z0-9-]{1,40}[ \t]{1,3})?[A-Za-z_][A-Za-z_-]{0,40}=(?:\\{0,8}[\"']|[^=\s])"
)
RESPONSE = later(rb"[^\n]{0,600}?\bresponse=\\{0,8}[\"']?([0-9a-f]{32,64})")
BEARER = later(rb"[\"'`]?[ \t]{1,3}[\"'`]?([A-Za-z0-9_.~+/=|:-]{12,999})")
COOKIE_HEADER = later(
    rb"s?2?\\{0,8}[\"'`]?(?:,\s{0,40}\"value\"\s{0,3}:|[ \t]{0,2}[:=,])[ \t]{0,3}[bf]?"
    rb"\\{0,8}[\"'`]?"
)
# A cookie as browsers and their drivers keep it, in JSON or a dictionary, and as curl does.
COOKIE_NAME = later(rb"[\"']name[\"']\s{0,4}:\s{0,4}[\"']([^\"'\n]{1,80})[\"']")
COOKIE_VALUE = later(rb"[\"']value[\"']\s{0,4}:\s{0,4}[\"']([^\"'\n]{1,4000})[\"']")
TEXT = rb"\"(?:[^\"\\\n]|\\.){0,4000}\"|'(?:[^'\\\n]|\\.){0,4000}'"
COOKIE_OBJECT = later(
    rb"\{(?:[^{}\"']|" + TEXT + rb"|\{(?:[^{}\"']|" + TEXT + rb"){0,400}\}){0,2000}\}"
)
"""An object of JSON, with objects in it."""
OBJECT = 4500
COOKIE_LINE = later(
    rb"/[^\t\n]{0,200}\t(?:TRUE|FALSE)\t[0-9]{1,12}\t([^\t\n]{1,80})\t([^\s]{1,4000})"
)
COOKIE_IN_DICT = later(
    rb"[{,]\s{0,40}[\"']([^\"'\n]{1,80})[\"']\s{0,4}:\s{0,4}[\"']([^\"'\n]{1,4000})[\"']"
)
COOKIES_ARGUMENT = later(rb"s[ \t]{0,2}[=:][ \t]{0,2}(?=\{)")
COOKIE_LIST = later(rb"s\\{0,8}[\"'][ \t]{0,4}:\s{0,8}\[")
NEXT_OBJECT = later(rb"\s{0,40},?\s{0,40}\{")
COOKIE_PAIR = later(rb"[; \t]{0,4}([\w.%!$#&*+^|~-]{1,80})=([^;\s\"'\\,]{0,1999})")
COOKIE_PLAIN = later(
    rb"(?:path|domain|expires|max-age|samesite|version|theme|lang|locale|language|tz|timezone"
    rb"|_ga\w{0,20}|_gid|_gat\w{0,9}|_fbp|utm_\w{1,20}|consent|cookieconsent\w{0,20}|debug|country"
    rb"|currency|mode|awsalb\w{0,8}|color\w{0,8}|sidebar\w{0,20})$"
)
COOKIE_SECRET = later(
    rb"sess|sid$|auth|token|jwt|csrf|xsrf|secret|remember|login|identity|ticket|key|credential"
    rb"|passw|sso|id_?token|\.asp|connect\.|__host|__secure|clearance|access|refresh"
)
COOKIE_FLAG = later(rb"[; \t]{1,4}[A-Za-z]{3,20}(?=;|$)")
BASIC = later(rb"([A-Za-z0-9+/]{12,400}={0,2})(?![A-Za-z0-9+/=])")
USERINFO = later(rb"([^\s/@:\"'`<>\\?#,(){}]{0,100}):([^\s\"'`<>\\/]{1,300})@[A-Za-z0-9\[$%{_-]")
PORT = later(rb"[0-9]{2,5};")
BEFORE_NETWORK = later(rb"(?:^|[\s\"'`=])[\w.-]{1,60}:([^\s\"'`]{3,80})$")
FILE_END = later(rb"\.[a-z]")
LINK = later(rb"[A-Za-z0-9_=-]{20,200}")
USER_ONLY = later(rb"([A-Za-z0-9_.~%-]{16,300}):?@[A-Za-z0-9\[]")
USERINFO_SLASH = later(rb"(?:[^\s/@:\"'`<>\\?#]{0,60}:)?([A-Za-z0-9+/=_.-]{16,200})@[A-Za-z0-9]")
AUTH_VALUE = later(
    rb"\\{0,8}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,8}[\"']?([A-Za-z0-9+/]{8,999}={0,2})"
)
K8S_KIND = later(rb"kind\\{0,3}[\"']?[ \t]{0,4}:[ \t]{0,4}\\{0,3}[\"']?secret\b")
K8S_DATA = later(rb"\b(?:string)?data\\{0,3}[\"']?[ \t]{0,4}:")
K8S_LINE = later(
    rb"[ \t]{0,40}([{,][ \t]{0,4})?\\{0,3}[\"']?([\w.-]{1,100})\\{0,3}[\"']?[ \t]{0,4}:[ \t]{0,4}"
    rb"(?:[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40})?\\{0,3}[\"']?"
    rb"([A-Za-z0-9+/=]{4,8000})\\{0,3}[\"']?[ \t]{0,4},?[ \t\r]{0,4}(?:#[^\n]{0,80})?(?:\n|$)?"
)
# A value of `stringData`, which is no base64.
K8S_TEXT = later(
    rb"[ \t]{0,40}([{,][ \t]{0,4})?\\{0,3}[\"']?([\w.-]{1,100})\\{0,3}[\"']?[ \t]{0,4}:[ \t]{0,4}"
    rb"\\{0,3}[\"']?([^\s\"'\\]{1,400})\\{0,3}[\"']?[ \t]{0,4},?[ \t\r]{0,4}(?:#[^\n]{0,80})?"
    rb"(?:\n|$)"
)
K8S_OPENS = later(rb"(?:[ \t]{0,4}\{)?(?:[ \t\r]{0,4}\n){1,4}")
KEY_SIZE = 3000
JWK = later(
    rb"[\"'\s{,](?:d|p|q|dp|dq|qi|k)[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']([A-Za-z0-9_-]{20,999})[\"']"
)
RSA_KEY = later(rb"<(?:D|P|Q|DP|DQ|InverseQ)>\s{0,20}([A-Za-z0-9+/=]{20,999})\s{0,20}</")
VENDOR_GAP = later(rb"[^\n]{0,90}")
RUN = later(rb"[A-Za-z0-9_+/=.~-]{20,200}")
ASSIGNED = later(rb"[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?")
HASH_WORD = later(
    rb"sha\d|sha-|md5|digest|commit|hash|checksum|integrity|uuid|guid|etag|revision|\brev\b|blob"
    rb"|tree|version|trace|span|request.?id|fingerprint|build.?id|image|\bid\b|_id"
    rb"|ids?[\"']{0,2}[ \t]{0,4}[:=]|signature|/"
)
# What a vendor calls its things: behind such a word stands an id.
THING = later(
    rb"(?:client|file|page|item|plan|run|route|job|tag|issue|conversation|project|event|message"
    rb"|request|thread|batch|assistant|charge|scope|deployment|build|inspect)"
    rb"(?:(?<=file|item|page) key|(?<=issue) key)?[\"'`]?[ :=#]{1,4}[\"'`]?$"
)
TITLED = later(rb"(?:[A-Za-z0-9]{1,24}[-/_.]{1,2}){1,8}[0-9a-f]{20,64}$")
KEY_WORD = later(rb"key|token|secret|auth|pass|cred|\bpat\b|api")


def rows() -> Iterator[tuple[bytes, Rule]]:
    yield b"authorization", _authorization
    yield b"bearer", _bearer
    yield b"cookie", _cookies
    for member in (b"httponly", b"samesite"):
        yield member, _kept_cookie
    for flag in (b"\ttrue\t", b"\tfalse\t"):
        yield flag, _cookie_line
    yield b"basic ", _basic
    yield b"://", _userinfo
    for path in rules.words("links", "paths"):
        yield path, _link
    yield b"@tcp(", _before_network
    yield b"@unix(", _before_network
    yield b'"auth"', _docker_auth
    yield b"_auth", _docker_auth
    for name in (b'"kty"', b"'kty'", b"kty: "):
        yield name, partial(_members, JWK)
    yield b"<rsakeyvalue>", partial(_members, RSA_KEY)


def vendor_rows() -> Iterator[tuple[bytes, Rule]]:
    """Rules of the text that do not serve the gate: what they find depends on what is near."""
    yield b"kind", _kubernetes
    for name in rules.words("vendors", "names"):
        yield name, _vendor


def _authorization(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    head = SCHEME.match(data, end)
    if head is None:
        return
    scheme = (head[1] or b"").lower()
    if not scheme and start and data[start - 1 : start].isalpha():
        return  # AggregationAuthorization is no header
    if scheme not in (b"basic", b"bearer") and PARAMETERS.match(data, head.end()):
        response = RESPONSE.match(data, head.end()) if scheme == b"digest" else None
        if response:
            scan.add(*response.span(1), "authorization")
        return
    run = values.BARE.match(data, head.end())
    if run is None:
        return
    text = run[0]
    entity = values.ENTITY.search(text)
    text = (text[: entity.start()] if entity else text).rstrip(b",;)]}")
    if len(text) < 6 or text[:1] in b"$<{%+*(" or shape.is_placeholder(text):
        return
    if b"=" in text.rstrip(b"=") and scheme not in (b"basic", b"bearer"):
        return
    if scheme == b"basic":
        if not re.fullmatch(rb"[A-Za-z0-9+/_-]{6,2000}={0,2}", text):
            return
        if len(text) < 16 and not _is_user_and_password(text):
            return
    elif not shape.is_token(text, 8) and not (
        scheme
        and len(text) >= 16
        and shape.classes(text) >= 2
        and not shape.is_reference(text, quoted=False)
        and not shape.SLUG.match(text[:200])
    ):
        return
    scan.add(head.end(), head.end() + len(text), "authorization")


def _bearer(scan: Scan, start: int, end: int) -> None:
    match = BEARER.match(scan.data, end)
    if match:
        text = match[1].rstrip(b".:")
        if shape.is_token(text, 16) and not shape.is_reference(text, quoted=True):
            scan.add(match.start(1), match.start(1) + len(text), "bearer")


def _basic(scan: Scan, start: int, end: int) -> None:
    """A user and a password in base64, whatever names the header."""
    match = BASIC.match(scan.data, end)
    if match and _is_user_and_password(match[1]):
        scan.add(*match.span(1), "basic")


def _cookies(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start < scan.cookies:
        return
    argument = COOKIES_ARGUMENT.match(data, end)
    if argument:
        _cookie_pairs(scan, argument.end(), COOKIE_IN_DICT)
    elif listed := COOKIE_LIST.match(data, end):
        _listed_cookies(scan, listed.end())
    elif head := COOKIE_HEADER.match(data, end):
        _cookie_pairs(scan, head.end(), COOKIE_PAIR)


def _listed_cookies(scan: Scan, place: int) -> None:
    """The cookies of a list, as a browser's archive has them."""
    while begin := NEXT_OBJECT.match(scan.data, place):
        one = COOKIE_OBJECT.match(scan.data, begin.end() - 1)
        if one is None:
            return
        _cookie_of(scan, *one.span())
        place = scan.cookies = one.end()


def _cookie_of(scan: Scan, begin: int, end: int) -> None:
    """The cookie that an object is, whichever of its members come first."""
    name = COOKIE_NAME.search(scan.data, begin, end)
    value = COOKIE_VALUE.search(scan.data, begin, end)
    if name and value:
        _cookie(scan, name[1], value.start(1), value[1])


def cookie_pairs(scan: Scan, place: int) -> None:
    """The values of the cookies that stand here, perhaps in quotes, as a header has them."""
    while scan.data[place : place + 1] in (b"\\", b"'", b'"', b"$"):
        place += 1
    _cookie_pairs(scan, place, COOKIE_PAIR)


def _cookie_pairs(scan: Scan, place: int, pattern: re.Pattern[bytes]) -> None:
    for _ in range(60):
        if pair := pattern.match(scan.data, place):
            place = scan.cookies = pair.end()
            _cookie(scan, pair[1], pair.start(2), pair[2])
        elif flag := COOKIE_FLAG.match(scan.data, place):
            place = flag.end()
        else:
            return


def _kept_cookie(scan: Scan, start: int, end: int) -> None:
    """The cookie of the object that a place is in, once."""
    data = scan.data
    if start < scan.cookies or data[start - 1 : start] not in (b'"', b"'"):
        return
    begin = data.rfind(b"{", max(0, start - OBJECT), start)
    one = COOKIE_OBJECT.match(data, begin) if begin >= 0 else None
    if one and one.end() > start:
        scan.cookies = one.end()
        _cookie_of(scan, begin, one.end())


def _cookie_line(scan: Scan, start: int, end: int) -> None:
    """A line of a file of cookies."""
    pair = COOKIE_LINE.match(scan.data, end)
    if pair:
        _cookie(scan, pair[1], pair.start(2), pair[2])


def _cookie(scan: Scan, name: bytes, start: int, value: bytes) -> None:
    name = name.lower()
    masked = values.MASKED.search(value)
    value = value[: masked.start()] if masked else value
    if COOKIE_PLAIN.match(name) or len(value) < 6 or shape.is_placeholder(value):
        return
    plain = re.sub(rb"%[0-9A-Fa-f]{2}", b"", value)
    if shape.is_reference(value, quoted=True):
        return
    if shape.is_token(plain, 16) or (COOKIE_SECRET.search(name) and shape.is_token(plain, 8)):
        scan.add(start, start + len(value), "cookie")


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
    if PORT.match(password):
        return  # sqlserver://db:1433;password=…
    if (
        password[:1] in b"$<{%*["
        and (password[:1] != b"%" or not re.match(rb"%[0-9A-Fa-f]{2}", password))
        and re.match(rb"\$[A-Za-z_{(]|<|\{|%|\*{2,}|\[", password)
    ):
        return
    if shape.is_token(match[1], 24, hard=True):
        scan.add(*match.span(1), "url-token")
    if len(password) >= 4 and not shape.is_placeholder(password):
        scan.add(match.start(2), match.end(2), "url-password")
    elif shape.is_token(match[1], 16):
        scan.add(match.start(1), match.end(1), "url-token")


def _link(scan: Scan, start: int, end: int) -> None:
    """The token of an address that lets in who has it."""
    match = LINK.match(scan.data, end)
    if match is None or FILE_END.match(scan.data, match.end()):
        return
    token = match[0]
    is_hex = len(token) >= 32 and shape.HEX.fullmatch(token)
    is_wild = shape.classes(token) >= 3 and shape.turns(token) * 3 >= len(token)
    if is_hex or (is_wild and shape.is_token(token, 20, hard=True)):
        scan.add(*match.span(), "link")


def _before_network(scan: Scan, start: int, end: int) -> None:
    """The password of Go's `user:password@tcp(host)`."""
    match = BEFORE_NETWORK.search(scan.data, max(0, start - 120), start)
    if match and match[1][:1] not in b"$%{<" and not shape.is_placeholder(match[1]):
        scan.add(*match.span(1), "url-password")


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


def _members(members: re.Pattern[bytes], scan: Scan, start: int, end: int) -> None:
    """The private members of a JSON web key or of one in XML."""
    begin = max(0, start - KEY_SIZE, scan.jwk)
    scan.jwk = min(len(scan.data), end + KEY_SIZE)
    for match in members.finditer(scan.data, begin, scan.jwk):
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
        opens = K8S_OPENS.match(data, begin)
        place = opens.end() if opens else begin
        is_text = low.rfind(b"stringdata", begin - 16, begin) >= 0
        for _ in range(200):
            line = (K8S_TEXT if is_text else K8S_LINE).match(data, place)
            goes_on = data[place - 5 : place].rstrip().endswith(b",")
            if line is None or not (line[1] or line[0][:1].isspace() or goes_on):
                break  # the keys of a block stand further right than the block
            if is_text:
                if shape.is_password(line[3], quoted=True, certain=False):
                    scan.add(*line.span(3), "kubernetes-secret")
            elif len(line[3]) >= 4 and not shape.NUMBER.match(line[3]):
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
    if gap is None or len(gap[0]) < 20 or not _is_a_word(data, start, end):
        return
    run = RUN.search(data, end, min(len(data), gap.end() + 200))
    if run is None or run.start() > gap.end() or b"\n" in data[end : run.start()]:
        return
    text = run[0].rstrip(b".=-/")
    if _public_id().match(text) or shape.NAMED_VALUE.match(text) or text[:2] == b"//":
        return
    between = low[end : run.start()]
    if b"[credential_" in between or (run.start() and data[run.start() - 1] in b"/#@"):
        return
    if not between or between[-1:] not in b" \t\"'`=:>(,[" or HASH_WORD.search(between):
        return
    if THING.search(between):
        return
    vendor = low[start:end]
    has_key = KEY_WORD.search(low, max(0, start - 30), run.start()) is not None
    is_common = vendor in rules.words("vendors", "common_words")
    if ASSIGNED.fullmatch(between) and vendor not in rules.words("vendors", "of_hashes"):
        has_key = has_key or not is_common
    if not has_key and (is_common or TITLED.match(text)):
        return
    if (
        (b"/" in text and shape.turns(text) * 3 < len(text))
        or (b"." in text and not has_key)
        or shape.is_reference(text, quoted=True)
    ):
        return
    if shape.is_token(text, 20, hard=True) and (
        has_key
        or (
            len(text) >= 24
            and shape.turns(text) * 3 >= len(text)
            and shape.classes(text) >= 3
            and not shape.HEX.fullmatch(text)
            and not shape.UUID.fullmatch(text)
        )
    ):
        scan.add(run.start(), run.start() + len(text), "vendor-near")


def _is_a_word(data: bytes, start: int, end: int) -> bool:
    """Neither side goes on as the same word: not `Glob`, but `githubToken` and `myOpenai`."""
    before, first = data[max(0, start - 1) : start], data[start : start + 1]
    last, after = data[end - 1 : end], data[end : end + 1]
    goes_on = after.isalpha() and not (last.islower() and after.isupper())
    return not goes_on and not (before.isalpha() and not (before.islower() and first.isupper()))


@lru_cache(maxsize=1)
def _public_id() -> re.Pattern[bytes]:
    return rules.expression("vendors", "public_id")
