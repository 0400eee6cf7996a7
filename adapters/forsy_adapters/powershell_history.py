"""PowerShell histories: PSReadLine's `ConsoleHost_history.txt`, a line a command.

A line that ends in a backtick goes on. PSReadLine never writes what looks like a secret, may drop
repeats, and logs no times. Learnt from PSReadLine 2.
"""

from collections.abc import Iterator, Sequence

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Line, Record, Source, entry

from ._history.lines import is_like, is_unstamped, left_out, tell
from ._history.ran import CANNOT, NO_STATUS

SHOWS = Shows(
    calls="mostly",
    harness="PowerShell history",
    stores=(
        "~/.local/share/powershell/PSReadLine/ConsoleHost_history.txt",
        "%APPDATA%/Microsoft/Windows/PowerShell/PSReadLine/ConsoleHost_history.txt",
    ),
    cannot=(
        *CANNOT,
        *NO_STATUS,
        "when a command was run",
        "commands that PSReadLine took for secrets and did not write",
    ),
    is_history=True,
)

KNOWN = later(
    rb"\s*(?:[A-Z][A-Za-z]+-[A-Z]\w+|\$[\w:]+\s*=|\.\\|(?:cd|ls|dir|git|cls|exit|python|pip|npm|code"
    rb"|docker|dotnet|winget|wsl|mkdir|cat|echo|ssh|az|kubectl|choco|notepad)\b)"
)


def sniff(source: Source) -> bool:
    """The name, and commands that everybody uses there."""
    return is_like(source, r"host_history", KNOWN)


def accepts(source: Source) -> bool:
    """Lines of text: a list of commands may hold anything."""
    return is_unstamped(source)


def read(source: Source) -> Iterator[Event]:
    """A call for each command, in the order of the file."""
    yield from tell(list(entries(list(source.lines()))), "powershell")


def entries(lines: Sequence[Line]) -> Iterator[Record | Skipped]:
    """Commands with all their lines; PSReadLine drops one whose end is missing."""
    held: list[Line] = []
    for line in lines:
        if not held and not line.data.strip():
            continue
        held.append(line)
        if not line.data.removesuffix(b"\r").endswith(b"`"):
            yield entry(held, "psreadline")
            held = []
    if held:
        yield left_out(entry(held, "psreadline"), "unreadable: cut off")
