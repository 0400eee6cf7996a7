"""What of a record tells whose it is and what it hangs on, without the record itself.

A session is read twice, so that one record at a time is held: the first reading tells who speaks
when, which only the whole can tell; the second what each says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import later, text_of, when
from forsy_retrace.source import Evidence, Record, Source

from .results import ends, structured
from .words import pieces

Json = dict[str, Any]
AGENT_TOOLS = ("Task", "Agent")
NESTED = "/data/message"
"""Where a subagent's message stands in a progress record."""
LAUNCHED = ("async_launched", "teammate_spawned", "remote_launched")
CHANGED = "unreadable: changed while it was read"
PLANNED_IN = later(
    r"read the full transcript at: [^\n]*[/\\]"
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl\s*\Z"
)
"""How the client's words end with which an accepted plan begins a session of its own (2.1.39)."""


class Line(msgspec.Struct, gc=False):
    """A record by its place, what it hangs on, and the lane that it belongs to."""

    here: Evidence
    body: Json = {}
    """What it says; held only while it is read."""
    kind: str = ""
    at: str | None = None
    uuid: str | None = None
    parent: str | None = None
    session: str | None = None
    forked: Json | None = None
    """From where it was copied into this session."""
    planned_in: str = ""
    """The session that made the plan which it takes up."""
    is_stream: bool = False
    """The form of `stream-json`."""
    is_side: bool = False
    agent: str = ""
    """The subagent that it names."""
    under: str | None = None
    """The call that started the subagent, as it says."""
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """The calls whose results it brings."""
    has_results: bool = False
    is_launched: bool = False
    """Its result says no more than that a subagent was started."""
    is_prompt: bool = False
    """It holds words of a human."""
    is_meta: bool = False
    """A program put it into the user's place."""
    words: str = ""
    """What may be a subagent's brief."""
    operation: str = ""
    """What happened to the queue of prompts."""
    prefix: str = ""
    """Where its body stands in the record."""
    lane: str = ""
    branch: str = ""
    is_fork: bool = False
    """Its branch begins with it."""
    follows: Line | None = None
    """The answer from which its branch goes on."""
    message: str | None = None
    """The id of the answer that it is a part of, once it was read."""
    skip: str = ""
    """Why it is left out; empty where it counts."""
    brief: bool = False
    """The words with which a subagent was started."""


class Launch(msgspec.Struct):
    """A call that may start a subagent."""

    call: str
    kind: str
    prompt: str
    taken: bool = False


class Survey:
    """The first reading of a session's files."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.agents: dict[str, str] = {}
        """Subagent to the call that its result came back to."""
        self.runs: dict[str, str] = {}
        """The folder of a workflow's agents to the call that ran it."""
        self.mates: dict[str, str] = {}
        """Member of a team, by name, to the call that started it."""
        self.polls: dict[str, str] = {}
        """Call that looks at a background command to the name of the command."""
        self.said: set[str] = set()
        """All words of human turns: a queued prompt that stands here came by another way."""
        self.ends: dict[str, ToolResult] = {}
        """Background command to its end, as a later record told it."""
        self.hooks: dict[str, set[str]] = {}
        """Hook, by its event and tool, to the calls that it was run for."""
        self.interrupted: set[str] = set()
        """The messages of the model whose calls the user stopped while they ran (2.1.290)."""
        self.names: dict[str, str] = {}
        """Each name of a record or session, once: most stand in two records or more."""

    def lines(
        self, file: Source, files: frozenset[str] = frozenset(), *, own: bool = False
    ) -> list[Line]:
        """A file's lines. `files` are the lanes that have files; `own` is a subagent's file."""
        return [self._line(record, files, own) for record in file.records()]

    def _line(self, record: Record, files: frozenset[str], own: bool) -> Line:
        line, body = Line(record.here), record.value
        if record.problem:
            line.skip = record.problem
            return line
        if not isinstance(body, dict):
            line.skip = "not a record"
            return line
        line.session = self._name(session_of(record))
        line.is_stream = "session_id" in body and "sessionId" not in body
        forked = body.get("forkedFrom")
        line.forked = forked if isinstance(forked, dict) else None
        match body:
            case {"planContent": str(), "message": {"content": content}}:
                if found := PLANNED_IN.search(text_of(content)[-1000:]):
                    line.planned_in = found[1]
        self._look_for_subagents(body)
        for task, told in ends(body, record.here, self.polls):
            held = self.ends.get(task)
            if held is None or held.output is None:  # a notification tells no output
                self.ends[task] = told
        match body:
            case {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}:
                self.said.add(text_of(prompt).strip())
            case {"type": "queue-operation", "operation": str(operation)}:
                line.operation = operation
            case {"interruptedMessageId": str(message)}:
                self.interrupted.add(message)
            case {
                "data": {"type": "hook_progress", "hookName": str(hook)},
                "parentToolUseID": str(call),
            }:
                self.hooks.setdefault(hook, set()).add(call)
        match body:
            case {"type": "progress", "data": {"type": "agent_progress"} as data}:
                _nest(line, data, body, files)
                body = body_of(record, line.prefix)
            case {"parent_tool_use_id": str(call), "type": "user" | "assistant"}:
                line.under = call
            case {"isSidechain": True}:
                line.is_side, line.agent = True, str(body.get("agentId") or "")
        _describe(line, body)
        line.uuid = self._name(body.get("uuid"))
        line.parent = self._name(body.get("parentUuid"))
        if line.kind == "user":
            line.is_meta = body.get("isMeta") is True
            self._hear(body)
            if line.parent and not own:
                line.is_prompt = _is_prompt(body)
            if (own or line.is_side or line.under) and not line.has_results:
                line.words = text_of(content_of(body))
        return line

    def _name(self, name: object) -> str | None:
        return self.names.setdefault(name, name) if isinstance(name, str) else None

    def _look_for_subagents(self, body: Json) -> None:
        """The calls that start subagents or poll a command, and what each agent id came back to."""
        for block in _blocks(body):
            match block:
                case {"type": "tool_use", "name": str(name), "id": str(call), "input": dict(sent)}:
                    if name in AGENT_TOOLS:
                        kind = str(sent.get("subagent_type") or "agent")
                        self.launches.append(Launch(call, slug(kind), text_of(sent.get("prompt"))))
                    match sent:
                        case {"bash_id": str(task)} | {"task_id": str(task)}:
                            self.polls[call] = task
                case {"type": "tool_result", "tool_use_id": str(call)}:
                    match structured(body):
                        case {"status": "teammate_spawned", "name": str(name)}:
                            self.mates[name] = call
                        case {"agentId": str(agent)}:
                            self.agents[agent] = call
                        case {"runId": str(), "transcriptDir": str(folder)}:
                            self.runs[folder.replace("\\", "/").rpartition("/")[2]] = call

    def _hear(self, body: Json) -> None:
        content = content_of(body)
        for block in content if isinstance(content, list) else [content]:
            if not is_result(block):
                self.said.add(text_of([block]).strip())


