"""The store of the harness that came with 2.26: a folder a session, `logs/session/unified/<id>/`.

`CURRENT` names the last generation; its manifest names the chunks that hold the history as the
client shows it, and the segment of the journal that goes on from there. Older segments are gone.
An entry has the times of its start and end; which calls came in one message it does not say, and
those that ran at once did. Learnt from 3.0.2 (vibe/_storage.py, vibe/_projection.py).
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import counts, later, named, number, pointer, when, words
from forsy_retrace.source import Record, Source

from .._vibe import META, Json
from .effects import SPAWN, answers, changes, output, verdict
from .files import meant
from .session import facts

FORMAT = "mistral.vibe.unified-session-store/"
GENERATION = later(r"\d{1,20}")
CHUNK = later(r"[0-9a-f]{64}")
SEGMENT = later(r"journal/\d{1,20}\.jsonl")
SPOKEN = ("turn_start", "turn_steer")
"""Where the words of a human come from."""
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cachedInputTokens": "cached_input_tokens",
}


def is_store(value: Any) -> bool:
    """The pointer to a session's last generation."""
    match value:
        case {"store_format": str(name), "session_id": str(), "generation": str()}:
            return name.startswith(FORMAT)
    return False


def files(source: Source) -> Iterator[Source]:
    """What belongs to the last generation, its index first."""
    yield from source.called([META])
    for record in source.head:
        generation = words(record.value.get("generation")) if is_store(record.value) else ""
        if not GENERATION.fullmatch(generation):
            continue
        manifests = source.beside(f"generations/{generation}/manifest.json")
        yield from manifests
        yield from source.beside(f"generations/{generation}/projection-state.json")
        for manifest in (one.value for file in manifests for one in file.head):
            yield from _named(source, manifest)


def _named(source: Source, manifest: Any) -> Iterator[Source]:
    """The chunks of the history in order, and the journal's segment."""
    match manifest:
        case {"projection_state": {"chunks": list(chunks)}}:
            for name in dict.fromkeys(filter(None, map(words, chunks))):
                if CHUNK.fullmatch(name):
                    yield from source.beside(f"chunks/{name}.json")
    match manifest:
        case {"recovery_journal_segment": {"path": str(path)}} if SEGMENT.fullmatch(path):
            yield from source.beside(path)


