"""A conversation's events, with those of the subagents that it sent, in the order of time."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import counts, pointer, subagent, when, words

from .copies import surveyed
from .family import Family, is_branch, is_subagent
from .lane import MAIN, Lane
from .store import Json, Stored

FACTS = (("model", "model"), ("title", "title"), ("cwd", "cwd"), ("git_branch", "branch"))
USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
OF_A_MAIN = ("title", "cwd", "branch", "began", "ended")
"""What is told of the main agent's session alone."""
UNATTENDED = ("cron", "subagent", "webhook", "curator")
"""Where no human speaks in the user's place."""
ALONE = "It is a subagent's session; what sent it stands in another."
COPIED = (
    "It branches from a session that is not here: its first messages may be copies from there, "
    "with the time of the copy."
)
GOES_ON = "It goes on from a session that is not here: its first messages may be copies from there."
ELSEWHERE = "What subagents did stands in sessions of their own, which this log does not hold."

LENT = (
    "It was exported in the form of Claude Code: without times, reasoning and pictures, and with "
    "what looked like a secret masked."
)


class Whole:
    """What the lanes of one trace share: their events, and the names of calls and subagents."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.waiting: dict[str, dict[str, list[list[Stored]]]] = {}
        """The subagents that were not told yet: by what sent them, and what they were asked."""
        for name, lines in family.below.items():
            for line in lines:
                self.waiting.setdefault(name, {}).setdefault(line[0].asked, []).insert(0, line)
        self.names = set[str]()
        """Those of all calls."""
        self.timed: list[tuple[str, Event]] = []
        self.agents = 0
        self.elsewhere = False
        self.calling: dict[str, tuple[str, list[str]]] = {}
        """Calls for subagents by their ids in the log: the call, and the subagents' names."""
        self.sent: dict[str, tuple[str, list[str]]] = {}
        """The same by the name that the client gave to what runs in the background."""

    def agent(self) -> str:
        """A name for one more subagent."""
        self.agents += 1
        return subagent("", self.agents)

    def named(self, logged: str, actor: str) -> str:
        """A name for a call that no other lane's has."""
        name = logged if logged not in self.names else f"{logged} of {actor}"
        self.names.add(name)
        return name

    def child(self, parent: str, goal: str) -> list[Stored] | None:
        """The sessions of a subagent that was sent with these words, once."""
        held = self.waiting.get(parent, {}).get(goal) if goal else None
        return held.pop() if held else None

    def below(self, line: list[Stored], actor: str, since: str, depth: int) -> str:
        """What a subagent did; until when."""
        for one in line:
            head = Origin(one.head.here, None, "system")
            self.timed.append((since, Skipped(head, "a subagent's session")))
            told = [fact for fact in _facts(one, actor) if fact.name not in OF_A_MAIN]
            self.timed += [(since, fact) for fact in told]
        return Lane(self, actor, line, surveyed(line, None), depth=depth).tell(since)

    def rest(self) -> None:
        """The subagents that no call sent which is here."""
        for by_asked in self.waiting.values():
            for held in by_asked.values():
                while held:
                    self.below(held.pop(), self.agent(), "", 1)

    def events(self) -> Iterator[Event]:
        """All of them in the order of time; those of one moment as they were told."""
        return (event for _, event in sorted(self.timed, key=lambda one: one[0]))


def told(family: Family) -> Iterator[Event]:
    """The events of one conversation."""
    first = family.line[0]
    here = Origin(first.head.here, None, "system")
    below = [one for lines in family.below.values() for line in lines for one in line]
    if not any(one.messages for one in (*family.line, *below)):
        for one in (*family.line, *below):
            yield Skipped(Origin(one.head.here, None, "system"), "a session without messages")
        return
    is_alone = is_subagent(first, family.origin)
    is_human = not is_alone and first.source not in UNATTENDED
    known = surveyed(family.line, family.origin)
    whole = Whole(family)
    Lane(whole, MAIN, family.line, known, is_human=is_human, is_alone=is_alone).tell()
    whole.rest()
    is_lost = bool(first.parent) and family.origin is None and not is_alone
    limits = [
        text
        for text, holds in (
            (ALONE, is_alone),
            (COPIED, is_lost and is_branch(first)),
            (GOES_ON, is_lost and not is_branch(first)),
            (ELSEWHERE, whole.elsewhere),
            (LENT, first.is_lent),
        )
        if holds
    ]
    prior = first.parent if first.parent and not is_alone else None
    key = "session_id" if "session_id" in first.head.value else "id"
    named = here.below(pointer(key)) if key in first.head.value else here
    if first.id:
        yield SessionStart(named, first.id, prior, limits=tuple(limits))
    else:
        yield Skipped(here, "head of a session that is not named")
    for one in family.line[1:]:
        yield Skipped(Origin(one.head.here, None, "system"), "head of a session that goes on")
    if known.branched:
        shared = {"of": prior, "records": known.branched}
        yield Fact(here, "shared_prefix", shared)
    for one in family.line:
        yield from _facts(one, MAIN)
    yield from whole.events()


def _facts(session: Stored, actor: str) -> Iterator[Fact]:
    """What a session's row, or the head of its export, says of it."""
    value, here = session.head.value, Origin(session.head.here, None, "system")
    for key, name in FACTS:
        if words(value.get(key)):
            yield Fact(here.below(pointer(key)), name, value[key])
    if words(value.get("system_prompt")):
        where = here.below("/system_prompt")
        yield Fact(where.by(actor), "system_prompt", value["system_prompt"])
    if names := _offered(value):
        yield Fact(here.below("/tools"), "tools", names)
    if used := counts(value, USAGE):
        yield Fact(here, "usage", used)
    for key, name in (("started_at", "began"), ("ended_at", "ended")):
        if actor == MAIN and (at := when(value.get(key))):
            yield Fact(here.below(pointer(key)), name, at)


def _offered(value: Json) -> list[str]:
    """The tools on offer."""
    listed = value.get("tools")
    found = []
    for one in listed if isinstance(listed, list) else ():
        match one:
            case {"function": {"name": str(name)}}:
                found.append(name)
    return found
