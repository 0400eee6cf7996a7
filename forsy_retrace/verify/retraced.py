"""A log retraced afresh: does a trace say what this version makes of the log?

Copied values are held against the log's bytes; causes, judgements, composed sentences and the
summary are what rules make of all of it, and the same version makes the same of the same log. It is
compared before it is masked: a placeholder stands for whatever it covers.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from forsy_retrace.adapter import Adapter, files_of
from forsy_retrace.builder import build
from forsy_retrace.builder.summary.identity import id_of
from forsy_retrace.document import Draft, by_file, draft, repeated
from forsy_retrace.errors import RetraceError
from forsy_retrace.events import IDLE, Session, sessions
from forsy_retrace.patterns import later
from forsy_retrace.redact import HASHED
from forsy_retrace.registry import load
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source, repaired
from forsy_retrace.tokens import ESTIMATE, EXACT, LOGGED
from forsy_retrace.version import MADE_BY
from forsy_retrace.writers.card import card
from forsy_retrace.writers.folder import tokens_of

from .evidence_rules import PLACEHOLDER, in_order

Json = Mapping[str, Any]

HASHES = frozenset(HASHED.values())
"""Digests of masked texts that a trace need not hold."""
MARKS = frozenset(["redacted", "cut"])
"""What masking and cutting leave in a row of evidence."""
BESIDE = ("ids", "surface", "branch")
"""What a row of evidence tells of its step, beside its records and fields."""
PAUSE = later(r"idle for more than (\d+(?:\.\d+)?) minutes")


class NotRetraced(RetraceError):
    """Why a trace can't be compared with what this version makes of its log."""


class Told(NamedTuple):
    """What the files of a trace folder say."""

    trace: Json
    rows: Sequence[Json]
    manifest: Json
    card: str | None
    """README.md, where it is there."""
    outputs: Mapping[int, str]
    """The whole outputs of steps whose output was cut, by step."""


def differences(told: Told, source: Source) -> Iterator[tuple[int, str]]:
    """The step, 0 for none, and the field where a trace says something else than the log now gives.

    Raises NotRetraced where another version made it, or cut its session otherwise out of the log.
    """
    adapter, maker = told.manifest.get("adapter"), told.manifest.get("generator")
    if maker != MADE_BY:
        raise NotRetraced("another version made the trace")
    if told.trace.get("trace_mode") != "retraced":
        raise NotRetraced("it is not made of a log alone")
    try:
        module = load(str(adapter))
    except RetraceError:
        raise NotRetraced("no adapter that is here has the name that it gives") from None
    session = _session(told, source, module)
    if session is None:
        yield 0, "trace_id"
        return
    fresh = draft(build(session, str(adapter), module.SHOWS))
    if session.basis and len(told.trace["steps"]) != len(fresh.trace["steps"]):
        raise NotRetraced(OTHERWISE)
    del session
    _show_prompts(told, fresh)
    _hash_contents(told, fresh)
    for name, value in fresh.trace.items():
        place = _apart(told.trace.get(name), value, name) if name != "steps" else None
        if place:
            yield 0, place
    for name, value in {**repeated(fresh.trace), **fresh.manifest}.items():
        place = _apart(told.manifest.get(name), value, f"manifest.{name}")
        if place:
            yield 0, place
    yield from _figures(told, fresh, files_of(module, source))
    yield from _steps(told, fresh)
    if told.card is not None and not _same_text(told.card, _card(told, module.SHOWS)):
        yield 0, "README.md"


def _show_prompts(told: Told, fresh: Draft) -> None:
    """Prompts and memory stand whole in a trace whose maker asked for that."""
    for name, of in HASHED.items():
        if told.trace.get(name) is not None:
            fresh.trace[name] = fresh.trace["agent_config"].get(of)


def _hash_contents(told: Told, fresh: Draft) -> None:
    """A content has the digest of its masked bytes; what the log does not hold whole has none."""
    match told.trace:
        case {"static_output": {"artifacts": list(artifacts)}}:
            fresh_ones = fresh.trace["static_output"]["artifacts"]
            for one, made in zip(artifacts, fresh_ones, strict=False):
                match one:
                    case {"content": str(text)} if made["content"] is not None:
                        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
                        made["hash"] = f"sha256:{digest}"


OTHERWISE = "its session was cut out of the log in another way than is usual"


def _session(told: Told, source: Source, adapter: Adapter) -> Session | None:
    """The session of that id; None where the log gives ids to its sessions and has no such.

    Of several with one id, that which begins where the trace does.
    """
    name, basis = str(told.manifest["adapter"]), str(told.manifest.get("session_basis"))
    pause = PAUSE.search(basis)
    begins = _first_record(told.manifest.get("sources"))
    named, found = True, None
    for session in sessions(adapter.read(source), float(pause[1]) if pause else IDLE):
        if session.events and id_of(session, name) == told.trace.get("trace_id"):
            if _begin(session, source.name) == begins:
                return session
            found = found or session
        named = named and not session.basis
    if found is None and not named:
        raise NotRetraced(OTHERWISE)
    return found


