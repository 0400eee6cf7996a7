"""Secrets known by their key: key=value in any language, flags, lists, elements and pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import columns, prose, rules, shape, values
from forsy_retrace.redaction.strength import (
    PASSWORD,
    WEAK,
    is_secret,
    judge,
    names_a_session,
    strength,
)

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
BEFORE_A_NAME = b"?&$|,\t\n"
REACH = 60
# Behind a name may stand a bracket, Markdown's stars, the end of an element, a dialog's
# default, a property's methods.
TAIL = later(
    rb"([\w.\x80-\xff-]{0,60})(\\{0,8}[\"'`]|\]|\))?(?:\\{0,8}[\"'`]|\]|\))?"
    rb"(?:\*{1,3}|</[a-z]{1,8}>(?!\s{0,40}<))?(?:"
    rb"(?: (?:\[[^\]\n]{0,30}\]|\([^)\n]{0,30}\)|\{ ?get;[^}\n]{0,40}\}"
    rb"|[Aa]s [Ss]tring))?[ \t]{0,40}"
    rb"(=>|:=|=3D(?=[ \t])|(?:[?+.]|\|\||\?\?)=|<-|={1,3}|!={1,2}|=~|:"
    rb"|\xe6\x98\xaf|\xe4\xb8\xba|\xe3\x81\xaf"
    rb"|(?<=[ \t])(?:\||\xe2\x94\x82)(?=[ \t])"
    rb"|</(?:t[dh]|dt|key|name)>\s{0,40}<(?:t[dh]|dd|string|value)>(?:<string>)?)"
    rb"(?:(?<=:)(?:\*{1,3}|__|</[a-z]{1,8}>))?[ \t]{0,40}(?:<(?:code|b|strong|em|kbd|tt)>)?"
    rb"|(,|;(?=[\w\"]))[ \t]{0,40}|(>)|([ \t]{1,40})|(\r?\n))"
)
WORD, CLOSER, SIGN, COMMA, ANGLE, BLANK, LINE_END = range(1, 8)
"""What its groups hold."""
ANNOTATION = later(
    rb"(?:&?(?:'static )?str|String|string|bytes|Optional\[str\]|SecretStr|Final(?:\[str\])?)"
    rb"(?: \| None)?[ ]{0,4}=[ ]{0,4}|!!str[ ]{1,4}|&[\w-]{1,40}[ ]{1,4}(?=[^\s=])"
)
POINTER = later(rb"0x[0-9a-f]{1,16} (?=\")")
BLOCK = later(rb"[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40}")
# What a shell calls so is the folder it stands in.
FOLDER = later(rb"~?(?:/[\w.@+-]{1,80}){1,20}/?$|~$|/$")
IN_BRACES = later(rb"\{((?:[^{}\n]|\}\}){4,80})\}(?:[;\"']|$)")
QUOTE = later(rb"(?<!\\)\"")
LITERAL_AFTER = later(
    rb"\\{0,8}[\"'`][ \t]{0,8}(?:(?:[+.&\\]|\.\.)?[ \t]{0,4}`?\r?\n[ \t]{0,60}(?:[+.&]|\.\.)?"
    rb"|(?:[+.&]|\.\.))[ \t]{0,4}(?=[bru]?\\{0,8}[\"'`])"
)
IS_NAMED = later(rb"\\{0,8}[\"'`][ \t]{0,4}[:=]")
"""What makes the next line's name of what would be a further part."""
NEXT_LINE = later(
    rb"\([ \t]{0,4}(?=[bru]?[\"'])"
    rb"|\(?[ \t]{0,8}\r?\n(?:[ \t]{0,40}\r?\n)?[ \t]{0,40}(?:string\([0-9]{1,4}\) (?=\"))?"
)
# What stands around a literal that is the value: Some("…"), process.env.X || "…".
AROUND = later(
    rb"(?:(?:new )?(?:Some|Ok|Optional|Just|String::from|SecretStr|SecretString|SecretKeySpec"
    rb"|(?i:md5|sha[12]|password|crypt)|Secret|\[\]byte|bytes(?:\.fromhex)?|Buffer\.from|hex\.decode|base64encode|b64decode|base64\.b64decode|atob)(?:::new)?\("
    rb"|[\w$.]{1,80} {0,2}(?:\|\||\?\?|\bor\b)|\{\{ ?[\w.]{1,60} ?\| ?default\()[ \t]{0,4}"
)
PAIR = later(
    rb"\s{0,40}[,}]?\s{0,40}\\{0,8}[\"']?(?:[A-Za-z_]{0,16}[vV]alue|secret"
    rb"|content|default|val)\\{0,8}[\"']?\s{0,8}[:=]\s{0,8}"
)
TAKEN_OUT = later(rb"(?:\A|\n)-[^-]")
"""A line that a diff takes out: no flag begins it."""
# The name of a cookie or of a variable, and what may stand between it and the value.
NAMED = later(rb"[\"'](?:name|key)\\{0,8}[\"']\s{0,4}:\s{0,4}\\{0,8}[\"']$")
IN_FLOW = later(rb"[{,]\s{0,8}(?:name|key):[ \t]{0,4}$")
MEMBERS = later(
    rb"(?:\s{0,40},\s{0,40}\\{0,8}[\"'][a-zA-Z]{1,16}\\{0,8}[\"']\s{0,8}:\s{0,8}"
    rb"(?:\\{0,8}[\"'][^\"'\\\n]{0,80}\\{0,8}[\"']|[\w.-]{1,20})){1,6}?"
    rb"\s{0,40},\s{0,40}\\{0,8}[\"']value\\{0,8}[\"']\s{0,8}:\s{0,8}"
)
# A variable's default, and an object that holds the value beside its type.
DEFAULT = later(rb"\s{0,4}\{[^{}]{0,600}?\bdefault\s{0,8}=\s{0,8}")
OBJECT = later(
    rb"\s{0,4}:\s{0,4}\{(?:\s{0,40}\\{0,8}[\"'][a-zA-Z_]{1,16}\\{0,8}[\"']\s{0,8}:\s{0,8}"
    rb"(?:\\{0,8}[\"'][^\"'\\\n]{0,80}\\{0,8}[\"']|[\w.-]{1,20})\s{0,40},){0,4}?"
    rb"\s{0,40}\\{0,8}[\"'](?:value|S|stringValue)\\{0,8}[\"']\s{0,8}:\s{0,8}"
)
INNER = later(rb"\s{0,40}(?:<[vV]alue>|<!\[CDATA\[)")
APP_PASSWORD = later(rb"([a-z]{4}(?: [a-z]{4}){3})[ \t]{0,4}(?:[\r\n\"'`<,;]|$)")
ATTRIBUTES = later(rb"(?: [\w:.-]{1,30}=\"[^\"\n]{0,120}\"){1,4}>")
ITS_VALUE = later(rb"[^<>\n]{0,160}?\bvalue=")
IS_TYPE = later(rb"\btype=[\"']$")
ATTRIBUTE = later(rb"\b(?:name|key)=[\"']$")
NEXT_ATTRIBUTE = later(rb"[A-Za-z][A-Za-z:.-]{0,40}=\\{0,8}[\"'][\w\[{]")
# A list, and what stands before each of its items.
LIST = later(rb"\[\s{0,40}[bru]?[\"']|[ \t]{0,4}\r?\n[ \t]{0,40}- ")
ITEM = later(rb"(?:\[|,)?\s{0,40}(?:(?:- )|(?=[bru]?[\"']))")
DEFINED = later(rb"\b(?:define|env|getenv|environ\.get|putenv)\([ \t]{0,4}[\"']$")
CONSTANT = later(rb"\bdefine\([ \t]{0,4}[\"'][A-Z_]{0,40}PASS(?:WORD|WD|PHRASE)?[\"']")
CLOSING = later(rb"\\{0,8}[\"'`]")
# NEO4J_AUTH=neo4j/…, and what a plan will make of a value.
OF_BOTH = b"_auth", b"_creds", b"_credentials"
"""Names of an account and its password."""
OF_AN_ACCOUNT = later(rb"(?:neo4j/|[A-Za-z][\w.-]{1,30}:)(?=[^\s/:])")
BECOMES = later(rb"\\{0,8}[\"'] -> (?=\\{0,8}[\"'])")
PLACEHOLDER = later(rb"credential_[0-9]{1,9}")
OF_A_CONNECTION = later(
    rb"(?:server|data source|user(?: id)?|uid|database|driver|host|initial catalog|dsn|provider)"
    rb" ?= ?[^;\n]{0,120};(?:[^;\n]{0,120};){0,6} ?$"
)
SPACED = later(rb"[ \t][^;\"'<>\n]{1,60}?(?=;(?: ?[A-Za-z][A-Za-z ]{1,30}=|\s|[\"'`]|$)|[\"'\n]|$)")
"""The rest of a value of such a string, in which only a semicolon ends one."""
GOES_ON_AS_ONE = later(
    rb"[^\n\"']{0,120}?;(?:[^;\n]{0,120};){0,6} ?"
    rb"(?:server|data source|user(?: id)?|uid|database|driver|host|initial catalog|dsn|provider) ?="
)
"""The same of what stands behind a value."""
STORED = later(
    rb"[^\n]*[/:]|[0-9a-fA-F-]{16,80}$"
    rb"|[A-Za-z][A-Za-z0-9]{0,20}(?:[-_.][A-Za-z0-9]{1,20}){0,6}[-_.][0-9a-f]{8,64}$"
)
"""What a store calls a thing: a path, digits, words with digits behind them."""
CONNECTION = later(rb"; ?[A-Za-z][A-Za-z ]{1,30}=")
BAR_BEGINS = b"\xe2\x94", b"\xe2\x95"
COPULAS = ("是".encode(), "为".encode(), "は".encode())
ASCII = later(rb"[\x21-\x7e]{1,200}")
JOINED = later(
    rb"(?:\xe6\x98\xaf|\xe4\xb8\xba|\xe3\x81\xaf)?([A-Za-z0-9][^\s\"'`<>\\\x7f-\xff]{7,100})"
)
"""What follows a word of a script that puts no blank before it: 密码X, 密码是X"""
SPACE = later(rb"\s")
ROW = 400
OPEN = b"\r", b"\n", b"{"
BELOW = 4
"""Lines below a name that may hold its value."""
ELEMENT = 20000
"""Bytes that an element may hold."""
PARTS = 30
SEPARATORS = (b"", b"_", b"-", b".", b" ")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for group in ("password", "password_abroad", "token_abroad", "weak"):
        for word in rules.words("keys", group):
            yield word, _key_value
    for word in rules.words("keys", "token"):
        for separator in SEPARATORS if b" " in word else (b"",):
            yield word.replace(b" ", separator), _key_value
    for word in rules.words("keys", "parameters"):
        yield b"?" + word + b"=", _key_value
        yield b"&" + word + b"=", _key_value


