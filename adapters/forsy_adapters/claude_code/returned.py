"""What came back of a call, and what a human said with it."""

from collections.abc import Iterator

from msgspec.structs import replace

from forsy_retrace.events import Attachment, Event, Message, Origin, ToolResult
from forsy_retrace.sdk import text_of

from .blocks import held_at, pictures_in, shown
from .changes import changes
from .known import Known
from .lines import Json, Line
from .results import background, commit, exit_code, is_amended, kept, structured, verdict
from .words import answered, answered_in_part, with_rejection


class Results:
    """Reads the blocks of results."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def read(self, line: Line, here: Origin, block: Json, call: str) -> Iterator[Event]:
        """A result, once, and what the human said with it."""
        if ("result", call) in self.known.seen:
            return
        self.known.seen.add(("result", call))
        extra = structured(line.body)
        text = text_of(block.get("content"))
        found = verdict(
            block,
            text,
            extra,
            line.body,
            stopped=self._is_stopped(call),
            interrupted=self.known.messages.get(call) in self.known.found.interrupted,
        )
        origin = held_at(here, block, "content")
        base = here.evidence.pointer
        basis = kept(line.body, found.basis)
        if basis in ("content", "is_error"):
            basis = f"{base}/{basis}"
        actor = self.known.found.actors.get(line.lane, "agent") if line.lane else "agent"
        yield ToolResult(
            Origin(origin.evidence, here.at, actor, None, here.branch),
            call,
            shown(block),
            found.outcome,
            found.rule,
            basis or base,
            exit_code(text, extra),
            tuple(replace(one, pointer=kept(line.body, one.pointer)) for one in changes(extra)),
            (*pictures_in(block.get("content"), f"{base}/content"), *self._spilled(text)),
            end=self.known.found.ends.get(background(extra, text)),
            amended=is_amended(extra),
            commit=commit(extra),
        )
        spoken = Origin(origin.evidence, here.at, "user", None, here.branch)
        yield from self._spoken(line, spoken, call, text, found.outcome)

    def _is_stopped(self, call: str) -> bool:
        """Whether hooks ran before a call and none behind it, as one does behind failures."""
        before, after, failed = (
            self.known.found.hooks.get(f"{event}:{self.known.tools.get(call)}", ())
            for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure")
        )
        return bool(failed) and call in before and call not in failed and call not in after

    def _spilled(self, text: str) -> Iterator[Attachment]:
        """The file that holds the whole of an output which the client cut (2.1.49 and later)."""
        if text.startswith("<persisted-output>"):
            for name, size in self.known.found.spilled.items():
                if name in text[:600]:
                    yield Attachment("text/plain", size, f"tool-results/{name}")

    def _spoken(
        self, line: Line, here: Origin, call: str, text: str, outcome: str
    ) -> Iterator[Event]:
        """A human's words inside a result: with a rejection, or an answer to a question."""
        if outcome == "rejected":
            said = with_rejection(text)
            picked = answered_in_part(text)
            if said:
                yield Message(here, "user", said, "rejection", (), call, within=True)
            elif picked:
                yield Message(here, "user", picked, "answer", (), call, within=True)
        elif self.known.tools.get(call) == "AskUserQuestion" and outcome == "ok":
            said, place = answered(structured(line.body), text)
            if place:
                where = line.here.at(line.prefix + kept(line.body, place))
                here = Origin(where, here.at, "user", None, here.branch)
            if said.strip():
                yield Message(here, "user", said, "answer", (), call, within=True)
