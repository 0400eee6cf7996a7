"""Secrets that a sentence or a command's words give: `the password is …`, `--token …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import shape, values
from forsy_retrace.redaction.strength import PASSWORD, WEAK, judge

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Scan

PREPOSITIONS = rb"(?:for|of|to|on|in|do|da|de|del|di|f\xc3\xbcr|von|\xd0\xbe\xd1\x82) "
IS = later(
    PREPOSITIONS + rb"[^\n:=]{1,60}?"
    rb"(?:: ?| (?:is|ist|es|est|\xc3\xa9|\xc3\xa8) |=)|(?:is|was|are|will be|set to|changed to"
    rb"|reset to|now|be|should be|to be|becomes?|es|est|ist|lautet|\xc3\xa9|\xc3\xa8|\xc3\xa4r|er"
    rb"|este|jest|\xe2\x80\x94|\xe2\x80\x93)(?: (?:now|still|just|also|set to|currently"
    rb"|always))?(?::| is)?[ \t]{1,3}|(?:=|:|->|=>)[ \t]{1,3}|\("
    rb"|(?:is|are|was|below|follows|as follows) ?:[ \t]{0,4}\r?\n(?:[ \t]{0,4}\r?\n)?[ \t]{0,40}"
)
PREPOSITION = later(PREPOSITIONS)
TO = later(rb"(?:(?:of|for) [^\n:=]{1,40}? )?to:?[ \t]{1,3}")
FINGERPRINT = later(rb"(?:0x)?[0-9A-F]{16}(?:[0-9A-F]{24})?$")
CHANGE = later(rb"\b(?:set|chang(?:e|ed|ing)|reset|updat(?:e|ed|ing))\b[^\n.]{0,40}$")
REACH = 60
# The words of a file or a shell that give a name its value.
SETTERS = (
    *(b"ENV", b"ARG", b"SetEnv", b"setenv", b"setx", b"fastcgi_param"),
    *(b"set -g", b"set -x", b"set -gx", b"set -xg", b"set -Ux", b"set -Ugx"),
)


def after_space(scan: Scan, left: int, name_end: int, place: int, level: int) -> None:
    """What stands behind a key and a space."""
    data = scan.data
    is_flag = data[left : left + 1] == b"-"
    if is_flag or data[max(0, left - 20) : left].rstrip(b" \t").endswith(SETTERS):
        value = values.read(data, place)
        if value and (level != WEAK or not is_flag) and data[value.start : value.start + 1] != b"-":
            judge(scan, value, level, certain=True, rule="flag" if is_flag else "setter")
        return
    if level == WEAK:
        return
    said = IS.match(data, place)
    changed = TO.match(data, place) if said is None else None
    if changed and CHANGE.search(data, max(0, left - REACH), left):
        said = changed
    if said is None:
        _right_after(scan, left, name_end, place, level)
        return
    place = said.end()
    if PREPOSITION.match(said[0]):
        while data[place : place + 1] in (b" ", b"\t"):
            place += 1
    value = values.read(data, place)
    if value is None:
        return
    if said[0] == b"(" or b"\n" in said[0]:
        stands_out(scan, value, level, rule="said")
        return
    start, end, quoted = value
    text = data[start:end] if quoted else data[start:end].rstrip(b".!?,;:")
    if level == PASSWORD and not quoted:
        text = data[start:end].rstrip(b".,;:?")
    kinds = set(text.translate(shape.KIND))
    is_odd = 3 in kinds and not kinds <= {3, 0}
    if level == PASSWORD and (len(text) < 6 or not (is_odd or shape.is_mixed(text))):
        return
    judge(scan, values.Value(start, start + len(text), quoted), level, certain=False, rule="said")


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
        stands_out(scan, value, level, rule="right-after")


def stands_out(scan: Scan, value: values.Value, level: int, *, rule: str) -> None:
    """Adds the value if no word and no name looks like it."""
    start, end, quoted = value
    text = scan.data[start:end].rstrip(b".,;:?")
    if shape.is_reference(text, quoted=quoted) or shape.is_placeholder(text):
        return
    if FINGERPRINT.match(text) or shape.NAMED_VALUE.match(text):
        return
    if level == PASSWORD:
        kinds = set(text.translate(shape.KIND))
        has_sign = not set(text).isdisjoint(b"!@#$%^&*")
        is_secret = len(text) >= 8 and 3 in kinds and len(kinds) >= 3
        is_secret = is_secret and (has_sign or shape.is_wild(text))
        is_secret = is_secret and not shape.SLUG.match(text)
    else:
        is_secret = shape.is_token(text, 20, hard=True) and text[:1] != b"/"
    if is_secret:
        scan.add(start, start + len(text), rule)
