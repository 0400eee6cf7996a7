"""People's names and mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules
from forsy_retrace.redaction.accounts import account_at_host
from forsy_retrace.redaction.names import EMAIL, PERSON, USER, after_escape, is_somebody, public

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

LETTER = rb"(?:[A-Za-z0-9]|[\xc3-\xc5\xd0\xd1][\x80-\xbf])"
"""A digit, or a letter of Latin with its accents or of Cyrillic."""
LOCAL = later(rb"(?:" + LETTER + rb"|[._%+-]){1,64}$")
OF_LOCAL = bytes(c for c in range(256) if c >= 0x80 or chr(c).isalnum() or chr(c) in "._%+-")
"""Bytes that a local part may have: beyond them none is looked for."""
DOMAIN = later(
    rb"(?:@|%40)((?:" + LETTER + rb"(?:(?:" + LETTER + rb"|-){0,61}" + LETTER + rb")?\.){1,5}"
    rb"([A-Za-z]{2,24}))"
)
ENDING = later(
    rb"(?i)(?:\.(?:jsonl?|ndjson|txt|log|csv|tsv|md|html?|pdf|xml|eml|mbox|vcf|ics|ya?ml|bak|db|sqlite"
    rb"|zip|gz|zst)){1,3}$"
)
"""What makes the name of a file out of mail: `jo@delftware.com.json`."""
PARTICLE = rb"(?:van|von|vom|zu|de|der|den|da|dos|di|du|la|le|bin|ibn|al|el|ter|ten) "
NAME_BEFORE = later(
    rb"(?:[AP]M,? )?((?:[A-Z\xc3-\xce][\w\x80-\xff'.-]{0,30},? (?:" + PARTICLE + rb"){0,2}){1,3}"
    rb"[A-Z\xc3-\xce][\w\x80-\xff'.-]{1,30}),? ?\\{0,3}[\"']? ?(?:<|&lt;|%3C|\()$"
)
# Behind such a word, whatever stands before <mail> is who it is.
CALLED_BEFORE = later(
    rb"(?:^|[\n\r])[ \t>]{0,8}(?:(?:[A-Za-z-]{2,20}-[Bb]y|[Aa]uthor|[Cc]ommit|[Tt]agger|From|To|Cc"
    rb"|Reply-To):[ ]{1,8}|(?:author|committer|tagger) )([\w\x80-\xff][\w\x80-\xff'. -]{1,60}?) <$"
)
ACCOUNT = later(rb"[a-z0-9_.-]{1,60}")
# An apostrophe belongs to a name between two of its letters only.
LETTERS = rb"(?:[\w\x80-\xff-]|'[A-Za-z\x80-\xff])"
CAPITAL = rb"(?:[A-Z\xc3-\xce]|\xd0[\x81-\xaf])"
TWO_NAMES = (
    rb"(" + CAPITAL + rb"(?:'[A-Z])?[a-z\x80-\xff]" + LETTERS + rb"{0,25}(?: [A-Z]\.)?"
    rb"(?: (?:van|von|de|der|den|da|di|la|le|bin|al|el)){0,2}"
    rb"(?: " + CAPITAL + LETTERS + rb"{1,25}){1,2})"
)
GAP = rb"\s{0,40}(?:[0-9]{1,6}(?:\xe2\x86\x92|\t)[ \t]{0,40})?"
"""Blanks, and the number of the line in front of it."""
QUOTE = rb"\\{0,3}[\"']"
IS = rb"(?:" + QUOTE + rb")? ?(?:=>|[:=]) ?"
"""What stands between a key, in quotes or not, and its value, in code of several languages."""
MEMBERS = (
    rb"(?:" + GAP + rb"(?:" + QUOTE + rb")?\w{1,20}" + IS + rb"(?:" + QUOTE
    + rb"[^\"'\\\n{}]{0,80}" + QUOTE + rb"|[\w.+-]{1,30}),){0,3}"
)  # fmt: skip
"""Others that stand in between."""
NAMED_IN_JSON = later(
    rb"\bname" + IS + rb"(?:\\{0,3}\"([A-Z\xc3-\xce][^\"\\\n<>{}]{2,60})\\{0,3}\""
    rb"|'([A-Z\xc3-\xce][^'\\\n<>{}]{2,60})')(?:," + MEMBERS + rb"|(?=\r?\n))" + GAP
    + rb"(?:" + QUOTE + rb")?e-?mail" + IS + QUOTE + rb"$"
)  # fmt: skip
NAMED_AFTER = later(
    QUOTE + rb"," + MEMBERS + GAP + rb"(?:" + QUOTE + rb")?(?i:full_?|display_?)?[nN]ame" + IS
    + QUOTE + TWO_NAMES + QUOTE
)  # fmt: skip
NAMED_ABOVE = later(
    rb"(?:^|\n)[ \t>*-]{0,8}(?i:full )?[Nn]ame ?: {1,8}" + TWO_NAMES + rb"[ \t]{0,4}\r?\n"
    rb"[ \t>*-]{0,8}[Ee]-?mail(?: [Aa]ddress)? ?: {1,8}$"
)
# Names in the heads of source files are public; those in mail and in git's output are meant.
HEADER_BEFORE = later(
    rb"(?:^|[\n\r]|\\n|<)[ \t>]{0,8}(?:[0-9a-f]{7,40} )?(?:[*-] )?(?:[0-9]{1,6}\t)?"
    rb"(?:uid[ ]{1,20}(?:\[[a-z ]{4,10}\] ?)?)?(?:[a-z-]{2,20}-by|author|commit"
    rb"|maintainer|packager|uploader|committer|from|to|cc|bcc|reply-to|sender|tagger|merged?"
    rb"|user|owner|assignee|reporter)?"
    rb"(?:: {0,8}\\{0,3}\"?|[ \t]{0,4})$"
    rb"|[\"'](?:[a-z-]{2,20}_by|author|committer|from|to|cc|sender|owner|user"
    rb"|contact)\\{0,3}[\"'] ?: ?\\{0,3}[\"']$|--author[ =][\"']?$"
    rb"|good signature from \\{0,3}[\"']$|\bauthors? ?= ?\[?\s{0,8}[\"']$"
    rb"|\bon [^\n<]{6,40}[0-9](?:[ \xe2\x80\xaf]{0,3}[ap]m)?,? $"
    rb"|@[a-z0-9.-]{3,80}>[,;]\s{1,8}\\{0,3}\"?$"
)
OF_A_PERSON = later(
    rb"@[\w-]{1,60}\.|(?:account|user)_?id|user_?name|e-?mail|avatar|assignee|reporter|\blogin\b"
)
NEAR = 160
AFTER_KEY = later(
    rb"(?:\\{0,3}[\"']?[ \t]{0,20}[:=][ \t]{0,20}"
    rb"(?:\{" + MEMBERS + GAP + QUOTE + rb"(?i:display_?)?[nN]ame" + QUOTE + rb" ?: ?)?"
    rb"\\{0,3}[\"']?|>)" + TWO_NAMES + rb"(?:\\{0,3}[\"'<,;\r\n]| <|$|\\n)"
)
LIST = later(
    rb"(?:" + QUOTE + rb")?[ \t]{0,20}(?:=>|[:=])[ \t]{0,20}(?:list\[\w{1,20}\] ?= ?)?[\[({]"
)
ITEM = later(
    GAP
    + (rb"(?:" + QUOTE + rb"(?:" + TWO_NAMES + rb"(?=\\{0,3}[\"' ]))?[^\"'\\\n\[\]]{0,80}" + QUOTE)
    + (rb"|\w{1,20})" + GAP + rb",?")
)
"""One of a list: a name, which may go on, or something else, which is passed over."""
LINES = later(rb":[ \t]{0,8}\r?(?=\n)")
IN_LINES = later(rb"\n[ \t]{0,40}- {1,8}[\"']?(?:" + TWO_NAMES + rb"(?=[\"' \r\n]|$))?[^\n]{0,80}")
"""One of a list in YAML."""
OBJECT = 2000
MEMBER_NAME = later(rb"\"name\"\s{0,4}:\s{0,4}\"" + TWO_NAMES + rb"\"")
ORGANISATION = later(rb"\"Organization\"")
ONE_NAME = later(
    rb"(?:\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']|>)"
    rb"([A-Z\xc3-\xce]" + LETTERS + rb"{2,25})(?:\\{0,3}[\"']|</)"
)
GIT_NAME = later(rb"[ =]{1,3}[\"']?" + TWO_NAMES)
GIT_SAYS = later(rb"[ \t]{0,4}\r?\n" + TWO_NAMES + rb"[ \t]{0,4}(?:\r?\n|$)")
GIT_CONFIG = later(
    rb"[ \t]{0,4}\r?\n(?:[ \t]{0,12}[A-Za-z]{1,20} ?= ?[^\n]{0,100}\n){0,4}?[ \t]{0,12}name ?= ?\"?"
    rb"([\w\x80-\xff][\w\x80-\xff'. -]{1,60}?)\"?[ \t\r]{0,4}(?:\n[ \t]{0,12}(?:email|\[|$)|$)"
)
SUBJECT = later(
    TWO_NAMES + rb"(?:[,/] ?(?i:emailaddress ?=|ou=(?:users|people|staff|employees)\b)"
    rb"|\"?[:;][^\n]{0,80}?(?i:mailto:))"
)
DEVELOPER = later(TWO_NAMES + rb" \([A-Z0-9]{10}\)")
CARD = later(TWO_NAMES + rb"(?:\r?\n|$)")
SYSTEM_USER = later(TWO_NAMES + rb" \([\w.-]{2,40}\)[ \t\r]{0,4}(?:\n|$)")
HIS_NAME = later(TWO_NAMES + rb"(?:[.,;!?\r\n ]|$)")
ADDRESSED = later(TWO_NAMES + rb",? ?\r?(?:\n|\\n|$)")
TODO_NAME = later(TWO_NAMES + rb"\)")
SIGNED = later(rb",?!?\r?\n(?:\r?\n)?(?:-{1,2} ?)?" + TWO_NAMES + rb"(?:\r?\n|$)")
BLAME = later(rb"\(" + TWO_NAMES + rb"[ ]{1,30}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")


def rows() -> Iterator[tuple[bytes, Rule]]:
    yield b"@", _at
    yield b"%40", _at
    for mask in (b" <[email", b" <[redacted"):
        yield mask, _masked_mail
    yield b"user.name", partial(_person, GIT_NAME, "git-name")
    yield b"user.name", partial(_person, GIT_SAYS, "git-name")
    yield b"[user]", partial(_person, GIT_CONFIG, "git-name")
    for words in rules.words("people", "introductions"):
        yield words, partial(_person, HIS_NAME, "own-name")
    for sign in (b";cn=", b"cn=", b';cn="', b"cn = "):
        yield sign, partial(_person, SUBJECT, "subject")
    for signer in (b"apple development: ", b"iphone developer: ", b"mac developer: "):
        yield signer, partial(_person, DEVELOPER, "developer")
    yield b"realname:", partial(_person, GIT_SAYS, "name-key")
    for name in (b'"login"', b'"avatar_url"'):
        yield name, _named_beside
    yield b"\nfn:", partial(_person, CARD, "card")
    yield b"user name: ", partial(_person, SYSTEM_USER, "system-user")
    yield b"dear ", _addressed
    yield b"todo(", partial(_person, TODO_NAME, "todo-name")
    yield b"fixme(", partial(_person, TODO_NAME, "todo-name")
    for key in rules.words("people", "name_keys"):
        yield key, partial(_person, AFTER_KEY, "name-key")
    for key in rules.words("people", "title_keys"):
        yield key, _titled
    for key in rules.words("people", "part_keys"):
        yield key, partial(_person, ONE_NAME, "name-key")
    for key in rules.words("people", "list_keys"):
        yield key, _listed
    for words in rules.words("people", "closings"):
        yield words, partial(_person, SIGNED, "signature-name")
    for zone in rules.words("people", "zones"):
        yield b" " + zone + b" ", _blame


def _at(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    before = data[max(0, start - 64) : start]
    local = LOCAL.search(before, len(before.rstrip(OF_LOCAL)))
    begin = start - len(local[0]) if local else start
    begin = after_escape(data, begin, start)
    while begin < start and data[begin] in b".-+%":
        begin += 3 if data[begin] == 0x25 and data[begin + 1 : begin + 3].isalnum() else 1
    if begin >= start:
        return
    match = DOMAIN.match(data, start)
    if match and (domain := _mail_domain(data[begin:start], match)):
        stop = match.start(1) + len(domain)
        after = data[stop : stop + 1]
        if after not in (b"(", b"_") and not (after == b"=" and b"%" not in data[begin:start]):
            if (
                begin > 1
                and data[begin - 1] in b":/@"
                and b"://" in data[max(0, begin - 80) : begin]
            ):
                return  # an address with its user, not mail
            if data[start:end] == b"@" and account_at_host(scan, begin, start):
                return
            scan.add(begin, stop, "email", EMAIL)
            _name_of_mail(scan, begin, stop)
            return
    if data[start:end] == b"@":
        account_at_host(scan, begin, start)


def _mail_domain(local: bytes, match: re.Match[bytes]) -> bytes:
    """The domain of mail, or nothing; a file that is named for somebody has an ending behind it."""
    if _is_mail(local, match[1], match[2]):
        return match[1]
    named = ENDING.sub(b"", match[1])
    is_mail = b"." in named and _is_mail(local, named, named.rpartition(b".")[2])
    return named if named != match[1] and is_mail else b""


def _is_mail(local: bytes, domain: bytes, top: bytes) -> bool:
    _, public_mail, tops = public()
    low = domain.lower()
    if len(top) > 2 and top.lower() not in tops:
        return False
    if domain[:1].isdigit() and b"." in domain[:4] and domain[:3].replace(b".", b"").isdigit():
        return False
    return public_mail.search(local.lower() + b"@" + low) is None


def _name_of_mail(scan: Scan, begin: int, end: int) -> None:
    """The name before <mail>, or in the field before or behind the mail's."""
    field = NAMED_IN_JSON.search(scan.data, max(0, begin - 240), begin)
    field = field or NAMED_AFTER.match(scan.data, end)
    field = field or NAMED_ABOVE.search(scan.data, max(0, begin - 160), begin)
    if field and b" " in (name := field[field.lastindex or 1]) and is_person(name):
        scan.add(*field.span(field.lastindex or 1), "mail-name", PERSON)
    if _called_before(scan, begin):
        return
    match = NAME_BEFORE.search(scan.data, max(0, begin - 110), begin)
    if (
        match
        and not match[1].startswith((b"By ", b"From ", b"To "))
        and not _is_agent(match[1])
        and HEADER_BEFORE.search(scan.low, max(0, match.start(1) - 60), match.start(1))
    ):
        scan.add(match.start(1), match.end(1), "mail-name", PERSON)


