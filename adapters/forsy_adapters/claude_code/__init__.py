"""Claude Code sessions: JSON lines under `~/.claude/projects/<project>/<session>.jsonl`.

One API message is many records, interleaved with the results of its calls; most user records are
the harness speaking. Also `claude -p --output-format stream-json`, the JSON array that
claude-code-action writes, and whole-session JSON arrays. Learnt from 1.0.51 to 2.1.332.
"""

import glob
from collections import Counter
from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Origin, SessionStart
from forsy_retrace.sdk import Shows, pointer
from forsy_retrace.source import Record, Source

from .kinds import ON_OFFER, PROMPT
from .lines import Line, read_again, session_of
from .queue import Queue
from .records import Reader
from .threads import Threads, threads

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="yes",
    reasoning="mostly",
    edits="yes",
    subagents="yes",
    harness="Claude Code",
    stores=("~/.claude/projects/*/*.jsonl", "~/.config/claude/projects/*/*.jsonl"),
    cannot=(
        PROMPT,
        ON_OFFER,
        "the exit status of a command that the client did not flag",
        "what a shell command changed, beyond what it printed",
        "reasoning that the client stored encrypted",
    ),
    marks_cuts=True,
)

ENVELOPE = ("sessionId", "session_id", "parentUuid", "uuid", "leafUuid")
TYPES = frozenset(
    [
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "queue-operation",
        "result",
        "file-history-snapshot",
        "custom-title",
        "last-prompt",
        "mode",
        "permission-mode",
    ]
)


BELOW = (
    "subagents/**/agent-*.jsonl",
    "subagents/**/agent-*.meta.json",
    "subagents/workflows/*/journal.jsonl",
)
"""What belongs to a session, below the folder of its name."""


def sniff(source: Source) -> bool:
    """Claude Code's record types with its envelope, in any of the first records.

    A main file without a byte may have subagents that worked: then theirs are looked at.
    """
    heads = [source.head] if source.head else [one.head for one in companions(source)]
    records = [record for head in heads for record in head]
    others = any(_is_cursors(one) or _is_hermes(one) for one in records)
    return any(map(_is_ours, records)) and not others


def companions(source: Source) -> Iterator[Source]:
    """Subagents' logs and spilled outputs: below `<session>/`, or `agent-*.jsonl` beside it."""
    stem = source.path.stem
    if stem.startswith("agent-"):
        return
    for pattern in BELOW:
        yield from source.beside(f"{glob.escape(stem)}/{pattern}")
    yield from source.beside(f"{glob.escape(stem)}/tool-results/*.txt")
    ids = {session_of(record) for record in source.head} - {None}
    for sibling in source.beside("agent-*.jsonl"):
        if any(session_of(record) in ids for record in sibling.head[:3]):
            yield sibling


def read(source: Source) -> Iterator[Event]:
    """The session's events: main lane in file order, subagents by time."""
    files = list(companions(source))
    found = threads(source, files)
    reader = Reader(found, Queue(found))
    yield from _opening(source, found)
    current = None
    for line in read_again(found.lines, [source, *files]):
        run = line.body.get("session_id")
        if line.body.get("subtype") == "init" and isinstance(run, str):
            if current not in (None, run):
                reader.begin()
                yield SessionStart(_origin(line, "/session_id"), run)
            current = run
        yield from reader.read(line)


def _opening(source: Source, found: Threads) -> Iterator[Event]:
    """Which session this is, and which one's records stand copied before its own."""
    ids: list[tuple[str, Line]] = []
    counts: Counter[str] = Counter()
    for line in found.lines:
        name = None if line.skip else line.session
        if name:
            counts[name] += 1
            if counts[name] == 1:
                ids.append((name, line))
    if not ids:
        return
    if any(line.is_stream for _, line in ids):
        name, line = ids[0]
        yield SessionStart(_origin(line, "/session_id"), name)
        return
    names = [name for name, _ in ids]
    own = source.path.stem if source.path.stem in names else max(names, key=lambda n: counts[n])
    line = dict(ids)[own]
    before = names[: names.index(own)]
    forked = next(
        (
            (str(one.forked.get("sessionId") or ""), one)
            for one in found.lines
            if one.forked is not None
        ),
        None,
    )
    planned = (one.planned_in for one in found.lines if one.planned_in not in ("", own))
    prior = before[-1] if before else forked[0] if forked else next(planned, None)
    yield SessionStart(_origin(line, pointer("sessionId")), own, prior or None)
    if before:
        shared = sum(counts[name] for name in before)
        first = dict(ids)[before[0]]
        yield Fact(_origin(first, "/sessionId"), "shared_prefix", {"of": prior, "records": shared})
    elif forked and prior:
        shared = sum(one.forked is not None for one in found.lines)
        where = _origin(forked[1], "/forkedFrom")
        yield Fact(where, "shared_prefix", {"of": prior, "records": shared})


def _origin(line: Line, path: str) -> Origin:
    return Origin(line.here.at(path), line.at, "system")


def _is_hermes(record: Record) -> bool:
    """What Hermes Agent writes of a session of its own, in the form of this client."""
    return isinstance(record.value, dict) and record.value.get("version") == "hermes-agent"


def _is_cursors(record: Record) -> bool:
    """What Cursor prints: it heads a run as Claude Code does, but without the tools on offer."""
    match record.value:
        case {"type": "system", "subtype": "init", "apiKeySource": str()}:
            return "tools" not in record.value
        case {"type": "tool_call", "subtype": str(), "tool_call": dict()}:
            return True
    return False


def _is_ours(record: Record) -> bool:
    match record.value:
        case {"message": {"parts": _}} | {"systemPayload": _}:
            return False  # Qwen Code's, in the same envelope
        case {"type": "result", **rest} if "subtype" not in rest:
            return False  # another client's: Copilot CLI ends what it prints with one
        case {"type": str(kind), **rest} if kind in TYPES:
            return any(key in rest for key in ENVELOPE) or kind == "file-history-snapshot"
    return False
