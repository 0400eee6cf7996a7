"""What did a call print, and what does a shell line say that it could not read?

A line that went through as a whole may have failed in part, and says so itself: by a program's
complaint (`cat: a.py: No such file or directory`), or by the words of an `|| echo WORDS` behind the
commands that came to nothing.
"""

from typing import NamedTuple

import orjson

from forsy_retrace.events import Change
from forsy_retrace.frames import below_header
from forsy_retrace.patterns import later
from forsy_retrace.sdk import packed, parsed
from forsy_retrace.trace import Step

from .found import NOTHING

SANDBOX = later(
    r"\A.{0,40}failed in sandbox .{0,120}?stdout:\s*(?:,\s*stderr:\s*)?|,\s*stderr:\s*\Z"
)
"""What Codex writes around what a command printed that its sandbox stopped."""
EMPTY = later(
    r"(?s)\s*(?:No (?:matches|files|results|symbols|references|matching deferred tools) found.*"
    r"|\(Bash completed with no output\)|Found 0 .*|Exit code 1|\[\]"
    r"|Your command ran successfully and did not produce any output\."
    r"|<system-reminder>Warning: the file exists but [^<]*</system-reminder>)?\s*"
)
"""What tools write where they found nothing."""
FOUND = ("results", "matches", "items", "hits", "files", "entries", "documents")
"""Under which of these names a tool's answer lists what was found."""
ASKED = ("query", "q", "pattern")
"""Under which of these names it repeats what was asked for."""
AROUND = ("htmllang", "lang", "language", "locale", "country", "region", "requestid")
"""Under which of these names, however they are spelt, it speaks of the lookup itself."""
PYTHONS = later(r"'|\b(?:None|True|False)\b")
JSONS = {"'": '"', "None": "null", "True": "true", "False": "false"}
BEHIND = later(r"\s*<system-reminder>Warning: the file exists but is shorter than [^<]*<\S+\s*")
"""What Claude Code writes where a read was to begin behind the end of its file."""
UNCHANGED = later(
    r"\s*(?:File unchanged since last read\.|Wasted call \u2014 file unchanged since your last Read\."
    r"|<system-reminder>This file is already in your context)[^\n]*\s*"
)
"""What Claude Code writes in place of a file that it showed before."""
NUMBERED = later(r" *(\d{1,9})(?:→|\t)")
"""What stands before each line of a file that a read shows."""
ANNOUNCED = later(r"(?m)^(?:> [^\n]{1,200}\n> |(?:\[[\w:.-]{1,60}\] )?\$ )(?P<line>[^\n]{1,400})$")
"""How npm, pnpm, Yarn, Bun and mise show the line that a script stands for."""
BEGINNING = 4000
"""Characters of an output in which the lines of scripts are looked for."""
SHORT = 2000
"""Characters of an output that may say no more than that."""
COMPLAINT = later(
    r"(?m)^(?P<program>[\w.+-]{1,40}): (?:error: )?"
    r"(?:(?:cannot|can't|could not|couldn't) (?:access|open|read|stat)(?: file| directory)? )?"
    r"['\"`‘]?(?P<path>[^\n'\"`‘’]{1,400}?)['\"`’]?(?: for reading)?: (?:open: )?"
    r"(?:No such file or directory|Permission denied|Is a directory|Not a directory)"
    r"(?: \(os error \d+\))?$\n?"
)
NOT_ENTERED = later(
    r"(?mi)^(?:[^\n]{0,80}: ?)?cd(?::\d+)?: (?:no such file or directory: ([^\n]+)"
    r"|([^\n]+): (?:no such file or directory|not a directory|permission denied))$"
)
"""How a shell says that it could not go to a folder."""
ENDS = ("directory", "Permission denied")
"""One of these is in every complaint."""


class Unread(NamedTuple):
    """The reads of a line that came to nothing, and what it printed besides."""

    paths: frozenset[tuple[str, str]] = frozenset()
    """Each program with a path that it could not read, as the line gives it."""
    commands: frozenset[int] = frozenset()
    """The places of those commands of the line that came to nothing."""
    rest: str = ""

    @property
    def is_all(self) -> bool:
        """Whether the rest holds nothing but the word that there is nothing."""
        if len(self.rest) > SHORT:
            return False
        if self.rest.lstrip()[:1] == "{" and _lists_nothing(self.rest):
            return True
        return EMPTY.fullmatch(self.rest) is not None or NOTHING.fullmatch(self.rest) is not None

    def holds(self, at: int, program: str, path: str) -> bool:
        """Whether the command at a place of the line failed to read a path."""
        return at in self.commands or (program, path) in self.paths


def _lists_nothing(text: str) -> bool:
    """Whether an object that a tool answers with holds nothing but an empty list of what it found."""
    if text.lstrip()[1:2] == "'":  # Python's own way to print one
        text = PYTHONS.sub(lambda found: JSONS[found[0]], text)
    try:
        told = orjson.loads(text)
    except ValueError:
        return False
    return isinstance(told, dict) and any(map(_is_list_of_none, told.items())) and _is_bare(told)