def _called_before(scan: Scan, begin: int) -> bool:
    """The name of an author or sender before what `<` encloses here."""
    match = CALLED_BEFORE.search(scan.data, max(0, begin - 110), begin)
    if not match or not is_person(match[1]) or not (b" " in match[1] or is_somebody(match[1])):
        return False
    is_account = ACCOUNT.fullmatch(match[1]) is not None
    scan.add(*match.span(1), "mail-name", USER if is_account else PERSON)
    return True


def _masked_mail(scan: Scan, start: int, end: int) -> None:
    """The name before mail that something has masked already."""
    _called_before(scan, start + 2)


def _person(pattern: re.Pattern[bytes], rule: str, scan: Scan, start: int, end: int) -> None:
    """The name that the pattern finds right after the literal."""
    match = pattern.match(scan.data, end)
    if match is None or not is_person(match[1]):
        return
    if scan.low[start:end] in (b"author", b"committer") and not _is_quoted(scan.data, match):
        return  # a comment's "Author: …"; git writes the mail behind the name
    scan.add(*match.span(1), rule, PERSON)


def _addressed(scan: Scan, start: int, end: int) -> None:
    """The name at the head of a letter."""
    if scan.data[start : start + 1] == b"D" and scan.data[max(0, start - 1) : start] in (
        b"",
        b"\n",
    ):
        _person(ADDRESSED, "addressed", scan, start, end)