def read_again(lines: list[Line], files: Iterable[Source]) -> Iterator[Line]:
    """The lines with their bodies, one at a time; each file is read in its own order.

    What was read leaves the list: the events of a long session need its room. Held are the records
    alone that stand before one which happened earlier.
    """
    records = {file.name: file.records() for file in files}
    early: dict[Evidence, Record] = {}
    lines.reverse()
    while lines:
        line = lines.pop()
        record = early.pop(line.here, None)
        while record is None and (record := next(records[line.here.file], None)) is not None:
            if record.here.start < line.here.start:
                early[record.here], record = record, None
        if record is not None and record.here == line.here:
            line.body = body_of(record, line.prefix)
        else:
            line.skip = CHANGED
        yield line


def body_of(record: Record, prefix: str) -> Json:
    """The record's own body, or the one that is nested in it."""
    body: Json = record.value if isinstance(record.value, dict) else {}
    if not prefix:
        return body
    match body:
        case {"data": {"message": dict(inner)}}:
            return {**inner, "timestamp": inner.get("timestamp", body.get("timestamp"))}
    return {}  # the file was changed since it was first read


def session_of(record: Record) -> str | None:
    """The session that a record names."""
    match record.value:
        case {"sessionId": str(name)} | {"session_id": str(name)} if name:
            return name
    return None


def content_of(body: Json) -> Any:
    """The content of a message."""
    message = body.get("message")
    return message.get("content") if isinstance(message, dict) else message


def slug(kind: str) -> str:
    """A kind of subagent as part of an actor's name."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:40] or "agent"


def _nest(line: Line, data: Json, body: Json, files: frozenset[str]) -> None:
    """A subagent's message inside a progress record: the only copy where it has no file."""
    call = body.get("parentToolUseID")
    lane = str(data.get("agentId") or call or "agent")
    if lane in files:
        line.skip = "repeats a subagent's own log"
    elif not isinstance(data.get("message"), dict):
        line.skip = "progress"
    else:
        line.prefix, line.lane = NESTED, lane
        line.under = call if isinstance(call, str) else None


def _describe(line: Line, body: Json) -> None:
    kind = body.get("type")
    line.kind = kind if isinstance(kind, str) else ""
    line.at = when(body.get("timestamp"))
    blocks = _blocks(body)
    if blocks:
        line.calls = _ids(blocks, "tool_use", "id")
        line.answers = _ids(blocks, "tool_result", "tool_use_id")
        line.has_results = any(map(is_result, blocks))
    match structured(body):
        case {"status": str(status)} if status in LAUNCHED:
            line.is_launched = True


def _blocks(body: Json) -> list[Any]:
    content = content_of(body)
    return content if isinstance(content, list) else []


def _ids(blocks: list[Any], kind: str, key: str) -> tuple[str, ...]:
    return tuple(
        block[key]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str)
    )


def is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _is_prompt(body: Json) -> bool:
    """Whether a user turn holds words of a human."""
    if body.get("isMeta") or body.get("isCompactSummary") or any(map(is_result, _blocks(body))):
        return False
    content = content_of(body)
    texts = [text_of([block]) for block in (content if isinstance(content, list) else [content])]
    return any(part.via for text in texts for part in pieces(text))