class _Key(NamedTuple):
    """A name that may be a secret's, and what leads from it to a value."""

    left: int
    end: int
    place: int
    """Where that begins which follows it."""
    sign: bytes
    """What stands between them, if it says that the one is the other."""
    closed: bool
    """Whether a quote behind the name ends it."""
    tail: re.Match[bytes] | None
    """How it goes on, unless the literal told it."""


def _key_value(scan: Scan, start: int, end: int) -> None:
    key = _key(scan, start, end) if start >= scan.named else None
    if key is None:
        return
    data = scan.data
    left, name_end, place, sign, closed, tail = key
    level = strength(data[left:name_end])
    if not level:
        if sign:
            scan.named = name_end
        return
    ends_a_cell = tail and (
        tail[COMMA]
        or tail[LINE_END]
        or b"|" in (sign, data[place : place + 1])
        or (tail[BLANK] and (tail[BLANK] != b" " or data.startswith(BAR_BEGINS, place)))
    )
    if ends_a_cell and level != WEAK:
        columns.column(scan, left, level)
    if tail and (tail[LINE_END] or (closed and data[place : place + 1] in OPEN)):
        scan.hanging.append((left, BELOW))
    if sign or tail is None:
        scan.named = name_end
        _assigned(scan, left, name_end, place, sign, level)
    elif tail[COMMA] and closed and left and data[left - 1] in values.QUOTES:
        _listed(scan, left, place, level)
    elif tail[COMMA] and level != WEAK and IN_FLOW.search(data, max(0, left - 24), left):
        _pair(scan, left, name_end, level)
    elif tail[ANGLE] and left and data[left - 1] in b"<:":
        _element(scan, place, level, certain=True)
    elif tail[ANGLE] and closed and ATTRIBUTE.search(data, max(0, left - 8), left):
        _element(scan, place, level, certain=False)
    elif tail[BLANK] and not closed:
        attributes = None
        if left and data[left - 1] in b"<:":
            attributes = ATTRIBUTES.match(data, name_end)
        if attributes:
            _element(scan, attributes.end(), level, certain=True)
            return
        prose.after_space(scan, left, name_end, place, level)
    elif tail[BLANK] and level != WEAK and data[left] != 0x2D:
        prose.said_after(scan, left, place, level)
    elif tail[LINE_END] and level != WEAK:
        _pair(scan, left, name_end, level)
        prose.named_before(scan, left, level)
    if closed and level != WEAK:
        _pair(scan, left, name_end, level)


