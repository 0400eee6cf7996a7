"""The messages of one conversation in their order: the main agent's, or a subagent's."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import Call, attachments, calls, content_text, texts
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import between, named, order, parsed, when, words

from . import users
from .asked import Asked, pictures
from .copies import MERGED, REPEATED, Written, is_summary
from .results import answer, answered, changes, unchanged, verdict
from .store import DELEGATE, PARTS, Node, Stored, goals

if TYPE_CHECKING:
    from .teller import Whole

MAIN = "agent"
REASONING = ("reasoning_content", "reasoning")
"""The same text under two names, or under one of them."""
THOUGHTS = ("text", "thinking", "summary")
"""Where a detail of it has its text."""
KEPT = "without-a-mark"
"""How the words of a message are read that a summary was put behind."""
DEEPEST = 20
"""Subagents of subagents that are told within the call that sent them."""
CUT_OFF = ("length", "content_filter")
"""Why an answer of the model ends where it should not."""


class Lane:
    """Tells the sessions of one agent, one behind the other."""

    def __init__(
        self,
        whole: "Whole",
        actor: str,
        line: list[Stored],
        known: Written,
        *,
        is_human: bool = False,
        is_alone: bool = False,
        depth: int = 0,
    ) -> None:
        self.whole, self.actor, self.known = whole, actor, known
        self.line, self.depth = line, depth
        self.asked = Asked(self, is_human=is_human, is_alone=is_alone)
        self.now = ""
        """The time of what was told last."""
        self.at = 0
        """The message's place in the conversation."""
        self.session = line[0]
        self.branch = ""
        self.left: str | None = None
        """The message that the user went back to, until the next one is told."""
        self.calls = Calls()
        self.named: dict[str, str] = {}
        """Calls of this lane by the names that they have in it: ids may be those of another's."""
        self.ends = _ends(line)
        self.made: dict[str, tuple[str, Any]] = {}
        """Calls, by their ids in the log: their tools and what was sent."""
        self.until: dict[str, str] = {}
        """Until when the subagents of a call were at work."""
        self.said = set[str]()
        """What was said by anybody."""

    def tell(self, since: str = "") -> str:
        """All messages; until when."""
        self.now = since
        for session in self.line:
            self.session = session
            for node in session.messages:
                self._message(node)
                self.at += 1
        return self.now

    # What is told, and when.

    def put(self, event: Event) -> None:
        self.now = max(self.now, order(event.origin.at))
        self.whole.timed.append((self.now, event))

    def origin(self, node: Node, *keys: str, actor: str = "system") -> Origin:
        at = None if self.at in self.known.untimed else when(node.value.get("timestamp"))
        message = self._name(node) if actor != "system" else None
        return Origin(node.at(*keys) if keys else node.here, at, actor, message, self.branch)

    def _name(self, node: Node) -> str:
        ident = node.value.get("id")
        return f"{self.session.id}/{ident if isinstance(ident, int) else self.at}"

    def skip(self, node: Node, why: str) -> None:
        self.put(Skipped(self.origin(node), why))

    # Messages.

    def _message(self, node: Node) -> None:
        value, before = node.value, len(self.whole.timed)
        self._line(node)
        if self.at in self.known.copies:
            self.skip(node, REPEATED)
        elif is_summary(node):
            self._summary(node)
        elif value["role"] == "user":
            self.asked.take(node)
        elif value["role"] == "assistant":
            self._assistant(node)
        elif value["role"] == "tool":
            self._result(node)
        else:
            self.skip(node, f"unknown role{named(value['role'])}")
        if len(self.whole.timed) == before:
            self.skip(node, "a message without words or calls")

    def _line(self, node: Node) -> None:
        """On which line of the conversation a message stands: the user may have gone back."""
        is_left = node.value.get("active") == 0 and node.value.get("compacted") != 1
        if is_left and not self.branch:
            self.left = self._name(node)
            self.branch = f"left at {self.left}"
        elif not is_left:
            self.branch = ""

    def _summary(self, node: Node) -> None:
        """A summary in the place of what lay before; it may stand behind a message that is kept."""
        text = words(node.value.get("content"))
        self.put(Notice(self.origin(node), "compacted"))
        self.put(Fact(self.origin(node, "content"), "brought", {"text": text}))
        kept = (between(text, *MERGED) or "").strip()
        is_new = bool(kept) and kept not in self.said
        if node.value["role"] == "assistant":
            if is_new:
                here = self.origin(node, "content", actor=self.actor)
                self.put(Message(replace(here, reading=KEPT), "agent", kept))
            for call in calls(node.value, node.here.pointer):
                if call.id not in self.made:
                    self._call(node, call)
        elif is_new and self.asked.is_human and not users.injected(kept):
            self.asked.says(node, kept, within=True)

    # The agent's.

    def _assistant(self, node: Node) -> None:
        value = node.value
        if words(value.get("model")):
            here = self.origin(node, "model", actor=self.actor)
            self.put(Fact(here, "model", value["model"]))
        self._thinks(node)
        for path, text in texts(value.get("content")):
            here = self.origin(node, "content", actor=self.actor).below(path)
            if users.STOPPED.match(text) and not value.get("finish_reason"):
                self.put(Notice(here.by("system"), "interrupted"))
            elif text.strip() and not text.startswith(PARTS):
                self.said.add(text.strip())
                self.put(Message(here, "agent", text))
        for call in calls(value, node.here.pointer):
            self._call(node, call)
        match value.get("finish_reason"):
            case str(why) if why in CUT_OFF:
                self.put(Notice(self.origin(node, "finish_reason"), "limit", why))
            case "stop" if self.actor == MAIN:
                self.put(Notice(self.origin(node, "finish_reason"), "ended"))

    def _thinks(self, node: Node) -> None:
        key = next((key for key in REASONING if words(node.value.get(key))), "")
        details = node.value.get("reasoning_details")
        if key:
            here = self.origin(node, key, actor=self.actor)
            self.put(Thinking(here, node.value[key]))
            return
        for at, one in enumerate(details if isinstance(details, list) else ()):
            held = one if isinstance(one, dict) else {}
            name = next((name for name in THOUGHTS if words(held.get(name))), "")
            if name:
                here = self.origin(node, "reasoning_details", actor=self.actor)
                self.put(Thinking(here.below(f"/{at}/{name}"), held[name]))
            else:
                self.skip(node, "hidden reasoning")
        if node.value.get("codex_reasoning_items") and not details:
            self.skip(node, "hidden reasoning")

    def _call(self, node: Node, call: Call) -> None:
        logged = self.calls.issue(call.id, self._name(node), call.pointer)
        if logged is None:
            self.skip(node, REPEATED)
            return
        name = self.named[logged] = self.whole.named(logged, self.actor)
        here = self.origin(node, actor=self.actor)
        here = replace(here, evidence=here.evidence.at(call.pointer))
        self.made[call.id] = (call.name, call.input)
        meant = unchanged(call.name, call.input, self.ends.get(call.id))
        self.put(ToolCall(here, name, call.name, call.input, call.named, meant))
        if call.name == DELEGATE:
            self._sends(here, name, call)

    def _sends(self, here: Origin, name: str, call: Call) -> None:
        """The subagents that a call sends; what they did stands in sessions of their own."""
        actors, until = [], self.now
        for goal in goals(call.input):
            child = self.whole.child(self.session.id, goal) if self.depth < DEEPEST else None
            if child is None:
                self.whole.elsewhere = True
                actors.append(self.whole.agent())
                continue
            actor = self.whole.agent()
            actors.append(actor)
            self.put(Delegation(here, name, actor))
            until = max(until, self.whole.below(child, actor, self.now, self.depth + 1))
        self.whole.calling[call.id] = (name, actors)
        self.until[call.id] = until

    # What came back.

    def _result(self, node: Node) -> None:
        value = node.value
        ident = words(value.get("tool_call_id"))
        logged = self.calls.answer(ident)
        if logged is None:
            self.skip(node, "repeated result")
            return
        call = self.named.get(logged) or self.whole.named(logged, self.actor)
        tool, sent = self.made.get(ident, (words(value.get("tool_name"), value.get("name")), None))
        content, place = value.get("content"), self.origin(node, "content", actor=self.actor)
        place = replace(place, message=None)
        base = place.evidence.pointer
        if isinstance(content, str) and content.startswith(PARTS):
            shown = pictures(parsed(content.removeprefix(PARTS)), node)
            output, found = None, Verdict()
        else:
            shown = attachments(content, base)
            output = None if content is None else content_text(content)
            found = verdict(tool, content, base)
        files = tuple(changes(tool, sent, content, base)) if found.outcome == "ok" else ()
        if tool == DELEGATE:
            self._came_back(ident, found, content)
        self.put(ToolResult(place, call, output, *found, changes=files, attachments=shown))
        self._beside(node, call, tool, content)

    def _came_back(self, ident: str, found: Verdict, content: Any) -> None:
        """When a call for subagents came back: with what they did, or with a name for them."""
        told = parsed(content) if isinstance(content, str) else None
        if found.outcome != "launched":
            self.now = max(self.now, self.until.get(ident, ""))
        elif isinstance(told, dict) and words(told.get("delegation_id")):
            self.whole.sent[told["delegation_id"]] = self.whole.calling.get(ident, ("", []))

    def _beside(self, node: Node, call: str, tool: str, content: Any) -> None:
        """What a human said in a result, and which skill it loaded."""
        text = content if isinstance(content, str) else ""
        here = self.origin(node, "content", actor="user")
        said = answered(tool, content)
        if said and self.asked.is_human and not said.startswith(users.UNANSWERED):
            where = here.below("/user_response")
            self.put(Message(where, "user", said, "answer", answers=call, within=True))
        if self.asked.is_human and (said := users.steered(text)):
            self.put(Message(here, "user", said, "queued", within=True))
        match tool, answer(content):
            case "skill_view", ({"success": True, "name": str(name)}, True):
                self.put(Fact(self.origin(node, "content").below("/name"), "skills", [name]))


def _ends(line: list[Stored]) -> dict[str, Any]:
    """What came back, by the ids of calls in the log; nothing of one that is used twice."""
    found: dict[str, Any] = {}
    for one in (one for session in line for one in session.messages):
        if one.value["role"] == "tool":
            ident = words(one.value.get("tool_call_id"))
            found[ident] = None if ident in found else one.value.get("content")
    return found
