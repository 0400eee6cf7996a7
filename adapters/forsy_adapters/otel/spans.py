"""A span, its attributes and its events, in whatever form it was written."""

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from forsy_retrace.dialects import ANY_VALUES, any_value
from forsy_retrace.events import Origin
from forsy_retrace.sdk import number, opened, pointer, resolve, unescaped, when, words
from forsy_retrace.source import Record

Json = dict[str, Any]

# Where things stand in a span: in OTLP's two cases, as the SDK for Python prints one, and as
# Langfuse exports one.
TRACE = ("/traceId", "/trace_id", "/context/trace_id")
ID = ("/spanId", "/span_id", "/context/span_id", "/id")
PARENT = ("/parentSpanId", "/parent_span_id", "/parent_id", "/parentObservationId")
BEGAN = ("/startTimeUnixNano", "/start_time_unix_nano", "/start_time", "/startTime")
ENDED = ("/endTimeUnixNano", "/end_time_unix_nano", "/end_time", "/endTime")
CODE = ("/status/code", "/status/status_code", "/level")
WHY = ("/status/message", "/status/description", "/statusMessage")
DROPPED = ("/droppedAttributesCount", "/dropped_attributes_count")

FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds attributes of its span, where those are too long for one."""
EXCEPTION = "exception"
IN_A_TREE = "values-in-a-tree"
"""How a value is read that is no text but a tree, which names the type of each value."""


class Leaf(NamedTuple):
    """The value of an attribute: a text, number or truth value, a list of leaves, or a tree."""

    value: Any
    pointer: str
    typed: Any = None
    """The tree as OTLP has it, where each value is named by its type."""


def tree(leaf: Leaf) -> Any:
    """The lists and objects that a leaf holds, as a text of JSON or as they are; else None."""
    return opened(leaf.value) if isinstance(leaf.value, str) else leaf.value


def each(leaf: Leaf | None) -> list[Leaf]:
    """The leaves of a list, or the one."""
    if leaf is None or leaf.value == []:
        return []
    held = leaf.value if isinstance(leaf.value, list) else []
    return [one for one in held if isinstance(one, Leaf)] or [leaf]


def listed_in(leaf: Leaf) -> list[Leaf]:
    """The leaves of a list that a text holds as JSON, or the one."""
    held = tree(leaf)
    if not isinstance(held, list):
        return [leaf]
    return [Leaf(one, leaf.pointer + pointer(index)) for index, one in enumerate(held)]


class Happened(NamedTuple):
    """An event of a span: its name and its attributes."""

    name: str
    attributes: dict[str, Leaf]


def place(value: Json, paths: tuple[str, ...]) -> tuple[str, Any]:
    """The first of several places that an object has, and what stands there."""
    for path in paths:
        try:
            return path, resolve(value, path)
        except LookupError:
            continue
    return paths[0], None


def listed(value: Any, keys: tuple[str, ...], base: str) -> Iterator[tuple[Json, str]]:
    """The objects of a list that an object holds, and where they stand."""
    if not isinstance(value, dict):
        return
    key = next((key for key in keys if key in value), keys[0])
    held = value.get(key)
    for index, one in enumerate(held if isinstance(held, list) else ()):
        if isinstance(one, dict):
            yield one, base + pointer(key, index)


def attributes(value: Any, base: str) -> dict[str, Leaf]:
    """The attributes of a span, event or resource."""
    held = value.get("attributes") if isinstance(value, dict) else None
    if isinstance(held, dict):
        return {key: _plain(one, base + pointer("attributes", key)) for key, one in held.items()}
    found: dict[str, Leaf] = {}
    for one, where in listed(value, ("attributes",), base):
        match one:
            case {"key": str(key), "value": dict(inner)} if len(inner) == 1:
                leaf = _leaf(inner, where + "/value")
                if leaf is not None:
                    found.setdefault(key, leaf)
    return found


def _leaf(typed: Json, where: str) -> Leaf | None:
    """The value of an attribute in OTLP; None where it is bytes, or no value."""
    value, form = any_value(typed), next(iter(typed))
    if isinstance(value, dict) or (isinstance(value, list) and any(map(_is_tree, value))):
        return Leaf(value, where, typed)
    below = where + pointer(form)
    if isinstance(value, list):
        values = typed[form]["values"]
        forms = (next(iter(one), "") if isinstance(one, dict) else "" for one in values)
        places = (below + pointer("values", i, form) for i, form in enumerate(forms))
        leaves = (Leaf(one, place) for one, place in zip(value, places, strict=True))
        return Leaf([leaf for leaf in leaves if leaf.value is not None], below)
    return None if value is None else Leaf(value, below)


def _is_tree(value: Any) -> bool:
    return isinstance(value, dict | list)


def within(typed: Any, path: str) -> str:
    """The pointer below a tree as OTLP has it that leads where another does below the plain one."""
    found, keys = "", path.split("/")[1:]
    while isinstance(typed, dict) and len(typed) == 1:
        form, held = next(iter(typed.items()))
        values = held.get("values") if isinstance(held, dict) else None
        if not isinstance(values, list):
            return "/".join((found + pointer(form), *keys))
        if not keys:
            return found
        key = unescaped(keys.pop(0))
        if ANY_VALUES.get(form) == "kvlist":
            index = [isinstance(one, dict) and one.get("key") for one in values].index(key)
            typed = values[index].get("value")
            found += pointer(form, "values", index, "value")
        else:
            typed = values[int(key)]
            found += pointer(form, "values", key)
    return found


def _plain(value: Any, where: str) -> Leaf:
    """A value as the SDK has it."""
    if isinstance(value, list) and not any(map(_is_tree, value)):
        return Leaf([Leaf(one, where + pointer(i)) for i, one in enumerate(value)], where)
    return Leaf(value, where)


def whole(value: Any) -> int | None:
    """A whole number that may stand as a text, as all of 64 bits do in OTLP."""
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdecimal():
        value = int(value)
    return number(value)


EARLIEST = 10**17
"""Nanoseconds since 1970 that come to 1973: less is no moment, but a count of something else."""


def nanos(value: Any) -> int | None:
    """A moment in nanoseconds; what is too small for one is none."""
    found = whole(value)
    if found is None and (at := when(value)) is not None:
        found = int(datetime.fromisoformat(at).timestamp() * 1e6) * 1000
    return found if found is not None and found > EARLIEST else None


class Span:
    """One span of a record."""

    def __init__(
        self,
        record: Record,
        base: str,
        value: Json,
        scope: str,
        service: str,
        held: dict[str, Leaf],
    ) -> None:
        self.record, self.base, self.value = record, base, value
        self.held = held
        """Its own attributes."""
        self.scope, self.service = scope, service
        self.named_at, trace = place(value, TRACE)
        self.trace, self.id = words(trace), words(place(value, ID)[1])
        self.parent = words(place(value, PARENT)[1])
        self.name = words(value.get("name"))
        self.began, self.ended = nanos(place(value, BEGAN)[1]), nanos(place(value, ENDED)[1])
        self.code_at, code = place(value, CODE)
        self.failed = code in FAILED
        self.is_cut = bool(number(place(value, DROPPED)[1]))

    @property
    def name_of(self) -> tuple[str, str]:
        """What tells it from every other span."""
        return self.trace, self.id or f"{self.record.here.start}{self.base}"

    @cached_property
    def happened(self) -> list[Happened]:
        """Its events."""
        found = listed(self.value, ("events",), self.base)
        return [Happened(words(one.get("name")), attributes(one, where)) for one, where in found]

    @cached_property
    def attributes(self) -> dict[str, Leaf]:
        """Its own, and those that an event holds for it."""
        found = self.held
        for one in self.happened:
            if one.name == DETAILS:
                found = one.attributes | found
        return found

    @cached_property
    def _trees(self) -> dict[str, Any]:
        """The attributes that are trees, as OTLP has them."""
        held = [self.attributes, *(one.attributes for one in self.happened)]
        leaves = (leaf for one in held for leaf in one.values())
        return {leaf.pointer: leaf.typed for leaf in leaves if leaf.typed is not None}

    @property
    def has_trees(self) -> bool:
        """Whether an attribute is a tree, in which each value is named by its type."""
        return bool(self._trees)

    def real(self, path: str) -> str:
        """Where that stands to which a pointer leads through values, not through their types."""
        for base, typed in self._trees.items():
            if path == base or path.startswith(base + "/"):
                return base + within(typed, path.removeprefix(base))
        return path

    def is_typed(self, path: str) -> bool:
        """Whether a tree stands at a pointer, in which each value is named by its type."""
        if not any(path.startswith(base) for base in self._trees):
            return False
        held = resolve(self.record.value, path)
        return isinstance(held, dict) and len(held) == 1 and next(iter(held)) in ANY_VALUES

    def first(self, names: tuple[str, ...]) -> Leaf | None:
        """The first of several attributes that it has."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)

    def told(self, names: tuple[str, ...]) -> Leaf | None:
        """The first of several attributes that is a text with something in it."""
        held = (self.attributes.get(name) for name in names)
        return next((leaf for leaf in held if leaf and words(leaf.value)), None)

    def text(self, names: tuple[str, ...]) -> str:
        """What that says."""
        leaf = self.told(names)
        return words(leaf.value) if leaf else ""

    def error(self) -> Leaf | None:
        """What it says went wrong: the message of its last exception, or of its status."""
        path, why = place(self.value, WHY)
        told = [one.attributes for one in self.happened if one.name == EXCEPTION]
        leaves: list[Leaf | None]
        leaves = [held.get("exception.message") for held in reversed(told)]
        for leaf in (*leaves, Leaf(why, self.base + path)):
            if leaf is not None and words(leaf.value):
                return leaf
        return None

    def at(
        self, path: str, actor: str, time: Literal["began", "ended", ""] = "", message: str = ""
    ) -> Origin:
        """The origin of an event at a pointer of its record, at its begin or end."""
        nano = {"began": self.began, "ended": self.ended, "": None}[time]
        reading = IN_A_TREE if self.is_typed(path) else ""
        here = self.record.here.at(path)
        return Origin(here, when(nano), actor, message or None, reading=reading)
