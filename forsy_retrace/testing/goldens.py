"""The laws that hold a reading against one that somebody has read: golden events, golden trace."""

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson

from forsy_retrace.adapter import Adapter
from forsy_retrace.choose import Choice, Chosen
from forsy_retrace.convert import Options, origins_of, unwritten
from forsy_retrace.convert import folder_of as folder_as_converted
from forsy_retrace.document import draft
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.logs import why_not
from forsy_retrace.printings import printings
from forsy_retrace.redact import redact
from forsy_retrace.sdk import pointer
from forsy_retrace.testing.account import lost
from forsy_retrace.testing.case import BrokenLaw, Case
from forsy_retrace.testing.reading import Reading, care, named, reading
from forsy_retrace.tokens import estimated
from forsy_retrace.writers.atomic import whole
from forsy_retrace.writers.events import event_lines

UPDATE = "FORSY_UPDATE_GOLDENS"


def matches_golden_events(adapter: Adapter | str, case: Case) -> None:
    """The masked events are those of `events.jsonl`, to the byte."""
    found = reading(adapter, case)
    if case.log is not None or (case.refused is not None and not found.accepted):
        return
    data = _events_of(found)
    if os.environ.get(UPDATE) == "1":
        _put_events(case, found, data)
    _same(case.folder / "events.jsonl", "events.jsonl", data)


def matches_golden_trace(adapter: Adapter | str, case: Case) -> None:
    """The trace folder is `trace/`, file by file, to the byte; several sessions lie below it."""
    if case.log is not None:
        return
    found = reading(adapter, case)
    try:
        files = folder(adapter, case)
    except UnreadableInput as error:
        if case.refused is None:
            raise BrokenLaw(f"{error}; if that is right, say it in refused.txt.") from None
        if case.refused != str(error):
            raise BrokenLaw("the log is not refused for the reason in refused.txt.") from None
        return
    except RetraceError as error:
        raise BrokenLaw(f"no folder can be written: {error}.") from None
    if case.refused is not None:
        raise BrokenLaw("refused.txt says that the log is refused, and it is not.")
    golden = case.folder / "trace"
    if os.environ.get(UPDATE) == "1":
        _put_trace(case, found, files)
    for name, data in files.items():
        _same(golden / name, f"trace/{name}", data)
    for path in sorted(golden.rglob("*")):
        name = path.relative_to(golden).as_posix()
        if path.is_file() and name not in files:
            raise BrokenLaw(f"trace/{name} is no longer written.")


def write_goldens(adapter: Adapter | str, case: Case) -> None:
    """Puts what the adapter makes of a case beside it: `events.jsonl` and `trace/`."""
    found = reading(adapter, case)
    _put_events(case, found, _events_of(found))
    _put_trace(case, found, folder(adapter, case))


def digest(adapter: Adapter | str, case: Case) -> str:
    """A fingerprint of the events and of the folder: equal wherever and whenever it is made."""
    found = reading(adapter, case)
    whole = hashlib.sha256("\n".join(event_lines(found.events)).encode())
    for name, data in folder(adapter, case).items():
        whole.update(name.encode() + b"\0" + data)
    return whole.hexdigest()


def folder(adapter: Adapter | str, case: Case) -> Mapping[str, bytes]:
    """The files of the case's reading, made once for the laws that only look."""
    return _folder(named(adapter), case)  # type: ignore[arg-type]  # all that we meet have a hash


@lru_cache(maxsize=64)
def _folder(own: Any, case: Case) -> Mapping[str, bytes]:
    return folder_of(own, case.adapter, reading(own, case))


def folder_of(adapter: Adapter, name: str, found: Reading) -> Mapping[str, bytes]:
    """The files that `convert` would write; raises what `convert` would raise."""
    source = found.source
    if not found.accepted:
        raise UnreadableInput(why_not(source, name))
    chosen = Chosen(found.events, adapter.SHOWS, Choice())
    wanted = list(chosen)
    if not wanted:
        raise UnreadableInput(f"{source.name}: {next(chosen.told(), 'no session in it')}")
    traces = [trace for trace in found.traces if trace.session in wanted and trace.steps]
    if not traces:
        raise UnreadableInput(f"{source.name}: no steps in it")
    files: dict[str, bytes] = {}
    taken: Counter[str] = Counter()
    logs = (source, *found.companions)
    for trace in traces:
        with care("redact", source.size):
            content = draft(trace)
            also, printed = unwritten(content, logs), printings(trace.session.events)
            redacted = redact(content, also=also, printed=printed)
        origins = origins_of(content, logs, Options())
        with estimated():
            one = folder_as_converted(redacted, origins, adapter.SHOWS, Options(), taken)
        lead = f"{one.name}/" if len(wanted) > 1 else ""
        files.update({lead + name: whole(data) for name, data in sorted(one.files.items())})
    return files


def _events_of(found: Reading) -> bytes:
    with care("masking the events", found.source.size):
        return "".join(f"{line}\n" for line in event_lines(found.events)).encode()


def _put_events(case: Case, found: Reading, data: bytes) -> None:
    _refuse_losses(found)
    (case.folder / "events.jsonl").write_bytes(data)


def _put_trace(case: Case, found: Reading, files: Mapping[str, bytes]) -> None:
    _refuse_losses(found)
    shutil.rmtree(case.folder / "trace", ignore_errors=True)
    for name, data in files.items():
        path = case.folder / "trace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _refuse_losses(found: Reading) -> None:
    """No golden comes of a reading that loses records."""
    why = lost(found.events, (found.source, *found.companions))
    if why:
        raise BrokenLaw(f"no golden is written, for {why}")


def _same(path: Path, name: str, data: bytes) -> None:
    if not path.is_file():
        raise BrokenLaw(f"{name} is missing; write it with {UPDATE}=1, then read it.")
    golden = path.read_bytes()
    if golden != data:
        raise BrokenLaw(f"{name} differs from the golden, first at {_where(name, golden, data)}.")


def _where(name: str, old: bytes, new: bytes) -> str:
    """A line and a place in it, without what stands there."""
    if name.endswith(".json"):
        return _difference(orjson.loads(old), orjson.loads(new)) or "its layout"
    pairs = zip_longest(old.splitlines(), new.splitlines())
    number, before, after = next(
        ((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b), (1, None, None)
    )
    if name.endswith(".jsonl") and before and after:
        return f"line {number}, {_difference(orjson.loads(before), orjson.loads(after))}"
    return f"line {number}"


def _difference(old: Any, new: Any, here: tuple[str | int, ...] = ()) -> str:
    """The first place where two values part."""
    match old, new:
        case dict(), dict():
            for key in [*old, *(key for key in new if key not in old)]:
                if key not in old or key not in new:
                    return pointer(*here, key)
                if old[key] != new[key]:
                    return _difference(old[key], new[key], (*here, key))
        case list(), list():
            for index, (a, b) in enumerate(zip(old, new, strict=False)):
                if a != b:
                    return _difference(a, b, (*here, index))
            return f"{pointer(*here)} (its length)"
    return pointer(*here)
