"""Entries of logs that are no JSON: physical lines, and the named forms that read them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forsy_retrace.evidence import Evidence

from . import grammars
from .attached import filled
from .cast import printed
from .values import Record, decode
from .views import VIEWS


class Line(Record, frozen=True):
    """A physical line without its `\\n`; `value` is its text, `whole` that a `\\n` ended it."""

    data: bytes = b""
    whole: bool = True


def line_of(here: Evidence, data: bytes, whole: bool) -> Line:
    """A line with its text; bytes that are no UTF-8 are replaced."""
    value = grammars.text(data)
    odd = value.encode("utf-8", "replace") != data
    return Line(here, value, repaired=odd, data=data, whole=whole)


def entry(lines: Sequence[Line], form: str = "text") -> Record:
    """Lines that follow one another as one record, read by a named form."""
    first, last = lines[0].here, lines[-1].here
    here = Evidence(first.file, first.line, first.start, last.end, form=form)
    return reread(b"\n".join(line.data for line in lines), here)


def reread(data: bytes, here: Evidence) -> Record:
    """A record from its bytes: JSON, or what the form of its evidence makes of them.

    Behind a form's name may stand views of its text, each with its figures: `cast|chars:0:9|plain`.
    """
    if not here.form:
        return decode(data, here)
    name, *views = here.form.split("|")
    form = FORMS.get(name)
    if form is None or len(views) > MOST_VIEWS:
        return Record(here, problem="unreadable: unknown form")
    value = form(data)
    for each in views:
        kind, *figures = each.split(":")
        view = VIEWS.get(kind)
        if view is None or not isinstance(value, str) or not _fit(figures, view.figures):
            return Record(here, problem="unreadable: unknown form")
        value = view.look(value, *map(int, figures))
    return Record(here, value)


def json(data: bytes) -> Any:
    """The JSON value that a line of a text log holds, or None."""
    return decode(data, NOWHERE).value


def attached(record: Record) -> Record:
    """A record of JSON with each text where only the name of an attachment stood, in place."""
    here = record.here
    named = Evidence(here.file, here.line, here.start, here.end, here.pointer, ATTACHED)
    return Record(named, filled(record.value), record.problem, record.repaired)


def _attached(data: bytes) -> Any:
    return filled(json(data))


def _fit(figures: Sequence[str], count: range) -> bool:
    return len(figures) in count and all(
        one.isascii() and one.isdigit() and len(one) < 12 for one in figures
    )


NOWHERE = Evidence("", 0, 0, 0)
MOST_VIEWS = 3
ATTACHED = "attached"
OF_JSON = frozenset([ATTACHED])
"""Forms of what a log of JSON holds; all others are of lines of text."""

FORMS: Mapping[str, Callable[[bytes], Any]] = {
    "text": grammars.text,
    "line": grammars.line,
    "newest": grammars.newest,
    "json": json,
    ATTACHED: _attached,
    "cast": printed,
    "bash": grammars.bash,
    "zsh": grammars.zsh,
    "fish": grammars.fish,
    "psreadline": grammars.psreadline,
    "nushell": grammars.nushell,
    "libedit": grammars.libedit,
    "psql": grammars.psql,
}
"""How the bytes of an entry are read. A form takes any bytes, and always gives a value."""