class Store:
    """A session as its last generation and the journal behind it show it."""

    def __init__(self, source: Source, beside: list[Source]) -> None:
        self.own = list(source.records())
        self.beside = [(one.path.name, record) for one in beside for record in one.records()]
        self.entries: dict[str, tuple[Origin, Json]] = {}
        self.rest: list[Event] = []
        self.until = 0
        """When the last of the calls that run at once ended."""
        self.group = ""
        self.is_child = False
        """Whether it is a subagent's: what the user's role says there, the agent wrote."""
        self.is_briefed = False

    def events(self) -> Iterator[Event]:
        """At least one event of each record."""
        meta = [one for name, one in self.beside if name == META and isinstance(one.value, dict)]
        parent = next((words(one.value.get("parent_session_id")) for one in meta), "")
        for record in self.own:
            here = Origin(record.here, None, "system")
            if is_store(record.value):
                name = record.value["session_id"]
                yield SessionStart(here.below("/session_id"), name, parent or None)
            else:
                yield Skipped(here, record.problem or "not the pointer to a session")
        for name, record in self.beside:
            yield from self._beside(name, record)
        for here, entry in self.entries.values():
            yield from self._entry(entry, here)
        yield from self.rest

    def _beside(self, name: str, record: Record) -> Iterator[Event]:
        here, value = Origin(record.here, None, "system"), record.value
        if record.problem or not isinstance(value, dict):
            yield Skipped(here, record.problem or "no record of a session")
        elif name == META:
            told = list(facts(record, "", value))
            yield from told or [Skipped(here, "state of the session")]
        elif name == "manifest.json":
            yield Skipped(here, "index of the store")
        elif name == "projection-state.json":
            yield from self._state(value, here)
        elif "payload" in value:
            yield from self._delta(value, here)
        else:
            yield from self._put(value, here)

    def _delta(self, value: Json, here: Origin) -> Iterator[Event]:
        """A record of the journal: what it adds to the history."""
        payload, told = value["payload"], False
        delta = payload.get("delta") if isinstance(payload, dict) else None
        for index, one in enumerate(delta if isinstance(delta, list) else ()):
            match one:
                case {"op": "append_entry" | "replace_entry", "entry": dict(entry)}:
                    told = True
                    place = here.below(pointer("payload", "delta", index, "entry"))
                    yield from self._put(entry, place)
                case {"op": "set_history_entries", "entries": list(listed)}:
                    place = here.below(pointer("payload", "delta", index, "entries"))
                    for at, entry in enumerate(listed):
                        if isinstance(entry, dict):
                            told = True
                            yield from self._put(entry, place.below(pointer(at)))
                case {"op": "remove_entry", "id": str(ident)}:
                    yield from self._removed(ident)
        if not told:
            yield Skipped(here, "state of the harness")

    def _put(self, entry: Json, here: Origin) -> Iterator[Event]:
        """An entry takes the place of its earlier versions."""
        ident = words(entry.get("id")) or f"{here.evidence.record}{here.evidence.pointer}"
        if ident in self.entries:
            yield Skipped(self.entries[ident][0], "superseded by a later version")
        self.entries[ident] = (here, entry)

    def _removed(self, ident: str) -> Iterator[Event]:
        """Words that were still coming; what else is taken away was said and done."""
        match self.entries.get(ident):
            case (here, {"generationStatus": "in_progress", "type": "message" | "reasoning"}):
                del self.entries[ident]
                yield Skipped(here, "words that were not kept")

    def _state(self, value: Json, here: Origin) -> Iterator[Event]:
        yield Skipped(here, "state of the session")
        match value:
            case {"snapshot": {"session": dict(session)}}:
                place = here.below("/snapshot/session")
                root = words(session.get("rootSessionId"))
                self.is_child = bool(root) and root != session.get("id")
                if used := counts(session.get("tokenUsage"), USAGE):
                    yield Fact(place.below("/tokenUsage"), "usage", used)
                if words(session.get("title")):
                    yield Fact(place.below("/title"), "title", session["title"])
        match value:
            case {"snapshot": {"latestTurn": {"error": {"message": str(text)}, **rest}}}:
                at = when(rest.get("completedAt"))
                where = here.below("/snapshot/latestTurn/error/message")
                self.rest.append(Notice(_at(where, at), "model error", text))

    def _entry(self, entry: Json, here: Origin) -> Iterator[Event]:
        here = _at(here, when(entry.get("createdAt")))
        kind = entry.get("type")
        if kind in ("message", "reasoning"):
            self.until = 0
        match entry:
            case {"outcome": {"type": "discarded"}}:
                yield Skipped(here, "words that were not kept")
            case {"type": "message", "role": "user", "content": list(parts)}:
                if self.is_child:
                    yield from self._told(parts, here)
                elif entry.get("source") in SPOKEN:
                    yield from _said(parts, here.by("user"), "user")
                else:
                    yield Skipped(here, "injected: a message of the client")
            case {"type": "message", "role": "assistant", "content": list(parts)}:
                yield from _said(parts, here.by("agent"), "agent")
            case {"type": "reasoning", "text": str(text)} if text.strip():
                yield Thinking(here.below("/text").by("agent"), text)
            case {
                "type": "effect",
                "detail": {"kind": "shell", "input": {"command": str(line)}},
            } if line.strip():
                where = here.below("/detail/input/command").by("user")
                yield Message(where, "user", f"!{line}", "shell line", within=True)
            case {"type": "effect", "detail": {"toolName": str(tool), "input": sent}} if tool:
                yield from self._effect(tool, sent, entry, here)
            case {"type": "checkpoint", "kind": "compaction", "generationStatus": "completed"}:
                yield Notice(here, "compacted")
            case {"type": "checkpoint" | "notice"}:
                yield Skipped(here, f"{kind} of the client{named(entry.get('kind'))}")
            case _:
                yield Skipped(here, f"unknown record type{named(kind)}")

    def _told(self, parts: list[Any], here: Origin) -> Iterator[Event]:
        """What a subagent was asked, first and later."""
        match parts:
            case [{"text": str(text)}, *_] if not self.is_briefed:
                self.is_briefed = True
                yield Fact(here.below("/content/0/text"), "brief", text)
            case _:
                yield Skipped(here, "injected: later words to a subagent")

    def _effect(self, tool: str, sent: Any, entry: Json, here: Origin) -> Iterator[Event]:
        call = words(entry.get("id")) or f"{here.evidence.start}{here.evidence.pointer}"
        begun, ended = number(entry.get("createdAt")), number(entry.get("updatedAt"))
        if begun is None or begun >= self.until:
            self.group, self.until = call, 0
        self.until = max(self.until, ended or 0)
        place = Origin(here.evidence, here.at, "agent", self.group)
        name = place.below("/detail/toolName").evidence.pointer
        like = meant("task" if tool == SPAWN else tool.rpartition(".")[2], sent)
        plain = Meant(tool, like.input) if like is not None else None
        yield ToolCall(place.below("/detail/input"), call, tool, sent, name, plain)
        state = entry.get("state")
        if not isinstance(state, dict):
            return
        end = verdict(tool, state, here.below("/state"))
        if end is None:
            return
        text, path = output(state)
        where = _at(here.below(f"/state{path}"), when(entry.get("updatedAt"))).by("agent")
        changed = tuple(changes(sent, state, here.below("/state"))) if end.outcome == "ok" else ()
        yield ToolResult(where, call, text, *end, changes=changed)
        yield from answers(call, state, _at(here, when(entry.get("updatedAt"))))


def _said(parts: list[Any], here: Origin, role: Any) -> Iterator[Event]:
    told = False
    for index, part in enumerate(parts):
        match part:
            case {"text": str(text)} if text.strip():
                told = True
                yield Message(here.below(pointer("content", index, "text")), role, text)
            case {"resource": {"text": str(text)}} if role == "user" and told:
                place = here.below(pointer("content", index, "resource", "text"))
                yield Fact(place.by("system"), "brought", {"text": text})
    if not told:
        yield Skipped(here.by("system"), "empty message")


def _at(here: Origin, at: str | None) -> Origin:
    return Origin(here.evidence, at, here.actor, here.message)
