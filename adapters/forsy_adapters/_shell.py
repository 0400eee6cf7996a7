"""What a shell's command line says by itself: how it came out, is it whole, whose are the next?"""

import re

from forsy_retrace.events import Outcome
from forsy_retrace.sdk import later

EXITS: dict[int, Outcome] = {
    0: "ok",
    130: "interrupted",
    -2: "interrupted",
    141: "unknown",  # SIGPIPE: the reader of a pipe had enough
    -13: "unknown",
}
"""What an exit status says of a command, where it does not say that it failed."""
LAUNCH = later(r"[^&\\]&[!|]?\Z")
"""The end of a line that is left to run: its status tells of the start alone."""
LEAVES = later(r"(?:exit|logout)(?:\s+\d+)?(?:\s*;)?")
ENTERS = later(
    r"(?:sudo\s+)?(?:(?:bash|zsh|fish|sh|su)(?:\s+-(?!c\b)\S*)*(?:\s+\w+)?"
    r"|ssh(?:\s+-\S+(?:\s+\d+)?)*\s+\S+)\Z"
    r"|sudo\s+-[is]\Z|(?:docker|podman|kubectl)\s+exec\s(?:\S+\s)*?-(?:it|ti|i)\s"
)
LONGEST = 1000
"""Characters of a command that are looked at for another shell."""


def outcome(command: str, exit: int | None) -> Outcome:
    """What came of a command by its exit status; unknown without one."""
    if exit is None:
        return "unknown"
    return "launched" if LAUNCH.search(command.rstrip()[-3:]) else EXITS.get(exit, "failed")


def leaves(command: str) -> bool:
    """Whether a command ends its shell."""
    return LEAVES.fullmatch(command.strip()[:LONGEST]) is not None


def enters(command: str) -> bool:
    """Whether the commands behind it are another shell's."""
    return ENTERS.match(command.strip()[:LONGEST]) is not None


QUOTES = later(r"\\.|(?<!\S)#[^\n]*|(\$'|['\"])", re.DOTALL)
CLOSERS: dict[str, re.Pattern[str]] = {
    "'": later(r"[^']*+'"),
    "$'": later(r"(?:[^'\\]|\\.)*+'", re.DOTALL),
    '"': later(r'(?:[^"\\]|\\.)*+"', re.DOTALL),
}


def unquoted(text: str, quote: str = "") -> tuple[str, str]:
    """A text with `_` for what is quoted and nothing for comments; and the quote left open."""
    parts: list[str] = []
    at = 0
    while True:
        if quote:
            closed = CLOSERS[quote].match(text, at)
            if closed is None:
                return "".join(parts), quote
            at = closed.end()
        found = QUOTES.search(text, at)
        parts.append(text[at : found.start() if found else len(text)])
        if found is None:
            return "".join(parts), ""
        parts.append("" if found[0][0] == "#" else "_")
        at, quote = found.end(), found[1] or ""


BEGINS = later(
    r"(?:^[ \t]*|[;&|({][ \t]*|\b(?:do|then|else)[ \t]+)(?:for|while|until|select|if|case)\b"
    r"|(?:^[ \t]*|[;&|({)][ \t]*|\b(?:do|then|else)[ \t]+|\bfunction[ \t]+\S+[ \t]+)\{(?=\s|\Z)"
    r"|\((?=[ \t]*$)",
    re.MULTILINE,
)
ENDS = later(r"(?:^|[;&|])[ \t]*(?:(?:done|fi|esac)\b|\})|^[ \t]*\)", re.MULTILINE)
GOES_ON = later(r"(?:\\|(?:\||&&)\s*)\Z")
DOCUMENT = later(r"<<-?\s*['\"]?(\w{1,40})")


def opened(bare: str) -> int:
    """How many more blocks a text without its quotes begins than it ends."""
    return len(BEGINS.findall(bare)) - len(ENDS.findall(bare))


def goes_on(bare: str) -> bool:
    """Whether a text without its quotes ends in what asks for another line: `\\`, `|`, `&&`."""
    return GOES_ON.search(bare) is not None


def is_unfinished(command: str) -> bool:
    """An open quote, block, bracket, pipe or here-document."""
    bare, quote = unquoted(command)
    brackets = bare.count("(") > bare.count(")")
    lines = [line.strip() for line in command.split("\n")[1:]]
    waits = any(word not in lines for word in DOCUMENT.findall(command))
    return bool(quote or brackets or opened(bare) > 0 or waits or goes_on(bare))
