"""Which tool messages answer which call, and whether it worked, by what they say of themselves.

A call is an assistant message to a recipient. Its result stands below it in the tree: mostly the
next node, sometimes behind thoughts, often a chain of tool messages, under another tool's name.
"""

from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Origin, Outcome, ToolResult
from forsy_retrace.sdk import attachment_text, text_of, when

from .tree import Json, Node
from .words import Said, is_told, said

SILENT = ("thoughts", "reasoning_recap")


def recipient_of(node: Node) -> str:
    """The tool that an assistant message calls; empty where it speaks to the user."""
    name = node.message.get("recipient")
    return name if node.role == "assistant" and isinstance(name, str) and name != "all" else ""


def name_of(node: Node) -> str:
    """The tool's own name on its message."""
    author = node.message.get("author")
    name = author.get("name") if isinstance(author, dict) else None
    return name if isinstance(name, str) else ""


def kind_of(node: Node) -> str:
    """The kind of a message's content."""
    content = node.content
    kind = content.get("content_type") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else ""


def answers(order: list[Node]) -> dict[str, list[Node]]:
    """Each call's key to the tool messages of its answer, in order, on one line.

    Where the answer was given again on another line, the line that the call is on counts.
    """
    owners: dict[str, Node] = {}
    found: dict[str, list[Node]] = {}
    for node in order:
        if node.role == "tool" and (call := _owner(node, owners, found)) is not None:
            owners[node.key] = call
            found.setdefault(call.key, []).append(node)
    by_key = {node.key: node for node in order}
    for key, tools in found.items():
        lines = [tool.branch for tool in tools]
        line = by_key[key].branch if by_key[key].branch in lines else lines[0]
        found[key] = [tool for tool in tools if tool.branch == line]
    return found


def _owner(node: Node, owners: dict[str, Node], found: dict[str, list[Node]]) -> Node | None:
    """The call that a tool message answers: nothing was said between them."""
    name = name_of(node)
    calls: list[Node] = []
    before: Node | None = None
    for above in node.above():
        if above.role == "tool":
            before = before or (above if not calls else None)
        elif recipient_of(above):
            calls.append(above)
        elif above.role == "user" or (above.role == "assistant" and _speaks(above)):
            break
    open_calls = [call for call in calls if call.key not in found]
    exact = next((call for call in open_calls if recipient_of(call) == name), None)
    if before is not None and before.key in owners:
        same = name == name_of(before) or exact is None
        return owners[before.key] if same else exact
    if exact is not None:
        return exact
    near = [call for call in open_calls if _family(recipient_of(call)) == _family(name)]
    return next(iter(near or open_calls or calls), None)


def _speaks(node: Node) -> bool:
    return kind_of(node) not in SILENT and bool(said(node.content, "").text.strip())


def _family(name: str) -> str:
    return name.partition(".")[0]


def result(
    call: str, tools: list[Node], places: list[Origin], changes: tuple[Change, ...]
) -> ToolResult:
    """The answer to a call, of all its tool messages; `places` are their messages' origins."""
    pieces: list[tuple[Said, Origin]] = []
    told = False
    for tool, place in zip(tools, places, strict=True):
        if not _is_placeholder(tool) or tool is tools[-1]:
            there = at(place, tool.content_path)
            found = said(tool.content, there.evidence.pointer)
            told = told or bool(found.attachments) or is_told(tool.content, found)
            pieces.append((_exactly(tool.content, found), there))
    kept = [pair for pair in pieces if _shown(pair[0])] or pieces[:1]
    marks = [at(there, path) for one, there in kept for path in _paths(one)]
    verdict, where = _judged(tools, places)
    media = tuple(a for one, _ in kept for a in one.attachments)
    joined = len(marks) > 1 or bool(media)
    first, ended = marks[0], _ended(tools[-1])
    return ToolResult(
        Origin(
            first.evidence,
            ended or places[-1].at,
            first.actor,
            first.message,
            first.branch,
            pieces=tuple(mark.evidence for mark in marks) if joined else (),
        ),
        call,
        "\n\n".join(_shown(one) for one, _ in kept) if told else None,
        verdict.outcome,
        verdict.rule,
        where,
        changes=changes,
        attachments=media,
        ended_by="run-ended" if ended else "",
    )


