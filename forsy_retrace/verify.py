"""Does a trace still hold against the bytes that it names?

Each value of evidence.jsonl is read again from the log: copied ones must be there to the letter,
but for placeholders and marked cuts; computed ones are computed again where one record decides.
"""

import glob
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forsy_retrace.afresh import NotRetraced, Told, differences
from forsy_retrace.builder.readings import READINGS
from forsy_retrace.dialects import content_text
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.evidence import Evidence
from forsy_retrace.loaded import json_of, load_folder, sources_of
from forsy_retrace.logs import named
from forsy_retrace.patterns import later
from forsy_retrace.recheck import PLACEHOLDER, decides, in_order
from forsy_retrace.sdk import compact, parsed, resolve, text_of, text_or_json
from forsy_retrace.source import Source, discover, reread

Json = Mapping[str, Any]
CUT = later(
    r"\n?\[… \d+ tokens omitted, full text: (artifacts/[0-9a-f]{16}\.txt),"
    r" sha256:([0-9a-f]{64}) …\]\n?"
)


class Finding(msgspec.Struct, frozen=True):
    """A value that no longer holds. The text never quotes the log."""

    step: int
    field: str
    text: str


class Logs:
    """The log files that evidence names, read once each.

    A file that the user names is the log of the trace, whatever it is called now: no other stands
    in for it. What the trace names beside it is looked for beside it. Below a folder, every log is
    told by its name.
    """

    def __init__(self, source: Path, sources: Mapping[str, int | None]) -> None:
        self.sizes = sources
        self.main: Source | None = None
        """The file that the user named."""
        self.main_name = next(iter(sources), "")
        """What the trace calls it."""
        if os.path.isdir(source):
            self.found = list(discover(source))
        else:
            self.main = named(source)
            self.found = self._beside(self.main)
        self.held: dict[str, bytes] = {}
        self.last: tuple[Evidence | None, Any] = (None, None)
        """The record that was read last: a conversation is one record of many steps."""

    def _beside(self, main: Source) -> list[Source]:
        """What may belong to a log, under the names that it has from the log's own folder on."""
        stem = main.path.stem
        below = discover(main.path.parent / stem)
        found = [Source(one.path, f"{stem}/{one.name}") for one in below]
        known = {one.name for one in found}
        patterns = ("agent-*.jsonl", "message_feedback.json", f"{glob.escape(stem)}.*")
        for pattern in (*patterns, *self._listed()):
            for one in main.beside(pattern):
                if one.name not in known:
                    known.add(one.name)
                    found.append(one)
        return [Source(one.path, self._lead() + one.name) for one in found]

    def _lead(self) -> str:
        """The folder in which the log lay below what was converted."""
        return self.main_name[: self.main_name.rfind("/") + 1]

    def _listed(self) -> list[str]:
        """Patterns of the files at or below the log's folder that the trace names, masks aside."""
        names = [name.removeprefix(self._lead()) for name in self.sizes if name != self.main_name]
        return [
            "".join("*" if part is None else glob.escape(part) for part in _pieces(name))
            for name in names
            if name.isprintable() and not name.startswith("/") and ".." not in name.split("/")
        ]

    def value(self, row: Json) -> Any:
        """The decoded record; raises LookupError where its bytes are not there."""
        here = Evidence(str(row["file"]), 0, row["start"], row["end"], form=row.get("form", ""))
        if here == self.last[0]:
            return self.last[1]
        data = self.whole(here.file)[here.start : here.end]
        record = reread(data, here)
        if len(data) != here.end - here.start or record.problem:
            raise LookupError(here.file)
        self.last = (here, record.value)
        return record.value

    def whole(self, name: str) -> bytes:
        """All bytes of a log that evidence names."""
        if name not in self.held:
            self.held[name] = self.source(name).whole()
        return self.held[name]

    def source(self, name: str) -> Source:
        """The file that evidence means by a name; raises where there is none."""
        if self.main is not None and name == self.main_name:
            return self.main
        lead = f"{self.main_name}#"
        if self.main is not None and name.startswith(lead):
            return self._member(self.main, name.removeprefix(lead))
        archive, mark, inner = name.rpartition("#")
        exact = [source for source in self.found if source.name == name]
        if exact:
            return exact[0]
        if mark and archive:
            return self._member(self.source(archive), inner)
        pattern = _pattern(name)
        loose = [source for source in self.found if pattern.fullmatch(source.name)]
        sized = [source for source in loose if source.size == self.sizes.get(name)]
        tails = [s for s in self.found if s.path.name == name.rsplit("/", 1)[-1]]
        for found in (loose, sized, tails):
            if len(found) == 1:
                return found[0]
        raise _not_there(name)

    def _member(self, archive: Source, name: str) -> Source:
        pattern = _pattern(name)
        for one in archive.inside():
            is_named = pattern.fullmatch(one.name.removeprefix(f"{archive.name}#"))
            if is_named and isinstance(one, Source):
                return one
        raise _not_there(name)

    def of_the_trace(self) -> Source:
        """The log itself; raises NotRetraced where it, or what belongs to it, is not as it was."""
        for name, size in self.sizes.items():
            if size is None:
                raise NotRetraced("its manifest does not tell how long its log was")
            if self.source(name).size != size:
                raise NotRetraced("its log has grown or was changed since")
        return self.source(self.main_name)

    def is_as_it_was(self) -> bool:
        """Whether the named file has the size that the manifest gives."""
        size = self.sizes.get(self.main_name)
        return self.main is None or size is None or self.main.size == size


