"""Nushell histories: `history.txt`, a line a command, or `history.sqlite3`, a row a command.

In the text a line feed is written `<\\n>`. The database logs start, duration, folder and exit
status, each null where the shell died first; a negative status is the signal that ended the
command. Its sessions are null in practice. Learnt from nushell 0.8x to 0.109.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows, later, when
from forsy_retrace.source import Record, Source, entry

from ._history import lines, rows
from ._history.ran import CANNOT, Ran
from ._history.rows import Placed, Row, column, whole

SHOWS = Shows(
    calls="yes",
    exit_status="sometimes",
    time="sometimes",
    cwd="sometimes",
    harness="nushell history",
    stores=("~/.config/nushell/history.txt", "~/.config/nushell/history.sqlite3"),
    cannot=(*CANNOT, "anything but the commands, where the history is a text file"),
    is_history=True,
)

OWN = later(
    rb".*(?:<\\n>|^\^\w|\|\s*(?:where|get|select|str|each|sort-by|to|from|first|length|lines)\b)"
    rb"|(?:ls|cd|open|def|let|mut|sleep \d+(?:sec|min)|exit|git|help|http|config|source|use)\b"
)
MARK = later(rb"<\\n>|^\^\w|\|\s*(?:where|get|select|str|each|sort-by|lines)\b")


def sniff(source: Source) -> bool:
    """The database's table; or the name, with pipelines that only nushell has."""
    if rows.is_rows(source):
        return rows.has_table(source, "history", "command_line", "start_timestamp", "exit_status")
    is_named = lines.is_like(source, r"(?:^|\.)history\.txt$", OWN)
    return is_named and any(MARK.search(line.data) for line in source.first_lines)


def accepts(source: Source) -> bool:
    """Lines of text: a list of commands may hold anything."""
    return lines.is_unstamped(source)


def read(source: Source) -> Iterator[Event]:
    """A call for each command."""
    if rows.is_rows(source):
        yield from rows.tell(source, "history", _place)
    else:
        found = [entry([one], "nushell") for one in source.lines() if one.data.strip()]
        yield from lines.tell(found, "nu")


def _place(record: Record, row: Row, call: str) -> Placed | str:
    command = row.get("command_line")
    if not isinstance(command, str) or not command.strip():
        return "a row without a command"
    start, ran_for = whole(row.get("start_timestamp")), whole(row.get("duration_ms"))
    cwd, session = row.get("cwd"), whole(row.get("session_id"))
    ran = Ran(
        record,
        "nu",
        call,
        command,
        column("command_line"),
        at=when(start),
        ended=when(start + ran_for) if start is not None and ran_for is not None else None,
        ended_by="start-and-duration",
        exit=whole(row.get("exit_status")),
        exit_pointer=column("exit_status"),
        cwd=cwd if isinstance(cwd, str) else None,
    )
    order = float(whole(row.get("id")) or 0)
    if session is None:
        return Placed(ran, "", order, "the start of the database")
    return Placed(ran, str(session), order)
