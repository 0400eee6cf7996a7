"""The events of a database: its conversations, each with those of its subagents, in time."""

from collections.abc import Iterator, Mapping

from forsy_retrace.calls import Calls
from forsy_retrace.events import Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import subagent, words
from forsy_retrace.source import Evidence, Source

from .held import Kept, Node
from .line import Line, moment
from .places import branch_of, folder_of
from .rows import VALUE, Rows
from .tabs import tabbed

MOST_DEEP = 40
"""Subagents within one another; those below are told by themselves."""
LOST = "Some of the messages that it lists are not in the log."
ELSEWHERE = "What subagents did stands in conversations that this log does not hold."
UNDATED = "Its messages have no time."
STAMPED = "The times of messages were set at once, long after some of them: they are left out."


def told(source: Source) -> Iterator[Event]:
    """The events of all conversations; those of subagents come with the one that sent them."""
    rows = Rows()
    for record in source.records():
        if why := rows.take(record):
            yield Skipped(Origin(record.here, None, "system"), why)
    yield from _conversations(rows)
    for place in rows.rest():
        why = "a message that no conversation lists"
        yield Skipped(Origin(place, None, "system"), why)
    for record in rows.tabs:
        yield from tabbed(record)


def _conversations(rows: Rows) -> Iterator[Event]:
    chats = rows.all_chats()
    below: dict[str, list[str]] = {}
    for name in chats:
        parent = rows.parents.get(name, "")
        if parent in chats and parent != name:
            below.setdefault(parent, []).append(name)
    reached = set[str]()
    sent = {one for names in below.values() for one in names}
    for name in chats:
        if name not in sent:
            yield from _conversation(name, Family(rows, chats, below, reached))
    for name in chats:  # those that name each other as what sent them
        if name not in reached:
            yield from _conversation(name, Family(rows, chats, below, reached))


class Family:
    """What the conversations of one trace share: events, and the names of calls and subagents."""

    def __init__(
        self,
        rows: Rows,
        chats: Mapping[str, Kept],
        below: Mapping[str, list[str]],
        reached: set[str],
    ) -> None:
        self.rows, self.chats, self.below, self.reached = rows, chats, below, reached
        self.contents = rows.contents
        self.calls = Calls()
        self.timed: list[tuple[str, Event]] = []
        self.agents = self.deep = 0
        self.is_dated = self.is_lost = self.is_elsewhere = self.is_stamped = False

    def agent(self, kind: str) -> str:
        """A name for one more subagent."""
        self.agents += 1
        return subagent(kind, self.agents)

    def children(self, name: str) -> Iterator[str]:
        """The conversations that one sent, but for those that were told already."""
        return (one for one in self.below.get(name, ()) if self.is_child(one, name))

    def is_child(self, name: str, parent: str) -> bool:
        """Whether a conversation is to be told within another."""
        is_sent = self.rows.parents.get(name) == parent and name in self.chats
        return is_sent and name not in self.reached and self.deep < MOST_DEEP

    def line(self, name: str, actor: str, since: str = "") -> str:
        """Tells a conversation of it; until when it went on."""
        self.reached.add(name)
        self.deep += 1
        chat = self.chats[name].node()
        listed = self.rows.messages_of(name, chat)
        is_stamped = listed.is_stamped_at_once()
        self.is_stamped = self.is_stamped or is_stamped
        line = Line(self, name, chat, actor, since, is_dated=not is_stamped)
        line.tell(listed)
        self.is_lost = self.is_lost or listed.lost
        self.deep -= 1
        return line.now

    def limits(self) -> tuple[str, ...]:
        """What this one conversation cannot tell."""
        holds = {
            LOST: self.is_lost,
            ELSEWHERE: self.is_elsewhere,
            STAMPED: self.is_stamped,
            UNDATED: not (self.is_dated or self.is_stamped),
        }
        return tuple(text for text, is_so in holds.items() if is_so)


def _conversation(name: str, family: Family) -> Iterator[Event]:
    chat = family.chats[name].node()
    family.line(name, "agent")
    if not family.timed:
        yield Skipped(Origin(chat.here, None, "system"), "a conversation without messages")
        return
    at = moment(chat.value.get("createdAt"))
    place, ident = _named(chat, name)
    yield SessionStart(Origin(place, at, "system"), ident, limits=family.limits())
    if at is not None:
        yield Fact(Origin(chat.at("createdAt"), at, "system"), "began", at)
    yield from _facts(chat, family.rows.places.get(name))
    yield from (event for _, event in sorted(family.timed, key=lambda one: one[0]))


def _named(chat: Node, name: str) -> tuple[Evidence, str]:
    """Where a conversation's name stands, and the name: in its row, else in the row's key."""
    if chat.value.get("composerId") == name:
        return chat.at("composerId"), name
    is_row = chat.here.pointer == VALUE
    return (chat.here.at("/row/key"), name) if is_row else (chat.here, "")


def _facts(chat: Node, listed: Node | None) -> Iterator[Event]:
    if words(chat.value.get("name")):
        yield Fact(Origin(chat.at("name"), None, "system"), "title", chat.value["name"])
    for node in filter(None, (chat, listed)):
        if found := folder_of(node):
            place, folder = found
            yield Fact(Origin(place, None, "system"), "cwd", folder)
            break
    if found := branch_of(chat):
        place, branch = found
        yield Fact(Origin(place, None, "system"), "branch", branch)
