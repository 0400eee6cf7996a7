"""What an item of the Responses API says: messages, reasoning, and a call for each kind of tool."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import Call, arguments, attachments, content_text
from forsy_retrace.events import Event, Meant, Message, Notice, Skipped, ToolResult, Via
from forsy_retrace.sdk import named, pointer, resolve

from .chat import Chat
from .place import Json, Place, Told, nothing, text_in
from .speech import called, offered, printed, thought
from .verdicts import of_shell, result, verdict


class Kind(NamedTuple):
    """A kind of call: its tool's name, where its input and its own result stand."""

    tool: str
    sent: str
    results: tuple[str, ...] = ()
    known_by: str = "call_id"
    """The id that every copy has: other ids, and even arguments, change from one to the next."""
    found: str = ""
    """A part of its input that is no input: what the tool found, which the API puts there."""


CALLS: dict[str, Kind] = {
    # A tool with an empty name is named by the item itself.
    "function_call": Kind("", "arguments"),
    "custom_tool_call": Kind("", "input"),
    "mcp_call": Kind("", "arguments", ("output",)),
    "mcp_approval_request": Kind("", "arguments", known_by="id"),
    "local_shell_call": Kind("local_shell", "action"),
    "shell_call": Kind("shell", "action"),
    "apply_patch_call": Kind("apply_patch", "operation"),
    "computer_call": Kind("computer", "action"),
    "tool_search_call": Kind("tool_search", "arguments"),
    "program": Kind("program", "code"),
    "web_search_call": Kind("web_search", "action", ("results",), found="sources"),
    "file_search_call": Kind("file_search", "queries", ("results",)),
    "code_interpreter_call": Kind("code_interpreter", "code", ("outputs",)),
    "image_generation_call": Kind("image_generation", "revised_prompt"),
}
OUTPUTS: dict[str, tuple[str, str]] = {
    # Where what came back stands, and the tool where the item's kind tells it.
    "function_call_output": ("output", ""),
    "custom_tool_call_output": ("output", ""),
    "local_shell_call_output": ("output", "local_shell"),
    "shell_call_output": ("output", "shell"),
    "apply_patch_call_output": ("output", "apply_patch"),
    "computer_call_output": ("output", "computer"),
    "tool_search_output": ("tools", "tool_search"),
    "program_output": ("result", "program"),
}


READING = "without-sources"
"""The rule by which an input is read that holds what was found too."""
SAYS_SO = ("apply_patch", "tool_search")
"""Of these the status is that of the work; of other outputs, that of the item."""


def is_item(value: Any) -> bool:
    """An item with a type of this API; a message without a type is a chat message."""
    match value:
        case {"type": "message", "role": str(), "content": str() | list()}:
            return True
        case {"type": "reasoning", "summary": list()}:
            return True
        case {"type": str(kind)} if kind in CALLS:
            kind_of = CALLS[kind]
            return kind_of.sent in value or "call_id" in value or "status" in value
        case {"type": str(kind)} if kind in OUTPUTS:
            return "call_id" in value
        case {"type": "mcp_approval_response"}:
            return "approval_request_id" in value
    return False


class Items:
    """Reads the items of one conversation in order."""

    def __init__(self) -> None:
        self.chat = Chat()

    def read(self, item: Any, here: Place) -> Iterator[Told]:
        """At least one event for each item."""
        kind = item.get("type", "message") if isinstance(item, dict) else None
        match kind:
            case "message":
                yield from self.chat.read(item, here)
            case "reasoning":
                yield from _reasoning(item, here)
            case str() if kind in CALLS:
                yield from self._call(item, CALLS[kind], here)
            case str() if kind in OUTPUTS:
                yield from self._output(item, here, *OUTPUTS[kind])
            case "mcp_list_tools" | "additional_tools":
                told = list(offered(item, here))
                yield from told or [nothing(here, "no tools on offer")]
            case "compaction" | "compaction_summary":
                yield Told(None, Notice(here.origin("system"), "compacted"))
            case "mcp_approval_response":
                yield from _permission(item, here)
            case "item_reference":
                yield nothing(here, "repeated history")
            case str() if kind.endswith("_call"):
                name = kind.removesuffix("_call")
                call = Call(_id(item), name, item, here.pointer, f"{here.pointer}/type")
                yield called(call, _alone(item, here))
            case _:
                yield nothing(here, f"unknown item{named(kind)}")

    def _call(self, item: Json, kind: Kind, here: Place) -> Iterator[Told]:
        asked = text_in(item, "approval_request_id")
        ident = asked or _id(item)
        tool = text_in(item, "name") if not kind.tool else kind.tool
        if not tool:
            yield nothing(here, "a call without a name")
            return
        hosted = bool(kind.results) or kind.tool == "image_generation"
        place = _alone(item, here) if hosted else here
        path = here.pointer
        named = f"{path}/{'type' if kind.tool else 'name'}"
        if item.get(kind.sent) is None:
            # A picture's bytes are no input; where its prompt is missing, its kind stands for it.
            picture = kind.tool == "image_generation"
            call = Call(ident, tool, item["type"] if picture else item, path, named)
            call = call._replace(pointer=f"{path}/type") if picture else call
        else:
            sent = arguments(item[kind.sent])
            if _found(item, kind):
                sent = {key: value for key, value in sent.items() if key != kind.found}
            if isinstance(sent, list):
                sent = content_text(sent)  # `queries`
            call = Call(ident, tool, sent, f"{path}/{kind.sent}", named if kind.tool else "")
        reading = READING if _found(item, kind) else ""
        told = called(call, place, _of_server(item, call), reading)._replace(permitted=bool(asked))
        yield told if text_in(item, kind.known_by) else told._replace(key=None)
        if hosted:
            # The reply tells when it began, and not when a tool that ran inside it was done.
            yield from _own_result(item, kind, ident, place._replace(at=None))

    def _output(self, item: Json, here: Place, key: str, tool: str) -> Iterator[Told]:
        ident = text_in(item, "call_id")
        base = here.pointer
        output = item.get(key)
        where = here.deeper(key) if key in item else here
        text = content_text(output) if key in item else None
        found = verdict(item, base, key)
        if tool == "shell":
            found = of_shell(output, f"{base}/{key}")
            match output:
                case [{"stdout": str(printed), "stderr": ""}]:
                    text, where = printed, where.deeper(0, "stdout")
        if found.outcome == "unknown" and tool in SAYS_SO and _is_completed(item):
            found = Verdict("ok", "status", f"{base}/status")
        pictures = attachments(output, f"{base}/{key}")
        event = result(where.origin(), ident, text, found, attachments=pictures)
        yield Told(("result", ident, (text or "").strip()) if ident else None, event, tool)


