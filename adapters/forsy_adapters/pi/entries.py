"""Entries, one by one: a message, a result, or what its harness notes beside them."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments, texts
from forsy_retrace.events import (
    Change,
    Event,
    Fact,
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
from forsy_retrace.sdk import counts, later, mark_of, named, pointer, tells_a_limit, when, words
from forsy_retrace.source import Record

from .._patches import changes as patched
from .._patches import patch_in
from .results import answer, changes, ended, made, nested
from .system import System
from .tree import Survey, is_header
from .users import BRIEF, ENVELOPE, LATER, SKILL, injected, sender

Json = dict[str, Any]

LEFT_OUT = {
    "model_change": "choice of model",
    "thinking_level_change": "choice of thinking level",
    "custom": "state of an extension",
    "custom_message": "injected: by an extension",
    "branch_summary": "injected: summary of a branch that was left",
    "label": "label",
    "context_edit": "what the model sees no more",
    "leaf": "a line that was gone back to",
}
"""Entries that are nobody's words and no work."""

CUSTOM = later(r"\Aopenclaw|\Amodel-snapshot\Z")
CWD = later(r"[/\\]\.openclaw(?:[/\\]|\Z)")
"""Entries that only OpenClaw writes, and the folder that its agents work below."""
OF_EXTENSIONS = ("custom", "hookMessage")
NESTED = "openclaw.nested-tool.v1"
"""What OpenClaw calls the entry of a call that another call made."""
SUMMARIES = ("branchSummary", "compactionSummary")

USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
}