def _key(scan: Scan, start: int, end: int) -> _Key | None:
    """The name in which a literal stands; None where none is, or only prose can tell."""
    data = scan.data
    if data[end - 1] == 0x3D:  # the literal holds the sign: ?key=
        place, sign = end, b"="
        name_end = end - 1
        closed = False
        tail = None
    else:
        if data[end - 1] >= 0x80 and (run := JOINED.match(data, end)):
            prose.stands_out(scan, values.Value(*run.span(1), False), PASSWORD, rule="joined")
        tail = TAIL.match(data, end)
        if tail is None:
            prose.at_the_end(scan, start, end)
            return None
        place, sign = tail.end(), b"|" if tail[SIGN] == columns.BAR else tail[SIGN] or b""
        closed = tail[CLOSER] is not None and tail[CLOSER] not in b")]"
        name_end = tail.end(WORD)
        if tail[BLANK] and data.endswith(COPULAS, start, name_end):
            name_end -= 3  # 密码是 …
            sign = data[name_end : name_end + 3]
    before = data[max(0, start - REACH) : start]
    left = start - (len(before) - len(before.rstrip(NAME)))
    if data[start] in BEFORE_A_NAME:
        # What stands before it is another parameter's, or of another cell.
        left = end - len(data[start:end].lstrip(BEFORE_A_NAME + b" "))
    if data[left] == 0x2D:
        left += TAKEN_OUT.match(data, max(0, left - 1)) is not None
    if left and data[left - 1] == 0x5B and PLACEHOLDER.fullmatch(scan.low, left, name_end):
        return None  # [CREDENTIAL_1] is no key
    return _Key(left, name_end, place, sign, closed, tail)