def _permission(item: Json, here: Place) -> Iterator[Told]:
    """What the user said to a call that waited for it; a refused call never ran."""
    ident = text_in(item, "approval_request_id")
    words = text_in(item, "reason")
    refused = item.get("approve") is False
    if refused:
        base = f"{here.pointer}/approve"
        origin = here.deeper("approve").origin()
        yield Told(
            ("result", ident, ""), ToolResult(origin, ident, None, "rejected", "denied", base)
        )
    if words:
        via: Via = "rejection" if refused else "typed"
        event: Event = Message(
            here.deeper("reason").origin("user"), "user", words, via, answers=ident
        )
        yield Told(("user", words.strip()), event)
    elif not refused:
        event = Skipped(here.origin("user"), "a permission without words")
        yield Told(("permitted", ident), event)


def _of_server(item: Json, call: Call) -> Meant | None:
    """A call of an MCP server's tool, by its whole name."""
    server, space = text_in(item, "server_label"), text_in(item, "namespace")
    if not server and not space.startswith("mcp__"):
        return None
    return Meant(f"mcp__{server}__{call.name}" if server else f"{space}__{call.name}", call.input)


def _is_completed(item: Json) -> bool:
    return item.get("status") == "completed"


def _own_result(item: Json, kind: Kind, ident: str, here: Place) -> Iterator[Told]:
    """What a hosted tool's item holds of its result; nothing where it holds none."""
    base = here.pointer
    failed = item.get("error") or item.get("status") in ("failed", "incomplete")
    # Code that raised has completed too.
    done = _is_completed(item) and kind.tool != "code_interpreter"
    found = Verdict("ok", "status", f"{base}/status") if done else Verdict()
    if failed:
        found = verdict(item, base, "error")
    places = [*_results(item, kind), *((("error",), ("status",)) if failed else ())]
    for keys in places:
        output = resolve(item, pointer(*keys)) if keys[0] in item else None
        if output:
            text, where = printed(output, here.deeper(*keys))
            pictures = attachments(output, here.deeper(*keys).pointer)
            origin = where.origin()
            event = result(origin, ident, text, found, attachments=pictures)
            yield Told(None, event)
            return
    if isinstance(item.get("result"), str):
        pictures = attachments(item, base)
        event = result(here.origin(), ident, content_text(item), found, attachments=pictures)
        yield Told(None, event)
    elif found.outcome == "ok":
        at = here.deeper("status").origin()
        yield Told(None, result(at, ident, None, found))


def _results(item: Json, kind: Kind) -> Iterator[tuple[str, ...]]:
    """Where a hosted tool's item holds what came back."""
    yield from ((key,) for key in kind.results)
    if _found(item, kind):
        yield kind.sent, kind.found


def _found(item: Json, kind: Kind) -> bool:
    """Whether what a tool found stands among its input."""
    sent = item.get(kind.sent)
    return bool(kind.found) and isinstance(sent, dict) and kind.found in sent


def _reasoning(item: Json, here: Place) -> Iterator[Told]:
    """The model's own words where they are there, else their summary; else it is hidden."""
    for key in ("content", "summary"):
        parts = item.get(key)
        told = [
            thought(part["text"], here.deeper(key, index, "text").origin())
            for index, part in enumerate(parts if isinstance(parts, list) else ())
            if text_in(part, "text")
        ]
        if told:
            yield from told
            return
    yield nothing(here, "hidden reasoning")


def _id(item: Json) -> str:
    return text_in(item, "call_id", "id")


def _alone(item: Json, here: Place) -> Place:
    """A tool that the server ran before the model went on: it is no call of a parallel group."""
    return here._replace(message=text_in(item, "id") or here.name)
