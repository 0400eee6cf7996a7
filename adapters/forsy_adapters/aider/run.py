"""A run as events: what was asked and answered, the edits that Aider took, what it said of them."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    Via,
)
from forsy_retrace.sdk import later
from forsy_retrace.source import Evidence, Line, Record, entry

from . import said
from .blocks import Block, refusable, taken
from .sections import Section, shown
from .told import Told

BASIS = "the line with which Aider begins a run"
THOUGHT = later(r"</?(?:think|thinking|thinking-content-[0-9a-f]+)>")


class Run:
    """The sections of a run, taken one answer at a time with what Aider says behind it."""

    def __init__(self, held: Sequence[Section]) -> None:
        self.held = held
        self.answer = ""
        """The last answer: a prompt that repeats it is an architect's plan for its editor."""
        self.words = ""
        """What followed the last command: Aider prints it again as the prompt that it makes."""
        self.plans = any(said.ARCHITECT.match(one.text) for one in held if one.kind != "agent")
        """Whether an architect may speak in the run, whose plans go to an editor."""
        self.reports = any(said.TOKENS.match(one.text) for one in held if one.kind == "aider")
        """Whether the run tells the tokens of each answer that came to its end."""
        self.calls: list[tuple[str, Block]] = []
        self.waits = False
        """Whether the model was asked, and has not answered."""
        self.done: Evidence | None = None
        """Where Aider tells that it did what the last answer asked for."""
        self.stopped: list[Section] = []
        """What tells of an interruption before the words that it cut off."""

    def events(self) -> Iterator[Event]:
        """The run's events, in the order of the file."""
        yield SessionStart(Origin(self.held[0].here, None, "system"), "", basis=BASIS)
        at = 1
        while at < len(self.held):
            one = self.held[at]
            end = at + (one.kind != "aider")
            behind = list(takewhile(lambda each: each.kind == "aider", self.held[end:]))
            if one.kind == "user":
                yield from self._stop()
                yield from self._user(one)
            elif one.kind == "agent":
                yield from self._answer(one, behind)
            yield from self._behind(one, behind)
            at = end + len(behind)
        yield from self._stop()
        if self.done is not None:
            yield Fact(Origin(self.done, None, "system"), "run_end", {"exit_status": "completed"})

    def _behind(self, one: Section, behind: list[Section]) -> Iterator[Event]:
        """What Aider said behind a prompt or an answer; an interruption behind what it cut off."""
        if one.kind == "user":
            self.calls = []
        held, is_stop = behind, said.STOPPED.fullmatch
        if self.waits and behind and is_stop(behind[-1].text):
            held, self.stopped = behind[:-1], behind[-1:]
        elif one.kind == "agent":
            is_whole = any(said.TOKENS.match(each.text) for each in behind)
            first = next((each for each in behind if is_stop(each.text)), None)
            if self.reports and not is_whole and first is not None:
                self.stopped.append(first)
                held = [each for each in behind if each is not first]
            yield from self._stop()
        is_answer = one.kind == "agent"
        message = _message(one) if is_answer else None
        behind_it = Told(held, self.calls, self.waits or is_answer, message)
        yield from behind_it.events()
        if is_answer:
            self.done = behind_it.done

    def _stop(self) -> Iterator[Event]:
        for one in self.stopped:
            yield Notice(Origin(one.said, None, "system"), "interrupted")
        self.stopped = []

    def _user(self, one: Section) -> Iterator[Event]:
        here, text = Origin(one.here, None, "user"), one.text
        words, self.words, self.waits = self.words, "", False
        found = said.COMMAND.fullmatch(text)
        name, rest = (found["name"] or "run", found["rest"]) if found else ("", "")
        if why := self._repeats(text, words):
            self.waits = True
            yield Skipped(here, why)
        elif text.strip() == "<blank>":
            yield Skipped(here, "a prompt without words")
        elif name in said.CLEARS:
            yield Notice(here, "cleared")
        elif name in said.LINES:
            yield Message(here, "user", text, "shell line", within=True)
        elif name and not (rest and name in said.ASKS + said.EXPANDS):
            yield Skipped(here, "a command of the client")
        else:
            self.words, self.waits, self.done = rest if name else "", True, None
            via: Via = "command" if name in said.EXPANDS else "typed"
            yield Message(here, "user", text, via, within=True)

    def _repeats(self, text: str, words: str) -> str:
        """Why a prompt is Aider's own; empty for a human's."""
        if self.plans and _close(text) == self.answer:
            return "injected: the plan above, as its editor's prompt"
        if words and _close(text) == _close(words):
            return "injected: the words of the command above"
        if said.INJECTED.match(text):
            return "injected: what a command made a prompt of"
        return "injected: an answer given for all" if said.ASKED.fullmatch(text) else ""

    def _answer(self, one: Section, behind: Sequence[Section]) -> Iterator[Event]:
        """Words, thoughts, and as calls those edits of which Aider says what came."""
        texts = [shown(line) for line in one.lines]
        message = _message(one)
        self.calls, self.waits = [], False
        at = thought = _thoughts(texts)
        if thought:
            yield from _words(one.lines[:thought], message, is_thought=True)
        for block in _edits(texts, behind):
            if block.start < at:
                continue
            yield from _words(one.lines[at : block.start], message)
            record = _record(one.lines[block.start : block.end])
            call = f"line-{record.here.line}"
            here = Origin(record.here, message=message)
            yield ToolCall(here, call, block.tool, record.value, None, block.meant)
            self.calls.append((call, block))
            at = block.end
        yield from _words(one.lines[at:], message)
        self.answer = _close("\n".join(texts[thought:]))


def _message(answer: Section) -> str:
    """A name for an answer: its calls were issued together."""
    return f"line-{answer.lines[0].here.line}"


def _close(text: str) -> str:
    """A text without the blanks around its lines."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _edits(texts: Sequence[str], behind: Sequence[Section]) -> list[Block]:
    """The edits of an answer that Aider took for some: it names the file, or refuses them all."""
    told = [one.text for one in behind]
    if any(map(said.REFUSED.match, told)):
        return refusable(texts)
    return taken(texts, [found[1] for found in map(said.OF_FILE.fullmatch, told) if found])


def _thoughts(texts: Sequence[str]) -> int:
    """How many lines of an answer are thoughts, in the tags that stand around them."""
    if not THOUGHT.fullmatch(texts[0].strip()):
        return 0
    ends = (at for at, text in enumerate(texts) if at and THOUGHT.fullmatch(text.strip()))
    return next(ends, -1) + 1


def _words(lines: Sequence[Line], message: str, is_thought: bool = False) -> Iterator[Event]:
    """What the model said in some lines, if anything."""
    filled = [at for at, line in enumerate(lines) if shown(line).strip()]
    if not filled:
        return
    record = _record(lines[filled[0] : filled[-1] + 1])
    here = Origin(record.here, message=message)
    if is_thought:
        yield Thinking(here, record.value)
    else:
        yield Message(here, "agent", record.value)


def _record(lines: Sequence[Line]) -> Record:
    """Lines to the letter, but for the carriage return at their end."""
    record = entry(lines)
    text = str(record.value)
    return entry(lines, f"text|chars:0:{len(text) - 1}") if text.endswith("\r") else record
