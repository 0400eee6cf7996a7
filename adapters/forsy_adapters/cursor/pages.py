"""The transcripts of before 2026-02: a page of text, each speaker's words with calls among them.

They begin with the speaker (`user:`, `assistant:`), a call with `[Tool call] Shell`, its arguments
below; `[Tool result] Shell` says that it ended, and nothing more. Where thoughts end and words
begin is not told: a text that begins with `[Thinking]` is left as it is.
"""

from collections.abc import Iterator, Sequence

from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Origin,
    SessionStart,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import later
from forsy_retrace.source import Line, Source, entry

from .._cursor import meant
from .prompts import OPENS, prompt

SPEAKS = later(r"(user|assistant|A):")
CALLS = later(r"\[Tool call\] (\S.*)")
ANSWERS = later(r"\[Tool result\] (\S.*)")
ARGUMENT = later(r"  ([a-z_]+): (.*)")
ARGUMENTS = {
    "Shell": ("command", "working_directory", "description", "timeout", "block_until_ms"),
    "Read": ("path", "offset", "limit"),
    "ReadFile": ("path", "offset", "limit"),
    "Write": ("path", "contents"),
    "StrReplace": ("path", "old_string", "new_string", "replace_all"),
    "Delete": ("path",),
    "Grep": ("pattern", "path", "glob", "output_mode", "head_limit"),
    "Glob": ("glob_pattern", "target_directory"),
    "LS": ("target_directory",),
    "WebSearch": ("search_term", "explanation"),
    "WebFetch": ("url",),
}
"""The names of arguments of tools: any other line belongs to the argument above it."""
LONG = frozenset(["command", "contents", "old_string", "new_string"])
"""Arguments of several lines."""
MOST_HEAD = 40


def is_page(source: Source) -> bool:
    """The first line that is not blank is the user's, and their words stand below it."""
    if source.is_archive:
        return False
    lines = [line.value for line in source.first_lines[:MOST_HEAD] if isinstance(line.value, str)]
    held = [line for line in lines if line.strip()]
    return held[:1] == ["user:"] and any(line.startswith(OPENS) for line in held)


class Part:
    """Lines that follow one another: words behind their speaker's name, a call, an answer."""

    def __init__(self, kind: str, name: str, turn: int, lines: Sequence[Line], lead: int) -> None:
        self.kind, self.name, self.turn, self.lines, self.lead = kind, name, turn, lines, lead
        """`turn` is the line at which its speaker begins; `lead` what stands before the text."""

    @property
    def text(self) -> str:
        """The lines without what leads them in."""
        return "\n".join(str(line.value) for line in self.lines)[self.lead :]

    def here(self) -> Origin:
        """The place of the text."""
        view = f"text|chars:{self.lead}:{self.lead + len(self.text)}" if self.lead else "text"
        return Origin(entry(self.lines, view).here, None, "system", f"turn-{self.turn}")


def paged(source: Source) -> Iterator[Event]:
    """The page in its order."""
    waiting: list[tuple[str, str]] = []
    for number, part in enumerate(_parts(list(source.lines()))):
        here = part.here()
        if number == 0:
            yield SessionStart(here, "")
        match part.kind:
            case "user":
                yield from _asked(part.text, here)
            case "call":
                call = f"line-{part.lines[0].here.line}"
                waiting.append((part.name, call))
                sent = part.text if part.text.strip() else None
                yield ToolCall(here.by("agent"), call, part.name, sent, None, _meant(part))
            case "answer":
                found = next((one for one in waiting if one[0] == part.name), None)
                if found is None:
                    yield Skipped(here, "an end of no call")
                else:
                    waiting.remove(found)
                    yield ToolResult(here.by("agent"), found[1], None)
            case "agent":
                yield Message(here.by("agent"), "agent", part.text)
            case _:
                yield Skipped(here, "empty message")


def _asked(text: str, here: Origin) -> Iterator[Event]:
    found = prompt(text)
    if found.is_clients:
        yield Skipped(here, "injected: what to do with a report")
        return
    yield Message(here.by("user"), "user", found.text, within=True)
    if found.brought:
        yield Fact(here, "brought", {"text": found.brought})


def _parts(lines: Sequence[Line]) -> Iterator[Part]:
    """Every part; blank lines only inside of one."""
    texts = [str(line.value) for line in lines]
    speaker, turn, at, lead = "user", 0, 0, 0
    start = 0
    """The line at which a part begins: its speaker's, where it is the first."""
    while at < len(lines):
        if _speaks(texts, at):
            if lead:
                yield Part("nothing", "", turn, lines[start:at], 0)
            speaker = "user" if texts[at] == "user:" else "agent"
            start, turn, lead = at, at + 1, len(texts[at]) + 1
            at += 1
            continue
        if not texts[at].strip():
            at += 1
            continue
        if not lead:
            start = at
        kind, name, end = _next(texts, at, speaker)
        last = end
        while last > at + 1 and not texts[last - 1].strip():
            last -= 1
        skipped = sum(len(text) + 1 for text in texts[start:at])
        if kind == "call":
            skipped += len(texts[at]) + 1
        yield Part(kind, name, turn, lines[start:last], skipped)
        at, lead = end, 0
    if lead:
        yield Part("nothing", "", turn, lines[start:at], 0)


def _speaks(texts: Sequence[str], at: int) -> bool:
    """Whether a line names a speaker: the user's words begin with a mark of the client's."""
    if not SPEAKS.fullmatch(texts[at]) or (at and texts[at - 1].strip()):
        return False
    return texts[at] != "user:" or "".join(texts[at + 1 : at + 2]).startswith(("<", "["))


def _next(texts: Sequence[str], at: int, speaker: str) -> tuple[str, str, int]:
    """What begins at a line, the tool's name, and where it ends."""
    if speaker == "agent" and (found := ANSWERS.fullmatch(texts[at])):
        return "answer", found[1], at + 1
    is_call = CALLS.fullmatch(texts[at]) if speaker == "agent" else None
    end = at + 1
    while end < len(texts) and not _speaks(texts, end):
        if speaker == "agent" and (CALLS.fullmatch(texts[end]) or ANSWERS.fullmatch(texts[end])):
            break
        end += 1
    return ("call", is_call[1], end) if is_call else (speaker, "", end)


def _meant(part: Part) -> Meant | None:
    """A call with its arguments apart, where their names are known."""
    known = ARGUMENTS.get(part.name, ())
    lines = part.text.split("\n")
    tail = _tail(lines, known)
    found: dict[str, str] = {}
    name = ""
    for index, line in enumerate(lines):
        argument = ARGUMENT.fullmatch(line)
        begins = argument and argument[1] in known and argument[1] not in found
        if argument and begins and (name not in LONG or argument[1] in LONG or index >= tail):
            name = argument[1]
            found[name] = argument[2]
        elif name:
            found[name] += f"\n{line}"
        else:
            return None
    return (meant(part.name, found) or Meant(part.name, found)) if found else None


def _tail(lines: Sequence[str], known: Sequence[str]) -> int:
    """Where the short arguments begin that stand at the end: a long one may hold such lines."""
    at = len(lines)
    while at and (found := ARGUMENT.fullmatch(lines[at - 1])) and found[1] in set(known) - LONG:
        at -= 1
    return at
