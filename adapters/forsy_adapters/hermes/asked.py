"""The user's place in one lane: a human's words, what was asked of a subagent, reports."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from forsy_retrace.dialects import attachments, typed
from forsy_retrace.events import Attachment, Fact, Message
from forsy_retrace.sdk import parsed, words

from . import users
from .store import PARTS, Node

if TYPE_CHECKING:
    from .lane import Lane

BRIEF = "a subagent's brief"
OBSERVED = "injected: what others said in the chat"


class Asked:
    """Tells the messages in the user's role."""

    def __init__(self, lane: "Lane", *, is_human: bool, is_alone: bool) -> None:
        self.lane = lane
        self.is_human = is_human
        """Whether a human speaks there."""
        self.is_briefed = not is_alone
        """Whether the brief is told; of a subagent whose session is alone, it still is to be."""

    def take(self, node: Node) -> None:
        """A message in the user's role."""
        content = node.value.get("content")
        if node.value.get("observed") in (1, True):
            self.lane.skip(node, OBSERVED)
        elif isinstance(content, str) and content.startswith(PARTS):
            self._parts(node, parsed(content.removeprefix(PARTS)))
        elif isinstance(content, str):
            self._text(node, content)
        elif self.is_human and (
            event := typed(content, self.lane.origin(node, "content", actor="user"))
        ):
            self._replaces(node)
            self.lane.put(event)
        else:
            self.lane.skip(node, "empty message")

    def _text(self, node: Node, text: str) -> None:
        if report := users.REPORT.match(text):
            self._reports(node, report["id"], text)
        elif why := users.injected(text):
            self.lane.skip(node, why)
        elif not self.is_human:
            self._brief(node, text)
        elif called := users.invoked(text):
            line = f"/{called.name.lstrip('/')} {called.text}".strip()
            self._replaces(node)
            self.lane.put(
                Message(self.lane.origin(node, "content", actor="user"), "user", line, "command")
            )
            self.lane.put(Fact(self.lane.origin(node, "content"), "skills", [called.name]))
        elif said := users.typed(
            text, words(self.lane.session.head.value.get("chat_type"))
        ).strip():
            self.says(node, said, within=said != text)
        else:
            self.lane.skip(
                node, "injected: a note of the client" if text.strip() else "empty message"
            )

    def says(self, node: Node, text: str, *, within: bool) -> None:
        """Words of a human."""
        self.lane.said.add(text.strip())
        self._replaces(node)
        here = self.lane.origin(node, "content", actor="user")
        self.lane.put(Message(here, "user", text, within=within))

    def _replaces(self, node: Node) -> None:
        """That the user went back to an earlier message before saying this."""
        if self.lane.left is not None and not self.lane.branch:
            here = self.lane.origin(node, actor="user")
            self.lane.put(Fact(here, "replaces", {"kind": "edited", "message": self.lane.left}))
            self.lane.left = None

    def _brief(self, node: Node, text: str) -> None:
        """What was asked of an agent that no human speaks to; told where no call tells it."""
        if self.is_briefed:
            self.lane.skip(
                node, BRIEF if self.lane.actor != "agent" else "injected: words of a program"
            )
        else:
            self.is_briefed = True
            self.lane.put(
                Fact(self.lane.origin(node, "content", actor=self.lane.actor), "brief", text)
            )

    def _parts(self, node: Node, content: Any) -> None:
        """Words with pictures, which a row keeps as JSON behind a mark."""
        shown = pictures(content, node)
        if not shown or not self.is_human:
            self.lane.skip(node, "words in a form that is not known" if self.is_human else BRIEF)
            return
        text = "\n".join(
            part["text"] for part in content if isinstance(part, dict) and words(part.get("text"))
        )
        self._replaces(node)
        here = self.lane.origin(node, "content", actor="user")
        self.lane.put(Message(here, "user", text, attachments=shown))

    def _reports(self, node: Node, ident: str, text: str) -> None:
        """What subagents in the background came back with."""
        call, actors = self.lane.whole.sent.get(ident, ("", []))
        told = [(actors[at], said) for at, said in users.reports(text) if at < len(actors) and said]
        for actor, said in told:
            here = replace(self.lane.origin(node, "content"), actor=actor)
            self.lane.put(Message(here, "agent", said, "notification", answers=call, within=True))
        if not told:
            self.lane.skip(node, "injected: the report of a subagent")


def pictures(content: Any, node: Node) -> tuple[Attachment, ...]:
    """Pictures whose bytes stand within a text that is no JSON by itself."""
    place = node.at("content").pointer
    return tuple(replace(one, pointer=place) for one in attachments(content, ""))
