"""What a log holds, each with its place: sessions, and their messages.

A database has a row for each. An export has a session in one object, its messages in a list; so
has the snapshot of a session.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from forsy_retrace.dialects import calls
from forsy_retrace.events import Origin, Skipped
from forsy_retrace.sdk import compact, number, parsed, pointer, words
from forsy_retrace.source import Evidence, Record, Source

Json = dict[str, Any]

DELEGATE = "delegate_task"
MESSAGES = "messages"
IN_JSON = ("tool_calls", "reasoning_details")
"""Columns that hold JSON; the places within it are named as if it were no text."""
PARTS = "\x00json:"
"""What stands before a content that is a list of parts and no text (`_encode_content`)."""


class Node(NamedTuple):
    """An object of the log, and where it stands."""

    value: Json
    here: Evidence

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        return self.here.at(self.here.pointer + pointer(*keys))


class Stored:
    """A session, and its messages in the order in which they were written."""

    def __init__(self, name: str, head: Node, messages: list[Node], parent: str = "") -> None:
        self.id, self.head, self.messages = name, head, messages
        self.is_lent = False
        """Whether it is told in the form of another client."""
        self.parent = parent
        """The session that it goes on from, branches from, or is a subagent's of."""

    @cached_property
    def config(self) -> Json:
        """How the agent was set up, and which session it was set up from."""
        held = self.head.value.get("model_config")
        opened = parsed(held) if isinstance(held, str) else held
        return opened if isinstance(opened, dict) else {}

    @property
    def source(self) -> str:
        """Where the session was held: `cli`, `telegram`, `cron`, `subagent` …"""
        return words(self.head.value.get("source"), self.head.value.get("platform"))

    @property
    def began(self) -> float:
        """When it began; 0 where the log does not say."""
        return seconds(self.head.value.get("started_at"))

    @cached_property
    def keys(self) -> list[str]:
        """What makes each message the same as a copy of it."""
        names = ("role", "content", "tool_call_id", "tool_calls")
        return [compact([one.value.get(name) for name in names]) for one in self.messages]

    @cached_property
    def sent(self) -> frozenset[str]:
        """What its calls asked of subagents."""
        made = (call for said in self.messages for call in calls(said.value, ""))
        return frozenset(
            goal for call in made if call.name == DELEGATE for goal in goals(call.input)
        )

    @cached_property
    def asked(self) -> str:
        """The first words in the user's role."""
        first = (one.value.get("content") for one in self.messages if one.value["role"] == "user")
        return words(next(first, None))


def goals(sent: Any) -> list[str]:
    """What a call asks of subagents, one after the other."""
    match sent:
        case {"tasks": [*tasks]} if tasks:
            return [words(one.get("goal")) if isinstance(one, dict) else "" for one in tasks]
        case {"goal": str(goal)}:
            return [goal]
    return []


def seconds(value: Any) -> float:
    """A time as the log has it; 0 where it has none."""
    return value if isinstance(value, float) else number(value) or 0


# Objects: an export, and a snapshot.


def is_export(value: Any) -> bool:
    """A session with the columns of its row, and its messages with those of theirs."""
    match value:
        case {"id": str(), "source": str(), "messages": list(), "model_config": _}:
            return "started_at" in value
    return False


def is_snapshot(value: Any) -> bool:
    """A session as the client wrote it beside its database."""
    match value:
        case {"session_id": str(), "session_start": str(), "messages": list(), "platform": _}:
            return "system_prompt" in value
    return False


def _held(record: Record) -> Stored | None:
    """The session that a record is."""
    value = record.value
    if not (is_export(value) or is_snapshot(value)):
        return None
    said = [
        Node(_opened(one), record.here.at(pointer(MESSAGES, index)))
        for index, one in enumerate(value[MESSAGES])
        if is_message(one)
    ]
    name = value["id"] if is_export(value) else value["session_id"]
    return Stored(name, Node(value, record.here), said, words(value.get("parent_session_id")))