def _assigned(scan: Scan, left: int, name_end: int, place: int, sign: bytes, level: int) -> None:
    data = scan.data
    if not _is_a_name(data, left, sign):
        if sign == b"|":
            _behind_a_bar(scan, left, place, level)
        return
    begin = _begin(data, place, sign)
    if begin is None:
        return
    if sign == b"=" and (held := _in_braces(data, begin)):
        prose.stands_out(scan, held, level, rule="braces")
        return
    in_url = data[left - 1 : left] in (b"?", b"&") and left > 0
    name = data[left:name_end]
    if level != WEAK and name.lower() != b"pass" and LIST.match(data, begin):
        _items(scan, begin, level)
    value = values.read(data, begin, in_url=in_url, in_form=not name.isupper())
    if value is None or data[begin : begin + 1] == b"(":
        _on_the_next_line(scan, begin, level)
    if value is None:
        return
    if sign in COPULAS:
        run = ASCII.match(data, value.start)
        end = value.start + len(run[0].rstrip(b",;")) if run else value.start
        value = value._replace(end=min(end, value.end))
    if _compares(data, sign, value) or _tells_a_place(data, left, name, value):
        return
    if name.lower() == b"pass" and (sign == b"|" or (sign == b":" and not value.quoted)):
        # Else, or where it does not stand out, a test's verdict.
        if sign == b":" and b"/" not in data[value.start : value.end]:
            prose.stands_out(scan, value, level, rule="said")
        return
    certain = in_url or _is_certain(data, left, name, sign, begin - name_end == len(sign), value)
    _given(scan, left, name, value, level, certain)


