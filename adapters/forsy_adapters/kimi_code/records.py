"""One record of an agent's log, and the state of a session."""

from typing import Any, NamedTuple

from forsy_retrace.events import Origin
from forsy_retrace.sdk import when, words
from forsy_retrace.source import Record

Json = dict[str, Any]

LOOP = "context.append_loop_event"
LEFT_OUT = {
    # What says of no work anything that other records do not.
    "agent.message.appended": "repeated: a message that is told as it came",
    "agent.turn.started": "a turn began",
    "agent.turn.ended": "repeated: the end of a turn",
    "interaction.request": "asked the user",
    "interaction.resolved": "answer of the user, told by its call",
    "permission.record_approval_result": "answer of the user, told by its call",
    "prompt.aborted": "repeated: the end of a turn",
    "prompt.accepted": "state of the client",
    "prompt.completed": "repeated: the end of a turn",
    "prompt.steered": "repeated: words while the agent worked",
    "turn.step.interrupted": "repeated: the end of a turn",
    "turn.step.retrying": "transport retry",
    "full_compaction.begin": "a compaction began",
    "full_compaction.cancel": "a compaction that was not made",
    "full_compaction.complete": "repeated: a compaction",
    "micro_compaction.apply": "older results taken out of sight",
    "subagent.started": "progress of a subagent",
    "subagent.suspended": "progress of a subagent",
    "subagent.completed": "repeated: the end of a subagent",
    "subagent.failed": "repeated: the end of a subagent",
    "subagent.cancelled": "repeated: the end of a subagent",
    "task.terminated": "notice: background task ended",
    "context.undone": "repeated: what the user took back",
    "agent.switched": "repeated: what the user took back",
    "file_history.tracked": "a copy of a file, kept apart",
    "file_history.checkpoint": "a copy of a file, kept apart",
    "forked": "a fork began here",
}
STATE = frozenset(
    [
        *("runtime.set_binding", "plugin.session_start", "plan.revision", "mcp.tools_discovered"),
        *("token_counting.measured", "token_counting.rebased", "token_counting.truncated"),
        *("token_counting.turn_recorded", "permission.rules.add", "swarm_mode.enter"),
        *("swarm_mode.exit", "tower_mode.enter", "tower_mode.exit", "tower.inbox.sent"),
        *("plan_mode.enter", "plan_mode.cancel", "plan_mode.exit", "tools.update_store"),
        *("tools.register_user_tool", "tools.unregister_user_tool", "tools.reset_active_tools"),
        *("task.started", "task.notified", "hook.result"),
        *("goal.create", "goal.update", "goal.clear", "goal.account_usage", "goal.continuation"),
        *("cron.add", "cron.cursor", "cron.delete", "cron.fired"),
    ]
)
TOLD = frozenset(
    [
        *("turn.prompt", "turn.steer", "turn.cancel", "turn.ended", "context.append_message", LOOP),
        *("context.apply_compaction", "context.clear", "context.undo", "usage.record"),
        *("config.update", "profile.bind", "permission.set_mode", "llm.request"),
        *("llm.tools_snapshot", "tools.set_active_tools", "subagent.spawned"),
    ]
)
KINDS = TOLD | STATE | frozenset(LEFT_OUT)


class Line(NamedTuple):
    """A record with its place in the file; `actor` and `branch` say on which line it stands."""

    number: int
    record: Record
    value: Json
    actor: str = "agent"
    branch: str = ""

    @property
    def at(self) -> str | None:
        return when(self.value.get("time"))

    @property
    def kind(self) -> str:
        return words(self.value.get("type"))

    @property
    def prompt(self) -> str:
        """The id of a prompt, or the place of its record."""
        return words(self.value.get("promptId"), self.value.get("messageId")) or self.name

    @property
    def name(self) -> str:
        return f"{self.actor}:{self.number}"

    def here(self, path: str = "", actor: str = "system", message: str | None = None) -> Origin:
        """The origin of an event at a pointer."""
        return Origin(self.record.here.at(path), self.at, actor, message, self.branch)

    def own(self, path: str, message: str | None = None) -> Origin:
        """The same, by the agent whose log it is."""
        return self.here(path, self.actor, message)


def is_ours(value: Any) -> bool:
    match value:
        case {"type": str(kind), "time": int()}:
            return kind in KINDS
        case {"type": "metadata", "protocol_version": str(), "created_at": int()}:
            return True
    return False


def is_state(value: Any) -> bool:
    """Whether it is what the client keeps of a session."""
    match value:
        case {"agents": {"main": {"homedir": str(), "type": "main"}}, "isCustomTitle": bool()}:
            return True
    return False


def origin_of(value: Any) -> Json:
    """Who put words into the user's place."""
    found = value.get("origin") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
