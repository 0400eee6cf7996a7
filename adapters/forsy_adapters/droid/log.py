"""What lies where, and what a log shows as a whole, such as what a record tells of the last."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.sdk import later, text_of, words
from forsy_retrace.source import Record, Source

Json = dict[str, Any]

CHILD = later(
    r"(?:Error: )?(?:Task launched in background\.\n)?"
    r"(?:task_id: [\w-]{1,80}\n)?session_id: ([\w-]{1,80})(?:\n|\Z)"
)
"""How the result of a call begins that started a subagent: with the session of that."""
STEERED = "<system-reminder>A follow-up user message arrived while you were working."
"""What the client tells the model behind words that were said while it worked (0.215)."""
FAILED = ("usage_limit_reached", "provider_", "network_", "model_")
"""How the word for a turn begins that the model's provider ended (0.215)."""
COUNTED = ("message", "todo_state", "agent_turn_outcome", "compaction_state")
"""Records that a fork copies."""


def is_ours(value: Any) -> bool:
    match value:
        case {"type": "session_start", "id": str(), "title": str(), "owner": str()}:
            return True
    return False


def settings(source: Source) -> list[Source]:
    """Model, mode and tokens of a session, as the client last wrote them."""
    return source.called([f"{_stem(source)}.settings.json"])


def subagents(source: Source) -> Iterator[Source]:
    """The logs of the subagents that a session started, and of those that these did."""
    waiting, seen = [source], {_name(source)}
    while waiting:
        names = dict.fromkeys(f"{one.session}.jsonl" for one in _started(waiting.pop(0)))
        for other in source.called([name for name in names if name not in seen]):
            seen.add(_name(other))
            if sniffed(other):
                waiting.append(other)
                yield other
                yield from settings(other)


def sniffed(source: Source) -> bool:
    return any(is_ours(record.value) for record in source.head)


class Started(NamedTuple):
    """A call that started a subagent: the log's id of the call, the kind, the session."""

    call: str
    kind: str
    session: str


class Starts:
    """Which calls of a log started subagents whose session a result names; takes its records."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        """What each call that may start one asked for."""
        self.found: list[Started] = []

    def take(self, record: Any) -> None:
        for block in blocks(record):
            match block:
                case {"type": "tool_use", "name": "Task", "id": str(call), "input": dict(sent)}:
                    self.kinds[call] = words(sent.get("subagent_type")) or "agent"
                case {"type": "tool_result", "tool_use_id": str(call), **rest} if (
                    call in self.kinds
                ):
                    if named := CHILD.match(text_of(rest.get("content"))):
                        self.found.append(Started(call, self.kinds[call], named[1]))


def _started(source: Source) -> list[Started]:
    starts = Starts()
    for record in source.records():
        starts.take(record.value)
    return starts.found


def blocks(value: Any) -> list[Any]:
    """The blocks of a message's content."""
    match value:
        case {"type": "message", "message": {"content": list(held)}}:
            return held
    return []


def visibility(message: Json, record: Json) -> str:
    """Who sees a message of the user's place; empty where both do, which is a human's."""
    seen = words(message.get("visibility"), record.get("visibility"))
    return "" if seen == "both" else seen


class Log:
    """A file, and what of a record another tells."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.start: Json = {}
        self.copied = 0
        """Records that a fork took over from the session before it."""
        self.names_models = False
        self.queued: set[int] = set()
        """Words that were said while the agent worked."""
        self.failed: set[int] = set()
        """What the client showed of a turn that the model's provider ended."""
        starts = Starts()
        self.started = starts.found
        last, shown, end, count = -1, -1, -2, 0
        for place, record in enumerate(source.records()):
            starts.take(record.value)
            value = record.value if isinstance(record.value, dict) else {}
            message = value.get("message")
            body: Json = message if isinstance(message, dict) else {}
            count += value.get("type") in COUNTED
            if is_start(value) and not self.start:
                self.start = value
            elif value.get("type") == "message":
                self.names_models = self.names_models or bool(words(body.get("modelId")))
                if value.get("id") and value["id"] == self.start.get("forkedAtMessageId"):
                    self.copied, end = count, place
                seen = visibility(body, value)
                if seen == "llm_only":
                    if text_of(body.get("content")).startswith(STEERED):
                        self.queued.add(last)
                elif seen == "user_only":
                    shown = place
                else:
                    last = place
            elif value.get("type") == "agent_turn_outcome":
                if place == end + 1:  # how the last turn ended is copied with it
                    self.copied = count
                if words(value.get("reason")).startswith(FAILED) and shown >= 0:
                    self.failed.add(shown)
                shown = -1

    def records(self) -> Iterator[tuple[int, Record]]:
        yield from enumerate(self.source.records())

    @property
    def session(self) -> str:
        return words(self.start.get("id"))

    @property
    def is_subagent(self) -> bool:
        """Whether another session speaks in the user's place: a call's, or a mission's."""
        start = self.start
        caller = words(start.get("callingToolUseId"), start.get("callingSessionId"))
        return bool(caller) or start.get("decompSessionType") == "worker"


def is_start(value: Any) -> bool:
    match value:
        case {"type": "session_start", "id": str(ident)}:
            return bool(ident)
    return False


def _name(source: Source) -> str:
    return source.name.replace("\\", "/").rsplit("/", 1)[-1]


def _stem(source: Source) -> str:
    return _name(source).removesuffix(".gz").removesuffix(".jsonl")