def _given(
    scan: Scan, left: int, name: bytes, value: values.Value, level: int, certain: bool
) -> None:
    """Judges the value that a name is given."""
    data = scan.data
    if level == PASSWORD and not value.quoted:
        words = APP_PASSWORD.match(data, value.start)
        value = value._replace(end=words.end(1)) if words else value
    if name.lower().endswith(OF_BOTH) and (account := OF_AN_ACCOUNT.match(data, value.start)):
        secret = value._replace(start=account.end())
        if judge(scan, secret, PASSWORD, certain=False, rule="of-an-account"):
            return
    spaced = 0 if level != PASSWORD or value.quoted else _spaced(scan, left, value.end)
    whole = data[value.start : spaced].replace(b" ", b"")
    if spaced and is_secret(whole, level, quoted=True, certain=True):
        scan.add(value.start, spaced, "key-value")
    elif not _judge_whole(scan, value, level, certain=certain, rule="key-value"):
        _inside(scan, value, level)
    becomes = BECOMES.match(data, value.end) if value.quoted else None
    if becomes and (new := values.read(data, becomes.end())):
        judge(scan, new, level, certain=certain, rule="becomes")


def _behind_a_bar(scan: Scan, left: int, place: int, level: int) -> None:
    """A name that no row of a table holds: the rest of its line, and the line below."""
    line = _line_before(scan.data, left)
    scan.hanging.append((max(0, left - len(line) - 1), 1))
    if not line.strip():
        _on_this_line(scan, place, level)


def _in_braces(data: bytes, begin: int) -> values.Value | None:
    """What ODBC has in braces: PWD={…}."""
    braces = IN_BRACES.match(data, begin) if data.startswith(b"{", begin) else None
    if braces is None or _leaves_a_text(data, begin, braces[1]):
        return None
    return values.Value(*braces.span(1), False)


def _spaced(scan: Scan, left: int, place: int) -> int:
    """Where a value with blanks ends in a connection string; 0 where it has none."""
    rest = SPACED.match(scan.data, place)
    is_one = rest and (
        OF_A_CONNECTION.search(scan.low, max(0, left - 300), left)
        or GOES_ON_AS_ONE.match(scan.low, place)
    )
    return rest.end() if rest and is_one else 0


def _begin(data: bytes, place: int, sign: bytes) -> int | None:
    """Where what is assigned begins, behind a type, the head of a block or an address."""
    if sign == b":":
        note = ANNOTATION.match(data, place)
        place = note.end() if note else place
        block = BLOCK.match(data, place)
        place = block.end() if block else place
        if data[place : place + 1] == b":":
            return None
    pointer = POINTER.match(data, place) if data.startswith(b"0x", place) else None
    return pointer.end() if pointer else place


def _compares(data: bytes, sign: bytes, value: values.Value) -> bool:
    """A comparison, a row of signs, an attribute; what is quoted is a value all the same."""
    if value.quoted:
        return False
    if data[value.end - 1] == 0x3D and NEXT_ATTRIBUTE.match(data, value.start):
        return True
    is_comparison = sign in (b"==", b"===", b"!=", b"!==")
    return is_comparison or data.count(b"=", value.start, value.end) > 3


