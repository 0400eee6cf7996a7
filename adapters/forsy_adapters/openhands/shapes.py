"""What a record of OpenHands is, told by its keys."""

import re
from typing import Any

from forsy_retrace.sdk import later, number

Json = dict[str, Any]

OFFERED = "the tools on offer"
"""What only the first versions of the SDK tell, and all that were before it."""
HOLDS = ("history", "trajectory", "events")
SOURCES = ("agent", "user", "environment", "hook")
STATE_FILE = "base_state.json"
EVENT_FILE = later(r"event-(\d{5,12})-[\w-]{1,80}\.json\Z")
"""The file of one event, since the SDK: its place in the conversation, and its id."""
OLD_FILE = later(r"(\d{1,12})\.json\Z")
"""The same before it."""
EXPORTED = later(r"event_(\d{1,12})_[\w-]{1,80}\.json\Z")
"""The same in the archive that the app gives out."""
HEX_FILE = later(r"(?=[0-9a-f]{32}\.json\Z)()")
"""The same as the app keeps it: named by its id alone."""
KINDS = later(r"[A-Z]\w{2,60}\Z")


def is_event(value: Any) -> bool:
    """An event of the SDK (1.0 and later)."""
    match value:
        case {"kind": str(kind), "id": str(), "timestamp": str(), "source": str(source)}:
            return source in SOURCES and KINDS.match(kind) is not None
    return False


def is_first(value: Any) -> bool:
    """The event with which a conversation begins."""
    return is_event(value) and value["kind"] == "SystemPromptEvent"


def is_state(value: Any) -> bool:
    """What the SDK knows of a conversation."""
    match value:
        case {"id": str(), "agent": {"kind": str()}, "workspace": dict(), "execution_status": _}:
            return True
        case {"id": str(), "agent": {"kind": str()}, "workspace": dict(), "agent_status": _}:
            return True
    return False


def is_old_event(value: Any) -> bool:
    """An event of OpenHands before the SDK: an action, or what was observed of one."""
    match value:
        case {"id": ident, "timestamp": str(), "source": str(source), "message": str()}:
            known = source in SOURCES and number(ident) is not None
            return known and isinstance(value.get("action", value.get("observation")), str)
    return False


def is_old_first(value: Any) -> bool:
    """The event with which a session before the SDK begins."""
    return is_old_event(value) and value["id"] == 0


def is_old_session(value: Any) -> bool:
    """What the server before the SDK knew of a session."""
    match value:
        case {"conversation_id": str(), "created_at": _, "selected_repository": _}:
            return True
    return False


def events_of(value: Any) -> tuple[str, list[Any]]:
    """The events that an object holds, and under which key: what a server or evaluation wrote."""
    for key in HOLDS if isinstance(value, dict) else ():
        held = value.get(key)
        if isinstance(held, list) and held:
            is_one = is_event(held[0]) or is_old_event(held[0])
            if is_one or ("instance_id" in value and (is_pair(held[0]) or is_bare(held[0]))):
                return key, held
    return "", []


def is_holder(value: Any) -> bool:
    """Whether an object holds a conversation."""
    return bool(events_of(value)[1])


def is_bare(value: Any) -> bool:
    """An action or observation of a history that gives no ids."""
    match value:
        case {"action": str()} | {"observation": str()}:
            return "message" in value
    return False


def is_pair(value: Any) -> bool:
    """An action with what came of it, as the histories of 2024 have them."""
    match value:
        case [{"action": str()}, {"observation": str()}]:
            return True
    return False


def place_of(name: str, pattern: re.Pattern[str]) -> int:
    """The place of an event's file in the conversation; -1 of any other file."""
    found = pattern.match(base_of(name))
    return int(found[1] or 0) if found else -1


def base_of(name: str) -> str:
    """The last part of a file's name, in an archive too."""
    return name.rpartition("#")[2].rpartition("/")[2]
