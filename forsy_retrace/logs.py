"""Which adapter reads a log, or why none does."""

from pathlib import Path
from typing import Any

from forsy_retrace.adapter import accepts
from forsy_retrace.errors import RetraceError, Unreachable, UnreadableInput
from forsy_retrace.registry import bundled, identify, load
from forsy_retrace.registry import plugins as offered
from forsy_retrace.source import PACKED, Source, is_regular

LFS = "version https://git-lfs.github.com/spec/"
"""How the file begins that Git LFS leaves where a big one belongs."""
DIGEST = "an Entire checkpoint's digest of a log; read the full.jsonl beside it"
"""Its `transcript.jsonl` names tools in words of its own and no session, and calls every result of
a harness without flags a success."""
RUNTIME = "OpenClaw's record of its runs; read the session's own .jsonl beside it"
"""A `.trajectory.jsonl`: its prompts and answers stand in the session, the calls only there."""

EMPTY = "empty"
BLANK = 1 << 16
"""First bytes of a file that are blanks and zeros alone where a crash left nothing of it."""
NO_STREAM = "; a log is read from a file, not from standard input"
UNKNOWN = "no adapter knows"
NO_TEXT = f"and {UNKNOWN} its text; name one that `forsy-retrace adapters` lists"


def opened(path: Path, adapter: str = "auto") -> tuple[Source, str]:
    """One log, and the name of the adapter that reads it."""
    source = named(path)
    return source, adapter_for(source, adapter, is_named=True)


def named(path: Path) -> Source:
    """The file that the user named, or what a link of that name leads to."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        more = NO_STREAM if path.name == "-" else ""
        raise RetraceError(f"{path.name}: no such file or folder{more}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no name of a file"
        raise Unreachable(f"{path.name}: {why}") from None
    if not is_regular(path):
        try:
            path = path.resolve(strict=True)
        except (OSError, RuntimeError):  # to itself, to what is not there, or a process's pipe
            what = "not a regular file" if path.exists() else "a link that leads nowhere"
            raise UnreadableInput(f"{path.name}: {what}") from None
        if not is_regular(path):
            what = "a folder; name one log" if path.is_dir() else "not a regular file"
            raise UnreadableInput(f"{path.name}: {what}")
    return Source(path)


def adapter_for(
    source: Source, adapter: str, plugins: tuple[str, ...] = (), *, is_named: bool = False
) -> str:
    """The adapter that was named, if it knows the log; or the one that claims it.

    A file that the user named needs not tell by itself what it is; one found in a folder does,
    by its content or by the name that its shell gives it.
    """
    if adapter != "auto":
        module = load(adapter)
        is_known = accepts(module, source) if is_named else module.sniff(source)
        if not is_known and adapter not in _of_its_name(source):
            others = identify(source, plugins) if is_named else []
            raise UnreadableInput(why_not(source, adapter, _hint(others)))
        return adapter
    found = identify(source, plugins) or _of_its_name(source)
    if not found:
        raise UnreadableInput(why_not(source, "auto", unasked(plugins) if is_named else ""))
    if len(found) > 1:
        raise RetraceError(f"{source.name}: claimed by {' and '.join(found)}; name one")
    return found[0]


def _of_its_name(source: Source) -> list[str]:
    """The adapter of the shell whose own history has the very name of the file."""
    name = source.path.name.lower()
    if "_history" not in name:
        return []
    return [one for one in bundled() if name in _names(one) and accepts(load(one), source)]


def _names(adapter: str) -> list[str]:
    return [store.rpartition("/")[2].lower() for store in load(adapter).SHOWS.stores]


def _hint(others: list[str]) -> str:
    """The adapter that reads a log which another was named for."""
    return f"; {others[0]} reads it" if len(others) == 1 else ""


def unasked(asked: tuple[str, ...]) -> str:
    """The adapters of other packages, which are asked only where they are named."""
    others = [name for name in offered() if name not in asked]
    return f"; of other packages, --plugin asks {', '.join(others)}" if others else ""


def why_not(source: Source, adapter: str, hint: str = "") -> str:
    """The reason, in one line, why the adapter does not read a log, and what else may."""
    head = source.head
    if not head or not b"".join(source.spans([(0, BLANK)])).strip(b"\0 \t\r\n"):
        return f"{source.name}: {EMPTY}"
    if source.size < 1024 and (source.text(1024) or "").startswith(LFS):
        return f"{source.name}: a Git LFS pointer; fetch the log itself with git lfs pull"
    if source.is_sealed or head[0].problem == "archive of files":
        return f"{source.name}: {PACKED}"
    reads_text = adapter != "auto" and load(adapter).SHOWS.is_history
    if all(record.problem for record in head) and not reads_text:
        why = f"{source.name}: no JSON records in it"
        return f"{why}, {NO_TEXT}{hint}" if adapter == "auto" else why
    beside = next(filter(None, (_beside(record.value) for record in head)), "")
    if beside:
        return f"{source.name}: {beside}"
    if adapter == "auto":
        return f"{source.name}: {UNKNOWN} this format; name one{hint}"
    return f"{source.name}: not a log that {adapter} reads{hint}"


def _beside(value: Any) -> str:
    """What a file is that stands beside the log itself; empty for any other."""
    match value:
        case {"v": int(), "agent": str(), "cli_version": str(), "type": str(), "content": list()}:
            return DIGEST
        case {"traceSchema": "openclaw-trajectory", "type": str()}:
            return RUNTIME
    return ""
