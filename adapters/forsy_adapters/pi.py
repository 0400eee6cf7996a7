"""Pi sessions below `~/.pi/agent/sessions/`, and the logs of all harnesses that keep Pi's form.

OpenClaw (`~/.openclaw/agents/*/sessions/`, with what a reset or deletion left there), Oh My Pi, and
the session traces that Hugging Face shows (a header with `harness`). Entries form a tree: the last
one ends the visible line, the other lines were left. Learnt from Pi 1 to 3 and OpenClaw of 2026.
"""

import glob
import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Outcome,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import Shows, counts, later, mark_of, named, number, pointer, when, words
from forsy_retrace.source import Record, Source

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="no",
    harness="Pi",
    stores=(
        "~/.pi/agent/sessions/*/*.jsonl",
        "~/.openclaw/agents/*/sessions/*.jsonl*",
        "~/.omp/agent/sessions/*/*.jsonl",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "the work of subagents, which have sessions of their own",
        "reasoning that its provider encrypts",
    ),
    tools={
        "read": "Read",
        "write": "Write",
        "edit": "Edit",
        "grep": "Grep",
        "find": "Glob",
        "ls": "LS",
        "exec": "bash",
        "process": "write_stdin",
        "web_fetch": "WebFetch",
        "todo_write": "TodoWrite",
        "ask": "AskUserQuestion",
        "task": "Task",
        "subagent": "Task",
    },
)

Json = dict[str, Any]

LEFT_OUT = {
    "model_change": "choice of model",
    "thinking_level_change": "choice of thinking level",
    "custom": "state of an extension",
    "custom_message": "injected: by an extension",
    "branch_summary": "injected: summary of a branch that was left",
    "label": "label",
}
"""Entries that are nobody's words and no work."""

CUSTOM = later(r"\Aopenclaw|\Amodel-snapshot\Z")
CWD = later(r"[/\\]\.openclaw(?:[/\\]|\Z)")
"""Entries that only OpenClaw writes, and the folder that its agents work below."""
BRIEF = "a subagent's brief"
LATER = "injected: later words to a subagent"
"""What the user's role says in a subagent's session, first and then: no human speaks in it."""
OF_EXTENSIONS = ("custom", "hookMessage")
SUMMARIES = ("branchSummary", "compactionSummary")

INJECTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What OpenClaw puts into the user's role; nobody typed it.
    (BRIEF, later(r"(?:\[[^\]\n]{1,60}\] )?\[Subagent Context\]")),
    ("injected: heartbeat", later(r"\[OpenClaw heartbeat|Read HEARTBEAT\.md if it exists")),
    ("injected: scheduled job", later(r"\[cron:[^\]\n]{1,200}\]")),
    ("injected: system event", later(r"System: \[[^\]\n]{1,60}\] ")),
    ("injected: memory flush", later(r"Pre-compaction memory flush")),
    ("injected: new session", later(r"A new session was started via /")),
)
ENVELOPE = later(
    r"(?:\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? [^\]\n]{1,20}\] ?"
    r"|[A-Z][\w ]{2,40} \(untrusted(?: metadata|, for context)\):\n"
    r"```json\n(?:[^`]|`(?!``))*+```\n*)+"
)
"""Who wrote, where and when: OpenClaw sets it before the words."""
SKILL = later(r'<skill name="([^"\n]{1,80})" location="[^"\n]*">\n.*\n</skill>(?:\n\n(.*))?', re.S)
"""What Pi puts in place of `/skill:NAME`, and the words that followed it."""

ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How the end of an output that is flagged as an error says why.
    ("timed-out", later(r"Command timed out after \d+ seconds?\.?\s*\Z"), "timed_out"),
    ("aborted", later(r"(?:Command|Operation) (?:was )?aborted\.?\s*\Z"), "interrupted"),
)
EXIT = later(r"(?:Command|Process) exited with code (-?\d{1,10})\.?\s*\Z")
STOPS = ("kill", "clear", "remove")
"""What the agent may do to a command that runs on, besides looking at it and writing to it."""
LIMIT = later(r"(?i)rate.?limit|usage limit|quota|insufficient.{0,20}credit|^429\b")
USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
}


