"""What came back of a call, and how it ended: by its result, or by what the client showed of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Attachment, Meant, Outcome
from forsy_retrace.sdk import base64_size, later, parsed, pointer, words
from forsy_retrace.source import Evidence

from .replay import NOTHING, Node

SHELLS = ("run_in_terminal", "copilot_runInTerminal")
DENIED, SKIPPED = 0, 5
"""Kinds of an answer to the client's question whether a call may run (ToolConfirmKind)."""
STOPPED = later(r"The user cancelled the tool call\.")
ON = later(
    r"(?:Note: [^\n]{1,2000}, and that )?[Cc]ommand is (?:now )?running in terminal with ID="
)
OPENINGS: tuple[tuple[str, Any, Outcome], ...] = (
    # How a result begins that says how the call ended, whatever the tool.
    ("rejected-by-user", later(r"The user chose to skip the tool call\b"), "rejected"),
    ("aborted-by-user", STOPPED, "interrupted"),
    ("error-text", later(r"ERROR(?: while calling tool)?: "), "failed"),
    ("edit-failed", later(r"String replacement failed: "), "failed"),
    ("edit-applied", later(r"The following files were successfully edited:"), "ok"),
)
THROWS = (
    *("read_file", "list_dir", "file_search", "grep_search", "semantic_search", "get_errors"),
    *("view_image", "create_directory", "manage_todo_list", "runSubagent", "vscode_askQuestions"),
)
"""Tools that fail by an error alone, which a result shows."""
EXITED = later(r"(?:\A|\n)Command exited with code (\d{1,10})\s*\Z")
SHOWN = (
    # Where the client shows what came of a call whose result is not kept.
    ("toolSpecificData", "terminalCommandOutput", "text"),
    ("toolSpecificData", "result"),
    ("toolSpecificData", "output"),
)
GIVEN = (
    # Where it shows what a call was given that the result's metadata lacks.
    ("toolSpecificData", "rawInput"),
    ("resultDetails", "input"),
    ("toolSpecificData",),
)


class Output(NamedTuple):
    """A text, its places, and the pictures beside it."""

    text: str | None = None
    places: tuple[Evidence, ...] = ()
    attachments: tuple[Attachment, ...] = ()


def output(result: Node, part: Node) -> Output:
    """What the agent was given, or where the log lacks it what the client showed."""
    content = result.get("content").items()
    if content:
        return _given(content)
    for keys in SHOWN:
        node = part.get(*keys)
        if node.text:
            return Output(node.text, (node.here,))
    shown = [one.get("value") for one in part.get("resultDetails", "output").items()]
    texts = [one for one in shown if one.text]
    if not texts:
        return Output()
    return Output("\n".join(one.text for one in texts), tuple(one.here for one in texts))


def _given(content: list[Node]) -> Output:
    texts: list[str] = []
    places: list[Evidence] = []
    shown: list[Attachment] = []
    for one in content:
        match one.held:
            case {"value": str(text)}:
                texts.append(text)
                places.append(one.get("value").here)
            case {"value": {"node": dict(tree)}}:
                said, at = _rendered(tree, one.get("value", "node").here)
                texts += [said] if at else []
                places.extend(at)
            case {"mimeType": str(media), "data": data}:
                where = one.get("data").here
                size = base64_size(data) if isinstance(data, str) else 0
                shown.append(Attachment(media, size, where.pointer, where))
    return Output("\n".join(texts) if texts else None, tuple(places), tuple(shown))


def _rendered(tree: Any, here: Evidence) -> tuple[str, list[Evidence]]:
    """What a tree of prompt-tsx says: its texts, some of which begin a line of their own.

    A tree without a text has no places.
    """
    pieces: list[str] = []
    ends_line = True
    leaves = list(_leaves(tree))
    for _, leaf in leaves:
        said = leaf["text"]
        if leaf.get("lineBreakBefore") is True and not ends_line:
            pieces.append("\n")
        if said:
            pieces.append(said)
            ends_line = said.endswith("\n")
    telling = [path for path, leaf in leaves if leaf["text"]] or [path for path, _ in leaves[:1]]
    return "".join(pieces).strip(), [here.at(here.pointer + path) for path in telling]


