"""The normalised event stream as JSON lines: our `native` form, masked."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from forsy_retrace.events import Event, Packed
from forsy_retrace.redact import Rules, leaves, masked, masker_of
from forsy_retrace.sdk import compact


def event_lines(events: Iterable[Event], rules: Rules = Rules()) -> Iterator[str]:  # noqa: B008 (Rules is frozen)
    """One compact JSON object an event; fields that say nothing are left out."""
    values = [_plain(event) for event in events]
    if rules.off:
        yield from (compact(value) for value in values)
        return
    masker = masker_of(rules)
    for value in values:
        for text, key in leaves(value, ours=False):
            masker.learn(text, key)
    masker.seal()
    for value in values:
        yield compact(masked(value, masker, ours=False))


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
