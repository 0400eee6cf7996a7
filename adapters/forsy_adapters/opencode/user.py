"""What stands in the user's messages: a human's words, and what OpenCode puts beside them."""

import re
from typing import TYPE_CHECKING

from forsy_retrace.events import Fact, Message, Origin, Skipped, Via
from forsy_retrace.sdk import between, later, words

from .shapes import attachment, is_picture, is_typed
from .stored import Node, Said

if TYPE_CHECKING:
    from .line import Line

RAN = "The following tool was executed by the user"
"""What OpenCode writes for the user who runs a line in its shell; the line is the next call."""
CALLED = "Called the "
"""What stands before the content of a file that the user's words name."""
FINISHED = later(r'<task id="([^"]{1,80})" state="(?:completed|error)">')
"""How the report of a subagent in the background begins."""
INJECTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What OpenCode writes into the user's messages; the first row that matches counts.
    ("injected: reminder", later(r"\s*<system-reminder>")),
    ("injected: a file that the words name", later(CALLED)),
    ("injected: wish for a subagent", later(r" Use the above message and context")),
    ("injected: a plan was accepted", later(r"The plan at .* has been approved")),
    ("injected: continuation", later(r"Continue if you have next steps|Summarize the task tool")),
    ("a line that the user ran, told by its call", later(RAN)),
    ("injected: text", later(r"")),
)
BRIEF = "a subagent's brief"
NAMED = "a file that the words name"


class User:
    """Tells the user's messages of a session."""

    def __init__(self, line: "Line", *, is_alone: bool) -> None:
        self.line = line
        self.is_briefed = not is_alone
        """Whether the brief is told; of a subagent whose session is alone, it still is to be."""
        self.is_human = not is_alone and line.actor == "agent"
        """Whether a human speaks here; a subagent's session has none."""
        self.typed = ""
        """What was typed last."""
        self.again = ""
        """The same, where OpenCode says it once more after it summed up."""
        self.ran = False
        """Whether the next message is a line that the user ran."""

    def take(self, said: Said) -> None:
        """A message, part by part."""
        pictures = [part for part in said.parts if is_picture(part.value)]
        has_words = any(is_typed(part.value) for part in said.parts)
        is_brought = False
        for part in said.parts:
            match part.value:
                case {"type": "text", "text": str(text)} if is_typed(part.value):
                    self._typed(said, part, text, pictures)
                    pictures = []
                case {"type": "text", "text": str(text)}:
                    self._injected(said, part, text, is_brought)
                    is_brought = text.startswith(CALLED)
                case {"type": "file"} if is_picture(part.value) and not has_words:
                    self._typed(said, part, "", [part])
                case {"type": "file"}:
                    shown = is_picture(part.value)
                    self._skip(said, part, "shown with the words" if shown else NAMED)
                case {"type": "subtask", "command": str(command), **rest} if command.strip():
                    self._say(said, part, "command", f"/{command}", "command")
                    here = self.line.at(said, part.at("prompt"))
                    self.line.put(Fact(here, "brought", {"text": words(rest.get("prompt"))}))
                case {"type": "subtask"}:
                    self._skip(said, part, "wish for a subagent")
                case _:
                    self.line.leave_out(said, part)

    def _skip(self, said: Said, part: Node, why: str) -> None:
        self.line.put(Skipped(self.line.at(said, part.here), why))

    def _typed(self, said: Said, part: Node, text: str, pictures: list[Node]) -> None:
        """Words in the user's place that nothing marks as OpenCode's."""
        again, self.again = self.again, ""
        key = "text" if "text" in part.value else "url"
        if not self.is_briefed:
            self.is_briefed = True
            self.line.put(Fact(self.line.at(said, part.at(key)), "brief", text))
        elif not self.is_human:
            self._skip(said, part, BRIEF)
        elif again and again == text:
            self._skip(said, part, "said again after it was summed up")
        elif not text.strip() and not pictures:
            self._skip(said, part, "empty message")
        else:
            self.typed = text
            self._say(said, part, key, text, pictures=pictures)

    def _say(
        self,
        said: Said,
        part: Node,
        key: str,
        text: str,
        via: Via = "typed",
        pictures: list[Node] | None = None,
    ) -> None:
        here = self.line.at(said, part.at(key), None, "user", said.id or None)
        if via == "typed" and self.line.is_busy(here):
            via = "queued"
        shown = (attachment(one.value, one.at("url"), part.here) for one in pictures or ())
        self.line.put(Message(here, "user", text, via, tuple(shown)))

    def _injected(self, said: Said, part: Node, text: str, is_brought: bool) -> None:
        """What OpenCode wrote in the user's place."""
        here = self.line.at(said, part.at("text"))
        sent = self.line.called.sent
        if part.value.get("ignored") is True:
            self.line.put(Skipped(here, "words that the agent was not shown"))
        elif (report := FINISHED.match(text)) and report[1] in sent:
            self._report(here, *sent[report[1]], text)
        elif is_brought:
            self.line.put(Fact(here, "brought", {"text": text}))
        else:
            self.ran = self.ran or text == RAN
            self.line.put(Skipped(here, next(why for why, row in INJECTED if row.match(text))))

    def _report(self, here: Origin, call: str, actor: str, text: str) -> None:
        """What a subagent in the background came back with."""
        tag = "task_result" if "<task_result>" in text else "task_error"
        said = (between(text, f"<{tag}>\n", f"\n</{tag}>") or "").strip()
        origin = Origin(here.evidence, here.at, actor, None, here.branch, dated=here.dated)
        self.line.put(Message(origin, "agent", said, "notification", answers=call, within=True))
