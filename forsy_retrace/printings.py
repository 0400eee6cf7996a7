"""What the commands of a log printed: of some texts only the command tells what they are."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from forsy_retrace.commands.printing import pipelines, poured
from forsy_retrace.errors import RetraceError
from forsy_retrace.events import Event, ToolCall, ToolResult
from forsy_retrace.patterns import later
from forsy_retrace.redaction import Masker
from forsy_retrace.redaction.printed import fired, names_a_command
from forsy_retrace.registry import identify, load
from forsy_retrace.sdk import parsed
from forsy_retrace.source import Source

PATH = later(r"(?:~|\.{1,2}|[A-Za-z]:)?[\\/][^\n\s]{1,400}|\.[\w-]{1,60}|[\w-]{1,60}\.[a-z]{2,6}")
WORDS = frozenset(
    [
        *("description", "prompt", "content", "new_string", "old_string", "text", "body"),
        *("newString", "oldString", "message", "title", "reason", "thought", "explanation"),
        *("justification", "summary"),
        *("todos", "plan"),
    ]
)
"""Arguments that are words for somebody, or what is put into a file: nothing in them is run."""
FILES = frozenset(
    [
        *("file", "files", "path", "paths", "file_path", "filePath", "filepath", "filename", "uri"),
        *("absolute_path", "AbsolutePath", "target_file", "TargetFile", "notebook_path"),
    ]
)
"""Arguments that name a file which is shown."""
PLACES = frozenset(
    [
        *("workdir", "cwd", "working_directory", "workingDirectory", "DirectoryPath", "root"),
        *("dir", "dir_path", "directory", "folder", "SearchPath", "glob", "include", "exclude"),
        *("pattern", "regex", "search_term", "searchTerm"),
    ]
)
"""Arguments that tell where a call works, or what it looks for: nothing in them is run or shown."""
LOOKS = later(r"(?i)(?:^|_)ls$|list|glob|grep|tree|find|(?<!re)search")
"""Tools that run nothing, and show no file by itself."""
CODE = {
    **dict.fromkeys(("code", "source", "script", "cell", "expression"), ("python", "-c")),
    **dict.fromkeys(("sql", "query", "statement"), ("psql", "-c")),
}
"""Arguments that are a program, and what runs one."""
SQL = later(r"(?is)\s*(?:with\s+\w+\s+as\b|select\b(?!\s+(?!distinct)\w+\s+\w+\s+from\b))")
"""How a `query` begins that is one of a database: two words before `from` are prose."""
PUTS = (
    "content",
    "file_text",
    "new_string",
    "old_string",
    "new_str",
    "old_str",
    "newString",
    "oldString",
    "newText",
    "oldText",
)
"""Arguments that are the text of the file which another names."""
ADDED = later(r"(?ms)^\*\*\* (?:Add|Update) File: ([^\n]{1,400})\n(.*?)(?=^\*\*\* |\Z)")
TAKES = later(
    r"(?i)(?:>|\btee[ \t])[ \t]?(?:-a[ \t])?[\"']?[^\s\"'>|&]{0,200}"
    r"(?:pass|pw|secret|token|key|cred)"
)
"""A file with a telling name takes what a command would else print."""
READERS = frozenset(
    [
        *("cat", "head", "tail", "less", "more", "nl", "strings", "base64", "jq", "sed", "awk"),
        *("cut", "grep", "bat", "tac", "xxd", "od"),
    ]
)
AT_HOME = later(r"^\$(?:HOME\b|\{HOME\})")
MOST_KEPT = 50
"""Files that are remembered for what they keep."""
DEEPEST = 12
"""Levels of a call's arguments that are looked into."""


