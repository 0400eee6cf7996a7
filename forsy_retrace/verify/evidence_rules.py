"""What one record decides, decided again: the rules of evidence that can be applied to their place.

Tables name the rules: by one place, by all, and those that say one thing only. A rule of an adapter
of one's own that bears such a name is held to it too; what no table names is only looked for where
it says it stands.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import is_
from typing import Any, NamedTuple

from forsy_retrace.endings import ENDINGS
from forsy_retrace.patterns import later
from forsy_retrace.sdk import opened, parsed, text_of, when

PLACEHOLDER = later(r"\[(?:[A-Z]+_)*[A-Z]+(?:_\d+)?\]")
EXIT_MARK = later(r"\x1b\](?:133|633);D;(\d+)")
"""How a shell says that a command is done, and with which status."""
EXIT_WORDS = later(
    r"(?:exit(?:ed)?[ _-]?(?:with )?(?:code|status)|return[ _-]?(?:code|status)|^exit)"
    r"[\s:=>\"]{0,4}(-?\d{1,10})",
    re.I | re.M,
)
"""How a harness heads what a command printed, or says in a notification how it ended."""
SHOWN_STATUS = later(r"(?<!\d)(\d{1,3})\s*\Z")
"""How a status ends what a shell printed that was asked for it."""
CODES = frozenset(["exit_code", "exitCode", "returncode", "exit_status"])
FINISHED = frozenset(["completed", "success", "succeeded", "ok", "finished", "done"])
UNFINISHED = frozenset(
    [
        "failed",
        "error",
        "errored",
        "failure",
        "incomplete",
        "declined",
        "canceled",
        "cancelled",
        "expired",
    ]
)
"""Words under `status`, in the logs of the bundled adapters."""


IN_UTC = "_utc"
"""How a name ends that says what zone the times under it are in."""


def _is_time(value: Any, record: Any) -> bool:
    return isinstance(value, str) and value in _times(_Whole(record))


def _is_sum(value: Any, parts: Sequence[Any]) -> bool:
    """Where the start and the offset are figures; intervals from the start on are not added up."""
    figures = [part for part in parts if isinstance(part, (int, float))]
    return len(figures) < len(parts) or value == when(sum(figures))


def _is_exit_mark(value: Any, text: Any) -> bool:
    found = EXIT_MARK.findall(str(text))
    return bool(found) and (int(found[-1][:9]) == 0) is value


def _is_shown_status(value: Any, text: Any) -> bool:
    """A number, or one behind words: `exit=0`."""
    shown = SHOWN_STATUS.search(str(text))
    return shown is not None and (int(shown[1]) == 0) is value


class _Whole(NamedTuple):
    """A record, told from others by where it is in memory."""

    record: Any

    def __hash__(self) -> int:
        return id(self.record)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and self.record is other.record


@lru_cache(maxsize=1)
def _times(whole: _Whole) -> frozenset[str | None]:
    """Every moment that a record names, in our writing; a figure may stand as a text."""
    found: set[str | None] = set()
    held = [whole.record]
    while held:
        one = held.pop()
        if isinstance(one, dict):
            held.extend(one.values())
            named = (one[key] for key in one if str(key).endswith(IN_UTC))
            found.update(when(f"{text}Z") for text in named if isinstance(text, str))
        elif isinstance(one, list):
            held.extend(one)
        elif isinstance(one, str) and isinstance(inner := opened(one), (dict, list, int)):
            held.append(inner)
        else:
            found.add(when(one))
    return frozenset(found - {None})


def _is_end(value: Any, record: Any) -> bool:
    """A start and a duration of one record come to this moment."""
    held, numbers = [record], []
    while held:
        one = held.pop()
        if isinstance(one, dict):
            held.extend(one.values())
        elif isinstance(one, int) and not isinstance(one, bool):
            numbers.append(one)
    return any(when(start + lasted) == value for start in numbers for lasted in numbers)


def _is_status(value: Any, status: Any) -> bool:
    return isinstance(status, int) and value is (status == 0)


def _is_code(value: Any, told: Any) -> bool:
    """A status as a number, in the words around it, or of several commands, of which one failed."""
    found = list(codes(told))
    return not found or value is all(code == 0 for code in found)


def _tells_code(value: Any, text: Any) -> bool:
    """One of the codes in the words around what a command printed, which may print such words."""
    found = [int(one[1]) for one in EXIT_WORDS.finditer(str(text))]
    return any(value is (code == 0) for code in found)


def codes(told: Any) -> Iterator[int]:
    """The exit codes that a value tells: itself, the first in its words, all in an object."""
    match told:
        case bool():
            return
        case int():
            yield told
        case str() if told.strip().lstrip("-").isdecimal():
            yield int(told[:12])
        case str():
            yield from (int(found[1]) for found in [EXIT_WORDS.search(told)] if found)
        case list():
            for one in told:
                yield from _codes_within(one)
        case dict():
            yield from _codes_within(told)


def _codes_within(told: Any) -> Iterator[int]:
    """The numbers under the names of exit codes, however deep."""
    for name, held in told.items() if isinstance(told, dict) else ():
        if name in CODES and isinstance(held, int):
            yield held
        else:
            yield from _codes_within(held)


def _is_worked(value: Any, status: Any) -> bool:
    """Success needs this word; beside it there may still stand an exception."""
    return value is False or status == "success"


def _is_http(value: Any, status: Any) -> bool:
    return isinstance(status, int) and value is (200 <= status < 400)


def _is_status_word(value: Any, status: Any) -> bool:
    known = isinstance(status, str) and status in FINISHED | UNFINISHED
    return known and value is (status in FINISHED)


def _is_same(value: Any, flag: Any) -> bool:
    return not isinstance(flag, bool) or value is flag


def _is_error_field(value: Any, error: Any) -> bool:
    """Whether there is an error; an answer that was cut is named whole, and not read again."""
    if isinstance(error, str) and error.lstrip()[:1] == "{":
        return True
    return value is not bool(error.strip() if isinstance(error, str) else error)


def _is_result_kind(value: Any, result: Any) -> bool:
    """What a server gave back: an error's text, or an object that may say it is one."""
    if not isinstance(result, dict):
        return value is False
    inner = result.get("Ok", result)
    flags = inner if isinstance(inner, dict) else {}
    return value is not (flags.get("is_error", flags.get("isError")) is True)


