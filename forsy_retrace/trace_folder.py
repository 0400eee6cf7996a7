"""A trace folder read back: its trace, the rows of its evidence, the logs that it was made from.

Anybody may have edited the files: what is given has the fields and types that a reader needs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.trace import counted

Json = dict[str, Any]
Count = Annotated[int, msgspec.Meta(ge=0)]
Number = Annotated[int, msgspec.Meta(ge=1)]


class _Step(msgspec.Struct):
    step: Number
    actor: str
    action: str
    operation: str | None
    tool: str | None
    message_role: str | None
    input: str | None
    output: str | None
    reasoning: str | None
    success: bool | None
    eval: int | None
    caused_by: list[Number] | None
    retry_of: Number | None
    feedback_type: str | None


class _Summary(msgspec.Struct):
    total_steps: int
    total_turns: int
    agent_confidence: int


class _Card(msgspec.Struct):
    title: str


class _Trace(msgspec.Struct):
    steps: list[_Step]
    summary: _Summary
    dataset_summary: _Card
    termination_reason: str


class _Part(msgspec.Struct):
    record: Count
    pointer: str = ""


class _Vote(msgspec.Struct):
    rule: str
    value: Any
    confidence: float


class _Entry(msgspec.Struct):
    grade: str
    rule: str = ""
    confidence: float | None = None
    record: Count | UnsetType = UNSET
    pointer: str = ""
    parts: list[_Part] = []
    steps: list[Number] = []
    votes: list[_Vote] = []


class _Record(msgspec.Struct):
    file: str
    line: Count
    start: Count
    end: Count
    form: str = ""


class _Row(msgspec.Struct):
    step: Number
    records: list[_Record]
    fields: dict[str, _Entry]


def load_folder(folder: Path) -> tuple[Json, list[Json]]:
    """trace.json and the rows of evidence.jsonl."""
    trace = json_of(folder / "trace.json")
    rows = json_lines(folder / "evidence.jsonl")
    for what, kind, name in ((trace, _Trace, "trace.json"), (rows, list[_Row], "evidence.jsonl")):
        try:
            found = msgspec.convert(what, kind)
        except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):
            found = None
        if found is None or (isinstance(found, list) and not all(map(_names_its_records, found))):
            raise UnreadableInput(f"{folder.name}: its {name} is no trace's; see validate")
    return trace, rows


def _names_its_records(row: _Row) -> bool:
    """Whether every place of a row is in one of the records that it lists."""
    last = len(row.records)
    return all(
        (entry.record is UNSET or entry.record < last)
        and all(part.record < last for part in entry.parts)
        for entry in row.fields.values()
    )


def sources_of(folder: Path, rows: Sequence[Json]) -> Mapping[str, int | None]:
    """The logs that a trace was made from, the first its own, the others what belongs to that.

    With the sizes in bytes that the manifest gives; without a manifest, the names in the evidence.
    """
    try:
        manifest = json_of(folder / "manifest.json")
    except RetraceError:
        manifest = None
    listed = manifest.get("sources") if isinstance(manifest, dict) else None
    found = {
        one["name"]: one.get("size")
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    }
    return found or {record["file"]: None for row in rows for record in row["records"]}


def json_lines(path: Path) -> list[Any]:
    """The values of a file of JSON lines."""
    return [_decoded(line, path) for line in _bytes(path).split(b"\n") if line]


def unknown_kinds(manifest: Json) -> dict[str, int]:
    """How often the log has records, or parts of them, that the adapter does not know, by kind."""
    found: dict[str, int] = {}
    for met in (manifest["records"]["omitted"], manifest.get("parts_omitted", {})):
        for reason, count in met.items():
            if reason.startswith("unknown"):
                found[reason] = found.get(reason, 0) + count
    return dict(sorted(found.items()))


def json_of(path: Path) -> Any:
    """The value of a JSON file."""
    return _decoded(_bytes(path), path)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        folder = path.parent.name or path.parent  # `.` has no name
        inside = sum(1 for _ in path.parent.glob(f"*/{path.name}"))
        if inside:
            what = f"a folder of {counted(inside, 'trace')}; name one of them"
            raise RetraceError(f"{folder}: {what}") from None
        raise RetraceError(f"{folder}: no trace folder, {path.name} is missing") from None
    except OSError as error:
        why = error.strerror or "can't be read"
        raise UnreadableInput(f"{Path(path.parent.name) / path.name}: {why}") from None


def _decoded(data: bytes, path: Path) -> Any:
    import json

    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=_named_once)
    except (ValueError, RecursionError):
        why = "not JSON in UTF-8 that says each thing once"
        raise UnreadableInput(f"{Path(path.parent.name) / path.name}: {why}") from None


def _named_once(members: list[tuple[str, Any]]) -> Json:
    """An object; of two members with one name, readers take different ones."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError
    return found