def _not_there(name: str) -> UnreadableInput:
    why = "the trace names this log, and it is not there"
    return UnreadableInput(f"{name}: {why}; name the folder that holds it with --source")


def _pieces(name: str) -> list[str | None]:
    parts: list[str | None] = []
    last = 0
    for found in PLACEHOLDER.finditer(name):
        parts += [name[last : found.start()], None]
        last = found.end()
    return [*parts, name[last:]]


def _pattern(name: str) -> re.Pattern[str]:
    """A file's name, with anything where it was masked."""
    loose = ("[^/]+?" if part is None else re.escape(part) for part in _pieces(name))
    return re.compile("".join(loose))


class Unread(NotRetraced):
    """The trace's own folder lacks what tells of the log."""


class Verdict(NamedTuple):
    """What does not hold, and why a trace was not held against its log retraced, if it was not."""

    found: list[Finding]
    not_retraced: str


def verify(folder: Path, source: Path) -> list[Finding]:
    """Every value of a trace folder that its log does not bear out."""
    return judged(folder, source).found


def judged(folder: Path, source: Path) -> Verdict:
    """The named bytes read again, and all else compared with the log retraced, where that tells."""
    trace, rows = load_folder(folder)
    logs = Logs(source, sources_of(folder, rows))
    found: list[Finding] = []
    for step, row in zip(trace["steps"], rows, strict=False):
        found.extend(held(step, row, logs, folder))
    if len(trace["steps"]) != len(rows):
        found.append(Finding(0, "steps", "evidence.jsonl has another number of rows"))
    if found and not logs.is_as_it_was():
        other = "the named file is not the log that the trace was made from: its size is another"
        found.insert(0, Finding(0, "source", other))
    known = {(one.step, one.field) for one in found}
    new: list[Finding] = []
    try:
        for step, field in differences(_told(folder, trace, rows), logs.of_the_trace()):
            if (step, field.partition(".")[0]) not in known:
                new.append(Finding(step, field, "this version makes something else of the log"))
    except Unread as why:
        return Verdict([*found, Finding(0, "manifest", f"{why}")], str(why))
    except NotRetraced as why:
        return Verdict(found, str(why))
    return Verdict([*found, *new], "")


def _told(folder: Path, trace: Json, rows: Sequence[Json]) -> Told:
    """What else the folder says, with the outputs whole that were cut in trace.json."""
    try:
        manifest = json_of(folder / "manifest.json")
        readme = (folder / "README.md").read_text("utf-8")
    except (RetraceError, OSError, UnicodeDecodeError):
        manifest = readme = None
    if not isinstance(manifest, dict):
        raise Unread("its manifest can't be read")
    cuts = [
        step
        for step, row in zip(trace["steps"], rows, strict=False)
        if row["fields"].get("output", {}).get("cut") and isinstance(step["output"], str)
    ]
    whole = {step["step"]: _whole(step["output"], folder)[0] for step in cuts}
    return Told(trace, rows, manifest, readme, whole)


def held(step: Json, row: Json, logs: Logs, folder: Path) -> list[Finding]:
    """What of one step does not hold, by its row of evidence."""
    number = step["step"]
    values: list[Any] = []
    for record in row["records"]:
        try:
            values.append(logs.value(record))
        except LookupError:
            return [Finding(number, "records", "the log has other bytes where its record stood")]
    found = []
    # a text in a JSON record may hold JSON; a line of a text log is text, whatever it holds
    nested = not any(record.get("form") for record in row["records"])
    for field, entry in row["fields"].items():
        why = _holds(step.get(field), {**entry, "nested": nested}, values, folder)
        why = why or _contradicts(field, step.get(field), entry)
        if why:
            found.append(Finding(number, field, why))
    return found