def _first_record(sources: Any) -> str | None:
    """The line and byte at which the trace's own log begins for it, as its manifest tells."""
    first = sources[0] if isinstance(sources, list) and sources else None
    return str(first.get("first_record")) if isinstance(first, dict) else None


def _begin(session: Session, name: str) -> str:
    places = [one.origin.evidence for one in session.events]
    found = ((one.start, one.line) for one in places if one.file == name)
    start, line = min(found, default=(0, 0))
    return f"{line}:{start}"


def _figures(told: Told, fresh: Draft, logs: Sequence[Source]) -> Iterator[tuple[int, str]]:
    """What the manifest counts anew when it is written: records of each file, and tokens."""
    held = by_file(fresh.fates)
    counts = {
        "records": sum(map(len, held.values())),
        "repaired": sum(repaired(one, held.get(one.name, [])) for one in logs),
    }
    match told.manifest.get("sources"):
        case list(sources):
            for name, count in counts.items():
                if sum(_count(one, name) for one in sources) != count:
                    yield 0, "manifest.sources"
    tokens = told.manifest.get("tokens")
    try:
        made = tokens_of(fresh.manifest.get("token_usage"), told.trace["steps"])
    except (LookupError, TypeError):  # a step that is none is told by the step
        return
    # Another machine may have counted by its table what is estimated here.
    counted = {ESTIMATE, EXACT} - {made["method"]} if made["method"] != LOGGED else set[str]()
    method = tokens.get("method") if isinstance(tokens, dict) else None
    if tokens != made and not (isinstance(method, str) and method in counted):
        yield 0, "manifest.tokens"


def _count(source: Any, name: str) -> int:
    """What a manifest counts of a file under that name."""
    count = source.get(name) if isinstance(source, dict) else None
    return count if isinstance(count, int) else 0


def _steps(told: Told, fresh: Draft) -> Iterator[tuple[int, str]]:
    steps, made = told.trace["steps"], fresh.trace["steps"]
    if not len(steps) == len(made) == len(told.rows):
        yield 0, "steps"
        return
    for step, row, new, ground in zip(steps, told.rows, made, fresh.evidence, strict=True):
        number = new["step"]
        if number in told.outputs:
            step = {**step, "output": told.outputs[number]}
        for name in {**new, **step}:
            place = _apart(step.get(name), new.get(name), name)
            if place:
                yield number, place
        for name in {**ground["fields"], **row["fields"]}:
            entry = row["fields"].get(name, {})
            kept = {key: value for key, value in entry.items() if key not in MARKS}
            if _apart(kept, ground["fields"].get(name, {}), name):
                yield number, f"evidence of {name}"
        for name in BESIDE:
            if _apart(row.get(name), ground.get(name), name):
                yield number, f"evidence of {name}"
        if list(map(_bytes, row["records"])) != list(map(_bytes, ground["records"])):
            yield number, "evidence of records"


def _bytes(record: Json) -> tuple[int, int, int]:
    """Where a record stands in its file, whatever that is called now."""
    return record["line"], record["start"], record["end"]


def _card(told: Told, shows: Shows) -> str:
    """README.md as it is made of the files beside it; empty where these hold no trace."""
    try:
        return card(told.trace, told.manifest, shows)
    except (LookupError, TypeError, AttributeError, ValueError):
        return ""


def _apart(told: Any, fresh: Any, name: str) -> str | None:
    """The first place, at a name or below it, where two values differ."""
    below: Iterable[str | None] = ()
    match told, fresh:
        case str(), _ if name.rpartition(".")[2] in HASHES:
            alike = True
        case str(), str():
            alike = _same_text(told, fresh)
        case dict(), dict():
            alike = len(told) == len(fresh) and all(map(_same_text, told, fresh))
            pairs = zip(told, told.values(), fresh.values(), strict=False)
            below = (_apart(one, other, f"{name}.{key}") for key, one, other in pairs)
        case list(), list() | tuple():
            alike = len(told) == len(fresh)
            rows = enumerate(zip(told, fresh, strict=False))
            below = (_apart(one, other, f"{name}[{at}]") for at, (one, other) in rows)
        case _:
            alike = type(told) is type(fresh) and told == fresh
    return next(filter(None, below), None) if alike else name


def _same_text(told: str, fresh: str) -> bool:
    if told == fresh:
        return True
    return PLACEHOLDER.search(told) is not None and in_order([told], fresh, within=False)