def _tells_a_place(data: bytes, left: int, name: bytes, value: values.Value) -> bool:
    """The id of a session, what a store calls a thing, a shell's folder (`;PWD=` is ODBC's)."""
    text = data[value.start : value.end]
    if names_a_session(name, text):
        return True
    if (
        name.lower() == b"key"
        and data[left - 1 : left] in (b"", b"\n", b"\t")
        and STORED.match(text)
    ):
        return True
    is_folder = name in (b"PWD", b"OLDPWD") and FOLDER.match(data, value.start, value.end)
    return bool(is_folder) and data[left - 1 : left] != b";"


def _is_certain(
    data: bytes, left: int, name: bytes, sign: bytes, tight: bool, value: values.Value
) -> bool:
    """Whether the way in which it is assigned leaves no doubt, whatever the value looks like."""
    is_env = name.isupper() and len(name) > 2
    if sign == b"=" and tight:
        if is_env or b"." in name or name[:2] == b"--":
            return True
        if left > 0 and data[left - 1] in b";|":
            return True
    if CONNECTION.match(data, value.end) is not None:
        return True
    if not (is_env and value.quoted):
        return False
    return sign == b"=" or not shape.WORD.match(data[value.start : value.end])


def _leaves_a_text(data: bytes, place: int, held: bytes) -> bool:
    """Whether a quote among these bytes ends the text that the place is in."""
    line = _line_before(data, place)
    return QUOTE.search(held) is not None and len(QUOTE.findall(line)) % 2 == 1


def _line_before(data: bytes, place: int) -> bytes:
    """What stands before a place on its line, of a long one the end."""
    reach = max(0, place - ROW)
    return data[data.rfind(b"\n", reach, place) + 1 or reach : place]


def _is_a_name(data: bytes, left: int, sign: bytes) -> bool:
    """No address's user, no part of the name of Amazon's resource, no command that is piped on."""
    before = data[max(0, left - REACH) : left]
    resource = before.rfind(b"arn:")
    if before.endswith(b"://") or (resource >= 0 and not SPACE.search(before, resource)):
        return False
    if sign != b"|":
        return True
    line = _line_before(data, left)
    line = line.replace(columns.BAR, b"|")
    return line.lstrip().startswith(b"|") and line.rstrip(b" \t*`").endswith(b"|")


def _on_this_line(scan: Scan, place: int, level: int) -> None:
    """The rest of a line of psql's long form, `password | …`, where no command looks like it."""
    value = values.read(scan.data, place)
    if value and values.ends_line(scan.data, value):
        prose.stands_out(scan, value, level, rule="long-form")


def _on_the_next_line(scan: Scan, place: int, level: int) -> None:
    """A value in quotes, or one that is alone on its line."""
    scan.hanging.append((place, BELOW))
    gap = NEXT_LINE.match(scan.data, place)
    value = values.read(scan.data, gap.end()) if gap else None
    if value is None or level == WEAK:
        return
    if not (values.ends_line(scan.data, value) or LITERAL_AFTER.match(scan.data, value.end)):
        return
    if value.quoted:
        is_reference = shape.REFERENCE.match(scan.data[value.start : value.end])
        if not is_reference:
            _judge_whole(scan, value, level, certain=False, rule="next-line")
    else:
        prose.stands_out(scan, value, level, rule="next-line")


def _judge_whole(scan: Scan, value: values.Value, level: int, *, certain: bool, rule: str) -> bool:
    """Adds the value and the further literals that code joins to it, if they are a secret."""
    parts = [value, *_next_literals(scan.data, value)]
    whole = b"".join(scan.data[part.start : part.end] for part in parts)
    is_whole = len(parts) > 1 and is_secret(whole, level, quoted=True, certain=certain)
    if not is_whole and not judge(scan, value, level, certain=certain, rule=rule):
        return False
    for part in parts:
        if is_whole or shape.is_token(scan.data[part.start : part.end]):
            scan.add(part.start, part.end, rule)
    return True