def _ended(tool: Node) -> str | None:
    """When the code interpreter says that a run ended; its message is as old as the run's start."""
    match tool.metadata.get("aggregate_result"):
        case {"end_time": int() | float() as end}:
            return when(end)
    return None


def _paths(one: Said) -> list[str]:
    """Where the text stands: in one place, or in parts among pictures."""
    return [path for _, path in one.pieces] if one.within and one.pieces else [one.path]


def _exactly(content: Any, found: Said) -> Said:
    """What an unknown kind of content says is its own JSON."""
    if found.path or found.attachments or not isinstance(content, (dict, list)):
        return found
    return Said(text_of(content), "")


def _shown(one: Said) -> str:
    """The text, and a mark for each picture."""
    marks = [attachment_text(a.media.partition("/")[0], a.media, a.size) for a in one.attachments]
    return "\n".join([*([one.text] if one.text.strip() else []), *marks]) or one.text


def _judged(tools: list[Node], places: list[Origin]) -> tuple[Verdict, str]:
    """A failure of any part is one of the whole; the place that says so."""
    best = Verdict()
    where = ""
    for tool, place in zip(tools, places, strict=True):
        verdict = _verdict(tool)
        if RANK.index(verdict.outcome) > RANK.index(best.outcome):
            best, where = verdict, place.evidence.pointer + verdict.basis
    return best, where


RANK: tuple[Outcome, ...] = (
    "unknown",
    "launched",
    "ok",
    "rejected",
    "blocked",
    "interrupted",
    "timed_out",
    "failed",
)
CANVAS: tuple[tuple[str, Outcome, str], ...] = (
    ("Successfully ", "ok", "canvas-says-done"),
    ("Failed with error", "failed", "canvas-says-failed"),
)


def _verdict(node: Node) -> Verdict:
    data, kind = node.metadata, kind_of(node)
    if kind == "system_error":
        return Verdict("failed", "system-error", "/content/content_type")
    if data.get("is_error") is True:
        return Verdict("failed", "error-flag", "/metadata/is_error")
    match data:
        case {"aggregate_result": dict(run)} if isinstance(run.get("status"), str):
            return _run(run)
        case {"invoked_plugin": {"http_response_status": int(status)}} if status:
            good: Outcome = "ok" if 200 <= status < 400 else "failed"
            return Verdict(good, "http-status", "/metadata/invoked_plugin/http_response_status")
        case {"command": str(), "status": "finished" | "failed" as status}:
            word: Outcome = "failed" if status == "failed" else "ok"
            return Verdict(word, "browser-status", "/metadata/status")
    if _family(name_of(node)) == "canmore":
        text = said(node.content, "").text.lstrip()
        for opening, outcome, rule in CANVAS:
            if text.startswith(opening):
                return Verdict(outcome, rule, "/content")
    return Verdict()


def _run(run: Json) -> Verdict:
    """The code interpreter's own word: an exception, a stop and a time-out are no success."""
    basis = "/metadata/aggregate_result/status"
    exception = run.get("in_kernel_exception")
    if run.get("timeout_triggered"):
        return Verdict("timed_out", "timeout-triggered", basis)
    if run["status"] == "success" and not exception:
        return Verdict("ok", "aggregate-result", basis)
    if run["status"] == "running":
        return Verdict("launched", "aggregate-result", basis)
    return Verdict("failed", "aggregate-result", basis)


def _is_placeholder(node: Node) -> bool:
    """A sign that the tool is still at work, which its answer follows."""
    data = node.metadata
    return data.get("command") == "spinner" or data.get("status") == "running"


def at(origin: Origin, path: str) -> Origin:
    """The same message, a place in it."""
    return origin.below(path)
