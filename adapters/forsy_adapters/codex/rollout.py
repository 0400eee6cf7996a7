"""A rollout's records in order: the session and its settings, its items, the client's events."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Message, Notice, SessionStart, Skipped
from forsy_retrace.sdk import named, text_of, words

from .items import Items
from .keys import Keys
from .reports import Reports
from .state import State
from .survey import Survey
from .units import Unit, texts
from .words import human

SKIPPED = (
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "session_index",
    "rollout_trace",
    "retained_context",
    "dynamic_tools_updated",
    "security_risk_score",
    "realtime_item",
    "id_allocation",
)
"""Records that tell of no work, or repeat what others do: 0.171 has 14 kinds in all."""


class Rollout:
    """Reads everything but what `codex exec --json` prints today."""

    def __init__(self, found: Survey) -> None:
        self.state = State(found)
        self.items = Items(self.state)
        self.reports = Reports(self.state, self.items)
        self.keys = Keys(self.state)

    def read(self, unit: Unit) -> Iterator[Event]:
        """The events of one unit."""
        state, found = self.state, self.state.found
        if unit.number < found.copied and unit.kind != "session_meta" and found.subagent:
            yield Skipped(state.here(unit, ""), "repeated history")
            return
        match unit.kind:
            case "response_item":
                yield from self.items.read(unit)
            case "event_msg":
                yield from self.keys.take(unit)
                yield from self.reports.read(unit)
            case "turn_context":
                yield from self._turn(unit)
            case "session_meta":
                yield from self._session(unit)
            case "compacted":
                yield from self.items.compacted(unit)
            case "token_usage_record":
                totals = unit.body.get("thread_token_usage")
                held = totals if isinstance(totals, dict) else {}
                yield state.usage(unit, "/thread_token_usage", held)
            case "prompt":
                state.heard = True
                yield Message(state.here(unit, "/prompt", "user"), "user", unit.body["prompt"])
            case "exec settings":
                yield from self._settings(unit)
            case kind if kind.startswith("screen "):
                yield from self._screen(unit, kind.removeprefix("screen "))
            case kind if kind in SKIPPED or kind.startswith("record "):
                name = kind.removeprefix("record ")
                yield Skipped(state.here(unit, ""), f"bookkeeping{named(name)}")
            case "not a record":
                yield Skipped(state.here(unit, ""), "not a record")
            case kind:
                name = kind.removeprefix("unknown ")
                yield Skipped(state.here(unit, ""), f"unknown record type{named(name)}")

    def _session(self, unit: Unit) -> Iterator[Event]:
        """The session's own header; those of copied sessions come after it."""
        state, body = self.state, unit.body
        name = words(body.get("id"), body.get("session_id"))
        if state.session or not name:
            kind = "bookkeeping: resumed" if name == state.session else "repeated history"
            kind = "turns taken back" if unit.number in state.found.rewound else kind
            yield Skipped(state.here(unit, ""), kind if name else "not a record")
            return
        state.session = name
        before = state.found.copied_from or None
        own = "" if state.found.segment else name
        yield SessionStart(state.here(unit, "/id"), own, before)
        if before and state.found.copied > 1:
            prefix = {"of": before, "records": state.found.copied - 1}
            yield Fact(state.here(unit, ""), "shared_prefix", prefix)
        if unit.at:
            yield from state.fact(unit, "/timestamp", "began", body.get("timestamp"))
        yield from state.fact(unit, "/cwd", "cwd", body.get("cwd"))
        yield from state.fact(unit, "/cli_version", "version", body.get("cli_version"))
        yield from state.fact(unit, "/originator", "entrypoint", body.get("originator"))
        git = body.get("git")
        if isinstance(git, dict):
            yield from state.fact(unit, "/git/branch", "branch", git.get("branch"))
        base = body.get("base_instructions")
        if isinstance(base, dict):
            text = base.get("text")
            yield from state.fact(unit, "/base_instructions/text", "system_prompt", text)
        if words(body.get("instructions")):
            text = body["instructions"].strip()
            yield Fact(state.here(unit, "/instructions"), "memory", text)

    def _turn(self, unit: Unit) -> Iterator[Event]:
        """What holds from here: told with each request, new only now and then."""
        state, body = self.state, unit.body
        state.speaks(unit, "/model", body.get("model"))
        told = list(state.fact(unit, "/cwd", "cwd", body.get("cwd")))
        policy = body.get("approval_policy")
        told += state.fact(unit, "/approval_policy", "permission_mode", policy)
        sandbox = body.get("sandbox_policy")
        if isinstance(sandbox, dict):
            sort = sandbox.get("type", sandbox.get("mode"))
            told += state.fact(unit, "/sandbox_policy", "sandbox", sort)
        yield from told
        yield Skipped(state.here(unit, ""), "settings of a turn")

    def _settings(self, unit: Unit) -> Iterator[Event]:
        state, body = self.state, unit.body
        state.speaks(unit, "/model", body.get("model"))
        yield from state.fact(unit, "/workdir", "cwd", body.get("workdir"))
        yield from state.fact(unit, "/approval", "permission_mode", body.get("approval"))
        yield Skipped(state.here(unit, ""), "bookkeeping: settings")

    def _screen(self, unit: Unit, kind: str) -> Iterator[Event]:
        """The screen's own log: what the human did at it, and much that only moved pixels."""
        state, body = self.state, unit.body
        match body:
            case {"kind": "key_event", "event": str()}:
                self.keys.press(unit)
                yield Skipped(state.here(unit, ""), "screen: key_event")
            case {"kind": "session_start"}:
                state.speaks(unit, "/model", body.get("model"))
                state.home = tuple(state.fact(unit, "/cwd", "cwd", body.get("cwd")))
                yield from state.home
                yield Skipped(state.here(unit, ""), "bookkeeping: settings")
            case {"kind": "op", "payload": {"type": str(op), "decision": str(decision)}}:
                self.keys.in_dialog = False
                inner = _inside(unit, body["payload"])
                yield from self.reports.runs.decided(inner, decision.lower())
                if op == "patch_approval" and not state.found.calls:
                    state.heard = True
            case {"kind": "op", "payload": {"type": "user_input" | "user_turn", "items": items}}:
                said = "\n".join(texts(items))
                self.keys.entered = None
                state.heard = True
                where = state.here(unit, "/payload/items", "user")
                if said.strip():
                    within = human(said) != text_of(items) or "\n" in said
                    yield Message(where, "user", human(said), within=within)
            case {"kind": "op", "payload": {"type": "interrupt"}}:
                yield Skipped(state.here(unit, ""), "interruption asked")
            case {"kind": "slash_command", "command": "New"}:
                yield Notice(state.here(unit, ""), "cleared")
            case _:
                yield Skipped(state.here(unit, ""), f"screen{named(kind)}")


def _inside(unit: Unit, body: dict[str, Any]) -> Unit:
    return Unit(unit.kind, body, f"{unit.prefix}/payload", unit.at, unit.record, unit.number)
