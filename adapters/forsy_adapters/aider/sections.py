"""The sections of a history: whose lines stand where, by their marks and by how they end."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from forsy_retrace.sdk import later
from forsy_retrace.source import Evidence, Line, entry

Kind = Literal["start", "user", "aider", "agent"]

START = later(r"# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*")
NO_RUN = "before the first run"
PROMPT, QUOTE, BREAK = "#### ", ">", "  "
ENDED = later(r"(?:[^ ]|^)  \Z")
"""How what Aider prints ends: it strips a text, and adds two spaces."""
UNMATCHED = later(r"> # \d+ SEARCH/REPLACE blocks? failed to match!|> UnifiedDiffNo")
"""What quotes the model's edits, and so may hold any mark."""
LONGEST = 500
"""Lines of one text of Aider's that are waited for."""


class Section(NamedTuple):
    """Lines of one kind, and their text without marks."""

    kind: Kind
    lines: Sequence[Line]
    text: str

    @property
    def here(self) -> Evidence:
        """The lines as one record, to the letter."""
        return entry(self.lines).here

    @property
    def said(self) -> Evidence:
        """The text of one of Aider's, without its mark."""
        return self.part(0, len(self.text))

    def part(self, start: int, end: int) -> Evidence:
        """A range of the text of one of Aider's."""
        lead = len(QUOTE) + 1
        return entry(self.lines, f"text|chars:{lead + start}:{lead + end}").here


def shown(line: Line) -> str:
    """A line without the carriage return of Windows."""
    return str(line.value).removesuffix("\r")


def sections(lines: Sequence[Line]) -> Iterator[Section]:
    """Every section, in the order of the file; blank lines only inside of one."""
    texts = [shown(line) for line in lines]
    at, marked = 0, False
    while at < len(lines):
        if not texts[at].strip():
            at, marked = at + 1, False
            continue
        kind, end = _next(texts, at, marked)
        marked = kind in ("user", "aider")
        yield Section(kind, lines[at:end], _text(kind, lines[at:end]))
        at = end


def _next(texts: Sequence[str], at: int, marked: bool) -> tuple[Kind, int]:
    """What begins at a line, and where it ends; `marked` where Aider wrote the line above."""
    if START.fullmatch(texts[at]):
        return "start", at + 1
    if _is_prompt(texts, at):
        end = at + 1
        while end < len(texts) and texts[end].startswith(PROMPT) and texts[end].endswith(BREAK):
            end += 1
        return "user", end
    if _is_quote(texts[at]) and (marked or not (at and texts[at - 1].strip())):
        if ENDED.search(texts[at]):
            return "aider", at + 1
        if marked and (end := _end(texts, at)):
            return "aider", end
    end = at + 1
    while end < len(texts) and not _begins(texts, end):
        end += 1
    while not texts[end - 1].strip():
        end -= 1
    return "agent", end


def _is_quote(text: str) -> bool:
    return text.startswith("> ") or text.rstrip() == QUOTE


def _is_prompt(texts: Sequence[str], at: int) -> bool:
    """Aider puts a blank line before a prompt."""
    is_first = not (at and texts[at - 1].strip())
    return is_first and texts[at].startswith(PROMPT) and texts[at].endswith(BREAK)


def _begins(texts: Sequence[str], at: int) -> bool:
    """Whether what is no answer begins behind a blank line."""
    if texts[at - 1].strip():
        return False
    is_told = _is_quote(texts[at]) and ENDED.search(texts[at]) is not None
    return is_told or _is_prompt(texts, at) or START.fullmatch(texts[at]) is not None


def _end(texts: Sequence[str], at: int) -> int:
    """The end of a text of several lines, of which Aider marks only the first; 0 for none."""
    quotes = UNMATCHED.match(texts[at]) is not None
    for end in range(at + 1, min(len(texts), at + LONGEST)):
        if START.fullmatch(texts[end]) or (_is_quote(texts[end]) and not quotes):
            return 0
        follows = texts[end + 1] if end + 1 < len(texts) else ""
        if ENDED.search(texts[end]) and (not follows.strip() or _is_quote(follows)):
            return end + 1
    return 0


def _text(kind: Kind, lines: Sequence[Line]) -> str:
    if kind == "user":
        held = (shown(line)[len(PROMPT) :].removesuffix(BREAK) for line in lines)
        return "\n".join(held)
    whole = "\n".join(str(line.value) for line in lines)
    return whole[len(QUOTE) + 1 :].rstrip() if kind == "aider" else whole


def is_kept(held: Sequence[Section]) -> bool:
    """Whether a run's lines end as Aider ends them; formatters of Markdown take that away.

    What Aider prints of itself at a start is one block: its last line shows it.
    """
    first = next((one for one in held if one.kind in ("user", "agent")), None)
    return first is None or first.kind == "user" or not _is_quote(shown(first.lines[0]))