def _is_list_of_none(item: tuple[object, object]) -> bool:
    name, value = item
    nested = isinstance(value, str) and value[:1] == "{" and _lists_nothing(value)
    return nested or (name in FOUND and value == [])


def _is_bare(value: object, name: object = "") -> bool:
    """Figures, flags, what was asked for, and empty lists: nothing that was found."""
    match value:
        case dict():
            return all(_is_bare(one, key) for key, one in value.items())
        case list():
            return not value
        case str():
            aside = name in ASKED or str(name).replace("_", "").lower() in AROUND
            return not value or aside or (value[0] == "{" and _lists_nothing(value))
    return True


def bare_output(step: Step) -> str:
    """What a call printed up to its end, without what the harness wrote around it."""
    text = below_header(step.printed)
    return SANDBOX.sub("", text) if "failed in sandbox" in text[:80] else text


def texts_within(text: str) -> str:
    """The texts of an MCP server's answer, which some harnesses keep as the list of its blocks."""
    if text[:2] != "[{":
        return text
    match parsed(text):
        case [{"type": "text", "text": str()}, *_] as blocks:
            return "\n".join(one["text"] for one in blocks if isinstance(one.get("text"), str))
    return text


def error_within(text: str) -> str:
    """The error that a tool's answer in JSON names under `error`; the text where it names none."""
    if text[:1] != "{":
        return text
    match parsed(text):
        case {"error": str(said)} | {"error": {"message": str(said)}} if said.strip():
            return said
    return text


def shows_none(step: Step) -> bool:
    """Whether a read shows no line of its file: it is known, or was to be read behind its end."""
    text = step.printed[:SHORT]
    return any(words.fullmatch(text) is not None for words in (BEHIND, UNCHANGED))


def numbered(text: str, path: str, first: int, limit: int | None) -> Change | None:
    """What a read shows of a file whose lines it numbers; None where it doesn't.

    Lines count while their numbers do, so that a table's first column is no number of a line. The
    empty line behind a file's last one is none of its lines; it shows unless the limit was met. A
    terminal sets a carriage return before each line feed.
    """
    text = text.replace("\r\n", "\n")
    shown = _each_numbered(text, first) or _lines_numbered(text, first)
    if len(shown) > 1 and not shown[-1] and (limit is None or len(shown) < limit):
        shown.pop()
    return Change(path, "shown", shown=packed("\n".join(shown)), start=first) if shown else None


def _each_numbered(text: str, first: int) -> list[str]:
    """The lines of a text that has a number in front of each; empty where one has none, or another."""
    mark = "→" if "→" in text else "\t"
    lines = [line.partition(mark) for line in text.split("\n")]
    for number, (head, marked, _) in enumerate(lines, first):
        if not marked or head.lstrip(" ") != str(number):
            return []
    return [line for _, _, line in lines]


def _lines_numbered(text: str, first: int) -> list[str]:
    shown = list[str]()
    for line in text.split("\n"):
        found = NUMBERED.match(line)
        if found and int(found[1]) == first + len(shown):
            shown.append(line[found.end() :])
        elif shown or not line.endswith(":"):  # `The result of cat -n:` may stand above
            break
    return shown


def scripts(step: Step) -> tuple[str, ...]:
    """The lines that the scripts of a call stand for, where their runner shows them."""
    text = step.printed[:BEGINNING]
    if "> " not in text and "$ " not in text:
        return ()
    return tuple(found["line"] for found in ANNOUNCED.finditer(text))


def unreached(step: Step) -> int:
    """How many commands of a line, from the first, came to nothing since its `cd` failed."""
    run = step.run
    if run is None or not run.behind_cd or "cd:" not in step.printed:
        return 0
    folder = run.simples[0].words[-1]
    failed = any(folder in found.groups() for found in NOT_ENTERED.finditer(bare_output(step)))
    return run.behind_cd if failed else 0


def unread(step: Step) -> Unread:
    """What a call could not read, by its own output."""
    text, run = bare_output(step), step.run
    if run is None:
        return Unread(rest=text)
    paths: set[tuple[str, str]] = set()
    commands: set[int] = set()
    if any(words in text for words in ENDS):
        rest, done = [], 0
        for found in COMPLAINT.finditer(text):
            if found["program"] in run.programs:
                paths.add((found["program"], found["path"]))
                rest.append(text[done : found.start()])
                done = found.end()
        text = "".join((*rest, text[done:]))
    for excuse in run.excuses:
        lines = [line.strip() for line in text.splitlines()]
        if excuse.words.strip() in lines:
            lines.remove(excuse.words.strip())
            text = "\n".join(lines)
            commands.update(range(excuse.first, excuse.end))
    return Unread(frozenset(paths), frozenset(commands), text)
