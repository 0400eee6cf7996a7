"""What a call asks of a service, a server or a database, as its own arguments name it."""

from collections.abc import Callable, Iterator

from forsy_retrace.commands import Simple, method
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..tools import server_of


def asked(step: Step) -> str:
    """`POST https://…`, `MCP server github, tool create_issue.`; empty where nothing is named."""
    tell = BY_SURFACE.get(step.surface or "")
    named = tell(step) if tell is not None and step.call is not None else ""
    return f"{named}." if named else ""


def reaches(step: Step) -> Simple | None:
    """The command of a shell's line that the line is for, where a service answers it."""
    run = step.run
    if run is None or step.surface not in BY_SURFACE or not run.simples:
        return None
    return run.simples[run.place] if run.simples[run.place].surface == step.surface else None


def _endpoint(step: Step) -> str:
    """The method and the address of a request."""
    simple = reaches(step)
    if simple is None or not simple.urls:
        return ""
    whole = [url for url in simple.urls if "://" in url]
    return f"{_method(simple)} {(whole or list(simple.urls))[0]}"


def _method(simple: Simple) -> str:
    told = method(simple.words) or next(filter(METHODS.__contains__, simple.words), None)
    if told:
        return told
    flags = {word.partition("=")[0] for word in simple.words}
    flags |= {word[:2] for word in flags if word[:2] in JOINED}
    return next((way for way, marks in BY_FLAG if not marks.isdisjoint(flags)), "GET")


METHODS = frozenset(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
JOINED = ("-d", "-F", "-T")
"""Flags of curl behind which the value may stand at once."""
BY_FLAG: tuple[tuple[str, frozenset[str]], ...] = (
    ("GET", frozenset(["-G", "--get"])),
    ("HEAD", frozenset(["-I", "--head"])),
    ("PUT", frozenset(["-T", "--upload-file"])),
    (
        "POST",
        frozenset(
            [
                *("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json"),
                *("-F", "--form", "--form-string", "--post-data", "--post-file"),
                *("-f", "--field", "--raw-field", "--input"),
            ]
        ),
    ),
)
"""The method that a flag implies, by curl, wget and gh; the first that one of its flags names."""


def _of_server(step: Step) -> str:
    """The MCP server and its tool."""
    server, tool = server_of(step.like)
    return f"MCP server {server}, tool {tool}" if server else ""


def _resource(step: Step) -> str:
    match step.call.input if step.call else None:
        case {"server": str(server), "uri": str(uri)}:
            return f"MCP server {server}, resource {uri}"
        case {"server": str(server)}:
            return f"MCP server {server}"
    return ""


def _tables(step: Step) -> str:
    named = list(tables(step))
    noun = "Table" if len(named) == 1 else "Tables"
    return f"{noun} {', '.join(named)}" if named else _of_server(step)


NAME = r"((?:[\"`\[]?[a-z_]\w{0,62}[\"`\]]?\.){0,2}[\"`\[]?[a-z_]\w{0,62}\b[\"`\]]?)"
TABLE = later(
    rf"(?i)\b(?:(?:from|join)\s+{NAME}(?!\s*\()"
    rf"|(?:into|update|table(?: if (?:not )?exists)?)\s+{NAME})"
)
"""A table in a query, behind what says that it is one; a function that gives rows is none."""
WORDS = frozenset(["select", "set", "only", "lateral", "values", "if"])
MOST_TABLES = 5


def tables(step: Step) -> Iterator[str]:
    """The tables that a query names, each once."""
    seen: set[str] = set()
    for query in _queries(step):
        for asks, changes in TABLE.findall(QUOTED.sub("''", query)):
            name = (asks or changes).translate(UNQUOTED)
            if name.lower() not in WORDS | seen and len(seen) < MOST_TABLES:
                seen.add(name.lower())
                yield name


QUOTED = later(r"'(?:[^']|'')*+'|--[^\n]*")
UNQUOTED = str.maketrans("", "", '"`[]')


def _queries(step: Step) -> Iterator[str]:
    match step.call.input if step.call else None:
        case {"query": str(query)} | {"sql": str(query)} | {"statement": str(query)}:
            yield query
        case str(query) if step.run is None:
            yield query
    simple = reaches(step)
    yield from (word for word in simple.words if " " in word) if simple is not None else ()


BY_SURFACE: dict[str, Callable[[Step], str]] = {
    "api": _endpoint,
    "mcp_tool": _of_server,
    "mcp_resource": _resource,
    "browser": _of_server,
    "computer_use": _of_server,
    "database": _tables,
}
