"""The normalised event stream as JSON lines: our `native` form, masked."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from forsy_retrace.events import Event
from forsy_retrace.redact import Rules, leaves, masked, masker_of
from forsy_retrace.sdk import compact


def event_lines(events: Iterable[Event], rules: Rules = Rules()) -> Iterator[str]:  # noqa: B008 (Rules is frozen)
    """One compact JSON object an event; empty and default values are left out."""
    values = [_trimmed(msgspec.to_builtins(event, enc_hook=str)) for event in events]
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


def _trimmed(value: Any) -> Any:
    """Without what says nothing: nulls, empty texts and lists."""
    if isinstance(value, dict):
        pairs = ((key, _trimmed(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item not in (None, "", [], {}, False)}
    if isinstance(value, (list, tuple)):
        return [_trimmed(item) for item in value]
    return value