class Reader:
    """Reads entries one by one."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.calls = Calls()
        self.header: Json = {}
        self.nobodys = ""
        """What the user's next words are in a subagent's session; empty in any other."""
        self.failure = ""
        """The last error that a message told."""
        self.is_openclaw = False
        self.system = System()
        self.asked: dict[str, str] = {}
        """Open calls, and the messages that they are of."""
        self.patches: dict[str, tuple[Change, ...]] = {}
        """Open calls that apply patches, and what these are to do."""

    def read(self, place: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        here = self._origin(place, record)
        if record.problem:
            yield Skipped(here, record.problem)
        elif place in self.found.copies:
            yield Skipped(here, "repeated history")
        elif is_header(value):
            yield from self._header(place, value, here)
        else:
            yield from self._entry(place, value, here)

    def _origin(self, place: int, record: Record) -> Origin:
        value = record.value if isinstance(record.value, dict) else {}
        inner = value.get("message")
        at = when(value.get("timestamp"))
        if at is None and isinstance(inner, dict):
            at = when(inner.get("timestamp"))
        ident = value.get("id")
        message = ident if isinstance(ident, str) and ident else f"entry-{place}"
        branch = self.found.branches.get(place, "")
        return Origin(record.here, at, "system", message, branch)

    def _header(self, place: int, value: Json, here: Origin) -> Iterator[Event]:
        if value["id"] == self.header.get("id"):
            yield Skipped(here, "repeated history")
            return
        self.header, self.system = value, System()
        self.nobodys = BRIEF if place in self.found.briefed else ""
        prior = None if self.nobodys else _session_of(value.get("parentSession"))
        yield SessionStart(here.below("/id"), value["id"], prior)
        for key, fact in (("cwd", "cwd"), ("harness", "harness"), ("name", "title")):
            if words(value.get(key)):
                yield Fact(here.below(pointer(key)), fact, value[key])
        yield from self._marked(here, "/cwd", value.get("cwd"), CWD)
        shared = self.found.shared.get(place)
        if prior and shared:
            told = {"of": prior, "records": shared}
            yield Fact(here.below("/parentSession"), "shared_prefix", told)

    def _marked(self, here: Origin, path: str, text: Any, mark: re.Pattern[str]) -> Iterator[Event]:
        """Tells OpenClaw by its mark, once, where no header names the harness."""
        if not self.header.get("harness") and not self.is_openclaw and mark.search(words(text)):
            self.is_openclaw = True
            yield Fact(here.below(path), "harness", "OpenClaw")

    def _entry(self, place: int, value: Any, here: Origin) -> Iterator[Event]:
        match value:
            case {"type": "message", "message": dict(message)}:
                if place in self.found.replaces:
                    earlier = self.found.replaces[place]
                    yield Fact(here, "replaces", {"kind": "edited", "message": earlier})
                yield from self._message(place, message, here)
            case {"type": "compaction"}:
                yield Notice(here, "compacted")
                yield from self._used(value, here.below("/usage"))
            case {"type": "usage"} if told := list(self._used(value, here.below("/usage"))):
                yield from told
            case {"type": "session_info", "name": str(name)} if name.strip():
                yield Fact(here.below("/name"), "title", name)
            case {"type": "session_info"}:
                yield Skipped(here, "session without a name")
            case {
                "type": "custom",
                "customType": "openclaw:prompt-error",
                "data": {"error": error},
            }:
                yield from self._failed(here.below("/data/error"), error)
            case {"type": str(kind)} if kind in LEFT_OUT:
                yield from self._marked(here, "/customType", value.get("customType"), CUSTOM)
                yield Skipped(here, LEFT_OUT[kind])
            case {"type": kind}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "not an entry")

    def _used(self, holder: Json, here: Origin) -> Iterator[Event]:
        """Tokens that no message of the agent took: a cache kept warm, a summary."""
        if used := counts(holder.get("usage"), USAGE):
            yield Fact(here, "usage", used)

    def _failed(self, here: Origin, error: Any) -> Iterator[Event]:
        """OpenClaw's own record of an error that mostly stands in a message too."""
        if isinstance(error, str) and error.strip() and error not in ("aborted", self.failure):
            yield Notice(here, "limit" if tells_a_limit(error) else "model error", error)
        else:
            yield Skipped(here, "repeated error")

    def _message(self, place: int, message: Json, here: Origin) -> Iterator[Event]:
        content = message.get("content")
        match message.get("role"):
            case "user":
                yield from self._user(content, here, sender(message))
            case "assistant":
                yield from self._assistant(place, message, here)
            case "toolResult":
                yield from self._result(message, here)
            case "bashExecution" if words(message.get("command")):
                mark = "!!" if message.get("excludeFromContext") is True else "!"
                where = here.below("/message/command").by("user")
                yield Message(where, "user", mark + message["command"], "shell line", within=True)
            case "system" | "developer":
                yield from self.system.read(message, here)
            case "custom" if message.get("customType") == NESTED:
                yield from made(message, here, self.asked, self.calls)
            case str(role) if role in OF_EXTENSIONS:
                yield Skipped(here, "injected: by an extension")
            case str(role) if role in SUMMARIES:
                yield Skipped(here, "injected: summary")
            case role:
                yield Skipped(here, f"unknown role{named(role)}")

    def _user(self, content: Any, here: Origin, sender: str) -> Iterator[Event]:
        """A human's words, but for what the harness sets around them or in their place.

        `sender` says why no human sent them, where the harness says so.
        """
        here = here.by("user")
        parts = list(texts(content))
        path, text = parts[0] if len(parts) == 1 else ("", "\n".join(text for _, text in parts))
        pictures = attachments(content, here.below("/message/content").evidence.pointer)
        why = injected(text) or sender or self.nobodys
        self.nobodys = self.nobodys and LATER
        where = here.below(f"/message/content{path}")
        if why == BRIEF and text.strip():
            yield Fact(where.by("system"), "brief", text)
            return
        if why or not (text.strip() or pictures):
            yield Skipped(here, why or "empty message")
            return
        if skill := SKILL.fullmatch(text):
            yield Fact(where, "skills", [skill[1]])
            # The log lacks `/skill:NAME` itself: what stands in it is its name and what followed.
            via: Via = "typed" if skill[2] else "command"
            yield Message(where, "user", skill[2] or skill[1], via, pictures, within=True)
            return
        said = text[opening.end() :] if (opening := ENVELOPE.match(text)) else text
        if not said.strip():
            said = "\n".join(mark_of(one.media, one.size) for one in pictures)
        within = not pictures and (said != text or len(parts) != 1)
        yield Message(where, "user", said, "typed", pictures, within=within)

    def _assistant(self, place: int, message: Json, here: Origin) -> Iterator[Event]:
        here = here.by("agent")
        told: list[Event] = []
        if words(message.get("model")):
            told.append(Fact(here.below("/message/model"), "model", message["model"]))
        content = message.get("content")
        if isinstance(content, str) and content.strip():
            told.append(Message(here.below("/message/content"), "agent", content))
        for index, block in enumerate(content if isinstance(content, list) else ()):
            where = here.below(pointer("message", "content", index))
            told.extend(self._block(place, index, block, where))
        if used := counts(message.get("usage"), USAGE):
            told.append(Fact(here.below("/message/usage"), "usage", used))
        told.extend(self._stopped(message, here))
        yield from told
        if all(isinstance(event, Fact) for event in told):
            yield Skipped(here, "empty message")

    def _block(self, place: int, index: int, block: Any, here: Origin) -> Iterator[Event]:
        match block:
            case {"type": "text", "text": str(text)}:
                if text.strip():
                    yield Message(here.below("/text"), "agent", text)
            case {"type": "thinking", "thinking": str(text), **rest}:
                if text.strip() and rest.get("redacted") is not True:
                    yield Thinking(here.below("/thinking"), text)
                else:
                    yield Skipped(here, "hidden reasoning")
            case {"type": "toolCall", "name": str(tool), **rest}:
                call = self.calls.issue(words(rest.get("id")), place, index)
                sent, path = rest.get("arguments"), "/arguments"
                if not isinstance(sent, dict | str):
                    sent, path = block, ""
                name = "" if path else here.evidence.pointer + "/name"
                self.asked[str(call)] = here.message or ""
                if (patch := patch_in(tool, sent)) is not None and not patch.fed:
                    self.patches[str(call)] = tuple(patched(patch))
                yield ToolCall(here.below(path), str(call), tool, sent, name)
            case {"type": kind}:
                yield Skipped(here, f"unknown content part{named(kind)}")
            case _:
                yield Skipped(here, "unknown content part")

    def _stopped(self, message: Json, here: Origin) -> Iterator[Event]:
        """How a message ended, where it did not end by itself."""
        here = here.by("system")
        reason = message.get("stopReason")
        match reason:
            case "error":
                key = "errorMessage" if words(message.get("errorMessage")) else "stopReason"
                self.failure = message[key]
                kind = tells_a_limit(self.failure)
                where = here.below(pointer("message", key))
                yield Notice(where, "limit" if kind else "model error", self.failure)
            case "aborted":
                yield Notice(here.below("/message/stopReason"), "interrupted")
            case "length":
                yield Notice(here.below("/message/stopReason"), "limit", reason)
            case "stop":
                yield Notice(here.below("/message/stopReason"), "ended")

    def _result(self, message: Json, here: Origin) -> Iterator[Event]:
        ident = message.get("toolCallId")
        call = self.calls.answer(ident) if isinstance(ident, str) and ident else None
        if call is None:
            yield Skipped(here, "repeated result" if ident else "result without its call")
            return
        asked = self.asked.pop(call, "")
        yield from nested(message.get("nestedCalls"), call, asked, here, self.calls)
        output, where = answer(message, here)
        end = ended(message, output or "", here)
        place = here.below("/message/content").evidence.pointer
        pictures = attachments(message.get("content"), place)
        meant = self.patches.pop(call, ())
        files = changes(message, here) or (meant if end.outcome == "ok" else ())
        later = self.found.ends.get(call) if end.outcome == "launched" else None
        yield ToolResult(where, call, output, *end, files, pictures, end=later)


def _session_of(path: Any) -> str | None:
    """The session whose file a path names: `<time>_<id>.jsonl`, or its id alone."""
    if not isinstance(path, str) or not path:
        return None
    name = re.split(r"[/\\]", path)[-1].removesuffix(".jsonl")
    return name.rpartition("_")[2] or None
