"""Which records there are, and why some are no work."""

from typing import Any

from forsy_retrace.sdk import later

Json = dict[str, Any]

STARTS = "session.start"
TURNS = ("user.message", "assistant.message", "assistant.turn_start")
"""What a log has that begins without a session's start: a stream, or a part of a file."""

LEFT_OUT: tuple[tuple[str, str], ...] = (
    # How kinds of records begin that are no work, and why they are left out.
    ("assistant.turn_", "bounds of a turn"),
    ("hook.", "repeated: what a hook was given"),
    ("model.", "repeated: the client's account of a call of the model"),
    ("permission.", "bookkeeping of permissions"),
    ("external_tool.", "repeated: a call handed to another program"),
    ("subagent.", "bounds of a subagent"),
    ("skill.", "injected: a skill's text"),
    ("tool_search.", "tools that were loaded"),
    ("session.binary_asset", "bytes of a picture that other records name"),
    ("session.usage_", "token count"),
    ("session.info", "notice of the client"),
    ("session.warning", "notice of the client"),
    ("session.mode_notice_delivered", "injected: change of mode"),
    ("session.mode_changed", "change of mode"),
    ("session.model_change", "choice of model"),
    ("session.auto_mode", "choice of model"),
    ("session.fusion_", "choice of model"),
    ("assistant.fusion_", "choice of model"),
    ("session.compaction_", "bounds of a compaction"),
    ("session.truncation", "history cut short for the model"),
    ("session.task_complete", "repeated: the summary of a call"),
    ("session.schedule_", "bookkeeping of scheduled prompts"),
    ("session.canvas.", "state of a canvas"),
    ("session.permissions_changed", "choice of permissions"),
    ("session.snapshot_rewind", "a rewind: what it took back is not in the log"),
    ("session.handoff", "injected: a session that was handed over"),
    ("session.shutdown", "end of a run of the client"),
    *(
        (f"session.{name}", "state of the session")
        for name in (
            "autopilot_objective_changed",
            "completion_receipt",
            "idle",
            "memory_changed",
            "plan_changed",
            "remote_steerable_changed",
            "session_limits_changed",
            "title_changed",
            "todos_changed",
            "workspace_file_changed",
        )
    ),
)

HUMAN = later(r"(?:user|command-.*)?\Z")
"""Where a person's message comes from, if the log says: the client, or a remote one's command."""
PLAN = later(r"\[\[PLAN\]\] ")
"""What the client sets before words that are typed in plan mode."""

LIMITS = ("rate_limit", "quota", "context_limit")
"""Errors of a session that tell of a limit."""
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}


def is_event(value: Any) -> bool:
    """Whether a record tells a log of this client."""
    match value:
        case {"type": "session.start", "data": {"sessionId": str()}, "timestamp": str()}:
            return True
        case {
            "type": str(kind),
            "data": dict(),
            "id": str(),
            "parentId": str() | None,
            "timestamp": str(),
        }:
            return kind in TURNS
    return False


def left_out(kind: str) -> str:
    """Why a kind of record is no work; empty of one that is not known."""
    return next((why for start, why in LEFT_OUT if kind.startswith(start)), "")


def data_of(value: Any) -> Json:
    found = value.get("data") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