def _next_literals(data: bytes, value: values.Value) -> Iterator[values.Value]:
    """The further parts of a value that code has written as several literals."""
    for _ in range(PARTS):
        gap = LITERAL_AFTER.match(data, value.end) if value.quoted else None
        part = values.read(data, gap.end()) if gap else None
        if part is None or IS_NAMED.match(data, part.end):
            return
        yield part
        value = part


def _inside(scan: Scan, value: values.Value, level: int) -> None:
    """The one literal that a call or a default holds."""
    around = None if value.quoted else AROUND.match(scan.data, value.start)
    if around:
        inner = values.read(scan.data, around.end())
        if inner and inner.quoted:
            judge(scan, inner, level, certain=False, rule="literal-inside")


def _listed(scan: Scan, left: int, place: int, level: int) -> None:
    value = values.read(scan.data, place)
    if value and value.quoted and level != WEAK:
        text = scan.data[value.start : value.end]
        if text[:1] == b"-":
            return  # the next flag of a command
        is_defined = DEFINED.search(scan.data, max(0, left - 24), left) is not None
        if is_defined or level == PASSWORD or shape.is_token(text, 16, hard=True):
            is_constant = CONSTANT.search(scan.data, max(0, left - 16), place) is not None
            is_flag = scan.data[left : left + 2] == b"--"
            is_certain = is_constant or is_flag or (is_defined and level != PASSWORD)
            judge(scan, value, level, certain=is_certain, rule="key-list")


def _items(scan: Scan, place: int, level: int) -> None:
    """The items of a list."""
    for _ in range(PARTS):
        gap = ITEM.match(scan.data, place)
        value = values.read(scan.data, gap.end()) if gap else None
        if gap is None or value is None or not (value.quoted or b"-" in gap[0]):
            return
        if level == PASSWORD and not value.quoted:
            prose.stands_out(scan, value, level, rule="item")
        elif level == PASSWORD or shape.is_token(scan.data[value.start : value.end], 16, hard=True):
            judge(scan, value, level, certain=False, rule="item")
        place = value.end + value.quoted


def _element(scan: Scan, place: int, level: int, *, certain: bool) -> None:
    inner = INNER.match(scan.data, place)
    place = inner.end() if inner else place
    is_raw = inner is not None and inner[0].endswith(b"[")
    closing = b"]]></" if is_raw else b"<"
    end = scan.data.find(closing, place, place + ELEMENT)
    if end > place and (is_raw or scan.data[end + 1 : end + 2] == b"/"):
        text = scan.data[place:end]
        if b"\n" not in text:
            value = values.Value(place, end, True)
            judge(scan, value, level, certain=certain and b" " not in text, rule="xml")


def _pair(scan: Scan, left: int, name_end: int, level: int) -> None:
    """The value of a pair: {"name": "DB_PASSWORD", "value": "…"}."""
    data = scan.data
    closing = CLOSING.match(data, name_end)
    place = closing.end() if closing else name_end
    pair = PAIR.match(data, place)
    is_certain = True
    if pair is None and closing and NAMED.search(data, max(0, left - 30), left):
        pair = MEMBERS.match(data, place)
    if pair is None and closing:
        is_certain = False
        pair = OBJECT.match(data, place)
        if pair is None and data[max(0, left - 10) : left] == b'variable "':
            pair = DEFAULT.match(data, place)
        if pair is None and IS_TYPE.search(data, max(0, left - 8), left):
            pair = ITS_VALUE.match(data, place)
    value = values.read(data, pair.end()) if pair else None
    if value is None or not (value.quoted or is_certain):
        return
    text = data[value.start : value.end]
    if is_certain or level == PASSWORD or shape.is_token(text, 16, hard=True):
        judge(scan, value, level, certain=value.quoted and is_certain, rule="name-value")
