"""What a log holds, each with its place: sessions, and their messages in order."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import parsed, pointer, words
from forsy_retrace.source import Evidence, Record, Source

Json = dict[str, Any]

SESSIONS, MESSAGES = "sessions", "messages"
"""The tables that are read."""
CALLS = ("toolRequest", "toolResponse")
"""Parts of a message that are Goose's alone."""
OPENED = ("recipe_json", "model_config_json")
"""Columns of a session's row that hold JSON."""


class Node(NamedTuple):
    """An object of the log, and where it stands."""

    value: Json
    here: Evidence

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        return self.here.at(self.here.pointer + pointer(*keys))


class Said(NamedTuple):
    """A message: what is said of it, its parts, and where these stand."""

    info: Node
    parts: tuple[Node, ...]
    meta: Node
    when: Any

    @property
    def role(self) -> Any:
        return self.info.value.get("role")

    @property
    def is_shown(self) -> bool:
        """Whether the user was shown it; what is for the agent alone is Goose's."""
        return self.meta.value.get("userVisible") is not False

    def of(self, kind: str) -> Iterator[Node]:
        """Its parts of a kind."""
        return (part for part in self.parts if part.value.get("type") == kind)


class Stored(NamedTuple):
    """A session: what is known of it, and its messages."""

    id: str
    head: Node
    said: tuple[Said, ...]
    copied: tuple[str, int] = ("", 0)
    """The session whose messages its first ones are, and how many."""

    @property
    def is_below(self) -> bool:
        """Whether it is a subagent's."""
        kind = self.head.value.get("session_type")
        return kind == "sub_agent" or bool(words(self.head.value.get("parent_session_id")))


Told = Callable[[Stored, Mapping[str, Stored]], Iterator[Event]]
"""The events of a session, with the sessions of subagents, by their ids."""


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def in_order(said: list[Said]) -> tuple[Said, ...]:
    """Results behind their calls: 1.37 wrote first what came of a call that it had to ask for."""
    asked: dict[str, int] = {}
    for at, one in enumerate(said):
        for part in one.parts:
            if part.value.get("type") in ("toolRequest", "frontendToolRequest"):
                asked.setdefault(words(part.value.get("id")), at)
    places = []
    for at, one in enumerate(said):
        calls = (asked.get(words(part.value.get("id")), -1) for part in one.of("toolResponse"))
        behind = max(calls, default=-1)
        places.append((max(at, behind), behind > at, at))
    return tuple(said[at] for *_, at in sorted(places))


# An export, or lines.


def is_export(value: Any) -> bool:
    """Whether a value is a session with its messages."""
    match value:
        case {"id": str(), "working_dir": str(), "conversation": [*said]}:
            return all(map(is_message, said[:3]))
        case {"id": str(), "working_dir": str(), "conversation": None}:
            return "message_count" in value or "extension_data" in value
    return False


def is_printed(value: Any) -> bool:
    """Whether a value is what `goose run --output-format json` prints."""
    match value:
        case {"messages": [_, *_] as said, "metadata": {"status": str()}}:
            return all(is_message(one) and "metadata" in one for one in said[:3])
    return False


def is_head(value: Any) -> bool:
    """Whether a line says what is known of a session."""
    match value:
        case {"description": str(), "message_count": int()}:
            return "role" not in value
    return False


def is_message(value: Any) -> bool:
    """Whether a value is one of Goose's messages."""
    match value:
        case {"role": "user" | "assistant", "created": int(), "content": [*parts]}:
            return all(isinstance(part, dict) and "type" in part for part in parts)
    return False


def has_calls(message: Json) -> bool:
    """Whether a message asks for a call or answers one, as no other harness writes it."""
    return any(part["type"] in CALLS for part in message["content"])


def exported(record: Record, told: Told) -> Iterator[Event]:
    """The events of an export, or of what a run printed."""
    here, value = record.here, record.value
    match value:
        case {"id": str(name), "conversation": [*messages]}:
            yield from told(
                Stored(name, Node(value, here), _all(messages, here, "conversation")), {}
            )
        case {"id": str(), "conversation": None}:
            yield Skipped(Origin(here, None, "system"), "a session without messages")
        case {"messages": [*messages], "metadata": dict()}:
            yield from told(Stored("", Node(value, here), _all(messages, here, "messages")), {})
        case _:
            yield Skipped(Origin(here, None, "system"), record.problem or "not a session")


def _all(messages: list[Any], here: Evidence, key: str) -> tuple[Said, ...]:
    places = enumerate(messages)
    return in_order([_said(_object(one), here.at(pointer(key, at))) for at, one in places])


