"""The normalised event stream as JSON lines: our `native` form, masked."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from forsy_retrace.events import Event, Packed
from forsy_retrace.printings import printings
from forsy_retrace.redact import Rules, leaves, masked, masker_of
from forsy_retrace.redaction import Masker
from forsy_retrace.sdk import compact, parsed


def event_lines(events: Iterable[Event], rules: Rules = Rules()) -> Iterator[str]:  # noqa: B008 (Rules is frozen)
    """One compact JSON object an event; fields that say nothing are left out."""
    held = list(events)
    values = [_plain(event) for event in held]
    if rules.off:
        yield from (compact(value) for value in values)
        return
    masker = masker_of(rules)
    for asked, output in printings(held):
        masker.learn_printed(asked, output)
    del held
    for value in values:
        for sent in _sent(value):
            masker.learn(compact(sent))
        for text, key in leaves(value, ours=False):
            masker.learn(text, key)
    masker.seal()
    for value in values:
        yield compact(_masked(value, masker))


def _sent(value: Any) -> list[Any]:
    """The arguments of a call that are no text."""
    found = [value.get("input"), (value.get("meant") or {}).get("input")]
    return [one for one in found if isinstance(one, (dict, list))]


def _masked(value: Any, masker: Masker) -> Any:
    """An event masked; its arguments as a trace has them, where one tells of another."""
    told = dict(value)
    if isinstance(sent := told.get("input"), (dict, list)):
        text = compact(sent)
        new = masker.mask(text)
        told["input"] = sent if new is text else parsed(new) or new
    if told.get("meant"):
        told["meant"] = _masked(told["meant"], masker)
    return masked(told, masker, ours=False)


def _plain(value: Any) -> Any:
    """An event as JSON, without fields that say nothing; what the log gave stays whole."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if not isinstance(value, msgspec.Struct):
        return str(value) if isinstance(value, Packed) else value
    told = {}
    if (config := value.__struct_config__).tag is not None:
        told[config.tag_field] = config.tag
    for name, default in _fields(type(value)):
        held = getattr(value, name)
        if held or held != default:
            told[name] = _plain(held)
    return told


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in msgspec.structs.fields(kind))
