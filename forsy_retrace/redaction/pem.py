"""Private keys in armour: whole, cut at the tail, cut at the head, or with line numbers in them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import shape
from forsy_retrace.redaction.names import after_escape

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

HEAD = later(
    rb"-{4,6} ?BEGIN (?:[A-Z0-9-]{1,20} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}",
    re.IGNORECASE,
)
TAIL = later(
    rb"-{4,6} ?END (?:[A-Z0-9-]{1,20} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}",
    re.IGNORECASE,
)
# What may stand between head and body: line ends, quotes, numbers of lines, signs of a diff.
BETWEEN = later(
    rb"(?:<br ?/?>|\\{1,8}(?:[nrt\"'/]|\r?\n)|//(?=[ \t])|[\s\"'`#*+,>|:;.<()\xe2\x86\x92\x94\x82]"
    rb"|[0-9]{1,6}(?=[\t:|\xe2])|&[a-z]{2,4};"
    rb"|Proc-Type: ?[0-9],[A-Z]{3,12}|DEK-Info: ?[A-Z0-9-]{3,20},(?:[0-9A-F]{16}){1,2}"
    rb"|(?:Version|Comment|Hash|Subject|X-[A-Za-z]{1,20}):"
    rb"(?:(?![^A-Za-z0-9+/][A-Za-z0-9+/]{40})[^\n\\]){0,120}){0,60}"
)
LINE = later(rb"=?[A-Za-z0-9+/=]{4,2000}(?:\\/[A-Za-z0-9+/=]{0,200}){0,40}")
LINES = 2000
ARMOUR = 120
"""Lines of a key that may have something before them."""
VAULT_LINES = 400
REACH = 1 << 16
"""Bytes between the head and the tail of a key whose lines have something before them."""
AROUND = 120
"""Bytes of a head or tail."""
TOLD_ALONE = 40
WIDE = later(rb"[A-Za-z0-9+/=]{40,2000}")
"""A line of a key, wherever on a line of the text it stands."""
DIGEST = later(rb"sha256:[0-9a-f]{64}(?![A-Za-z0-9+/=])")
"""What is no line of a key, though it is as wide: the mark of a cut output ends in one."""
LONGEST = 4096
"""Bytes of such a line with what stands before it."""
BEHIND = 8
"""Bytes that may stand behind such a line: a quote, a comma, a sign of its end."""
HEADERS = 4
"""Lines between a head and its body: `Proc-Type: 4,ENCRYPTED`, one that is blank."""
BODY = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
CLEAN = later(rb"(?:[A-Za-z0-9+/=\s]|\\[nr]){0,70000}")
# How private keys in DER begin in base64: PKCS #1, PKCS #8 plain and encrypted, SEC 1.
DER = later(
    rb"MII[A-Za-z0-9+/]{2}(?:[AQgw]IBA(?:DANBgkqhkiG9w0BAQEFAASC|AKCA[QgY]|AKBg)"
    rb"|[A-Za-z0-9+/]{3}BgkqhkiG9w0BBQ0w)|MHcCAQEE|MIGkAgEBBDA|MIHcAgEBBEI"
    rb"|MI(?:GH|G2|Hu)AgEAMB[AM]GByqGSM49AgEG|MC4CAQAwBQYDK2V[uw]BCIE"
)
DER_AT = {
    b"ibadanbgkqhkig9w0baqefaasc": 6,
    b"ibaakca": 6,
    b"ibaakbg": 6,
    b"bgkqhkig9w0bbq0w": 8,
    b"mhccaqee": 0,
    b"migkagebbda": 0,
    b"mihcagebbei": 0,
    b"ageambmgbyqgsm49ageg": 4,
    b"ageambagbyqgsm49ageg": 4,
    b"mc4caqawbqydk2v": 0,
}
"""How far behind the beginning of such a key a part of it stands that none but it has."""
# The figures of a key as `openssl rsa -text` shows them.
FIGURES = later(
    rb"[ \t]{0,4}\r?\n[ \t]{1,20}((?:[ \t]{0,20}(?:[0-9a-f]{2}:){2,31}[0-9a-f]{0,2}\s{1,3}){1,160})"
)
# What Ansible has sealed: anybody may guess at its password.
VAULT = later(
    rb"[0-9.]{3,5};AES(?:256)?(?:;[\w.-]{1,60})?"
    rb"((?:[ \t]{0,8}\r?\n[ \t]{0,60}[0-9a-f]{8,80}){1,2000})(?![0-9a-zA-Z_:=-])"
)
PUTTY = later(rb"Private-Lines: ?[0-9]{1,3}(?:\r?\n|\\{1,8}n)")


def rows() -> Iterator[tuple[bytes, Rule]]:
    yield b"-- begin ", _from_head
    yield b"--begin ", _from_head
    yield b"--end ", _from_tail
    yield b"-- end ", _from_tail
    yield b"private-lines:", _putty
    yield b"$ansible_vault;", _vault
    for part, before in DER_AT.items():
        yield part, partial(_without_armour, before)
    for name in (b"privateexponent:", b"prime1:", b"prime2:", b"exponent1:", b"exponent2:"):
        yield name, _figures
    yield b"coefficient:", _figures
    yield b"\npriv:", _figures


def _from_head(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    while start and data[start - 1] == 0x2D and end - start < 16:
        start -= 1
    head = HEAD.match(data, start)
    if head and head.end() > scan.pem:
        scan.hanging.append((start, ARMOUR))
        _mask_body(scan, head.end(), "private-key")
        _mask_between(scan, head.end())


def _mask_between(scan: Scan, begin: int) -> None:
    """The lines up to the tail that have a name, a time or a sign before them, each on its own."""
    data = scan.data
    place = max(begin, scan.pem)
    tail = TAIL.search(data, max(place, scan.tailless), place + REACH)
    if tail is None:
        scan.tailless = max(place, place + REACH - AROUND)
        _downwards(scan, begin)
    if tail is None or HEAD.search(data, place, tail.start()):
        return
    last = _line_end(data, begin, tail.start())
    wide = _wide(data, place, last)
    if wide:
        _add_last(scan, wide[-1][1], last)
    for start, end in wide:
        scan.add(start, end, "private-key-line")
    scan.pem = max(scan.pem, tail.start()) if wide else scan.pem


def _downwards(scan: Scan, begin: int) -> None:
    """The lines behind the head of a key that was cut: each has one wide run, at its end."""
    data = scan.data
    found = 0
    end = data.find(b"\n", begin, begin + AROUND)
    for number in range(LINES if end >= 0 else 0):
        start = end + 1
        end = data.find(b"\n", start, start + LONGEST)
        end = end if end >= 0 else len(data)
        if start > end or end - start > LONGEST:
            return
        wide = _wide(data, start, end)
        if len(wide) == 1 and end - wide[0][1] <= BEHIND:
            scan.add(*wide[0], "private-key-line")
            scan.pem = max(scan.pem, wide[0][1])
            found += 1
        elif found or number >= HEADERS:
            return


def _wide(data: bytes, begin: int, end: int) -> list[tuple[int, int]]:
    """Where lines of a key may stand between two places."""
    spans = (line.span() for line in WIDE.finditer(data, begin, end))
    return [span for span in spans if not DIGEST.match(data, max(0, span[0] - 7))]


def _line_end(data: bytes, floor: int, place: int) -> int:
    """Where the line before that of a place ends."""
    return max(floor, data.rfind(b"\n", floor, place))


def _add_last(scan: Scan, after: int, end: int) -> None:
    """The short line behind the wide ones, which end here; what follows both is the same."""
    data = scan.data
    wide_end = data.find(b"\n", after, end)
    if wide_end < 0:
        return
    begin = data.rfind(b"\n", wide_end, end) + 1
    line = data[begin:end].rstrip().removesuffix(data[after:wide_end].strip()).rstrip()
    short = len(line) - len(line.rstrip(BODY))
    if short >= 4:
        scan.add(begin + len(line) - short, begin + len(line), "private-key-line")


def _putty(scan: Scan, start: int, end: int) -> None:
    head = PUTTY.match(scan.data, start)
    if head:
        scan.hanging.append((start, ARMOUR))
        _mask_body(scan, head.end(), "putty-key")


def _vault(scan: Scan, start: int, end: int) -> None:
    scan.hanging.append((start, VAULT_LINES))
    if sealed := VAULT.match(scan.data, end):
        begin = sealed.end(1) - len(sealed[1].lstrip())
        scan.add(begin, sealed.end(1), "ansible-vault", value=b"".join(sealed[1].split()))


def _without_armour(before: int, scan: Scan, start: int, end: int) -> None:
    """A key in bare base64, as long as its first bytes say."""
    data, begin = scan.data, start - before
    if begin < scan.pem or not DER.match(data, begin):
        return
    head = base64.b64decode(data[begin : begin + 8])
    wide = head[1] & 0x7F if head[1] > 0x7F else 0  # how many bytes tell the length
    size = int.from_bytes(head[2 : 2 + wide]) if wide else head[1]
    _mask_body(scan, begin, "private-key", -(-(2 + wide + size) // 3) * 4)


def _figures(scan: Scan, start: int, end: int) -> None:
    scan.hanging.append((start, ARMOUR))
    if figures := FIGURES.match(scan.data, end):
        scan.add(figures.start(1), figures.start(1) + len(figures[1].rstrip()), "private-figures")


def _mask_body(scan: Scan, begin: int, rule: str, most: int = REACH) -> None:
    """The lines of a key from here on, up to so many letters."""
    data = scan.data
    lines: list[tuple[int, int]] = []
    place = begin
    for _ in range(LINES):
        gap = BETWEEN.match(data, place)
        place = gap.end() if gap else place
        line = LINE.match(data, place)
        if line is None:
            break
        is_word = len(line[0]) < 16 and b"=" not in line[0] and not shape.is_wild(line[0])
        if is_word and lines and not _ends_here(data, line.end()):
            break  # it stands after a key that was cut
        place = min(line.end(), line.start() + most)
        lines.append((line.start(), place))
        most -= place - line.start()
        if most <= 0:
            break
    scan.pem = place
    if not lines or sum(b - a for a, b in lines) < 16:
        return
    first, last = lines[0][0], lines[-1][1]
    if CLEAN.fullmatch(data, first, last):
        scan.add(first, last, rule, value=b"".join(data[a:b] for a, b in lines))
        # A line of it is known where it stands alone, too.
        lines = [(a, b) for a, b in lines if b - a >= TOLD_ALONE]
    for a, b in lines:
        scan.add(a, b, rule)


def _ends_here(data: bytes, place: int) -> bool:
    return TAIL.search(data, place, place + 60) is not None


def _from_tail(scan: Scan, start: int, end: int) -> None:
    """The head is missing: the lines before the tail, backwards."""
    data = scan.data
    while start and data[start - 1] == 0x2D:
        start -= 1
    if start <= scan.pem + 24 or not TAIL.match(data, start):
        return
    place, first, count = start, start, 0
    floor = max(scan.pem, start - 16384)
    while place > floor:
        stop = (
            place
            - len(data[max(floor, place - 8) : place])
            + len(data[max(floor, place - 8) : place].rstrip(b" \t\r\n"))
        )
        if stop >= 2 and data[stop - 2 : stop] == b"\\n":
            stop -= 2
        window = data[max(floor, stop - 2000) : stop]
        run = len(window) - len(window.rstrip(BODY))
        begin = stop - run
        begin = after_escape(data, begin, stop)
        if run < (4 if count == 0 else 40):
            break
        first, place, count = begin, begin, count + 1
    if start - first < 40:
        _upwards(scan, floor, start)
    else:
        last = first + len(data[first:start].rstrip(b" \t\r\n"))
        if data[last - 2 : last] == b"\\n":
            last -= 2
        scan.add(first, last, "private-key-end")
    scan.pem = max(scan.pem, start)


def _upwards(scan: Scan, floor: int, tail: int) -> None:
    """The lines above a tail that have something before them."""
    data = scan.data
    end = last = _line_end(data, floor, tail)
    nearest = 0
    while end > floor:
        begin = max(floor, data.rfind(b"\n", floor, end))
        wide = _wide(data, begin, end)
        if len(wide) == 1:
            scan.add(*wide[0], "private-key-line")
            nearest = nearest or wide[0][1]
        elif end != last:
            break
        end = begin
    if nearest:
        _add_last(scan, nearest, last)
