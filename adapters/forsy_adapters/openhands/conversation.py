"""A conversation of the SDK as a whole: its tree, its subagents, how commands that ran on ended."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import text_of, words
from forsy_retrace.source import Source

from . import results
from .calls import SHELLS
from .files import Item, folder_of, in_order, items
from .shapes import EVENT_FILE, STATE_FILE, Json, base_of, is_event, place_of
from .tree import Tree

RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")


class Survey:
    """What the events of one folder show together."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.folders: set[str] = set()
        """Actions that looked at a folder, by their ids."""
        self.ran: dict[str, str] = {}
        """The kind of what answered an action, by the action's id."""
        self.ends: dict[str, ToolResult] = {}
        """What a later call told of the end of a command that ran on, by the action's id."""
        self.stats: Item | None = None
        """The last event that tells what the conversation cost."""
        self._asked: dict[str, Json] = {}
        self._running = ""

    def add(self, one: Item) -> None:
        """The next event of the folder."""
        value = one.value
        if not is_event(value):
            return
        self.tree.add(value)
        if value["kind"] == "ActionEvent":
            self._asked[value["id"]] = {
                "tool_name": value.get("tool_name"),
                "sent": value.get("action"),
            }
        elif value["kind"] == "ConversationStateUpdateEvent" and value.get("key") == "stats":
            self.stats = one
        elif value["kind"] in RESULTS and isinstance(value.get("action_id"), str):
            ident = value["action_id"]
            self.ran[ident] = value["kind"]
            observation = value.get("observation")
            if results.is_folder(observation):
                self.folders.add(ident)
            if isinstance(observation, dict):
                self._ended(one, ident, self._asked.pop(ident, {}), observation)

    def _ended(self, one: Item, ident: str, asked: Json, observation: Json) -> None:
        """Joins a command that ran on with what was told of its end."""
        if asked.get("tool_name") not in SHELLS:
            return
        told = results.verdict(observation, one.at("/observation"))
        sent = asked["sent"] if isinstance(asked["sent"], dict) else {}
        if sent.get("reset") is True:
            self._running = ""
        elif sent.get("is_input") is not True:
            self._running = ident if told.outcome == "launched" else self._running
        elif self._running and told.exit_code is not None:
            text, path = results.output(observation, "/observation")
            self.ends[self._running] = ToolResult(one.here(path), self._running, text, *told)
            self._running = ""


class Part:
    """What a subagent did for one brief."""

    def __init__(self, lane: int, brief: str) -> None:
        self.lane, self.brief = lane, brief
        self.items: list[Item] = []


class Folder:
    """The events of one conversation, in their order, and what is known of it."""

    def __init__(self, held: Callable[[], Iterator[Item]], state: Item | None = None) -> None:
        self.items, self.state = held, state

    @property
    def is_agents(self) -> bool:
        """Whether it is the conversation of a subagent, whose state says where it is kept."""
        place = self.state.value.get("persistence_dir") if self.state else ""
        return "/subagents/" in words(place)

    def survey(self) -> Survey:
        """What the events show together."""
        found = Survey()
        for one in self.items():
            found.add(one)
        found.tree.grow(self.state.value.get("leaf_event_id") if self.state else None)
        return found

    def parts(self, lane: int) -> Iterator[Part]:
        """A subagent's events, cut before each brief but the first."""
        part = Part(lane, "")
        for one in self.items():
            if is_brief(one.value):
                if part.brief:
                    yield part
                    part = Part(lane, "")
                part.brief = brief_of(one.value)
            part.items.append(one)
        yield part


def agents(files: Iterable[Source]) -> list[Folder]:
    """The conversations of subagents, by their folders."""
    events: dict[str, list[Source]] = {}
    states: dict[str, Item] = {}
    for one in files:
        name = folder_of(one.name)
        if place_of(one.name, EVENT_FILE) >= 0:
            events.setdefault(name, []).append(one)
        elif base_of(one.name) == STATE_FILE:
            states.update((name, found) for found in items([one]))
    return [
        Folder(partial(items, in_order(events.get(name, []))), states.get(name))
        for name in sorted({*events, *states})
    ]


def is_brief(value: Json) -> bool:
    return is_event(value) and value["kind"] == "MessageEvent" and value["source"] == "user"


def brief_of(value: Json) -> str:
    """What stands in the user's place of a message."""
    message = value.get("llm_message")
    return text_of(message.get("content")) if isinstance(message, dict) else ""


def briefs(sent: Any) -> list[tuple[str, str]]:
    """The kind of subagent and the task of each that a call starts."""
    match sent:
        case {"prompt": str(text), **rest}:
            return [(words(rest.get("subagent_type")), text)]
        case {"command": "delegate", "tasks": dict(tasks)}:
            return [(name, text) for name, text in tasks.items() if isinstance(text, str)]
    return []