def _leaves(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    waiting = [("", tree)]
    while waiting:
        path, node = waiting.pop()
        match node:
            case {"text": str()}:
                yield path + "/text", node
            case {"children": list(children)}:
                below = [(path + pointer("children", at), one) for at, one in enumerate(children)]
                waiting.extend(reversed(below))


class Ended(NamedTuple):
    """How a call ended, and the record that says so."""

    verdict: Verdict
    here: Evidence | None = None


def ended(tool: str, part: Node, found: Output, state: Node) -> Ended:
    """How a call ended, by the client's word; `state` is the request's."""
    text = found.text or ""
    place = found.places[0] if found.places else None
    confirmed = part.get("isConfirmed")
    kind = confirmed.get("type").number if isinstance(confirmed.held, dict) else confirmed.held
    if kind in (DENIED, SKIPPED):  # older versions: false
        if state.number == CANCELLED and (not text or STOPPED.match(text)):
            return _of("interrupted", "interrupted-by-user", state)
        return _of("rejected", "rejected-by-user", confirmed)
    for rule, opening, outcome in OPENINGS:
        if place is not None and opening.match(text):
            return Ended(Verdict(outcome, rule, place.pointer), place)
    if tool in SHELLS:
        return _of_shell(part, text, place)
    flag = part.get("resultDetails", "isError")
    if isinstance(flag.held, bool):
        return _of("failed" if flag.held else "ok", "error-flag", flag)
    if place is not None and tool in THROWS:
        return Ended(Verdict("ok", "no-error-text", place.pointer), place)
    return Ended(Verdict())


CANCELLED, FAILED = 2, 3
"""States of a request (ResponseModelState)."""


def _of(outcome: Outcome, rule: str, node: Node, code: int | None = None) -> Ended:
    return Ended(Verdict(outcome, rule, node.here.pointer, code), node.here)


def _of_shell(part: Node, text: str, place: Evidence | None) -> Ended:
    if place is not None and ON.match(text):
        return Ended(Verdict("launched", "still-running", place.pointer), place)
    status = part.get("toolSpecificData", "terminalCommandState", "exitCode")
    if status.number is not None:
        return _of("failed" if status.number else "ok", "exit-code", status, status.number)
    if place is not None and (told := EXITED.search(text[-100:])):
        code = int(told[1])
        verdict = Verdict("failed" if code else "ok", "exit-code-in-output", place.pointer, code)
        return Ended(verdict, place)
    return Ended(Verdict())


def shown_input(part: Node) -> Node:
    """What the client shows that a call was given."""
    for keys in GIVEN:
        node = part.get(*keys)
        if node is not NOTHING and isinstance(node.held, str | dict):
            return node
    return NOTHING


def meant(tool: str, sent: Any, part: Node) -> Meant | None:
    """What a call comes to in words that rules know."""
    given = parsed(sent) if isinstance(sent, str) else sent
    label = words(part.get("source", "serverLabel").text, part.get("source", "label").text)
    if part.get("source", "type").text == "mcp" and label:
        return Meant(f"mcp__{label}__{tool}", given)
    line = part.get("toolSpecificData", "commandLine", "original").text
    match given:
        case {"command": str(line)} if tool in SHELLS:
            return Meant("bash", {"command": line})
        case {"filePath": str(path), "oldString": str(old), "newString": str(new)}:
            return Meant("Edit", {"file_path": path, "old_string": old, "new_string": new})
        case {"filePath": str(path), "content": str(text)} if tool == "create_file":
            return Meant("Write", {"file_path": path, "content": text})
        case {"filePath": str(path), **rest} if tool == "read_file":
            return Meant("Read", {"file_path": path, **_range(rest)})
        case {"query": str(query), **rest} if tool in ("grep_search", "file_search"):
            inside = words(rest.get("includePattern"))
            like = "Grep" if tool == "grep_search" else "Glob"
            return Meant(like, {"pattern": query, **({"glob": inside} if inside else {})})
        case {"todoList": list(todos)}:
            return Meant("TodoWrite", {"todos": [_todo(one) for one in todos]})
    return Meant("bash", {"command": line}) if tool in SHELLS and line else None


def _todo(item: Any) -> Any:
    match item:
        case {"title": str(title), "status": str(status)}:
            return {"content": title, "status": status.replace("-", "_")}
    return item


def _range(sent: Any) -> dict[str, int]:
    """The lines that a call asks for, from 1."""
    match sent:
        case {"startLine": int(first), "endLine": int(last)} if last >= first:
            return {"offset": first, "limit": last - first + 1}
        case {"offset": int(first), "limit": int(count)}:
            return {"offset": first, "limit": count}
    return {}
