"""Is a step what its evidence says? Copied values to the letter, judged ones as their votes."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from forsy_retrace.builder.readings import READINGS
from forsy_retrace.dialects import content_text
from forsy_retrace.patterns import later
from forsy_retrace.sdk import compact, parsed, resolve, text_of, text_or_json

from .evidence_rules import decides, in_order
from .sources import Logs

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
        value, why = whole(value, folder)
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
    return MORE if value and value in source else "the log says something else there"


MORE = "the log says more there"


def whole(value: str, folder: Path) -> tuple[str, str]:
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
