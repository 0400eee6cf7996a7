"""Atuin's database: `~/.local/share/atuin/history.db`, with its `-wal`, a row a command.

The session, exit status, folder and nanoseconds are logged; -1 is unknown. `atuin import` writes
the session of the import, no folder, and invented times for what had none. Since 2026 a row may
name an AI agent as its author, with its intent. Learnt from the schemas of 2023 to 2026.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows, when
from forsy_retrace.source import Record, Source

from ._history.ran import CANNOT, NOBODY, Ran
from ._history.rows import IMPORTED, Placed, Row, column, has_table, tell, whole

SHOWS = Shows(
    calls="yes",
    exit_status="yes",
    time="yes",
    cwd="yes",
    reasoning="rarely",
    harness="shell history (atuin)",
    stores=("~/.local/share/atuin/history.db",),
    cannot=CANNOT,
    is_history=True,
)

AGENTS = ("claude-code", "codex", "copilot", "opencode", "pi")
BY_PERSON, BY_AGENT = 1, 2
SHELLS = ("bash", "zsh", "fish", "nu", "xonsh", "powershell")
SECOND = 10**9


def sniff(source: Source) -> bool:
    """A table of commands with nanoseconds, exits, folders and sessions."""
    return has_table(source, "history", "timestamp", "duration", "exit", "command", "session")


def read(source: Source) -> Iterator[Event]:
    """A call for each row, session by session."""
    yield from tell(source, "history", _place)


def _place(record: Record, row: Row, call: str) -> Placed | str:
    match row:
        case {"deleted_at": int()}:
            return "deleted by the user"
        case {"command": str(command)} if command.strip():
            pass
        case _:
            return "a row without a command"
    imported = row.get("cwd") == "unknown"
    start, ran_for = whole(row.get("timestamp")), whole(row.get("duration"), -1)
    if imported and (start is None or start % SECOND):
        start = None  # atuin counts a millisecond for each line that had no time
    status = whole(row.get("exit"), -1)
    ended = when(start + ran_for) if start is not None and ran_for is not None else None
    author, intent = row.get("author"), row.get("intent")
    cwd, session, shell = row.get("cwd"), row.get("session"), row.get("shell")
    ran = Ran(
        record,
        shell if shell in SHELLS else "shell",
        call,
        command,
        column("command"),
        column("shell") if shell in SHELLS else None,
        at=when(start),
        ended=ended,
        ended_by="start-and-duration",
        exit=status,
        exit_pointer=column("exit"),
        cwd=cwd if isinstance(cwd, str) and not imported else None,
        intent=intent if isinstance(intent, str) and intent.strip() else "",
        intent_pointer=column("intent"),
        operator=_operator(author, row.get("author_kind")),
    )
    order = float(whole(row.get("timestamp")) or 0)
    if imported or not isinstance(session, str):
        return Placed(ran, "", order, IMPORTED)
    return Placed(ran, session, order)


def _operator(author: object, kind: object) -> str:
    """Who ran it, where the row names an author and tells or implies of which kind."""
    match author, kind:
        case str(), _ if author in AGENTS or kind == BY_AGENT:
            return f"an AI agent: {author}"
        case str(), _ if author.strip() and kind == BY_PERSON:
            return "a person"  # whose name is nobody's business
    return NOBODY
