"""Secrets that a sentence or a command's words give: `the password is …`, `--token …`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape, values
from forsy_retrace.redaction.strength import PASSWORD, SECRET, TOKEN, WEAK, judge, strength

if TYPE_CHECKING:
    import re

    from forsy_retrace.redaction.scan import Rule, Scan

PREPOSITIONS = (
    rb"(?:for|of|to|on|in|k|do|da|de|del|di|du|des|pour|para|per|van|voor|dla|til|vo[nm]"
    rb"|f\xc3\xb6r|f\xc3\xbcr|\xd0\xbe\xd1\x82|\xd0\xb4\xd0\xbb\xd1\x8f|\xd0\xba) "
)
ABROAD = "je|là|adalah|είναι|הוא|היא|هي|คือ".encode()
IS = later(
    PREPOSITIONS + rb"[^\n:=]{1,60}?"
    rb"(?: ?: ?| (?:is|will be|should be|ist|lautet|es|est|jest|\xc3\xa9|\xc3\xa8|\xc3\xa4r|er|-|"
    + ABROAD
    + rb")(?: ?:)? |=)|- "
    rb"|(?:do|dla) [^\n:=]{1,60}? to "  # in Polish, is
    rb"|(?:auf|op|sur|til|w|\xc3\xa0|\xd0\xbd\xd0\xb0) "
    rb"|(?:that|which|used|you|we|I) [^\n:=]{1,60}? (?:is|was)(?: ?:)? "
    rb"|(?:is|was|has been) (?:generated|created|set) for [^\n:=]{1,60}: "
    rb"|(?:is|was|are|will be|(?:has been )?(?:re)?set to|changed to"
    rb"|now|be|should be|to be|becomes?|es|est|c'est|ist|lautet|\xc3\xa9|\xc3\xa8|\xc3\xa4r|er"
    rb"|este|jest|"
    + ABROAD
    + rb"|\xe2\x80\x94|\xe2\x80\x93)(?: (?:now|nu|jetzt|maintenant|ahora|still|just"
    rb"|also|set to|currently|always))?(?: ?:| is)?[ \t]{1,3}"
    rb"|(?:=|:|->|=>|\xe2\x86\x92|\xe2\x9e[\x94\x9c\xa1]|\xc2\xbb)[ \t]{1,3}|\("
    rb"|(?:is|are|was|below|follows|as follows) ?:[ \t]{0,4}\r?\n(?:[ \t]{0,4}\r?\n)?[ \t]{0,40}"
)
NAMED_BEFORE = later(
    rb"(?:^|[\s])([^\s()]{8,80}) (?:as |is |\()(?:(?:the|my|our|your|its|his|her|a|an) )?"
    rb"(?:[A-Za-z-]{2,20} ){0,2}$"
)
# Behind the word the sentence goes on; the word is no part of another: "password function".
GOES_ON = later(rb"[ \t]{1,4}(?:for|to|in|on|of|at|and|or|now|there|here|when|if|so|but|then)\b")
OF_A_NAME = shape.ALNUM | frozenset(b"_.$@/?&")
NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
WORD_END = later(rb"(\w{0,60})(?:(\? |'s )|[.!,;)\s\"'`]|$)")
PREPOSITION = later(PREPOSITIONS)
# One more word before the colon: contraseña nueva: …
WORD = later(rb"[\w\x80-\xff]{2,40} ?: ")
CLAUSE = later(rb"(?:that|which|used|you|we|I|auf|op|sur|til|w|\xc3\xa0|\xd0\xbd\xd0\xb0) ")
FROM = later(rb"(?:^|[\s(])from ([^\s()]{6,80}) to $")
FROM_TO = later(rb"(?:[^\n:=]{1,40}? )?from ([^\s()]{6,80}) to ")
TO = later(rb"(?:(?:of|for) [^\n:=]{1,40}? )?to:?[ \t]{1,3}")
ACCOUNT = later(
    rb"(?:(?:\s{1,2}(?:is|are|as|user))?:?\*{0,2}\s{1,2}|[^\n:()/]{1,40}\()(?:\*{1,2}|[`\"'])?[\w.@+\\-]{2,60}"
    rb"(?:\*{1,2}|[`\"'])?(?:\s?/\s?|\s?\|\s?|:(?!//)|\s(?:with|and)\s)\*{0,2}"
)
CHANGED = later(rb"(?:(?:was|is|has been|got) )?(?:(?:re)?set|changed|switched|rotated|updated)\b")
FINGERPRINT = later(rb"(?:0x)?[0-9A-F]{16}(?:[0-9A-F]{24})?$")
CHANGE = later(
    rb"\b(?:(?:re)?set(?:ting)?|chang(?:e|ed|ing)|switch(?:ed|ing)?|rotat(?:e|ed|ing)|updat(?:e|ed|ing))\b[^\n.]{0,40}$"
)
ENDS = later(rb"[.,;:!?)\]}]{0,3}(?:[\"'`\\<]|[ \t]{0,8}(?:\r?\n|$))|[.,;)](?=\s)")
"""The end of a sentence, of a line or of the text around it."""
THE = later(
    rb"(?:^|[\s(\"'`])(?:the|this|that|my|our|your|his|her|its|their|an?|new|old|with|and|using|tried|use"
    rb"|root|admin|user|set|login|das|dein|mein|le|mon|la|el|o|il|het|de)\s{1,2}(?:[\w.@-]{1,24}\s){0,2}$"
)
REACH = 60
# The words of a file or a shell that give a name its value.
SETTERS = (
    *(b"ENV", b"ARG", b"SetEnv", b"setenv", b"setx", b"fastcgi_param"),
    *(b"set -g", b"set -x", b"set -gx", b"set -xg", b"set -Ux", b"set -Ugx"),
)


def rows() -> Iterator[tuple[bytes, Rule]]:
    for words in (b"pw:", b"pw is ", b"pw ist ", b"pw = ", b"pw="):
        yield words, _short
    for words in (b"pw for", b"pw to", b"pw on", b"pw f\xc3\xbcr"):
        yield words, _short_for
    for words in rules.words("prose", "accounts"):
        yield words, _account
    for words in rules.words("prose", "keys"):
        yield words, _my_key


def _short(scan: Scan, start: int, end: int) -> None:
    """`pw: …`, if the two letters are a word."""
    if start and scan.data[start - 1] in OF_A_NAME:
        return
    value = values.read(scan.data, end) if scan.data[end - 1] == 0x20 else None
    if value:
        _said(scan, value, PASSWORD)
    else:
        _stands_after(scan, end, PASSWORD)


def _short_for(scan: Scan, start: int, end: int) -> None:
    """`the pw for … is …`"""
    said = IS.match(scan.data, start + 3)
    if said and not (start and scan.data[start - 1] in OF_A_NAME):
        _stands_after(scan, said.end(), PASSWORD)


def _account(scan: Scan, start: int, end: int) -> None:
    """`login: bob / …`"""
    account = ACCOUNT.match(scan.data, end)
    if account:
        _stands_after(scan, account.end(), PASSWORD)


def _my_key(scan: Scan, start: int, end: int) -> None:
    """`here is my key …`"""
    said = IS.match(scan.data, end) or IS.match(scan.data, end + 1)
    _stands_after(scan, said.end() if said else end, TOKEN)


def _stands_after(scan: Scan, place: int, level: int) -> None:
    while scan.data[place : place + 1] in (b" ", b"\t"):
        place += 1
    value = values.read(scan.data, place)
    if value:
        stands_out(scan, value, level, rule="said")


def after_space(scan: Scan, left: int, name_end: int, place: int, level: int) -> None:
    """What stands behind a key and a space."""
    data = scan.data
    is_flag = data[left : left + 1] == b"-"
    if is_flag or data[max(0, left - 20) : left].rstrip(b" \t").endswith(SETTERS):
        value = values.read(data, place)
        if (
            value
            and (level != WEAK or not is_flag)
            and data[value.start : value.start + 1] not in b"-("
        ):
            judge(scan, value, level, certain=True, rule="flag" if is_flag else "setter")
        return
    if level == WEAK:
        return
    if GOES_ON.match(data, name_end):
        named_before(scan, left, level)
    if said_after(scan, left, place, level):
        return
    named = WORD.match(data, place) if level == PASSWORD else None
    if named:
        _stands_after(scan, named.end(), level)
    else:
        _right_after(scan, left, name_end, place, level)


def said_after(scan: Scan, left: int, place: int, level: int) -> bool:
    """Whether words such as `is` or `to` follow; adds what stands behind them."""
    data = scan.data
    both = _from_to(scan, left, place)
    if both:
        stands_out(scan, values.Value(*both.span(1), False), level, rule="said-before")
    said = both or _to(scan, left, place) or IS.match(data, place)
    if said is None:
        return False
    place = said.end()
    if PREPOSITION.match(said[0]):
        while data[place : place + 1] in (b" ", b"\t"):
            place += 1
    value = values.read(data, place)
    if value is None:
        return True
    is_loose = said is both or said[0] == b"(" or b"\n" in said[0] or said[0].endswith(b"- ")
    if is_loose or CLAUSE.match(said[0]):
        stands_out(scan, value, level, rule="said")
    else:
        _said(scan, value, level)
    return True


def _to(scan: Scan, left: int, place: int) -> re.Match[bytes] | None:
    """The words of a change: `set the secret of x to …`."""
    changed = TO.match(scan.data, place)
    return changed if changed and CHANGE.search(scan.low, max(0, left - REACH), left) else None


def _from_to(scan: Scan, left: int, place: int) -> re.Match[bytes] | None:
    """The words up to the second of two values: `was changed from … to …`."""
    if scan.data.find(b"from ", place, place + 46) < 0:
        return None
    both = FROM_TO.match(scan.data, place)
    is_change = CHANGED.match(scan.low, place) or CHANGE.search(
        scan.low, max(0, left - REACH), left
    )
    return both if is_change else None


def _said(scan: Scan, value: values.Value, level: int) -> None:
    """Adds what a sentence plainly calls so, if no word looks like it."""
    data = scan.data
    start, end, quoted = value
    text = data[start:end] if quoted else data[start:end].rstrip(b".!?,;:")
    if level == PASSWORD and not quoted:
        text = data[start:end].rstrip(b".,;:?")
    kinds = set(text.translate(shape.KIND))
    is_odd = 3 in kinds and not kinds <= {3, 0}
    is_odd = is_odd or shape.is_mixed(text) or shape.is_jumble(shape.letters(text[:300]))
    if level == PASSWORD and (len(text) < 6 or not is_odd):
        return
    judge(scan, values.Value(start, start + len(text), quoted), level, certain=False, rule="said")


def at_the_end(scan: Scan, start: int, end: int) -> None:
    """What stands before or behind a word that ends its sentence: `password? …`."""
    data = scan.data
    word = WORD_END.match(data, end)
    is_asked = word is not None and word[2] is not None
    if word is None or not (is_asked or _may_name(scan, start)):
        return
    before = data[max(0, start - 40) : start]
    left = start - (len(before) - len(before.rstrip(NAME)))
    level = strength(data[left : word.end(1)])
    if level > WEAK:
        named_before(scan, left, level)
        if is_asked:
            _stands_after(scan, word.end(), level)


def _may_name(scan: Scan, left: int) -> bool:
    window = scan.data[max(0, left - REACH) : left]
    return b" (" in window or b" as " in window or b" is " in window


def named_before(scan: Scan, left: int, level: int) -> None:
    """What a sentence names before the word: `use … as the password`, `… (the root password)`."""
    match = None
    if _may_name(scan, left):
        match = NAMED_BEFORE.search(scan.data, max(0, left - REACH - 80), left)
    value = values.read(scan.data, match.start(1)) if match else None
    if match and value and value.end <= match.end(1):
        stands_out(scan, value, level, rule="said-before")
        old = FROM.search(scan.data, max(0, value.start - 90), value.start)
        if old:
            stands_out(scan, values.Value(*old.span(1), False), level, rule="said-before")


def _right_after(scan: Scan, left: int, name_end: int, place: int, level: int) -> None:
    """What follows the word with nothing between, if it can be nothing but a secret."""
    value = values.read(scan.data, place)
    if value is None:
        return
    name, text = scan.data[left:name_end], scan.data[value.start : value.end]
    is_compound = b" " not in name and not (name.islower() or name.istitle())
    if value.quoted and is_compound and not shape.DIGIT.isdisjoint(text):
        judge(scan, value, level, certain=False, rule="right-after")
    else:
        ends = None if name.lower() == b"pass" else ENDS.match(scan.data, value.end)
        is_said = value.quoted or ends or THE.search(scan.low, max(0, left - REACH), left)
        stands_out(scan, value, level, rule="right-after", is_said=bool(is_said))


def stands_out(
    scan: Scan, value: values.Value, level: int, *, rule: str, is_said: bool = True
) -> None:
    """Adds the value if no word and no name looks like it; is it said, it may be one of words."""
    start, end, quoted = value
    text = scan.data[start:end].rstrip(b".,;:?)" if b"(" not in scan.data[start:end] else b".,;:?")
    if shape.is_reference(text, quoted=quoted) or shape.is_placeholder(text):
        return
    if FINGERPRINT.match(text) or shape.NAMED_VALUE.match(text) or shape.NUMBER.match(text):
        return
    is_secret = level != PASSWORD and shape.is_token(text, 20, hard=True) and text[:1] != b"/"
    is_secret = is_secret or (level >= SECRET and is_said and shape.is_chosen(text, plain=True))
    is_secret = is_secret or ((level == PASSWORD or quoted) and level >= SECRET and _is_odd(text))
    if is_secret:
        scan.add(start, start + len(text), rule)


def _is_odd(text: bytes) -> bool:
    """Signs, figures and letters in an order that no word and no name has."""
    kinds = set(text.translate(shape.KIND))
    if len(text) >= 8 and 3 in kinds and len(kinds) >= 3 and not shape.SLUG.match(text):
        has_sign = not set(text).isdisjoint(b"!@#$%^&*")
        if has_sign or shape.is_wild(text):
            return True
    letters = shape.letters(text[:300])
    return shape.is_jumble(letters) and shape.turns(letters) >= 4
