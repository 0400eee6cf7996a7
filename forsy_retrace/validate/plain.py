"""What no JSON can hold, or no reader should be given."""

from collections.abc import Iterator, Mapping
from math import isfinite

from .schema import KNOWN, Problem, whole_schema

DEEPEST = 256  # a trace is nested four deep; what agent_config holds may add to that
WIDEST = 1024  # bits of a whole number; Python refuses to print one of 4,300 digits


def no_json(trace: object) -> Iterator[Problem]:
    """What no JSON file can hold, or no judge can bear."""
    for step, field, value in _parts(trace):
        for rule, text in _oddities(value):
            yield Problem(step, field, rule, text)


def _parts(trace: object) -> Iterator[tuple[int | None, str, object]]:
    if not isinstance(trace, Mapping):
        yield None, "trace", trace
        return
    for key, part in trace.items():
        if key != "steps" or not isinstance(part, list | tuple):
            yield None, key if key in whole_schema()["properties"] else "trace", {key: part}
            continue
        for n, step in enumerate(part, 1):
            if isinstance(step, dict | Mapping):
                for name, value in step.items():
                    if name not in KNOWN:
                        yield n, "steps", {name: value}
                    elif not _is_plain(value):
                        yield n, name, {name: value}
            else:
                yield n, "steps", step


def _is_plain(value: object) -> bool:
    """What can hold nothing odd, as nearly all fields are; the rest is looked into."""
    if isinstance(value, str):
        return value.isascii()
    return value is None or (isinstance(value, int) and value.bit_length() <= WIDEST)


def _oddities(value: object) -> Iterator[tuple[str, str]]:
    """Level by level, for the nesting that this looks for would break a recursion."""
    level, depth, halves = [value], 0, False
    while level and depth <= DEEPEST:
        below: list[object] = []
        for item in level:
            match item:
                case None | bool():
                    pass
                case str():
                    halves = halves or _has_half_a_pair(item)
                case int() if item.bit_length() > WIDEST:
                    yield "json", f"holds a whole number of more than {WIDEST} bits."
                    return
                case float() if not isfinite(item):
                    yield "json", "holds a number that is not finite, which JSON cannot."
                    return
                case int() | float():
                    pass
                case list() | tuple():
                    below.extend(item)
                case Mapping() if all(isinstance(key, str) for key in item):
                    below.extend(item.keys())
                    below.extend(item.values())
                case Mapping():
                    yield "json", "has a key that is no text."
                    return
                case _:
                    yield "json", "holds a value of a type that JSON does not have."
                    return
        level, depth = below, depth + 1
    if level:
        yield "json", f"is nested more than {DEEPEST} deep."
    elif halves:
        yield "unicode", "holds half a surrogate pair, which UTF-8 cannot."


def _has_half_a_pair(text: str) -> bool:
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return True
    return False