def sniff(source: Source) -> bool:
    """A session's header among the first records."""
    return any(_is_header(record.value) for record in source.head)


def companions(source: Source) -> Iterator[Source]:
    """The copies that OpenClaw made of a session: at a compaction, and before it wrote it anew."""
    name = source.path.name
    if name.endswith(".jsonl") and ".checkpoint." not in name:
        stem = glob.escape(name.removesuffix(".jsonl"))
        yield from source.beside(f"{stem}.checkpoint.*.jsonl")
        yield from source.beside(f"{stem}.jsonl.bak-*")


def read(source: Source) -> Iterator[Event]:
    """The sessions' events in the order of the file, then the copies beside it."""
    found = survey(source)
    reader = Reader(found)
    for place, record in enumerate(source.records()):
        yield from reader.read(place, record)
    for copy in companions(source):
        for record in copy.records():
            yield Skipped(Origin(record.here, None, "system"), _why_copied(record, found.ids))


def _why_copied(record: Record, ids: set[str]) -> str:
    if record.problem:
        return record.problem
    held = isinstance(record.value, dict) and words(record.value.get("id")) in ids
    return "repeated: a copy of the session" if held else "only in a copy of the session"


def _is_header(value: Any) -> bool:
    match value:
        case {"type": "session", "id": str(), "timestamp": _, "cwd": str()}:
            return True
        case {"type": "session", "id": str(), "harness": str()}:
            return True
    return False


# What must be known before the first event: branches, forks, and whose brief it is.


class Node:
    """An entry's place in the tree."""

    def __init__(self, place: int, value: Json, parent: "Node | None") -> None:
        self.place, self.parent = place, parent
        self.ident = value["id"]
        message = value.get("message")
        self.role = message.get("role") if isinstance(message, dict) else None
        self.branch = ""
        self.visible = False
        self.goes_on = False
        """Whether a later entry has taken its branch up."""
        self.after: Node | None = (
            parent if parent is None or parent.role is not None else parent.after
        )
        """The message that it follows."""


class Survey:
    """What a file shows as a whole."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.copies: set[int] = set()
        self.branches: dict[int, str] = {}
        self.replaces: dict[int, str] = {}
        """A message's place to the earlier message that the user went back to and typed anew."""
        self.shared: dict[int, int] = {}
        """A header's place to the entries that a fork took over: older than the header."""
        self.briefed: set[int] = set()
        """The headers of subagents' sessions."""
        self.running: dict[str, str] = {}
        """Commands of OpenClaw that run on, by their names, and the call that ran each."""
        self.ends: dict[str, ToolResult] = {}
        """What a later call told of the end of such a command, by the call that ran it."""

    def runs_on(self, message: Any, here: Origin) -> None:
        """Joins a command that ran on with its end; one that the agent stopped has none."""
        match message:
            case {"role": "assistant", "content": list(blocks)}:
                for block in blocks:
                    match block:
                        case {"name": "process", "arguments": {"action": str(act), **sent}}:
                            if act in STOPS:
                                self.running.pop(words(sent.get("sessionId")), None)
            case {
                "role": "toolResult",
                "toolCallId": str(call),
                "details": {"sessionId": str(name), **told},
            }:
                if told.get("status") == "running" and message.get("toolName") != "process":
                    self.running[name] = call
                elif name in self.running and number(told.get("exitCode")) is not None:
                    output, where = _answer(message, here)
                    end = ended({**message, "toolName": ""}, output or "")
                    first = self.running.pop(name)
                    self.ends[first] = ToolResult(where, first, output, *end)


