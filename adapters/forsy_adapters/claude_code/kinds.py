"""The kinds of records that are read, and why the rest gives nothing to a trace."""

from forsy_retrace.sdk import later

LIMIT = later(r"(?i)(?:you've hit your|limit reached|usage limit|rate limit|out of .{0,20}usage)")
ON_OFFER = "the tools on offer (a session file names those used, and those to be loaded)"
"""What only the opening of a `stream-json` run tells."""
BOOKKEEPING = frozenset(
    [
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "artifact-autoreact-ledger",
        "artifact-comment-monitor",
        "artifact-link",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "continued-in",
        "control_request",
        "control_response",
        "cost-state",
        "custom-title",
        "dev-mods",
        "ended-by-model",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "history-suppression",
        "isolation-latch",
        "keep_alive",
        "last-prompt",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "memory-mode",
        "mode",
        "observer-ref",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "rate_limit_event",
        "relocated",
        "saved_hook_context",
        "stream_event",
        "summary",
        "tag",
        "task-summary",
        "tool_progress",
        "worktree-state",
    ]
)
"""Record types without a message: titles, snapshots, telemetry. None is part of the work."""
SYSTEM = {
    "api_error": "transport retry",
    "microcompact_boundary": "old results dropped from the context",
    "local_command": "local command",
    "stop_hook_summary": "hook output",
    "turn_duration": "telemetry",
    "bridge_status": "telemetry",
    "away_summary": "telemetry",
    "informational": "telemetry",
    "hook_started": "hook output",
    "hook_response": "hook output",
    "status": "telemetry",
    "task_started": "progress",
    "task_notification": "notice: background task ended",
    "scheduled_task_fire": "telemetry",
    "agents_killed": "notice: subagents stopped",
    "memory_saved": "bookkeeping: memory_saved",
    "model_consent_fallback": "model fallback",
    "model_fallback": "model fallback",
    "per_turn_effort_changed": "telemetry",
    "permission_retry": "telemetry",
}
PROGRESS = {"hook_progress": "hook output"}
FACTS = (
    ("cwd", "cwd"),
    ("gitBranch", "branch"),
    ("version", "version"),
    ("permissionMode", "permission_mode"),
    ("entrypoint", "entrypoint"),
)
"""Fields of a record that say something of the session, and what we call them."""
OF_A_LANE = FACTS[:3]
"""Those that a subagent's record has of its own."""