def printings(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """What the calls of a log asked for that prints a secret alone, and what came back.

    A file with a telling name prints what a call puts into it.
    """
    sent: dict[str, list[str]] = {}
    kept: dict[str, str] = {}
    for event in events:
        match event:
            case ToolCall():
                asked = () if LOOKS.search(event.tool) else list(asked_for(event.input))
                lines = [line for line in asked if fired(line)]
                for line in asked:
                    _keep(kept, line)
                    lines += [kept[path] for path in shown(line, kept)]
                if lines:
                    sent[event.call] = list(dict.fromkeys(lines))
                yield from put_into(event.input)
            case ToolResult():
                ends = (event, event.end) if event.end else (event,)
                for line in sent.get(event.call, ()):
                    yield from ((line, one.output) for one in ends if one.output)


def learn_log(masker: Masker, source: Source) -> None:
    """Takes in what the commands of a log printed, if a file is a log that can be read.

    A fault of ours ends the run: less would be masked without a word.
    """
    with suppress(RetraceError):  # it is read as a text all the same
        adapters = identify(source)
        for asked, output in printings(load(adapters[0]).read(source)) if adapters else ():
            masker.learn_printed(asked, output)


def asked_for(sent: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    """The commands that may stand in a call's arguments; a path stands for a look at its file."""
    if depth > DEEPEST or name in WORDS or name in PLACES:
        return
    match sent:
        case str():
            value = parsed(sent) if sent[:1] in ("{", "[") else None
            if isinstance(value, (dict, list)):
                yield from asked_for(value, name, depth + 1)
            elif name in FILES and PATH.fullmatch(sent):
                yield looked_at(sent)
            elif name != "query" or SQL.match(sent):
                yield shlex.join((*CODE[name], sent)) if name in CODE else sent
        case dict():
            is_a_search = not PLACES.isdisjoint(sent)
            for key, value in sent.items():
                if not (is_a_search and key in FILES):
                    yield from asked_for(value, key, depth + 1)
        case list() | tuple():
            if words := [one for one in sent if isinstance(one, str)]:
                yield shlex.join(words)
            for value in sent:
                yield from asked_for(value, name, depth + 1)


def _keep(kept: dict[str, str], line: str) -> None:
    """Takes in the files that take what a line would else print of secrets, with what prints it."""
    if ">" not in line and "tee" not in line:
        return
    if not kept and not names_a_command(line):
        return
    for one in pipelines(line):
        printed = " | ".join(one.stages)
        for path in (one.into, *_teed(one.stages)):
            kept.pop(_at_home(path), None)
            if path not in ("", "/dev/null") and len(kept) < MOST_KEPT and fired(printed):
                kept[_at_home(path)] = printed


def _teed(stages: Sequence[str]) -> list[str]:
    """The files into which `tee` puts what passes through it."""
    words = (stage.split(" ") for stage in stages if stage.startswith("tee "))
    return [word for one in words for word in one[1:] if word[:1] != "-"]


def shown(line: str, kept: Collection[str]) -> list[str]:
    """Which of the files a line prints."""
    if not any(path.rsplit("/", 1)[-1] in line for path in kept):
        return []
    looks = (one.stages[0].split(" ") for one in pipelines(line) if not one.into)
    words = {_at_home(word) for look in looks if look[0] in READERS for word in look[1:]}
    return [path for path in kept if path in words]


def _at_home(path: str) -> str:
    return AT_HOME.sub("~", path, count=1)


def looked_at(path: str) -> str:
    """The command that prints a file."""
    return f"cat {shlex.quote(path.replace(chr(92), '/'))}"


def put_into(sent: Any) -> Iterator[tuple[str, str]]:
    """The texts that a call puts into files with telling names, each with a look at its file."""
    match sent:
        case str():
            found = [(path, _added(lines)) for path, lines in ADDED.findall(sent) if "*** " in sent]
            found += poured(sent) if TAKES.search(sent) else ()
        case dict():
            named = (sent.get(key) for key in sorted(FILES))
            paths = [one for one in named if isinstance(one, str) and PATH.fullmatch(one)]
            edits = [sent, *_dicts(sent.get("edits"))]
            texts = [one[key] for one in edits for key in PUTS if isinstance(one.get(key), str)]
            found = [(path, text) for path in paths[:4] for text in texts]
            for name, value in sent.items():
                is_line = isinstance(value, str) and name not in WORDS
                if is_line and ("*** " in value or TAKES.search(value)):
                    yield from put_into(value)
        case _:
            return
    for path, text in found:
        if text and fired(asked := looked_at(path)):
            yield asked, text


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _added(lines: str) -> str:
    """The lines that a patch takes out and puts in, without their signs."""
    return "\n".join(line[1:] for line in lines.split("\n") if line[:1] in ("+", "-"))