def lines(source: Source, told: Told) -> Iterator[Event]:
    """The events of a file of lines."""
    head: Node | None = None
    said: list[Said] = []
    for record in source.records():
        if is_head(record.value) and head is None:
            head = Node(record.value, record.here)
        elif is_message(record.value):
            said.append(_said(record.value, record.here))
        else:
            why = record.problem or "not a message"
            yield Skipped(Origin(record.here, None, "system"), why)
    if said:
        known = head or Node({}, said[0].info.here)
        yield from told(Stored("", known, in_order(said)), {})
    elif head:
        yield Skipped(Origin(head.here, None, "system"), "a session without messages")


def _said(value: Json, here: Evidence) -> Said:
    base = here.pointer
    return Said(
        Node(value, here),
        tuple(
            Node(_object(part), here.at(base + pointer("content", at)))
            for at, part in enumerate(_list(value.get("content")))
        ),
        Node(_object(value.get("metadata")), here.at(base + "/metadata")),
        value.get("created"),
    )


# A database.


class Rows:
    """The rows of a database, as they come."""

    def __init__(self) -> None:
        self.heads: dict[str, Node] = {}
        self.messages: dict[str, list[Record]] = {}
        """By session."""
        self.first: dict[str, str] = {}
        """Ids of messages, and the sessions in which they stand first."""

    def take(self, record: Record) -> str:
        """Keeps a row; why it is none to keep."""
        match record.value:
            case {"table": "sessions", "row": {"id": str(name)}}:
                self.heads[name] = Node(_opened(record.value["row"]), record.here.at("/row"))
            case {"table": "messages", "row": {"session_id": str(name), "content_json": str()}}:
                self.messages.setdefault(name, []).append(record)
            case {"database": _}:
                return "the names of tables and columns"
            case {"table": "usage_ledger"}:
                return "tokens, which the session's row sums up"
            case {"table": str()}:
                return "a row of another table"
            case _:
                return record.problem or "unknown record"
        return ""

    def names(self) -> list[str]:
        """The sessions in the order of their rows."""
        return list(dict.fromkeys([*self.heads, *self.messages]))

    def filled(self, name: str) -> Stored:
        """A session with its messages, which are held no longer."""
        held = self.messages.pop(name, [])
        said = [_of_row(record) for record in held]
        head = self.heads.get(name) or Node({}, held[0].here.at("/row"))
        return Stored(name, head, in_order(said), self._copied(name, said))

    def _copied(self, name: str, said: list[Said]) -> tuple[str, int]:
        """The session that a fork has its first messages from; it keeps their ids."""
        ids = [words(one.info.value.get("message_id")) for one in said]
        earlier = self.first.get(ids[0], "") if ids else ""
        count = 0
        while earlier and count < len(ids) and self.first.get(ids[count]) == earlier:
            count += 1
        for one in filter(None, ids):
            self.first.setdefault(one, name)
        return earlier, count


def _opened(row: Json) -> Json:
    return {key: parsed(words(one)) if key in OPENED else one for key, one in row.items()}


def stored(source: Source, told: Told) -> Iterator[Event]:
    """The events of a database's sessions; those of subagents come with the one that sent them."""
    rows = Rows()
    for record in source.records():
        if why := rows.take(record):
            yield Skipped(Origin(record.here, None, "system"), why)
    found = {name: rows.filled(name) for name in rows.names()}
    senders = {name: by for by, one in found.items() for name in _sent(one) if name in found}
    families: dict[str, dict[str, Stored]] = {}
    for name, root in _roots(senders).items():
        if found[name].is_below and root != name:
            families.setdefault(root, {})[name] = found[name]
    within = {name for family in families.values() for name in family}
    for name, one in found.items():
        if name not in within:
            yield from told(one, families.get(name, {}))


def _sent(one: Stored) -> Iterator[str]:
    """The sessions of subagents that results name."""
    for said in one.said:
        for part in said.of("toolResponse"):
            if (name := below_of(part.value)) and name != one.id:
                yield name


def below_of(part: Json) -> str:
    """The session of the subagent that a result comes from."""
    match part:
        case {"toolResult": {"value": {"_meta": {"subagent_session_id": str(name)}}}}:
            return name
    return ""


def _roots(senders: Mapping[str, str]) -> dict[str, str]:
    """The sessions that the work of subagents goes back to; one of them where they go round."""
    found: dict[str, str] = {}
    for name in senders:
        path: dict[str, None] = {}
        at = name
        while at in senders and at not in found and at not in path:
            path[at] = None
            at = senders[at]
        found |= dict.fromkeys(path, found.get(at, at))
    return found


def _of_row(record: Record) -> Said:
    row, here = record.value["row"], record.here
    content = "/row/content_json"
    return Said(
        Node(row, here.at("/row")),
        tuple(
            Node(_object(part), here.at(content + pointer(at)))
            for at, part in enumerate(_list(parsed(row["content_json"])))
        ),
        Node(_object(parsed(words(row.get("metadata_json")))), here.at("/row/metadata_json")),
        row.get("created_timestamp"),
    )
