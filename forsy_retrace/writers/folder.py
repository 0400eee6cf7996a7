"""A trace folder: trace.json, manifest.json, evidence.jsonl, artifacts/, README.md."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from forsy_retrace.document import repeated
from forsy_retrace.errors import RetraceError
from forsy_retrace.memory import LARGE, give_back, let_go
from forsy_retrace.redact import Redacted
from forsy_retrace.redaction import Leak
from forsy_retrace.sdk import Shows
from forsy_retrace.tokens import LOGGED, head_and_tail
from forsy_retrace.validate import problems
from forsy_retrace.version import MADE_BY
from forsy_retrace.writers.atomic import (
    ARTIFACTS,
    Data,
    check_target,
    locked,
    mend,
    trace_in,
    with_a_name,
    write_whole,
)
from forsy_retrace.writers.card import card
from forsy_retrace.writers.media import Medium

Json = dict[str, Any]
TRACE, EVIDENCE, MANIFEST, README = "trace.json", "evidence.jsonl", "manifest.json", "README.md"
PORTION = 1 << 20
"""Bytes of a large file that are gated and written at once."""
MAX_OUTPUT = 8192
"""Tokens of one output that stay in trace.json; the whole then lies in artifacts/."""


class Written(msgspec.Struct, frozen=True):
    """A trace folder on disk, and what its manifest says."""

    folder: Path
    manifest: Json
    before: str = ""
    """The id of the trace that lay there before; empty where none did."""


def write_folder(
    trace: Redacted,
    folder: Path,
    origins: Sequence[Mapping[str, Any]],
    shows: Shows,
) -> Written:
    """Validates, gates and writes one trace; the folder is there whole or not at all."""
    files, manifest = contents(trace, origins, shows)
    return Written(folder, manifest, put_folder(folder, files))


def put_folder(folder: Path, files: Mapping[str, Data]) -> str:
    """Writes the files of one trace; a folder of ours that was there goes.

    Gives the id of the trace that goes; empty where none does.
    """
    target = with_a_name(folder)
    with locked(target):
        mend(target)
        check_target(target)
        before = trace_in(target)
        write_whole(target, files)
    return before


def contents(
    trace: Redacted,
    origins: Sequence[Mapping[str, Any]],
    shows: Shows,
    max_output: int = MAX_OUTPUT,
    kept_media: Iterable[Medium] | None = None,
) -> tuple[dict[str, Data], Json]:
    """Every file of the folder, by name, checked and gated; pictures only where asked for.

    The two large ones are made and gated while they are read: a long log's would fill the memory.
    """
    kept: dict[str, bytes] = {}
    _cut(trace, kept, max_output)
    _file_artifacts(trace, kept)
    manifest = _manifest(trace, origins, kept)
    if kept_media is not None:
        manifest["media"] = _file_media(trace, kept_media, kept)
    found = problems(trace.trace, evidence=trace.evidence, manifest=manifest)
    if found:
        first = found[0]
        where = f"step {first.step}, " if first.step else ""
        why = f"{where}{first.field}: {first.rule}, {first.text}"
        raise RetraceError(f"the trace breaks its own format ({why})")
    told, read = encoded(manifest), trace.mask(card(trace.trace, manifest, shows)).encode()
    _gate(MANIFEST, trace.leaks_of_document(told))
    _gate(README, trace.leaks_of_text(read))
    for name, data in kept.items():
        _gate(name, trace.leaks_of_text(data) if name.endswith(".txt") else trace.leaks(data))
    large: dict[str, Data] = {EVIDENCE: _evidence(trace), TRACE: _document(trace)}
    return {**large, MANIFEST: told, README: read, **kept}, manifest


def _gate(name: str, leaks: Sequence[Leak]) -> None:
    """Nothing leaves with a known secret in it."""
    leak = next(iter(leaks), None)
    if leak is not None:
        raise RetraceError(f"withheld: {name} would still hold a secret (rule {leak.rule})")


def _cut(trace: Redacted, kept: dict[str, bytes], limit: int) -> None:
    """Outputs over the limit: head and tail stay, the whole goes to artifacts/."""
    for step, row in zip(trace.trace["steps"], trace.evidence, strict=True):
        if step["action"] != "agent_step" or step["output"] is None:
            continue
        cut = head_and_tail(step["output"], limit)
        if cut is None:
            continue
        head, tail, left = cut
        name, digest = _keep(step["output"], kept)
        mark = f"[… {left} tokens omitted, full text: {name}, sha256:{digest} …]"
        step["output"] = f"{head}\n{mark}\n{tail}"
        row["fields"]["output"] = {**row["fields"]["output"], "cut": True}


def _keep(text: str, kept: dict[str, bytes]) -> tuple[str, str]:
    """Stores a masked text under the hash of its bytes."""
    data = text.encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    name = f"{ARTIFACTS}/{digest[:16]}.txt"
    kept[name] = data
    return name, digest


def _file_artifacts(trace: Redacted, kept: dict[str, bytes]) -> None:
    """Final contents lie in artifacts/ too, under the hash of their masked bytes."""
    for artifact in trace.trace["static_output"]["artifacts"]:
        if artifact["content"] is not None:
            _, digest = _keep(artifact["content"], kept)
            artifact["hash"] = f"sha256:{digest}"


def _file_media(trace: Redacted, found: Iterable[Medium], kept: dict[str, bytes]) -> Json:
    """Pictures as they stand, under the hash of their bytes; one with a known secret stays out."""
    rows: list[Json] = []
    withheld = absent = 0
    for one in found:
        if one.data is None:
            absent += 1
        elif trace.leaks(one.data):
            withheld += 1
        else:
            kept[one.name] = one.data
            size = len(one.data)
            rows.append(
                {"step": one.step, "file": one.name, "media_type": one.kind[1], "size": size}
            )
    return {"kept": rows, "withheld": withheld, "not_in_the_log": absent}


def _manifest(
    trace: Redacted, origins: Sequence[Mapping[str, Any]], kept: Mapping[str, bytes]
) -> Json:
    return {
        "generator": MADE_BY,
        "adapter": trace.adapter,
        **repeated(trace.trace),
        "formats_available": ["json", "jsonl", "md", *(["txt"] if kept else [])],
        **trace.manifest,
        "sources": [
            {key: trace.mask(v) if key == "name" else v for key, v in one.items()}
            for one in origins
        ],
        "tokens": tokens_of(trace.manifest.get("token_usage"), trace.trace["steps"]),
        "redaction": trace.counts,
    }


def tokens_of(usage: Mapping[str, Any] | None, steps: Iterable[Mapping[str, Any]]) -> Json:
    """The log's own figures where it has any; else a count or estimate of the trace's texts."""
    if usage:
        return {"method": LOGGED, **usage}
    from forsy_retrace.tokens import count, method

    texts = [step[name] for step in steps for name in ("input", "output", "reasoning")]
    return {"method": method(), "text_tokens": sum(count(text) for text in texts if text)}


def _evidence(trace: Redacted) -> Iterator[bytes]:
    """The rows as lines; each goes once it is told."""
    for rows in _by_size(map(line, let_go(trace.evidence))):
        data = b"".join(rows)
        _gate(EVIDENCE, trace.leaks_of_rows(data))
        yield data


def _document(trace: Redacted) -> Iterator[bytes]:
    """The same bytes as `encoded` gives of the whole; each step goes once it is told."""
    steps, trace.trace["steps"] = trace.trace["steps"], []
    frame = encoded(trace.trace)
    _gate(TRACE, trace.leaks_of_document(frame))
    head, brackets, tail = frame.partition(NO_STEPS)
    yield head + brackets[:-1]
    lead = b"\n    "
    for some in _by_size(encoded(step)[:-1].replace(b"\n", b"\n    ") for step in let_go(steps)):
        data = b",\n    ".join(some)
        _gate(TRACE, trace.leaks_of_document(b'{"steps": [%b]}' % data))
        yield lead
        yield data
        lead = b",\n    "
    yield (b"\n  ]" if lead.startswith(b",") else b"]") + tail


NO_STEPS = b'\n  "steps": []'
"""No text can hold these bytes: its line ends and quotes would be escaped."""


def _by_size(parts: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Parts in order, a portion at a time; what they were made of is given back meanwhile."""
    held: list[bytes] = []
    size = gone = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= PORTION:
            yield held
            held, size, gone = [], 0, gone + size
        if gone >= LARGE:
            give_back(gone)
            gone = 0
    if held:
        yield held


def encoded(value: Json) -> bytes:
    """Indented JSON, the same bytes on every run; integers beyond 64 bit stay exact."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"


def line(value: Json) -> bytes:
    """One compact JSON line."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
