"""Calls, with what came of them: results, a human's words beside one, the work of a subagent."""

from typing import TYPE_CHECKING, Any

from msgspec import structs

from forsy_retrace.calls import Verdict
from forsy_retrace.events import (
    Delegation,
    Fact,
    Message,
    Origin,
    Skipped,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import strings, words

from .files import changes
from .outcome import feedback, verdict
from .shapes import Json, attachments, inner, is_typed, meant_by, sent_in, shown_in, time_of
from .stored import Node, Said, Stored

if TYPE_CHECKING:
    from .line import Line

TASK = "task"
"""The tool that starts a subagent."""


class Called:
    """Tells the calls of a session."""

    def __init__(self, line: "Line") -> None:
        self.line, self.whole = line, line.whole
        below = self.whole.below.get(line.session.id, ())
        self.children = {one.id: one for one in below}
        """The sessions of subagents, as far as they were not told yet."""
        self.briefs = _briefs(line.session) if below else {}
        """What the calls sent to each of them, in their order."""
        self.sent: dict[str, tuple[str, str]] = {}
        """Sessions of subagents, the last calls that sent them, and their names."""

    def take(self, said: Said, part: Node, tool: str, state: Json) -> None:
        """A call, and its result where it has one."""
        if self.line.user.ran:
            self._ran(said, part, state)
            return
        logged = words(part.value.get("callID"))
        call = self.whole.calls.issue(logged, part.value.get("id"))
        if call is None:
            self.line.put(Skipped(self.line.at(said, part.here), "repeated history"))
            return
        self.whole.calls.answer(logged)
        base = part.at("state").pointer
        found = verdict(tool, state, base)
        sent, keys = sent_in(state)
        here = self._begun(said, part.at("state", *keys), state, found)
        meant = meant_by(tool, sent)
        self.line.put(ToolCall(here, call, tool, sent, part.at("tool").pointer, meant))
        begun = self.line.now
        until = self._sent_out(state, call, here) if tool == TASK else begun
        if state.get("status") not in ("completed", "error"):
            return
        output, keys = shown_in(state)
        files = changes(tool, state, base) if found.outcome == "ok" else ()
        where = part.at("state", *keys)
        origin = self.line.at(said, where, time_of(state, "end"), self.line.actor)
        shown = attachments(state, base)
        result = ToolResult(origin, call, output, *found, changes=files, attachments=shown)
        self.line.put_end(result, begun if found.outcome == "launched" else until)
        self._answered(result, tool, state, part)

    def _begun(self, said: Said, place: Any, state: Json, found: Verdict) -> Origin:
        """Where and when a call began; of one that was stopped, 1.2 told only when it was."""
        begun = time_of(state, "start")
        here = self.line.at(said, place, begun, self.line.actor, self.line.step)
        if found.outcome == "interrupted" and begun == time_of(state, "end"):
            return structs.replace(here, at=None, dated=None)
        return here

    def _ran(self, said: Said, part: Node, state: Json) -> None:
        """A line that the user ran in OpenCode's shell, and what it printed."""
        match state.get("input"):
            case {"command": str(text)} if text.strip():
                place = part.at("state", "input", "command")
                here = self.line.at(said, place, time_of(state, "start"), "user", said.id or None)
                self.line.put(Message(here, "user", f"!{text}", "shell line", within=True))
        if output := words(state.get("output")):
            here = self.line.at(said, part.at("state", "output"), time_of(state, "end"))
            self.line.put(Fact(here, "brought", {"text": output}))

    def _answered(self, result: ToolResult, tool: str, state: Json, part: Node) -> None:
        """What a human said beside a result, and what the call of a skill says of skills."""
        at, branch = result.origin.at, result.origin.branch
        via: Via = "answer"
        match tool, state:
            case "question", {"status": "completed", "metadata": {"answers": [*answers]}}:
                lines = [", ".join(strings(one)) for one in answers if isinstance(one, list)]
                text = "\n".join(filter(None, lines))
                place = part.at("state", "metadata", "answers")
            case "skill", {"status": "completed", "input": {"name": str(name)}} if name:
                where = Origin(part.at("state", "input", "name"), at, "system", None, branch)
                self.line.put_end(Fact(where, "skills", [name]), self.line.now)
                return
            case _, {"status": "error", "error": str(error)}:
                text, place, via = feedback(error), result.origin.evidence, "rejection"
            case _:
                return
        if text.strip() and self.line.user.is_human:
            here = Origin(place, at, "user", None, branch)
            said = Message(here, "user", text, via, (), result.call, within=True)
            self.line.put_end(said, self.line.now)

    # Subagents.

    def _sent_out(self, state: Json, call: str, here: Origin) -> str:
        """A subagent that a call sent; until when it was at work, where its session is here."""
        held, sent = inner(state, "metadata"), inner(state, "input")
        name = words(held.get("sessionId")) or self._by_brief(sent)
        if not name or (name in self.sent and name not in self.children):
            return self.line.now
        actor = self.whole.agent(words(sent.get("subagent_type")))
        self.sent[name] = call, actor
        if name in self.children or held.get("background") is True:
            self.line.put(Delegation(here, call, actor))
        if name in self.children:
            return self._child(name, actor, self.line.now)
        self.whole.elsewhere = True
        return self.line.now

    def _by_brief(self, sent: Json) -> str:
        """The session that begins with what a call sent, where the call names none."""
        prompt = words(sent.get("prompt"))
        for name, child in self.children.items():
            if prompt and any(_says(said, prompt) for said in child.messages[:1]):
                return name
        return ""

    def _child(self, name: str, actor: str, since: str) -> str:
        """What a subagent did for one call; until when. Taken up again it has another name."""
        child = self.children.pop(name)
        prompts = self.briefs.get(name, [])[1:]
        self.briefs[name] = prompts
        again = (at for at, said in enumerate(child.messages) if at and _says(said, *prompts[:1]))
        end = next(again, len(child.messages)) if prompts else len(child.messages)
        if end < len(child.messages):
            self.children[name] = child._replace(messages=child.messages[end:])
        else:
            told = Origin(child.head.here, None, "system")
            self.line.put(Skipped(told, "a subagent's session"))
        run = child._replace(messages=child.messages[:end])
        return self.line.below(run, actor, since)

    def rest(self) -> None:
        """The subagents that were sent by no call that is here."""
        while self.children:
            name = next(iter(self.children))
            kind = words(self.children[name].head.value.get("agent"))
            self._child(name, self.whole.agent(kind), "")


def _briefs(session: Stored) -> dict[str, list[str]]:
    """What calls sent to the sessions that they name."""
    found: dict[str, list[str]] = {}
    for said in session.messages:
        for part in said.parts:
            match part.value:
                case {
                    "type": "tool",
                    "tool": "task",
                    "state": {"input": {"prompt": str(text)}, "metadata": {"sessionId": str(name)}},
                }:
                    found.setdefault(name, []).append(text)
    return found


def _says(said: Said, *texts: str) -> bool:
    """Whether a message in the user's place is one of these."""
    is_user = said.info.value.get("role") == "user"
    spoken = (part.value["text"] for part in said.parts[:1] if is_typed(part.value))
    return is_user and any(text in texts for text in spoken)
