"""The six forms of a Codex log, brought to one: a kind, its body, and where that stands."""

from collections.abc import Iterator
from typing import Any

import msgspec

from forsy_retrace.events import Origin
from forsy_retrace.sdk import strings, text_of, when
from forsy_retrace.source import Record

Json = dict[str, Any]

ENVELOPES = frozenset(
    [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    ]
)
STREAM = frozenset(
    [
        "thread.started",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.updated",
        "item.completed",
        "error",
    ]
)
"""What `codex exec --json` prints since October 2025."""
ITEMS = frozenset(
    [
        "message",
        "Message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "ghost_snapshot",
        "compaction",
    ]
)
"""Responses items that stand bare in the rollouts of August 2025."""


class Unit(msgspec.Struct):
    """One thing that a record says."""

    kind: str
    body: Json
    prefix: str
    at: str | None
    record: Record
    number: int
    """The record's place in the log, from 0."""

    @property
    def is_summary(self) -> bool:
        """Whether these are the words that a compaction left, which 0.171 keeps as an item too."""
        match self.record.value:
            case {"metadata": {"compaction_output": True}}:
                return True
        return False


def units(record: Record, number: int) -> Iterator[Unit]:
    """What a record says; a single-JSON rollout says much in one record."""
    logged = record.value.get("logged_at") if isinstance(record.value, dict) else None

    def unit(kind: str, body: Any, prefix: str, at: Any = logged) -> Unit:
        return Unit(kind, body if isinstance(body, dict) else {}, prefix, when(at), record, number)

    match record.value:
        case {"session": dict(session), "items": list(items)}:
            yield unit("session_meta", session, "/session", session.get("timestamp"))
            for index, item in enumerate(items):
                yield unit("response_item", item, f"/items/{index}")
        case {"payload": dict(payload), "type": str(kind), **rest}:
            yield unit(kind, payload, "/payload", rest.get("timestamp"))
        case {"dir": str(), "kind": "codex_event", "payload": {"msg": dict(msg)}, **rest}:
            yield unit("event_msg", msg, "/payload/msg", rest.get("ts"))
        case {"dir": str(), "kind": str(kind), **rest}:
            yield unit(f"screen {kind}", record.value, "", rest.get("ts"))
        case {"id": str(), "msg": dict(msg)}:
            yield unit("event_msg", msg, "/msg")
        case {"type": str(kind)} if kind in STREAM:
            yield unit(kind, record.value, "")
        case {"type": str(kind)} if kind in ITEMS:
            yield unit("response_item", record.value, "")
        case {"id": str(), "timestamp": _, "instructions": _}:
            # Its time is the local one, and has a `Z` all the same.
            yield unit("session_meta", record.value, "")
        case {"record_type": str(kind)}:
            yield unit(f"record {kind}", record.value, "")
        case {"prompt": str()}:
            yield unit("prompt", record.value, "")
        case {"model": str(), "workdir": _}:
            yield unit("exec settings", record.value, "")
        case dict(value):
            yield unit(f"unknown {value.get('type')}", value, "", value.get("timestamp"))
        case _:
            yield unit("not a record", {}, "")


def is_ours(value: Any) -> bool:
    """Whether a record can only be Codex's own."""
    match value:
        case {"session": {"id": str(), "timestamp": _}, "items": list()}:
            return True
        case {"type": str(kind), "payload": dict()}:
            return kind in ENVELOPES
        case {"dir": "meta" | "to_tui" | "from_tui", "kind": str(), "ts": _}:
            return True
        case {"type": "thread.started", "thread_id": str()}:
            return True
        case {"type": str(kind), "item": {"id": str(), "type": str()}}:
            return kind in STREAM
        case {"id": str(), "timestamp": str(), "instructions": _, **rest}:
            return "type" not in rest and "role" not in rest
        case {"id": str(), "msg": {"type": str(kind)}}:
            return kind in ("session_configured", "task_started", "task_complete")
    return False


def origin(record: Record, path: str = "", at: str | None = None, actor: str = "system") -> Origin:
    return Origin(record.here.at(path), at, actor)


def texts(content: Any) -> list[str]:
    """The texts of a content, part by part."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [
        *strings(parts),
        *(
            text_of(p["text"])
            for p in parts
            if isinstance(p, dict) and isinstance(p.get("text"), str)
        ),
    ]
