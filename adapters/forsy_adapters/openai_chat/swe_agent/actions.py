"""SWE-agent's actions as calls of its tools, and its observations as what came back."""

from collections.abc import Iterator

from forsy_retrace.dialects import Call, attachments, content_text
from forsy_retrace.events import Fact, Origin

from ..place import Json, Place, Told
from ..speech import called
from ..verdicts import result, verdict
from .tools import FILES, PLACE, Seen, SweAgent


def acted(run: SweAgent, action: str, here: Place, call: Call | None = None) -> Told:
    """What the agent does: a call of a tool, or the line that stands here."""
    act = run.acts(action, call)
    named = here.pointer if act.name else None
    one = call or Call("", act.name or "shell", action, here.pointer, named)
    return called(one, here, act.meant(one.input))


def observed(run: SweAgent, holder: Json, key: str, here: Place, call: str = "") -> Iterator[Told]:
    """What came back of it, under a key of the value that stands here."""
    content = holder.get(key)
    text, where = content_text(content), here.of(holder, key)
    seen = run.observes(text, where.pointer)
    found = verdict(holder, here.pointer, key)
    if found.outcome == "unknown":
        found = seen.verdict
    event = result(
        where.origin(),
        call,
        None if content is None else text,
        found,
        changes=seen.changes,
        attachments=attachments(content, where.pointer),
    )
    yield Told(("result", call, text.strip()), event)
    yield from moved(seen.moved, where)
    yield from shown(seen, where.origin("system"))


def shown(seen: Seen, here: Origin) -> Iterator[Told]:
    """What an observation tells of the whole run."""
    if any(change.kind != "shown" for change in seen.changes):
        yield Told(None, Fact(here, "shows", FILES))
    if seen.taken:
        yield Told(None, Fact(here, "submission", seen.taken))
    if seen.refused:
        yield Told(None, Fact(here, "flag", "refused"))


def moved(cwd: str, here: Place) -> Iterator[Told]:
    """Where the agent stands from now on."""
    if cwd:
        origin = here.origin("system")
        yield Told(("cwd", cwd), Fact(origin, "cwd", cwd))
        yield Told(None, Fact(origin, "shows", PLACE))
