"""What a text holds, for pointers that go on into it: JSON, a server-sent stream, tagged parts."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from forsy_retrace.patterns import later

DECODE = msgspec.json.Decoder().decode
TAG = later(
    r"<(?P<closes>/?)(?P<tag>think|thinking|scratch_pad|tool_call|tool_response|function)"
    r"(?P<name>=[^<>\n]{1,100})?>"
)
"""With which open models mark the parts of an answer, and their templates what came back."""
THOUGHTS = ("think", "thinking", "scratch_pad")
CALL, WORDS = "tool_call", "text"
LONGEST = 100_000
"""Characters of a call that is written as Python shows a dict."""
FUNCTION, PARAMETER = "function", "parameter"


def opened(text: str) -> Any:
    """The JSON value that a text holds, the objects of a server-sent stream, or the parts between
    tags; else None.
    """
    value = streamed(text) or parsed(text)
    return (tagged(text) or None) if value is None else value


def parsed(text: str) -> Any:
    """The JSON value that a text holds, or None."""
    try:
        return DECODE(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


@lru_cache(maxsize=1)
def streamed(text: str) -> list[Any]:
    """The JSON objects of a server-sent stream (`data: {…}` lines); empty if it is none."""
    if not text.lstrip().startswith(("data:", "event:", ":")):
        return []
    lines = (line[5:].strip() for line in text.split("\n") if line.startswith("data:"))
    return [value for line in lines if isinstance(value := parsed(line), dict)]


@lru_cache(maxsize=1)
def tagged(text: str) -> list[dict[str, Any]]:
    """The parts of a text with tags, in order: `{"think": …}`, `{"tool_call": …}`, and words as
    `{"text": …}`, without blanks around them; empty if it is none.

    Of a call and of what came back the JSON value, where it is one: Qwen's models write an object,
    Hermes's first data a Python dict, Qwen3-Coder and OpenHands `<function=name><parameter=key>…`.
    Thoughts that end without a beginning began in the prompt (DeepSeek-R1's template).
    """
    return list(_parts(text)) if "<" in text and TAG.search(text) else []


def _parts(text: str) -> Iterator[dict[str, Any]]:
    end = 0
    for part in _between(text):
        yield from _words(text[end : part.first])
        yield {part.tag: _held(part.tag, text[part.start : part.end].strip())}
        end = part.last
    yield from _words(text[end:])


class _Part(NamedTuple):
    """What stands between two tags, and the text with them."""

    tag: str
    start: int
    end: int
    first: int
    last: int


def _between(text: str) -> Iterator[_Part]:
    """What stands between a tag and the next one that closes it; tags within are words."""
    waiting: dict[str, re.Match[str]] = {}
    done = 0
    for found in TAG.finditer(text):
        tag, closes = found["tag"], bool(found["closes"])
        if bool(found["name"]) is not (tag == FUNCTION and not closes):
            continue  # no tag of these models
        if not closes:
            waiting.setdefault(tag, found)
        elif tag in waiting and not (tag == FUNCTION and CALL in waiting):
            yield _pair(waiting[tag], found)
            waiting, done = {}, found.end()
        elif tag in THOUGHTS and not done:
            yield _Part(tag, 0, found.start(), 0, found.end())
            waiting, done = {}, found.end()
    if (last := waiting.get(CALL)) and not isinstance(_held(CALL, text[last.end() :].strip()), str):
        # an answer that ends with a call may leave it open
        yield _Part(CALL, last.end(), len(text), last.start(), len(text))


def _pair(first: re.Match[str], last: re.Match[str]) -> _Part:
    """What stands between two tags; those of a function are a part of the call."""
    if first["tag"] == FUNCTION:
        return _Part(CALL, first.start(), last.end(), first.start(), last.end())
    return _Part(first["tag"], first.end(), last.start(), first.start(), last.end())


def _words(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {WORDS: text.strip()}


def _held(tag: str, text: str) -> Any:
    """What stands between two tags; a text where it is nothing else."""
    if tag in THOUGHTS:
        return text
    value = parsed(text)
    if value is None and tag == CALL:
        value = _literal(text) or _function(text)
    return text if value is None else value


def _literal(text: str) -> Any:
    """The dict that Python shows in a text, if JSON could hold it; else None."""
    if not text.startswith("{") or len(text) > LONGEST:
        return None
    try:
        value = ast.literal_eval(text)
        held = DECODE(msgspec.json.encode(value))
        return held if isinstance(held, dict) and held == value else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, OverflowError):
        return None


def _function(text: str) -> Any:
    """A call in the tags of Qwen3-Coder, its arguments as texts; else None."""
    name, _, rest = text.removeprefix(f"<{FUNCTION}=").partition(">")
    body, end, behind = rest.partition(f"</{FUNCTION}>")
    before, *pieces = body.split(f"<{PARAMETER}=")
    if not text.startswith(f"<{FUNCTION}=") or not end or (before + behind).strip():
        return None
    given: dict[str, str] = {}
    for piece in pieces:
        key, _, value = piece.partition(">")
        value, closed, behind = value.rpartition(f"</{PARAMETER}>")
        if not closed or behind.strip() or key in given:
            return None
        given[key] = value.strip("\n")
    return {"name": name, "arguments": given}