def _listed(scan: Scan, start: int, end: int) -> None:
    """The names in a list of people."""
    begin, item = LIST.match(scan.data, end), ITEM
    if begin is None:
        begin, item = LINES.match(scan.data, end), IN_LINES
    place = begin.end() if begin else -1
    while place >= 0 and (name := item.match(scan.data, place)):
        if name[1] and is_person(name[1]):
            scan.add(*name.span(1), "name-key", PERSON)
        place = name.end()


def _named_beside(scan: Scan, start: int, end: int) -> None:
    """The name in an object of JSON that holds a person's login or picture."""
    data = scan.data
    begin = data.rfind(b"{", max(0, start - OBJECT), start)
    stop = data.find(b"}", end, end + OBJECT)
    if begin < 0 or stop < 0 or ORGANISATION.search(data, begin, stop):
        return
    if (name := MEMBER_NAME.search(data, begin, stop)) and is_person(name[1]):
        scan.add(*name.span(1), "name-beside", PERSON)


def _titled(scan: Scan, start: int, end: int) -> None:
    """A name that may be a thing's; `Card.displayName` is one."""
    match = AFTER_KEY.match(scan.data, end)
    if match is None or scan.data[max(0, start - 1) : start] == b".":
        return
    near = scan.low[max(0, start - NEAR) : match.end() + NEAR]
    is_object = b"{" in scan.data[end : match.start(1)]  # which has the name among other members
    if is_object or OF_A_PERSON.search(near):
        _person(AFTER_KEY, "name-key", scan, start, end)


def is_person(name: bytes) -> bool:
    """Whether none of the words says that it is a role, a thing or nobody."""
    low = name.lower()
    return (
        not low.endswith((b"-bot", b"_bot"))
        and not _is_agent(name)
        and low not in rules.words("people", "nobody")
        and not any(part in rules.words("people", "roles") for part in low.split())
    )


def _is_agent(name: bytes) -> bool:
    """Whether a program is called so that signs its work as a person does."""
    return name.lower() in rules.words("people", "agents")


def _is_quoted(data: bytes, match: re.Match[bytes]) -> bool:
    return data[match.start(1) - 1 : match.start(1)] in (b'"', b"'")


def _blame(scan: Scan, start: int, end: int) -> None:
    match = BLAME.search(scan.data, max(0, start - 110), start)
    if match and is_person(match[1]):
        scan.add(*match.span(1), "blame", PERSON)
