"""A session's events, message by message, with the work of the subagents that it sent."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import counts, in_time, later, subagent, words

from .line import MAIN, Line
from .stored import Node, Stored

UNNAMED = later(r"(?:CLI Session|New (?:Chat|Session)|New session \d+|Delegated task)\Z", re.I)
"""Names of a session before the model gave it one."""
TOKENS = {
    # What was read from a cache is a part of the input.
    "accumulated_input_tokens": "input_tokens",
    "accumulated_output_tokens": "output_tokens",
    "accumulated_cache_read_tokens": "cached_input_tokens",
}
EXPORTED = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cached_input_tokens",
}
ALONE = "It is a subagent's session; what sent it stands in another."
ELSEWHERE = "What subagents did stands in sessions of their own, which this log does not hold."
SCHEDULED = "It was started by a schedule: nobody typed its first words."
RECIPE = "It was started from a recipe, whose prompt stands in the user's place."


def told(session: Stored, below: Mapping[str, Stored]) -> Iterator[Event]:
    """The events of a session; `below` has those of its subagents, by their ids."""
    head = session.head
    if not session.said:
        yield Skipped(Origin(head.here, None, "system"), "a session without messages")
        return
    whole = Whole(below)
    line = list(Line(whole, session, MAIN, is_alone=session.is_below).events())
    while whole.waiting:  # those that no call that is here sent
        child = whole.waiting.pop(next(iter(whole.waiting)))
        whole.behind.append(whole.work(child, whole.agent("")))
    limits = [
        text
        for text, holds in (
            (ALONE, session.is_below),
            (ELSEWHERE, whole.elsewhere),
            (SCHEDULED, head.value.get("session_type") == "scheduled"),
            (RECIPE, _recipe(head) is not None),
        )
        if holds
    ]
    earlier, copied = session.copied
    named = session.said[0].info.at("session_id") if session.id else head.here
    here = Origin(head.at("id") if "id" in head.value else named, None, "system")
    yield SessionStart(here, session.id, earlier or None, limits=tuple(limits))
    if earlier:
        where = Origin(session.said[0].info.at("message_id"), None, "system")
        yield Fact(where, "shared_prefix", {"of": earlier, "records": copied})
    yield from _facts(session)
    yield from in_time(line, *whole.behind)
    if mode := words(head.value.get("goose_mode")):  # it is kept as it was last
        yield Fact(Origin(head.at("goose_mode"), None, "system"), "permission_mode", mode)


class Whole:
    """What the sessions of one trace share: the names of calls and of subagents."""

    def __init__(self, below: Mapping[str, Stored]) -> None:
        self.waiting = dict(below)
        """The sessions of subagents that were not told yet."""
        self.calls = Calls()
        self.agents = 0
        self.elsewhere = False
        """Whether a call started a subagent whose session is not here."""
        self.depth = 0
        """How many subagents each wait for the next."""
        self.behind: list[list[Event]] = []
        """What subagents did while the one that sent them went on."""

    def agent(self, kind: str) -> str:
        """A name for one more subagent."""
        self.agents += 1
        return subagent(kind or "agent", self.agents)

    def work(self, child: Stored, actor: str, at: str | None = None) -> list[Event]:
        """What a subagent did that was sent then."""
        self.depth += 1
        line = Line(self, child, actor)
        head = Skipped(Origin(child.head.here, at, "system"), "a subagent's session")
        told = [head, *_used(child, actor), *line.events()]
        self.depth -= 1
        return told


def _recipe(head: Node) -> Any:
    held = head.value.get("recipe_json", head.value.get("recipe"))
    return held if isinstance(held, dict) else None


def _facts(session: Stored) -> Iterator[Event]:
    head = session.head
    value = head.value
    title = "name" if words(value.get("name")) else "description"
    facts = [("working_dir", "cwd"), (title, "title")]
    if value.get("session_type") not in (None, "user"):
        facts.append(("session_type", "entrypoint"))
    for key, name in facts:
        text = words(value.get(key))
        if text and not (name == "title" and UNNAMED.match(text)):
            yield Fact(Origin(head.at(key), None, "system"), name, text)
    yield from _model(session)
    yield from _used(session, MAIN)


def _model(session: Stored) -> Iterator[Event]:
    """The session's model, where its messages do not name theirs."""
    if any("inference" in one.meta.value for one in session.said):
        return
    for key in ("model_config_json", "model_config"):
        match session.head.value.get(key):
            case {"model_name": str(name)} if name:
                yield Fact(Origin(session.head.at(key, "model_name"), None, MAIN), "model", name)


def _used(session: Stored, actor: str) -> Iterator[Event]:
    """The tokens of all its answers, which are those of no subagent."""
    head = session.head
    used, where = counts(head.value, TOKENS), head.here
    for key in ("accumulated_usage", "metadata"):
        if not used and (used := counts(head.value.get(key), EXPORTED)):
            where = head.at(key)
    if used:
        yield Fact(Origin(where, None, actor), "usage", used)
