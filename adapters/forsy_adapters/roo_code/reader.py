"""The items of a task, one by one."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from forsy_retrace.calls import Verdict
from forsy_retrace.events import (
    Attachment,
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import (
    base64_size,
    counts,
    later,
    named,
    number,
    parsed,
    pointer,
    when,
    words,
)
from forsy_retrace.source import Evidence, Record

from .results import ASKED_FOR, RESULT, Json, answers, meaning, verdict_of

FOUND = ("searchFiles", "listFilesTopLevel", "listFilesRecursive", "listCodeDefinitionNames")
USAGE = {
    "tokensIn": "input_tokens",
    "tokensOut": "output_tokens",
    "cacheReads": "cache_read_input_tokens",
    "cacheWrites": "cache_creation_input_tokens",
}
APPROVAL = "REQ_APP"
"""What the client sets behind a command that the user has to allow."""
WITHOUT_A_MARK = "without-a-mark"
LEAVE = "The user approved this operation"
WITH_IT = later(r"<feedback>\n(.*?)\n</feedback>", re.S)
STATE = "<environment_details>"
FOLDER = later(r"\n# Current (?:Working|Workspace) Directory \(([^\n]{1,4000})\) Files\n")
PLACE = "where the agent worked"
LEFT_OUT = {
    "api_req_finished": "a call of the model",
    "api_req_retried": "a call of the model",
    "api_req_failed": "repeated: an error of the API",
    "checkpoint_created": "a point to go back to",
    "checkpoint_saved": "a point to go back to",
    "completion_result": "a question of the client",
    "resume_task": "a question of the client",
    "resume_completed_task": "a question of the client",
    "mistake_limit_reached": "a question of the client",
    "auto_approval_max_req_reached": "a question of the client",
    "command_output": "output of no command",
    "mcp_server_request_started": "state of the client",
    "task_progress": "repeated: a list that came with a call",
    "deleted_api_reqs": "token count",
    "diff_error": "repeated: how a call ended",
    "error": "notice of the client",
    "info": "notice of the client",
    "shell_integration_warning": "notice of the client",
    "user_feedback_diff": "what the user changed of an edit",
    "sliding_window_truncation": "history cut short for the model",
}
"""What tells no step, and why it is left out."""


def is_item(value: Any) -> bool:
    match value:
        case {"ts": int(), "type": "say", "say": str()} | {
            "ts": int(),
            "type": "ask",
            "ask": str(),
        }:
            return True
    return False


class Open(NamedTuple):
    """A call that no request to the model has answered yet."""

    call: str
    tool: str
    written: int | None
    """How much of the conversation was written when it was shown."""
    printed: list[tuple[Evidence, str]]
    about: str = ""
    """What its result names: the command, the file, what was looked for."""


class Reader:
    """Reads items one by one."""

    def __init__(self, history: list[Record]) -> None:
        self.history = history
        told = (text for text in _texts(history) if LEAVE in text)
        self.leave = {found[1].strip() for text in told for found in WITH_IT.finditer(text)}
        """What the user said while allowing a call, as the model was told."""
        self.used: set[tuple[str, int, int]] = set()
        self.open: list[Open] = []
        self.asked = ""
        """The call that waits for the user's word."""
        self.model = ""
        self.folder = ""
        self.failure = ""
        """The error that a request to the model keeps of its last try."""
        self.began = False

    def item(self, place: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        here = Origin(record.here, None, "system")
        if record.problem or not is_item(value):
            yield Skipped(here, record.problem or "not an item of a task")
            return
        here = Origin(record.here, when(value["ts"]), "system")
        opens, self.began = not self.began, True
        if opens:
            yield SessionStart(here.below("/ts"), "")
        yield from self._model(value, here)
        # Roo Code says the user's words with which a task begins as it says the agent's.
        kind = "task" if opens and value.get("say") == "text" else value[value["type"]]
        told = list(self._told(place, kind, value, here))
        yield from told or [Skipped(here, LEFT_OUT.get(kind, f"unknown item{named(kind)}"))]
        if kind not in ("command_output", "info", "task_progress", "checkpoint_created"):
            self.asked = self.open[-1].call if self.open and value["type"] == "ask" else ""

    def _model(self, value: Json, here: Origin) -> Iterator[Event]:
        match value.get("modelInfo"):
            case {"modelId": str(model)} if model and model != self.model:
                self.model = model
                yield Fact(here.below("/modelInfo/modelId"), "model", model)

    def _told(self, place: int, kind: str, value: Json, here: Origin) -> Iterator[Event]:
        text = words(value.get("text"))
        where = here.below("/text") if text else here
        match kind:
            case "task" | "user_feedback":
                yield from self._user(kind, text, value, where)
            case "text" | "completion_result" if text.strip() and value["type"] == "say":
                yield Message(where.by("agent"), "agent", text)
            case "reasoning" if text.strip():
                yield Thinking(where.by("agent"), text)
            case "tool" | "use_mcp_server" | "followup":
                yield self._call(place, kind, text, value, where)
            case "command" if text.strip():
                yield self._call(place, kind, text, value, where)
            case "command_output" if self.open and self.open[-1].tool == "command":
                if text:
                    self.open[-1].printed.append((where.evidence, text))
                yield Skipped(where, "output of a command, told at its end")
            case "mcp_server_response" if self.open:
                if text:
                    self.open[-1].printed.append((where.evidence, text))
                yield Skipped(where, "what a server brought, told at its end")
            case "api_req_started":
                yield from self._request(text, where)
            case "error_retry":
                yield from self._error(text, where)
            case "condense_context":
                yield Notice(here, "compacted")

    def _user(self, kind: str, text: str, value: Json, here: Origin) -> Iterator[Event]:
        via: Via = "typed"
        answers = None
        if kind == "user_feedback" and self.asked and self.open:
            if self.open[-1].tool == "followup":
                via, answers = "answer", self.asked
            elif self.history and not self._permits(text):
                via, answers = "rejection", self.asked
        pictures = []
        images = value.get("images")
        for at, one in enumerate(images if isinstance(images, list) else ()):
            if isinstance(one, str) and one.startswith("data:"):
                media, _, data = one.removeprefix("data:").partition(";base64,")
                pictures.append(Attachment(media, base64_size(data), pointer("images", at)))
        if text.strip() or pictures:
            yield Message(here.by("user"), "user", text, via, tuple(pictures), answers)

    def _permits(self, text: str) -> bool:
        """Whether the model was told that these words came with leave to go on.

        The client's own file says alike of words that allow a call and of those that deny it.
        """
        return text.strip() in self.leave

    def _call(self, place: int, kind: str, text: str, value: Json, here: Origin) -> Event:
        told = parsed(text) if kind != "command" else None
        inner = told if isinstance(told, dict) else {}
        call, agent = f"item-{place}", here.by("agent")
        written = number(value.get("conversationHistoryIndex"))
        name: str | None = f"/{value['type']}"
        tool, where, meant = kind, agent, None
        sent, line = text or None, text.removesuffix(APPROVAL)
        match kind, inner:
            case "command", _:
                sent, meant = line, Meant("bash", {"command": line})
                where = agent if line == text else replace(agent, reading=WITHOUT_A_MARK)
            case "tool", {"tool": str(known)}:
                tool, name = known, "/text/tool"
                key = ASKED_FOR.get(known, "")
                if isinstance(inner.get(key), str):
                    sent, where = inner[key], agent.below(pointer(key))
                meant = meaning(known, inner)
            case "use_mcp_server", {"serverName": str(server), "toolName": str(known), **rest}:
                tool, name = known, "/text/toolName"
                given = rest.get("arguments")
                if isinstance(given, str):
                    sent, where = given, agent.below("/arguments")
                meant = Meant(f"mcp__{server}__{known}", parsed(words(sent)))
        if value.get("partial") is True:
            sent, meant = None, None  # the client stopped to show it before it was whole
        about = words(inner.get("regex"), inner.get("question"), inner.get("path"))
        about = line if kind == "command" else about
        opened = Open(call, tool, written, [], about)
        if tool in FOUND and isinstance(inner.get("content"), str):
            opened.printed.append((agent.below("/content").evidence, inner["content"]))
        self.open.append(opened)
        return ToolCall(where, call, tool, sent, name, meant)

    # What a request to the model tells.

    def _request(self, text: str, here: Origin) -> Iterator[Event]:
        sent = parsed(text)
        inner = sent if isinstance(sent, dict) else {}
        request = words(inner.get("request"))
        yield from self._place(request, here)
        waiting, self.open = self.open, []
        for one in waiting:
            yield from self._ended(one, request if len(waiting) == 1 else "", here)
        if used := counts(inner, USAGE):
            yield Fact(here, "usage", used)
        match inner:
            case {"cancelReason": "user_cancelled"}:
                yield Notice(here.below("/cancelReason"), "interrupted")
            case {"streamingFailedMessage": str(error)} if error:
                self.failure = error
                yield Notice(here.below("/streamingFailedMessage"), "model error", error)
            case _:
                yield Skipped(here, "a call of the model")

    def _place(self, request: str, here: Origin) -> Iterator[Event]:
        """The folder that the client names at the end of what it sends."""
        found = FOLDER.search(request, max(request.rfind(STATE), 0)) if STATE in request else None
        if found is not None and found[1] != self.folder:
            self.folder = found[1]
            yield Fact(here.below("/request"), "shows", PLACE)
            yield Fact(here.below("/request"), "cwd", self.folder)

    def _ended(self, one: Open, request: str, here: Origin) -> Iterator[Event]:
        """What came back of a call; nothing where neither request nor output tells of it."""
        given = self._given(one)
        verdict, place = Verdict(), None
        if begun := RESULT.match(request):
            place = here.below("/request").evidence
            verdict = verdict_of(one.tool, request[begun.end() :][:1000], place.pointer)
        pieces = [given] if given else one.printed
        if place is None and not pieces:
            return
        text = "\n".join(said for _, said in pieces) if pieces else None
        told = place or pieces[0][0]
        origin = Origin(told, None, "agent", pieces=tuple(found for found, _ in pieces))
        yield ToolResult(origin, one.call, text, *verdict)

    def _given(self, one: Open) -> tuple[Evidence, str] | None:
        """What the agent was given, in the first message to it behind the call."""
        if one.written is None:
            return None
        for record in self.history[max(one.written + 1, 0) :][:3]:
            match record.value:
                case {"role": "user", "content": [*blocks]}:
                    for at, block in enumerate(blocks):
                        match block:
                            case {"type": "text", "text": str(text)} if answers(text, one.about):
                                self.used.add(record.here.record)
                                return record.here.at(pointer("content", at, "text")), text
                    return None
        return None

    def _error(self, text: str, here: Origin) -> Iterator[Event]:
        """An error of the API; each try is one, the request's own is told with it."""
        match parsed(text):
            case {"errorMessage": str(error)} if error and error == self.failure:
                self.failure = ""
                yield Skipped(here, "repeated: an error of the API")
            case {"errorMessage": str(error)} if error:
                yield Notice(here.below("/errorMessage"), "model error", error)


def _texts(history: list[Record]) -> Iterator[str]:
    """The texts of what the model was sent."""
    for record in history:
        match record.value:
            case {"content": [*blocks]}:
                yield from (
                    block["text"]
                    for block in blocks
                    if isinstance(block, dict) and isinstance(block.get("text"), str)
                )
