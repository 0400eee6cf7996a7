"""What Aider says behind an answer: which edits it applied, what it ran, what went wrong."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from forsy_retrace.events import (
    Event,
    Fact,
    Notice,
    Origin,
    Outcome,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.source import Evidence, entry

from . import said
from .blocks import Block
from .sections import Section

Telling = Callable[["Told", Section], Iterator[Event]]


class Told:
    """Aider's words behind one answer, and the calls of that answer."""

    def __init__(
        self,
        held: Sequence[Section],
        calls: Sequence[tuple[str, Block]],
        asked: bool,
        message: str | None,
    ) -> None:
        self.held, self.open, self.asked, self.message = held, list(calls), asked, message
        self.at = 0
        """The next of its texts."""
        self.offered = False
        """Whether shell lines were shown to the user."""
        applied = [at for at, one in enumerate(held) if said.APPLIED.fullmatch(one.text)]
        self.last = applied[-1] if applied else -1
        """The last edit that it tells: a commit behind it is of all of them."""
        self.done: Evidence | None = None
        """Where the last edit was applied, with nothing wrong behind it."""
        self.created = set(_created(held))

    def events(self) -> Iterator[Event]:
        """An event or more for each of its texts, in order."""
        while self.at < len(self.held):
            one = self.held[self.at]
            self.at += 1
            tell = next((tell for form, tell in TELLING if form.fullmatch(one.text)), None)
            self.done = None if tell else self.done
            yield from tell(self, one) if tell else self._note(one)

    def _next(self) -> Section | None:
        return self.held[self.at] if self.at < len(self.held) else None

    def _take(self, path: str) -> list[tuple[str, Block]]:
        """The calls of a file that have no result yet; they have one then."""
        taken = [one for one in self.open if one[1].path == path]
        self.open = [one for one in self.open if one not in taken]
        return taken

    def _note(self, one: Section) -> Iterator[Event]:
        """What is no step; the facts of a run among it."""
        for name, form in said.FACTS.items():
            if found := form.fullmatch(one.text):
                here = Origin(one.part(*found.span(1)), None, "system")
                yield Fact(here, name, found[1])
        reason = next(note.reason for note in said.NOTES if note.printed.match(one.text))
        yield Skipped(Origin(one.here, None, "system"), reason)

    def _applied(self, one: Section) -> Iterator[Event]:
        found = said.APPLIED.fullmatch(one.text)
        path, follows = found[1] if found else "", self._next()
        commit = said.COMMIT.fullmatch(follows.text) if follows else None
        here, output, made = Origin(one.here, pieces=(one.said,)), one.text, ""
        if follows and commit and self.at - 1 == self.last:
            lines = [*one.lines, *follows.lines]
            here = Origin(entry(lines).here, pieces=(one.said, follows.said))
            output, made = f"{one.text}\n{follows.text}", commit[1]
            self.at += 1
        calls = self._take(path)
        if not calls:
            name = f"line-{one.lines[0].here.line}"
            yield ToolCall(Origin(one.here, message=self.message), name, "edit", None, None)
            calls = [(name, Block(0, 0, "edit", path, lines=("",)))]
        for call, block in calls:
            # a new file's first block makes it, and the others find it there
            changes = block.changes(path in self.created and block is calls[0][1])
            yield ToolResult(here, call, output, "ok", "edit-applied", commit=made, changes=changes)
            made = ""
        self.done = one.here

    def _left(self, one: Section) -> Iterator[Event]:
        found = said.OF_FILE.fullmatch(one.text)
        outcome: Outcome = "rejected" if said.LEFT.fullmatch(one.text) else "blocked"
        outcome = "blocked" if said.IGNORED.search(one.text) else outcome
        calls = self._take(found[1] if found else "")
        here = Origin(one.here, pieces=(one.said,))
        for call, _ in calls:
            yield ToolResult(here, call, one.text, outcome, "not-applied")
        if not calls:
            yield Skipped(here, "edits that are not told were left")

    def _refused(self, one: Section) -> Iterator[Event]:
        """An answer whose edits do not fit: the text behind says which, and why."""
        yield from self._note(one)
        while (why := self._next()) and (not why.text or why.text.startswith("https://")):
            self.at += 1
            yield from self._note(why)
        if why is None:
            return
        self.at += 1
        here = Origin(why.said)
        passed = said.PASSED.search(why.text)
        for call, block in self.open:
            if passed and block.body not in why.text:
                beside = Origin(why.part(*passed.span()))
                changes = block.changes(created=False) if block.owns_name else ()
                yield ToolResult(beside, call, passed[0], "ok", "edit-applied", changes=changes)
            elif block.tool == "udiff" and f"{block.path} " not in why.text:
                yield ToolResult(here, call, why.text)
            else:
                yield ToolResult(here, call, why.text, "failed", "edit-refused")
        if not self.open:
            yield Notice(Origin(why.said, None, "system"), "model error", why.text)
        self.open = []

    def _offered(self, one: Section) -> Iterator[Event]:
        """A shell's line of the model that was turned down; what was run is told line by line."""
        self.offered = True
        before = self.held[self.at - 2] if self.at > 1 else None
        found = said.ASKED.fullmatch(one.text)
        follows = self._next()
        ran = follows is not None and (not follows.text or said.RUNS.fullmatch(follows.text))
        if before is None or not before.text or not found or found["reply"] == "y" or ran:
            yield from self._note(one)
            return
        name = f"line-{before.lines[0].here.line}"
        here = Origin(before.said, message=self.message)
        yield ToolCall(here, name, "shell", before.text, None)
        yield ToolResult(Origin(one.here), name, None, "rejected", "denied")

    def _runs(self, one: Section) -> Iterator[Event]:
        found = said.RUNS.fullmatch(one.text)
        if found is None or not self.offered:
            yield from self._note(one)
            return
        name = f"line-{one.lines[0].here.line}"
        here = Origin(one.part(*found.span(1)), message=self.message)
        yield ToolCall(here, name, "shell", found[1], None)
        yield ToolResult(Origin(one.here), name, None)

    def _linted(self, one: Section) -> Iterator[Event]:
        """What a linter found in the edited files, up to Aider's question."""
        rest = self.held[self.at :]
        found = list(takewhile(lambda each: not said.AFTER_LINT.match(each.text), rest))
        self.at += len(found)
        found = [one, *found]
        lines = [line for each in found for line in each.lines]
        name = f"line-{one.lines[0].here.line}"
        ran = [(each, hit) for each in found for hit in said.LINTER.finditer(each.text)]
        where = ran[0][0].part(*ran[0][1].span(1)) if ran else one.here
        command = ran[0][1][1] if ran else None
        yield ToolCall(Origin(where, None, "system"), name, "lint", command, None)
        pieces = tuple(each.said for each in found)
        here = Origin(entry(lines).here, None, "system", pieces=pieces)
        output = "\n".join(each.text for each in found)
        yield ToolResult(here, name, output, "failed", "check-failed")

    def _tested(self, one: Section) -> Iterator[Event]:
        """Aider ran the tests behind its edits, and they failed: no line, no output is told."""
        name = f"line-{one.lines[0].here.line}"
        here = Origin(one.here, None, "system")
        yield ToolCall(here, name, "test", None, None)
        yield ToolResult(here, name, None, "failed", "check-failed")

    def _erred(self, one: Section) -> Iterator[Event]:
        """An error of the model's, where it was asked: commands may print what looks alike."""
        if not self.asked:
            yield from self._note(one)
            return
        is_limit = said.LIMIT.match(one.text) is not None
        here = Origin(one.said, None, "system")
        yield Notice(here, "limit" if is_limit else "model error", one.text)


def _created(held: Sequence[Section]) -> Iterator[str]:
    """The files that the user let Aider make: its question names one, or the text above it."""
    above = ""
    for one in held:
        if found := said.CREATED.fullmatch(one.text):
            yield found["path"] or above
        above = one.text


TELLING: tuple[tuple[re.Pattern[str], Telling], ...] = (
    (said.APPLIED, Told._applied),
    (said.LEFT, Told._left),
    (said.DRY, Told._left),
    (said.REFUSED, Told._refused),
    (said.OFFERED, Told._offered),
    (said.RUNS, Told._runs),
    (said.LINTED, Told._linted),
    (said.TESTED, Told._tested),
    (said.LIMIT, Told._erred),
    (said.ERRED, Told._erred),
)
"""How each of its texts is told; the first that it is counts, and what is none is left out."""
