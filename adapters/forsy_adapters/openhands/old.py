"""Events of OpenHands before the SDK (0.9 to 0.62), one by one: actions, and what was observed."""

from collections.abc import Callable, Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import media_type, payload_size
from forsy_retrace.events import (
    Attachment,
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import (
    counts,
    later,
    named,
    number,
    pointer,
    subagent,
    words,
)

from .calls import closing, meant, served
from .files import Item
from .old_results import changes, ended, shown
from .old_sent import MESSAGE, RESPONSE, at_place, call_id, of_response, response, sent
from .old_survey import Survey
from .results import with_suffix
from .shapes import OFFERED, Json, is_bare, is_old_event

INJECTED = later(
    r"Please continue (?:working on the task )?on whatever approach you think is suitable\."
)
"""How words begin that a run without a user says in the user's place."""
ENDS = ("finish", "reject")
STATES = ("recall", "start", "null", "resume", "push", "send_pr", "condensation_request")
"""Actions of the client that tell no act."""
STOPS = ("paused", "stopped", "pause", "stop")
OBSERVED = ("agent_state_changed", "recall", "null", "condense", "success", "loop_detection")
"""Observations that answer no call."""
USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


ANSWERED = {
    # The same, as the answer of a model tells it.
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_input_tokens": "cached_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}


class OldReader:
    """Reads the events of a session before the SDK."""

    def __init__(self, held: Callable[[], Iterator[Item]]) -> None:
        self.items = held
        self.found = Survey(held())
        self.calls = Calls()
        self.open: dict[int, tuple[str, Any, Json]] = {}
        """Calls without a result, by the action's id: their ids, arguments and actions."""
        self.totals = {total.place for total in self.found.totals}
        self.seen: set[Any] = set()
        self.thought: set[str] = set()
        """Responses whose words were told."""
        self.lanes: list[tuple[str, str]] = []
        """Agents that others handed over to: the call, and the actor."""
        self.agents = 0
        self.folder = ""

    def told(self) -> Iterator[Event]:
        """All of it, in the order of the ids."""
        for one in self.items():
            value = one.value
            if one.why or not (is_old_event(value) or is_bare(value)):
                yield Skipped(one.here(), one.why or "not an event")
                continue
            ident = number(value.get("id"))
            if ident is not None and ident in self.seen:
                yield Skipped(one.here(), "repeated event")
                continue
            self.seen.add(ident)
            actor = self.lanes[-1][1] if self.lanes else "agent"
            here = Origin(one.place, None, actor, response(value) or None)
            told = list(self._told(value, here, -1 if ident is None else ident))
            yield from told
            if one.place in self.totals:
                used = counts(value["llm_metrics"]["accumulated_token_usage"], USAGE)
                where = one.here("/llm_metrics/accumulated_token_usage")
                yield Fact(where, "usage", used)
            if not told:
                yield Skipped(one.here(), "empty event")

    def _told(self, value: Json, here: Origin, ident: int) -> Iterator[Event]:
        args = value.get("args")
        match value:
            case {"action": str(action)}:
                yield from self._acted(
                    action, args if isinstance(args, dict) else {}, value, here, ident
                )
            case {"observation": str(kind)}:
                yield from self._observed(kind, value, here)

    def _acted(
        self, action: str, args: Json, value: Json, here: Origin, ident: int
    ) -> Iterator[Event]:
        system, is_user = here.by("system"), value.get("source") == "user"
        match action:
            case "system":
                yield from _system(args, system)
            case "message":
                yield from self._message(args, here, is_user, ident)
            case "condensation":
                yield Notice(system, "compacted")
            case "change_agent_state" | "pause" | "stop" if is_user:
                asked = words(args.get("agent_state")) or action
                if asked in STOPS:
                    yield Notice(here.by("user"), "interrupted")
                else:
                    yield Skipped(system, "state of the client")
            case "run" if is_user and words(args.get("command")):
                yield Message(
                    here.below("/args/command").by("user"), "user", args["command"], "shell line"
                )
            case _ if is_user or action in STATES or action == "change_agent_state":
                yield Skipped(system, f"of the client{named(action)}")
            case _:
                yield from self._call(action, args, value, here, ident)

    def _message(self, args: Json, here: Origin, is_user: bool, ident: int) -> Iterator[Event]:
        text, where = words(args.get("content")), here.below("/args/content")
        if not is_user:
            if text:
                yield Message(where, "agent", text)
            return
        if self.lanes:
            yield Skipped(here.by("system"), "a subagent's brief")
        elif INJECTED.match(text):
            yield Notice(here.by("system"), "ended", "injected: words of the client")
        else:
            links = args.get("image_urls", args.get("images_urls"))
            path = here.below(f"/args/{'image_urls' if 'image_urls' in args else 'images_urls'}")
            shown = _links(links, path.evidence.pointer)
            user = Origin(where.evidence, None, "user", f"event-{ident}")
            yield Message(user, "user", text, "typed", shown)

    def _call(
        self, action: str, args: Json, value: Json, here: Origin, ident: int
    ) -> Iterator[Event]:
        yield from self._said(action, args, value, here)
        tool, place, asked, path = sent(action, args, value)
        name = str(self.calls.issue(call_id(value), ident, here.evidence.pointer))
        like = meant(tool, asked, ident in self.found.folders) or closing(tool, asked, args)
        if action == "call_tool_mcp":
            like = served(words(args.get("name"), tool), asked)
        named_at = here.below(place).evidence.pointer
        yield ToolCall(here.below(path), name, tool, asked, named_at, like)
        self.open[ident] = name, asked, value
        if action == "delegate":
            self.agents += 1
            actor = subagent(words(args.get("agent")), self.agents)
            yield Delegation(here.below("/args"), name, actor)
            self.lanes.append((name, actor))

    def _said(self, action: str, args: Json, value: Json, here: Origin) -> Iterator[Event]:
        """What the agent said and thought with a call; calls of one response share it."""
        response = here.message or ""
        if response and response in self.thought:
            return
        self.thought.add(response)
        if response:
            model = of_response(value, "model")
            if model:
                path = f"{RESPONSE}/model"
                yield Fact(here.below(path), "model", model)
            if not self.found.totals:
                used = counts(at_place(value, f"{RESPONSE}/usage"), ANSWERED)
                if used:
                    where = here.below(f"{RESPONSE}/usage")
                    yield Fact(where, "usage", used)
        if text := words(at_place(value, f"{MESSAGE}/reasoning_content")):
            yield Thinking(here.below(f"{MESSAGE}/reasoning_content"), text)
        if (text := words(args.get("thought"))) and action != "think":
            yield Message(here.below("/args/thought"), "agent", text)

    def _observed(self, kind: str, value: Json, here: Origin) -> Iterator[Event]:
        system, cause = here.by("system"), number(value.get("cause"))
        extras = value.get("extras")
        held = extras if isinstance(extras, dict) else {}
        text, path = shown(value)
        state = held.get("agent_state") if kind == "agent_state_changed" else None
        if state == "finished" and (name := self._handed_in()):
            where = here.below("/extras/agent_state")
            yield ToolResult(where, name, None, "ok", "handed-in", where.evidence.pointer)
        elif state == "error":
            reason = words(held.get("reason"))
            path = "/extras/reason" if reason else "/extras/agent_state"
            yield Notice(system.below(path), "model error", reason or "error")
        elif kind == "recall" and words(held.get("working_dir")):
            yield Fact(here.below("/extras/working_dir"), "cwd", held["working_dir"])
            yield Skipped(system, "injected: what the client recalled")
        elif cause is None and kind == "error" and text:
            yield Notice(system.below("/content"), "model error", text)
        elif kind in OBSERVED or (found := self._of(kind, cause)) is None:
            yield Skipped(system, f"of the client{named(kind)}")
        else:
            name, asked, _ = found
            if self.lanes and self.lanes[-1][0] == name:
                if own := self._handed_in():
                    yield ToolResult(here, own, None)
                self.lanes.pop()
                here = here.by(self.lanes[-1][1] if self.lanes else "agent")
            told = ended(value, here.evidence.pointer)
            made = tuple(changes(asked, value, here.evidence.pointer))
            end = self.found.ends.get(-1 if cause is None else cause)
            place = Origin(here.below(path).evidence, None, here.actor)
            text, place = with_suffix(text, place, held, here.below("/extras"), told)
            yield ToolResult(
                place,
                name,
                text,
                *told,
                changes=made if told.outcome in ("ok", "unknown") else (),
                attachments=_links(
                    [held.get("screenshot")],
                    here.below("/extras/screenshot").evidence.pointer,
                    alone=True,
                ),
                end=None if end is None else _renamed(end, name, here.actor),
            )
            folder = at_place(held, "/metadata/working_dir")
            if words(folder) and folder != self.folder:
                self.folder = folder
                yield Fact(here.below("/extras/metadata/working_dir"), "cwd", folder)

    def _handed_in(self) -> str:
        """The call with which an agent ended its work, and which nothing answers."""
        for ident, (name, _, action) in self.open.items():
            if action.get("action") in ENDS:
                del self.open[ident]
                return name
        return ""

    def _of(self, kind: str, cause: int | None) -> tuple[str, Any, Json] | None:
        """The call that an observation answers."""
        if cause is None and kind == "delegate":
            cause = next(
                (one for one, held in self.open.items() if held[2].get("action") == "delegate"),
                None,
            )
        if cause is None and len(self.open) == 1 and -1 in self.open:
            cause = -1  # histories of 2024 have no ids
        return None if cause is None else self.open.pop(cause, None)


def _system(args: Json, here: Origin) -> Iterator[Event]:
    if text := words(args.get("content")):
        yield Fact(here.below("/args/content"), "system_prompt", text)
    if version := words(args.get("openhands_version")):
        yield Fact(here.below("/args/openhands_version"), "version", version)
    tools = args.get("tools")
    names = [
        words(at_place(one, "/function/name")) for one in (tools if isinstance(tools, list) else ())
    ]
    if names and all(names):
        yield Fact(here.below("/args/tools"), "tools", names)
        yield Fact(here.below("/args/tools"), "shows", OFFERED)


def _links(links: Any, base: str, alone: bool = False) -> tuple[Attachment, ...]:
    """Pictures by their links."""
    return tuple(
        Attachment(
            media_type(link) or "image/unknown",
            payload_size(link, True),
            base if alone else base + pointer(at),
        )
        for at, link in enumerate(links if isinstance(links, list) else ())
        if isinstance(link, str) and link
    )


def _renamed(end: ToolResult, name: str, actor: str) -> ToolResult:
    where = Origin(end.origin.evidence, None, actor)
    return ToolResult(where, name, end.output, end.outcome, end.rule, end.basis, end.exit_code)