def is_message(value: Any) -> bool:
    """Whether a value is a message of a known kind."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


# Lines of messages, which the gateway wrote until 0.14.


def is_headed(value: Any) -> bool:
    """The line above them."""
    match value:
        case {"role": "session_meta", "platform": _} | {"role": "session_meta", "tools": _}:
            return True
    return False


# Records in the form of Claude Code, which `sessions export --format trace` writes.


def is_lent(value: Any) -> bool:
    """A message in the form of another client."""
    match value:
        case {"version": "hermes-agent", "sessionId": str(), "message": {"role": str()}}:
            return True
    return False


def _lent(record: Record) -> Node:
    """Such a message in this client's own form; what a call came back with is a block of it."""
    message = record.value["message"]
    match message.get("content"):
        case [{"type": "tool_result", "tool_use_id": str(name), "content": content}, *_]:
            value = {"role": "tool", "tool_call_id": name, "content": content}
            return Node(value, record.here.at("/message/content/0"))
    return Node(message, record.here.at("/message"))


# Rows: a database.


def is_database(record: Record) -> bool:
    """Whether a record names the tables, or is a row of them."""
    match record.value:
        case {"database": {"sessions": [*sessions], "messages": [*messages]}}:
            return {"source", "parent_session_id", "model_config", "end_reason"} <= _names(
                sessions
            ) and {"session_id", "role", "tool_calls", "finish_reason"} <= _names(messages)
        case {"table": "sessions", "row": {"id": str(), "source": _, "model_config": _}}:
            return True
        case {"table": "messages", "row": {"session_id": str(), "role": _, "finish_reason": _}}:
            return True
    return False


def _names(columns: list[Any]) -> set[str]:
    return {one for one in columns if isinstance(one, str)}


def stored(source: Source) -> Iterator[Stored | Skipped]:
    """The sessions of a log in the order in which they began; before them what is none."""
    heads: dict[str, Stored] = {}
    said: dict[str, list[Record]] = {}
    lines: Stored | None = None
    for record in source.records():
        match record.value:
            case {"table": "sessions", "row": {"id": str(name)} as row}:
                head = Node(row, record.here.at("/row"))
                heads[name] = Stored(name, head, [], words(row.get("parent_session_id")))
            case {"table": "messages", "row": {"session_id": str(name)} as row} if is_message(row):
                said.setdefault(name, []).append(record)
            case value if is_headed(value):
                here = Origin(record.here, None, "system")
                if lines is None:
                    lines = heads[""] = Stored("", Node(value, record.here), [])
                else:
                    yield Skipped(here, "head of the session, once more")
            case {"role": str()} as value if lines is not None:
                lines.messages.append(Node(_opened(value), record.here))
            case {"sessionId": str(name)} as value if is_lent(value):
                if name not in heads:
                    heads[name] = Stored(name, Node({}, record.here.at("/sessionId")), [])
                    heads[name].is_lent = True
                heads[name].messages.append(_lent(record))
            case {"database": _} | {"table": _}:
                why = "a row of another table" if "table" in record.value else "names of tables"
                yield Skipped(Origin(record.here, None, "system"), why)
            case _:
                found = _held(record)
                if found is None:
                    why = record.problem or "unknown record"
                    yield Skipped(Origin(record.here, None, "system"), why)
                elif found.id in heads:
                    yield Skipped(Origin(record.here, None, "system"), "a session told before")
                else:
                    heads[found.id] = found
    for name, records in said.items():
        rows = [_row(one) for one in sorted(records, key=_order)]
        if name in heads:
            heads[name].messages = rows
        else:  # its own row is gone: the first message names it
            heads[name] = Stored(name, Node({}, rows[0].at("session_id")), rows)
    yield from sorted(heads.values(), key=lambda one: (one.began, one.id))


def _row(record: Record) -> Node:
    return Node(_opened(record.value["row"]), record.here.at("/row"))


def _opened(message: Json) -> Json:
    """A message with the values of what it holds as JSON."""
    held = {key: parsed(message[key]) for key in IN_JSON if isinstance(message.get(key), str)}
    return {**message, **held}


def _order(record: Record) -> int:
    """Rows stand in the order of their ids: their times are a clock's, which may go back."""
    return number(record.value.get("rowid")) or 0
