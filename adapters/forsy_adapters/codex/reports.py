"""Events of the client: in a rollout they mostly repeat the items, elsewhere they are all there is.

`codex exec --json` of 2025 and the screen's session log hold only these. A report counts where no
item says the same: texts are told by their words, calls by their ids.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Event,
    Message,
    Notice,
    SessionStart,
    Skipped,
    Thinking,
    Via,
)
from forsy_retrace.sdk import named, number, tells_a_limit, words

from .items import Items
from .made import line_of
from .runs import TOOLS, Runs
from .state import USAGE, State
from .streamed import Streamed
from .survey import key
from .units import Json, Unit
from .users import parts_of
from .words import human, injected

QUIET = {
    "task_started": "turn began",
    "turn_started": "turn began",
    "task_complete": "turn ended",
    "turn_complete": "turn ended",
    "stream_error": "transport retry",
    "thread_rolled_back": "turns taken back",
    "sub_agent_activity": "repeats a call",
    "dynamic_tool_call_request": "repeats a call",
    "dynamic_tool_call_response": "repeats a call",
    "thread_goal_updated": "bookkeeping: goal",
    "thread_goal_cleared": "bookkeeping: goal",
    "guardian_assessment": "approval asked",
    "guardian_warning": "approval asked",
    "hook_started": "telemetry",
    "hook_completed": "telemetry",
    "model_reroute": "telemetry",
    "model_verification": "telemetry",
    "safety_buffering": "telemetry",
    "turn_moderation_metadata": "telemetry",
    "turn_diff": "the turn's changes so far",
    "exec_approval_request": "approval asked",
    "apply_patch_approval_request": "approval asked",
    "request_permissions": "approval asked",
    "elicitation_request": "approval asked",
    "request_user_input": "repeats a call",
    "terminal_interaction": "repeats a call",
    "agent_reasoning_section_break": "streamed piece",
    "raw_response_item": "repeats an item",
    "item_started": "repeats an item",
    "shutdown_complete": "bookkeeping: shutdown",
    "thread_name_updated": "bookkeeping: title",
    "entered_review_mode": "review mode",
    "exited_review_mode": "review mode",
    "background_event": "telemetry",
    "warning": "telemetry",
    "deprecation_notice": "telemetry",
    "mcp_startup_update": "telemetry",
    "mcp_startup_complete": "telemetry",
    "skills_update_available": "telemetry",
    "raw_response_completed": "repeats an item",
    "patch_apply_updated": "streamed piece",
    "elicitation_abandoned": "approval asked",
    "thread_queue_changed": "bookkeeping: queue",
    "auth_recovery_started": "telemetry",
    "auth_recovery_completed": "telemetry",
    "environment_connected": "telemetry",
    "environment_disconnected": "telemetry",
}
"""Events that tell nothing of the work, or what is told elsewhere."""


HUMAN = "interrupted"
"""The reason of a turn's end that is a human's: others are a new task, a review, a budget."""
WHOLE = ("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "ImageView")
"""Kinds of items that are calls with their results."""


class Reports:
    """Reads the client's events in order."""

    def __init__(self, state: State, items: Items) -> None:
        self.state, self.items = state, items
        self.streamed = Streamed(state)
        self.runs = Runs(state, items, self.streamed)
        self.error = ""
        """The last error that was told; the end of its turn tells it again."""

    def read(self, unit: Unit) -> Iterator[Event]:
        """The events of one report."""
        state, body = self.state, unit.body
        kind = body.get("type")
        yield from self.streamed.take(unit, words(kind))
        match body:
            case {"type": "user_message", "message": str(text)}:
                yield from self.user(unit, "/message", text)
            case {"type": "agent_message", "message": str(text)}:
                yield from self._said(unit, "/message", text)
            case {"type": "agent_reasoning" | "agent_reasoning_raw_content", "text": str(text)}:
                yield from self._said(unit, "/text", text, Thinking)
            case {"type": "token_count"}:
                yield self._tokens(unit)
            case {
                "type": "task_complete" | "turn_complete",
                "error": {"message": str(text)},
            } if text.strip() and text != self.error:
                yield self._failed(unit, "/error/message", text)
            case {"type": "task_complete" | "turn_complete"} if self._alone():
                state.heard = True
                yield Notice(state.here(unit, ""), "ended")
            case {"type": "task_complete" | "turn_complete"}:
                yield Notice(state.here(unit, ""), "ended", QUIET["task_complete"])
            case {"type": "thread_goal_updated", "goal": {"objective": str(text)}}:
                yield from self._asked(unit, "/goal/objective", text)
            case {
                "type": "entered_review_mode",
                "target": {"type": "custom", "instructions": str(text)},
            }:
                yield from self._asked(unit, "/target/instructions", text)
            case {"type": "turn_aborted"}:
                human = body.get("reason", HUMAN) == HUMAN and not state.found.subagent
                yield Notice(state.here(unit, ""), "interrupted" if human else "cut")
            case {"type": "error", "message": str(text)}:
                yield self._failed(unit, "/message", text)
            case {"type": "context_compacted"}:
                yield from self.items.compacted(unit)
            case {"type": "session_configured"}:
                yield from self.configured(unit)
            case {"type": "thread_settings_applied", "thread_settings": dict(settings)}:
                state.speaks(unit, "/thread_settings/model", settings.get("model"))
                yield from state.fact(unit, "/thread_settings/cwd", "cwd", settings.get("cwd"))
                yield Skipped(state.here(unit, ""), "bookkeeping: settings")
            case {"type": "sub_agent_activity", "kind": "started", "agent_path": path}:
                yield from self._started(unit, path)
            case {"type": "exec_command_end", "source": "user_shell", "command": list(parts)}:
                yield from self._typed(unit, parts, "/command")
            case {"type": "item_completed", "item": dict(item)}:
                yield from self._completed(unit, item)
            case {"type": str(name)} if name in TOOLS:
                yield from self.runs.begun(unit, name)
            case {"type": str(name), "call_id": str(call)} if name.endswith("_end"):
                yield from self.runs.ended(unit, call)
            case {"type": str(name)} if name in QUIET:
                if name == "exec_approval_request":
                    self.runs.asked.append(unit)
                yield Skipped(state.here(unit, ""), QUIET[name])
            case {"type": str(name)} if name.endswith("_delta"):
                yield Skipped(state.here(unit, ""), "streamed piece")
            case {"type": str(name)} if name.startswith("collab_"):
                yield Skipped(state.here(unit, ""), "repeats a call")
            case _:
                yield Skipped(state.here(unit, ""), f"unknown event{named(kind)}")

    def _failed(self, unit: Unit, path: str, text: str) -> Notice:
        self.error = text
        here = self.state.here(unit, path)
        if tells_a_limit(text):
            return Notice(here, "limit", text)
        return Notice(here, "model error", text)

    def _alone(self) -> bool:
        """Whether the log has no items: then no human's words tell where a turn ends."""
        return not self.state.found.calls and not self.state.found.texts

    def user(self, unit: Unit, path: str, text: str) -> Iterator[Event]:
        """A human's words, where no item has them."""
        state = self.state
        if key(text) in state.found.texts or not text.strip():
            yield Skipped(state.here(unit, path), "repeats an item")
        elif state.found.subagent:
            yield state.briefed(unit, path, text)
        elif why := injected(text):
            yield Skipped(state.here(unit, path), why)
        else:
            state.heard = True
            said = human(text)
            via: Via = "command" if state.reviewing else "typed"
            yield Message(state.here(unit, path, "user"), "user", said, via, within=said != text)

    def _asked(self, unit: Unit, path: str, text: str) -> Iterator[Event]:
        """A goal or a review that the human asked for by a command; agents set goals in a turn."""
        state, body = self.state, unit.body
        agents = body.get("turnId") or body.get("turn_id") or state.found.subagent
        if agents or text in state.asked or key(text) in state.found.texts or not text.strip():
            yield Skipped(state.here(unit, path), "repeats what was asked")
            return
        state.asked.add(text)
        state.heard = True
        yield Message(state.here(unit, path, "user"), "user", text, "command")

    def _typed(self, unit: Unit, parts: list[Any], path: str) -> Iterator[Event]:
        """A command that the human ran in the client; an item mostly tells it too."""
        state = self.state
        line, where = line_of(parts, {}, path, "")
        if state.found.shelled or not isinstance(line, str):
            yield Skipped(state.here(unit, ""), "repeats the user's shell line")
            return
        state.heard = True
        said = f"!{line}"
        yield Message(state.here(unit, where, "user"), "user", said, "shell line", within=True)

    def _started(self, unit: Unit, agent: object) -> Iterator[Event]:
        """A subagent that running code started; where a call did, its output tells it."""
        if self.state.script:
            yield from self.state.delegated(unit, self.state.script, agent)
        yield Skipped(self.state.here(unit, ""), "repeats a call")

    def _said(
        self, unit: Unit, path: str, text: str, kind: type[Message] | type[Thinking] = Message
    ) -> Iterator[Event]:
        if key(text) in self.state.found.texts or not text.strip():
            yield Skipped(self.state.here(unit, path), "repeats an item")
        elif kind is Message:
            yield Message(self.state.agent(unit, path), "agent", text)
            yield from self.state.models(unit)
        else:
            yield Thinking(self.state.agent(unit, path), text)

    def _tokens(self, unit: Unit) -> Event:
        match unit.body:
            case {"info": {"total_token_usage": dict(totals)}}:
                return self.state.usage(unit, "/info/total_token_usage", totals)
            case {"input_tokens": int()}:  # before 0.39: one answer's own count
                held = dict(self.state.totals)
                grown = {
                    name: held.get(name, 0) + count
                    for name in USAGE
                    if (count := number(unit.body.get(name))) is not None
                }
                return self.state.usage(unit, "", grown)
        return Skipped(self.state.here(unit, ""), "telemetry")

    def configured(self, unit: Unit) -> Iterator[Event]:
        """A session's start, as the client tells it to its screen."""
        state, body = self.state, unit.body
        name = body.get("session_id")
        if isinstance(name, str) and name and name != state.session:
            told = state.home if state.session else ()
            state.session = name
            yield SessionStart(state.here(unit, "/session_id"), name)
            yield from told
        state.speaks(unit, "/model", body.get("model"))
        yield from state.fact(unit, "/cwd", "cwd", body.get("cwd"))
        yield Skipped(state.here(unit, ""), "bookkeeping: session_configured")

    def _completed(self, unit: Unit, item: Json) -> Iterator[Event]:
        """What versions from 0.15x tell in place of the older events."""
        state, kind = self.state, item.get("type")
        ident = words(item.get("id"))
        match item:
            case {"type": "CommandExecution", "source": "user_shell", "command": list(parts)}:
                yield from self._typed(unit, parts, "/item/command")
            case {"type": "UserMessage", "content": content}:
                places = list(parts_of(content, "/item/content"))
                path = places[0][0] if len(places) == 1 else "/item/content"
                yield from self.user(unit, path, "\n".join(text for _, text in places))
            case {"type": "AgentMessage", "delivery": "async"}:
                yield Skipped(state.here(unit, "/item"), "repeats a call")
            case {"type": "AgentMessage", "content": list(content)}:
                for index, part in enumerate(content):
                    text = part.get("text") if isinstance(part, dict) else None
                    path = f"/item/content/{index}/text"
                    yield from self._said(unit, path, text if isinstance(text, str) else "")
            case {"type": "Reasoning"}:
                yield Skipped(state.here(unit, "/item"), "repeats an item")
            case {"type": "Plan", "text": str(text)}:
                yield from self._said(unit, "/item/text", text)
            case {"type": "SubAgentActivity", "kind": "started", "agent_path": path}:
                yield from self._started(unit, path)
            case {"type": "EnteredReviewMode" | "ExitedReviewMode"}:
                state.reviewing = kind == "EnteredReviewMode"
                yield Skipped(state.here(unit, "/item"), "review mode")
            case {"type": "ContextCompaction"}:
                yield from self.items.compacted(unit)
            case {"type": str(name)} if ident in state.found.calls:
                yield Skipped(state.here(unit, "/item"), f"repeats a call{named(name)}")
            case {"type": str(name)} if name in WHOLE:
                yield from self.runs.alone(unit, ident)
            case _:
                yield Skipped(state.here(unit, ""), f"repeats an item{named(kind)}")