def survey(source: Source) -> Survey:
    """Reads the file once; holds the tree, and the ends of commands that ran on."""
    found = Survey()
    tree: dict[str, Node] = {}
    header, session, begun = 0, "", ""
    for place, record in enumerate(source.records()):
        value = record.value
        if _is_header(value):
            if value["id"] != session:
                _grown(found, list(tree.values()))
                tree, header, session = {}, place, value["id"]
                begun = when(value.get("timestamp")) or ""
                found.ids.add(session)
            continue
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            continue
        if value["id"] in tree:
            found.copies.add(place)
            continue
        found.ids.add(value["id"])
        last = next(reversed(tree.values()), None)
        found.runs_on(value.get("message"), Origin(record.here))
        tree[value["id"]] = Node(place, value, _parent(value, tree, last))
        at = when(value.get("timestamp"))
        if at is not None and begun and at < begun:
            found.shared[header] = found.shared.get(header, 0) + 1
        if words(value.get("name")).startswith("subagent-") and value.get("type") == "session_info":
            found.briefed.add(header)
    _grown(found, list(tree.values()))
    return found


def _parent(value: Json, tree: dict[str, Node], last: Node | None) -> Node | None:
    """The entry that it names; where the file lacks that one, what stands before it."""
    if value.get("parentId") is None:
        return None if "parentId" in value else last
    above = tree.get(value["parentId"]) if isinstance(value["parentId"], str) else None
    return above if above is not None else last


def _grown(found: Survey, nodes: list[Node]) -> None:
    """Names the branches: the line that ends in the last entry is the visible one."""
    here: Node | None = nodes[-1] if nodes else None
    while here is not None:
        here.visible, here = True, here.parent
    count = 0
    begun: dict[Node | None, Node] = {}
    for node in nodes:
        above = node.parent
        if not node.visible:
            if above is not None and above.branch and not above.goes_on:
                node.branch, above.goes_on = above.branch, True
            else:
                count += 1
                node.branch = f"b{count}"
            found.branches[node.place] = node.branch
        if node.role == "user":
            if (earlier := begun.get(node.after)) is not None:
                found.replaces[node.place] = earlier.ident
            begun[node.after] = node


