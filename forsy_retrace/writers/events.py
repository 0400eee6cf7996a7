"""The normalised event stream as JSON lines: our `native` form, masked."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forsy_retrace.events import Event
from forsy_retrace.redact import Rules
from forsy_retrace.redaction import Masker
from forsy_retrace.sdk import compact


def event_lines(events: Iterable[Event], rules: Rules = Rules()) -> Iterator[str]:  # noqa: B008 (Rules is frozen)
    """One compact JSON object an event; empty and default values are left out."""
    values = [_trimmed(msgspec.to_builtins(event)) for event in events]
    if rules.off:
        yield from (compact(value) for value in values)
        return
    masker = Masker(terms=rules.terms, patterns=rules.patterns, names=rules.names)
    for value in values:
        for text in _texts(value):
            masker.learn(text)
    masker.seal()
    for value in values:
        yield compact(_masked(value, masker))


def _trimmed(value: Any) -> Any:
    """Without what says nothing: nulls, empty texts and lists."""
    if isinstance(value, dict):
        pairs = ((key, _trimmed(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item not in (None, "", [], {}, False)}
    if isinstance(value, (list, tuple)):
        return [_trimmed(item) for item in value]
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _masked(value: Any, masker: Masker) -> Any:
    if isinstance(value, str):
        return masker.mask(value)
    if isinstance(value, dict):
        return {masker.mask(key): _masked(item, masker) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, masker) for item in value]
    return value
