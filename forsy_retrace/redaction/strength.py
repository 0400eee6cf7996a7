"""How much the name of a key promises a secret, and which values then are one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Scan

PASSWORD, SECRET, TOKEN, WEAK = 4, 3, 2, 1
LONGEST = 4000
"""Bytes of a value by which it is judged."""

HUMP = later(rb"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
PASS = (
    rb"(?:^|[^a-z]|[a-z0-9])pass(?:$|[_. -]?(?:w(?:or|d|rd)|phrase|code|key|wort)"
    rb"|[_.-]?[0-9]{1,2}$)|(?:^|[^a-z])passe$|pwd|pswd|pwrd|(?:^|[^a-z])psw(?:$|[^a-z])|(?:^|_|db|bind|root|user|admin)pw(?:$|[^a-z])|psk|secret_word"
)


class _Words(NamedTuple):
    """The words of keys as expressions for names in lower case, their parts put apart."""

    password: re.Pattern[bytes]
    token: re.Pattern[bytes]
    weak: tuple[bytes, ...]
    parameters: frozenset[bytes]
    keys: re.Pattern[bytes]
    not_secret: re.Pattern[bytes]
    seldom_secret: re.Pattern[bytes]


@lru_cache(maxsize=1)
def _words() -> _Words:
    abroad = sorted(map(re.escape, rules.words("keys", "password_abroad")))
    latin = b"|".join(word for word in abroad if word.isascii())
    others = (word for word in abroad if not word.isascii())
    # The longest first: of two that begin alike it is the one that is there.
    longest = sorted(rules.words("keys", "token"), key=lambda word: (-len(word), word))
    tokens = [word.strip(b"\"'?&=").split(b" ") for word in longest]
    password = b"|".join((PASS, rb"(?:^|[^a-z])(?:" + latin + rb")", *others))
    abroad_too = map(re.escape, sorted(rules.words("keys", "token_abroad")))
    token = b"|".join((*(b"[_. -]?".join(map(re.escape, one)) for one in tokens), *abroad_too))
    return _Words(
        later(password),
        later(token),
        tuple(word.strip(b"\"'?&= ") for word in rules.words("keys", "weak")),
        rules.words("keys", "parameters"),
        later(b"keys?"),
        rules.expression("keys", "not_secret"),
        rules.expression("keys", "seldom_secret"),
    )


OF_PEOPLE = later(
    rb"(?:secret|authtok|(?:secret|symm|encryption|signing|session|cookie)[_. -]?key)"
    rb"[_. -]?[0-9]{0,2}$"
)
"""Names of secrets that people make up as they do passwords."""
WITH_USER = later(rb"[a-z][a-z0-9+.-]{1,20}://[^\s/@]{1,300}@")
"""An address whose user and password are read by its own rule."""
NAME_IN_CODE = later(rb"[a-z]{2,20}(?:[A-Z][a-z]{2,20}){1,3}$|[a-z]{2,20}(?:[_-][a-z]{2,20}){1,3}$")
SESSION = later(rb"(?i)(?<!j)session_?ids?$")
COOKIE = b"sessionid"
"""So, all in small letters, a site names its cookie; any other spelling is an agent's session."""


def names_a_session(name: bytes, value: bytes) -> bool:
    """Whether what is named like a site's cookie is an agent's session after all, by its value."""
    return name == COOKIE and shape.UUID.match(value) is not None


@lru_cache(maxsize=8192)
def strength(name: bytes) -> int:
    """How much a key promises a secret: PASSWORD, SECRET, TOKEN, WEAK or 0."""
    words = _words()
    bare = name.strip(b"\"'?& ")
    low = bare.lower()
    if bare != COOKIE and SESSION.search(bare):
        return 0
    parts = low if bare == low else HUMP.sub(b"_", bare).lower()
    forms = {parts, low}
    if any(map(words.password.search, forms)):
        level = PASSWORD
    elif any(map(words.token.search, forms)):
        level = TOKEN
    elif low in words.parameters or any(word in low for word in words.weak):
        level = WEAK
    else:
        return 0
    heads = (words.password, words.token, words.keys)
    found = [match for one in heads for match in one.finditer(parts)]
    head = max((match.end() for match in found), default=0)
    if all(len(match[0]) < 5 for match in found) and shape.is_token(bare, 16, hard=True):
        return 0  # three letters are found in any long id
    if any(match.end() >= head for match in words.not_secret.finditer(parts)):
        return 0
    if any(match.end() >= head for match in words.seldom_secret.finditer(parts)):
        return WEAK if bare.isupper() else 0
    return SECRET if level == TOKEN and OF_PEOPLE.search(parts) else level


def is_secret(text: bytes, level: int, *, quoted: bool, certain: bool) -> bool:
    """Whether a value is a secret under a key of this level.

    Certain is the place: an environment line or a command's flag.
    """
    is_typed = certain and not quoted and not text.isalpha()
    if not is_typed and NAME_IN_CODE.match(text) and strength(text):
        return False  # const PASSWORD_FIELD = "userPassword"
    if shape.is_reference(text, quoted=quoted or certain) and (
        level == PASSWORD
        or not certain
        or WITH_USER.match(text)
        or text[:1] in b"$<{%"
        or shape.LABEL.match(text)
        or not shape.is_token(text, 24, hard=True)
    ):
        return False
    if level == PASSWORD:
        chosen = shape.is_password(text, quoted=quoted, certain=certain)
        return chosen or shape.is_passphrase(text)
    if level == SECRET and shape.is_chosen(text, plain=quoted or certain):
        return True
    if level in (SECRET, TOKEN):
        return shape.is_token(text, 8 if certain or quoted else 10)
    return level == WEAK and shape.is_token(text, 16, hard=True)


def judge(scan: Scan, value: values.Value, level: int, *, certain: bool, rule: str) -> bool:
    """Adds the value if it is a secret for a key of this level."""
    start, end, quoted = value
    text = scan.data[start : min(end, start + LONGEST)]
    if not is_secret(text, level, quoted=quoted, certain=certain):
        return False
    scan.add(start, end, rule)
    return True
