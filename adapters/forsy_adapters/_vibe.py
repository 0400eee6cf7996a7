"""What tells Mistral Vibe's sessions from other logs of chat messages."""

from typing import Any

from forsy_retrace.sdk import later
from forsy_retrace.source import Source

Json = dict[str, Any]

ROLES = ("system", "user", "assistant", "tool")
META = "meta.json"
FIELDS = frozenset(
    [
        *("role", "content", "name", "tool_calls", "tool_call_id", "message_id"),
        *("reasoning_content", "reasoning_state", "reasoning_signature", "reasoning_message_id"),
    ]
)
"""What a message of the first folders may hold (LLMMessage, 2.2)."""
IDENT = later(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def is_vibes(source: Source) -> bool:
    """A session in one document, or messages with the marks that only this client sets.

    The first folders' messages (2.0; no more in 2.9) have no flag: what lies beside them tells.
    """
    values = [one.value for one in source.head]
    if any(is_session(one) or is_flagged(one) for one in values):
        return True
    return any(map(is_plain, values)) and any(
        is_meta(record.value) for one in source.called([META]) for record in one.head
    )


def is_session(value: Any) -> bool:
    """A whole session in one document, as 1.x writes it."""
    match value:
        case {"metadata": dict(meta), "messages": list()}:
            return is_meta(meta)
    return False


def is_meta(value: Any) -> bool:
    """What the client knows of a session."""
    match value:
        case {"session_id": str(), "environment": dict(), "stats": dict()}:
            return True
    return False


def is_flagged(value: Any) -> bool:
    """A message of a session in a folder."""
    match value:
        case {"role": str(role), "injected": bool(), "message_id": str()}:
            return role in ROLES and "type" not in value
        case {"role": "tool", "injected": bool(), "tool_call_id": str()}:
            return "type" not in value
    return False


def is_plain(value: Any) -> bool:
    """A message without the flag, as others may write them too."""
    match value:
        case {"role": "user" | "assistant", "message_id": str(ident)}:
            return FIELDS.issuperset(value) and IDENT.fullmatch(ident) is not None
    return False