VOTED = ("eval", "feedback_type", "message_role", "operation", "retry_of")
"""Fields of which the votes name the value itself."""


def _contradicts(field: str, value: Any, entry: Json) -> str:
    """Empty where a judged value is what its own evidence names: its steps, or its rule's vote."""
    steps, rule = entry.get("steps"), entry.get("rule")
    named = {"retry_of": [value], "caused_by": value}
    if steps and named.get(field, steps) != steps:
        return "its evidence names other steps"
    if field not in VOTED:
        return ""
    told = f"{value:+d}" if field == "eval" and isinstance(value, int) else str(value)
    cast = [vote["value"] for vote in entry.get("votes", ()) if vote["rule"] == rule]
    return "its evidence says something else" if cast and told not in cast else ""


def _holds(value: Any, entry: Json, values: Sequence[Any], folder: Path) -> str:
    """Empty where a value is borne out; else what is wrong, without quoting."""
    try:
        texts = [resolve(values[at], path) if path else values[at] for at, path in places(entry)]
    except (LookupError, IndexError):
        return "the log has nothing at the place that it names"
    if entry["grade"] == "verbatim" and isinstance(value, str):
        why = ""
        for read in SHOWN_AS:
            why = _copied(value, "\n\n".join(map(read, texts)), entry, folder)
            if not why:
                break
        return why
    if entry.get("rule") == "pieces-joined" and isinstance(value, str):
        whole = "".join(text_of(text) for text in texts)
        return _copied(value, whole, entry, folder, spaced=False)
    reading = READINGS.get(entry.get("rule", ""))
    if reading is not None and isinstance(value, str):
        shown = "".join(text_of(reading.of(text)) for text in texts)
        return _copied(value, shown, entry, folder)
    holds = decides(entry.get("rule", ""), value, texts)
    return "" if holds else "the log says something else there"


SHOWN_AS: tuple[Callable[[Any], str], ...] = (text_of, text_or_json, content_text)
"""How a trace shows a value: its text, arguments as JSON, OpenAI's pictures and parts."""


def places(entry: Json) -> list[tuple[int, str]]:
    """The records and pointers that an entry names."""
    if "parts" in entry:
        return [(part["record"], part.get("pointer", "")) for part in entry["parts"]]
    if "record" in entry:
        return [(entry["record"], entry.get("pointer", ""))]
    return []


def _copied(value: str, source: str, entry: Json, folder: Path, spaced: bool = True) -> str:
    """Empty where the source has the value; blanks count if it is `spaced`."""
    if entry.get("cut"):
        value, why = _whole(value, folder)
        if why:
            return why
    if not spaced:
        value, source = "".join(value.split()), "".join(source.split())
    if value == source and not entry.get("redacted"):
        return ""
    inner = parsed(source) if entry["nested"] else None
    if entry.get("redacted"):
        held = [source, compact(inner)] if isinstance(inner, (dict, list)) else [source]
        within = bool(entry.get("within"))
        lines = value.splitlines() if within else [value]
        holds = any(in_order(lines, one, within) for one in held)
        return "" if holds else "the log says something else around the mask"
    if entry.get("within") and value in source:
        return ""
    if isinstance(inner, (dict, list)) and value == compact(inner):
        return ""  # arguments that the log keeps as a text of JSON
    if entry.get("within") and in_order(value.splitlines(), source, within=True):
        return ""
    return "the log says something else there"


def _whole(value: str, folder: Path) -> tuple[str, str]:
    """A text as it was before it was cut, or why it is not told.

    A log that shows another trace has marks of that one's cuts.
    """
    why = "its cut is not marked"
    for cut in CUT.finditer(value):
        try:
            data = (folder / cut[1]).read_bytes()
        except OSError:
            why = "the artifact with its whole text is missing"
            continue
        whole = data.decode("utf-8", "replace")
        if hashlib.sha256(data).hexdigest() != cut[2]:
            why = "the artifact with its whole text was changed"
        elif whole.startswith(value[: cut.start()]) and whole.endswith(value[cut.end() :]):
            return whole, ""
        else:
            why = "its head or tail is not that of its whole text"
    return value, why