# Entries, one by one.


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

    def read(self, place: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        here = self._origin(place, record)
        if record.problem:
            yield Skipped(here, record.problem)
        elif place in self.found.copies:
            yield Skipped(here, "repeated history")
        elif _is_header(value):
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
        self.header = value
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

    def _failed(self, here: Origin, error: Any) -> Iterator[Event]:
        """OpenClaw's own record of an error that mostly stands in a message too."""
        if isinstance(error, str) and error.strip() and error not in ("aborted", self.failure):
            yield Notice(here, "limit" if LIMIT.search(error) else "model error", error)
        else:
            yield Skipped(here, "repeated error")

    def _message(self, place: int, message: Json, here: Origin) -> Iterator[Event]:
        content = message.get("content")
        match message.get("role"):
            case "user":
                yield from self._user(content, here)
            case "assistant":
                yield from self._assistant(place, message, here)
            case "toolResult":
                yield self._result(message, here)
            case "bashExecution" if words(message.get("command")):
                mark = "!!" if message.get("excludeFromContext") is True else "!"
                where = _by(here.below("/message/command"), "user")
                yield Message(where, "user", mark + message["command"], "shell line", within=True)
            case "system" | "developer":
                place_of = here.below("/message/content")
                yield Fact(place_of, "system_prompt", content_text(content))
            case str(role) if role in OF_EXTENSIONS:
                yield Skipped(here, "injected: by an extension")
            case str(role) if role in SUMMARIES:
                yield Skipped(here, "injected: summary")
            case role:
                yield Skipped(here, f"unknown role{named(role)}")

    def _user(self, content: Any, here: Origin) -> Iterator[Event]:
        """A human's words, but for what the harness sets around them or in their place."""
        here = _by(here, "user")
        parts = list(_texts(content))
        path, text = parts[0] if len(parts) == 1 else ("", "\n".join(text for _, text in parts))
        pictures = attachments(content, "/message/content")
        why = _injected(text) or self.nobodys
        self.nobodys = self.nobodys and LATER
        where = here.below(f"/message/content{path}")
        if why == BRIEF and text.strip():
            yield Fact(_by(where, "system"), "brief", text)
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
        here = _by(here, "agent")
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
                yield ToolCall(here.below(path), str(call), tool, sent, name)
            case {"type": kind}:
                yield Skipped(here, f"unknown content part{named(kind)}")
            case _:
                yield Skipped(here, "unknown content part")

    def _stopped(self, message: Json, here: Origin) -> Iterator[Event]:
        """How a message ended, where it did not end by itself."""
        here = _by(here, "system")
        reason = message.get("stopReason")
        match reason:
            case "error":
                key = "errorMessage" if words(message.get("errorMessage")) else "stopReason"
                self.failure = message[key]
                kind = LIMIT.search(self.failure)
                where = here.below(pointer("message", key))
                yield Notice(where, "limit" if kind else "model error", self.failure)
            case "aborted":
                yield Notice(here.below("/message/stopReason"), "interrupted")
            case "length":
                yield Notice(here.below("/message/stopReason"), "limit", reason)
            case "stop":
                yield Notice(here.below("/message/stopReason"), "ended")

    def _result(self, message: Json, here: Origin) -> Event:
        ident = message.get("toolCallId")
        call = self.calls.answer(ident) if isinstance(ident, str) and ident else None
        if call is None:
            return Skipped(here, "repeated result" if ident else "result without its call")
        output, where = _answer(message, here)
        end = ended(message, output or "")
        pictures = attachments(message.get("content"), "/message/content")
        later = self.found.ends.get(call) if end.outcome == "launched" else None
        return ToolResult(where, call, output, *end, attachments=pictures, end=later)


def ended(message: Json, output: str) -> Verdict:
    """The outcome of a call, by what the harness says beside its output."""
    match message.get("details"):
        case {"status": "running" | "completed" | "failed", "sessionId": str()} if (
            message.get("toolName") == "process" and message.get("isError") is not True
        ):  # what it looked at may have failed, the look did not
            return Verdict("ok", "process-read", "/message/details/status")
        case {"status": "running"}:
            return Verdict("launched", "still-running", "/message/details/status")
        case {"exitCode": int(code)} if number(code) is not None:
            outcome: Outcome = "failed" if code else "ok"
            return Verdict(outcome, "exit-code", "/message/details/exitCode", code)
        case {"status": "error" | "failed"}:
            return Verdict("failed", "status", "/message/details/status")
    match message.get("isError"):
        case True:
            for rule, pattern, outcome in ENDS:
                if pattern.search(output[-200:]):
                    return Verdict(outcome, rule, "/message/content")
            told = EXIT.search(output[-200:])
            return Verdict(
                "failed", "error-flag", "/message/isError", int(told[1]) if told else None
            )
        case False:
            return Verdict("ok", "error-flag", "/message/isError")
    return Verdict()


def _session_of(path: Any) -> str | None:
    """The session whose file a path names: `<time>_<id>.jsonl`, or its id alone."""
    if not isinstance(path, str) or not path:
        return None
    name = re.split(r"[/\\]", path)[-1].removesuffix(".jsonl")
    return name.rpartition("_")[2] or None


def _texts(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of a user's message, and where they stand below its content."""
    if isinstance(content, str):
        yield "", content
    for index, block in enumerate(content if isinstance(content, list) else ()):
        match block:
            case {"type": "text", "text": str(text)}:
                yield pointer(index, "text"), text


def _injected(text: str) -> str:
    """Why nobody typed this; empty where somebody did."""
    return next((why for why, pattern in INJECTED if pattern.match(text)), "")


def _answer(message: Json, here: Origin) -> tuple[str | None, Origin]:
    """What came back, and where it stands: in the record as a whole where nothing did."""
    content = message.get("content")
    if content is None:
        return None, _by(here, "agent")
    return content_text(content), _by(here.below("/message/content"), "agent")


def _by(here: Origin, actor: str) -> Origin:
    return Origin(here.evidence, here.at, actor, here.message, here.branch)