def _is_envelope(value: Any, text: Any) -> bool:
    """What an MCP server's result says, which stands as a text."""
    told = parsed(text) if isinstance(text, str) else None
    return not isinstance(told, dict) or value is not told.get("isError")


def _is_flag(value: Any, flag: Any) -> bool:
    return isinstance(flag, bool) and flag is not value


def _has_no_flag(value: Any, block: Any) -> bool:
    return value is True and isinstance(block, dict) and block.get("is_error") is None


def _has_no_error(value: Any, event: Any) -> bool:
    """A record, or an answer in JSON that stands as a text."""
    event = parsed(event) if isinstance(event, str) else event
    return (
        value is True
        and isinstance(event, dict)
        and not (event.get("error") or event.get("failed"))
    )


def _says_words(value: Any, content: Any) -> bool:
    said = text_of(content)
    words = [word for piece in PLACEHOLDER.split(str(value)) for word in piece.split()]
    return all(word.lstrip("/!").strip(",") in said for word in words if not word.startswith("["))


def _is_thumb(value: Any, rating: Any) -> bool:
    """A rating in words that end in its way, or as a number: 1 is up, 0 or less is down."""
    told = ("down", "up")[rating > 0] if isinstance(rating, int) else str(rating).casefold()
    way = next((way for way in ("up", "down") if told.endswith(way)), None)
    if isinstance(value, int):
        return {"up": 1, "down": -1}.get(str(way)) == value
    return f"thumbs {way}" in str(value)


BY_PLACE: dict[str, Callable[[Any, Any], bool]] = {
    "record-time": _is_time,
    "run-ended": _is_time,
    "start-and-duration": _is_end,
    "exit-status": _is_status,
    "exit-code": _is_code,
    "exit-code-told": _is_code,
    "exit-code-in-output": _tells_code,
    "background-exit-code": _is_code,
    "exit-mark": _is_exit_mark,
    "status-shown": _is_shown_status,
    "status": _is_status_word,
    "browser-status": _is_status_word,
    "aggregate-result": _is_worked,
    "http-status": _is_http,
    "error-flag": _is_flag,
    "no-error-flag": _has_no_flag,
    "no-error": _has_no_error,
    "server-says-error": _is_envelope,
    "wait-ended": _is_flag,
    "success-flag": is_,
    "success-field": _is_same,
    "error-field": _is_error_field,
    "result-kind": _is_result_kind,
    "command": _says_words,
    "shell-line": _says_words,
    "answer": _says_words,
    "thumb": _is_thumb,
}
"""Rules that the first place of a value decides, and how to apply them again."""
BY_PLACES: dict[str, Callable[[Any, Sequence[Any]], bool]] = {"recording-clock": _is_sum}
"""Rules that take all places of a value together."""
WORKED, FAILED = (
    frozenset(one.name for one in ENDINGS if one.worked is worked) for worked in (True, False)
)
"""Rules of which each says one thing only of whether a call worked."""


def decides(rule: str, value: Any, told: Sequence[Any]) -> bool:
    """Whether a value is what its rule makes of what the log says at its places."""
    if rule in WORKED or rule in FAILED:
        return not isinstance(value, bool) or value is (rule in WORKED)
    of_one, of_all = BY_PLACE.get(rule), BY_PLACES.get(rule)
    return not (
        (of_one and told and not of_one(value, told[0])) or (of_all and not of_all(value, told))
    )


def in_order(texts: Sequence[str], source: str, within: bool) -> bool:
    """What stands between placeholders stands in that order in the source, from end to end of it
    where the texts are not a part."""
    pieces = list(chain.from_iterable(map(PLACEHOLDER.split, texts)))
    if not within and pieces and not (source.startswith(pieces[0]) and source.endswith(pieces[-1])):
        return False
    at = 0
    for piece in pieces:
        found = source.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True
