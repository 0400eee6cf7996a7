"""Entries of shell histories as their programs write them: any bytes give a value."""

import re
from typing import Any

from forsy_retrace.patterns import later

Entry = dict[str, Any]


def text(data: bytes) -> str:
    """The bytes as text, to the letter; what is no UTF-8 is replaced."""
    return data.decode("utf-8", "replace")


def line(data: bytes) -> Entry:
    """The command, and nothing else."""
    return {"command": text(b"\n".join(_lines(data)))}


def newest(data: bytes) -> Entry:
    """The last line of the command stands first."""
    return {"command": text(b"\n".join(_lines(data)[::-1]))}


def _lines(data: bytes) -> list[bytes]:
    """Lines without the carriage return that Cygwin puts before a line feed."""
    return [one.removesuffix(b"\r") for one in data.split(b"\n")]


STAMP = later(rb"#(\d{9,10})\s*")


def bash(data: bytes) -> Entry:
    """`#1700000000` on a line of its own, then the command; or the command alone."""
    lines = _lines(data)
    stamp = STAMP.fullmatch(lines[0]) if len(lines) > 1 else None
    if stamp is None:
        return line(data)
    return {"time": int(stamp[1]), "command": text(b"\n".join(lines[1:]))}


EXTENDED = later(rb": ?(\d{1,11}):(\d{1,11});")
METAFIED = later(rb"\x83(.)", re.S)


def zsh(data: bytes) -> Entry:
    """`: 1700000000:5;command`, or the command; `\\` before a line feed goes on."""
    lines = data.split(b"\n")
    goes_on = [one.removesuffix(b"\\") for one in lines[:-1]]
    body = b"\n".join([*goes_on, lines[-1]])
    stamp = EXTENDED.match(body)
    found = {"start": int(stamp[1]), "elapsed": int(stamp[2])} if stamp else {}
    body = body[stamp.end() :] if stamp else body
    if not stamp and body.startswith(b"\\:"):
        body = body[1:]
    if body.endswith(b" ") and body.rstrip(b" \t").endswith(b"\\"):
        body = body[:-1]  # zsh adds it, lest the backslash go on
    return {**found, "command": text(unmetafied(body))}


def unmetafied(data: bytes) -> bytes:
    """Without zsh's escapes: 0x83, then the byte with its sixth bit flipped.

    Metafied bytes are never UTF-8. What is UTF-8 was saved again by an editor, which put U+FFFD
    where it could not read: then the escapes are lost, and undoing the rest makes it worse.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return METAFIED.sub(lambda found: bytes([found[1][0] ^ 0x20]), data)
    return data


FIELD = later(rb"  (when|added_when): (\d{1,11})\s*")
ESCAPED = later(rb"\\([\\n])")


def fish(data: bytes) -> Entry:
    """`- cmd: …`, `  when: …`, `  paths:` and `    - …` below it. It is no YAML."""
    head, *rest = _lines(data)
    found: Entry = {"command": text(_unescaped(head.removeprefix(b"- cmd:").removeprefix(b" ")))}
    for one in rest:
        if field := FIELD.fullmatch(one):
            found[field[1].decode()] = int(field[2])
        elif one.startswith(b"    - "):
            found.setdefault("paths", []).append(text(_unescaped(one[6:])))
    return found


def _unescaped(data: bytes) -> bytes:
    """In one pass: `\\\\n` is a backslash and an n."""
    return ESCAPED.sub(lambda found: b"\n" if found[1] == b"n" else b"\\", data)


def psreadline(data: bytes) -> Entry:
    """A backtick before a line feed goes on; a second one is the user's own."""
    *goes_on, last = _lines(data)
    return {"command": text(b"\n".join([*(one.removesuffix(b"`") for one in goes_on), last]))}


def nushell(data: bytes) -> Entry:
    """A line feed is written `<\\n>`."""
    return {"command": text(b"\n".join(_lines(data)).replace(b"<\\n>", b"\n"))}


OCTAL = later(rb"\\(?:([0-3][0-7]{2})|M-(.)|M\^(.)|\^(.)|(\\))", re.S)


def libedit(data: bytes) -> Entry:
    """Spaces and odd bytes written as `\\040`, as vis(3) does."""

    def plain(found: re.Match[bytes]) -> bytes:
        octal, meta, both, control, backslash = found.groups()
        if octal:
            return bytes([int(octal, 8)])
        if control or both:
            return bytes([((control or both)[0] ^ 0x40) & 0x7F | (0x80 if both else 0)])
        return bytes([meta[0] | 0x80]) if meta else backslash

    return {"command": text(OCTAL.sub(plain, b"\n".join(_lines(data))))}


def psql(data: bytes) -> Entry:
    """A line feed inside a statement is written as byte 1."""
    return {"command": text(b"\n".join(_lines(data)).replace(b"\x01", b"\n"))}
