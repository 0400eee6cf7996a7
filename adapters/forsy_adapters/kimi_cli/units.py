"""One record of a wire file: who told it, and what."""

from typing import Any, NamedTuple

from forsy_retrace.events import Origin
from forsy_retrace.sdk import when, words
from forsy_retrace.source import Record

Json = dict[str, Any]

KINDS = frozenset(
    [
        *("TurnBegin", "TurnEnd", "SteerInput", "StepBegin", "StepInterrupted", "StepRetry"),
        *("ContentPart", "ToolCall", "ToolCallPart", "ToolResult", "ToolCallRequest"),
        *("StatusUpdate", "CompactionBegin", "CompactionEnd", "SubagentEvent"),
        *("ApprovalRequest", "ApprovalResponse", "ApprovalRequestResolved"),
        *("QuestionRequest", "PlanDisplay", "Notification", "BtwBegin", "BtwEnd"),
        *("HookRequest", "HookTriggered", "HookResolved", "MCPLoadingBegin", "MCPLoadingEnd"),
    ]
)
"""The messages of the wire (wire/types.py, 1.52)."""


class Unit(NamedTuple):
    """A message; its payload stands at the pointer `base`."""

    number: int
    record: Record
    at: str | None
    kind: str
    body: Json
    base: str
    task: str = ""
    """The call that it was told below, if it is a subagent's."""
    agent: str = ""
    sort: str = ""
    """What kind of subagent it is, where the record says so."""

    def here(self, path: str = "", actor: str = "system", message: str | None = None) -> Origin:
        """The origin of an event at a pointer below the payload."""
        return Origin(self.record.here.at(self.base + path), self.at, actor, message)


def is_ours(value: Any) -> bool:
    match value:
        case {"timestamp": float() | int(), "message": {"type": str(kind), "payload": dict()}}:
            return kind in KINDS
    return False


def is_header(value: Any) -> bool:
    match value:
        case {"type": "metadata", "protocol_version": str()}:
            return True
    return False


def unit_of(number: int, record: Record) -> Unit | None:
    """The message of a record, or what a subagent told in it; None where it is none."""
    match record.value:
        case {"message": {"type": str(kind), "payload": dict(body)}, **rest}:
            unit = Unit(number, record, when(rest.get("timestamp")), kind, body, "/message/payload")
            return _below(unit) or unit
    return None


def _below(unit: Unit) -> Unit | None:
    if unit.kind != "SubagentEvent":
        return None
    match unit.body:
        case {"event": {"type": str(kind), "payload": dict(body)}, **rest}:
            # Until 1.1x the call has another name, and the subagent has none.
            return unit._replace(
                kind=kind,
                body=body,
                base=unit.base + "/event/payload",
                task=words(rest.get("parent_tool_call_id"), rest.get("task_tool_call_id")),
                agent=words(rest.get("agent_id")),
                sort=words(rest.get("subagent_type")),
            )
    return None
