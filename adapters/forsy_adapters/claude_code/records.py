"""What each record of a session says, as events."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from forsy_retrace.events import (
    Attachment,
    Delegation,
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import between, media_of, named, pointer, strings, text_of, words

from .changes import changes
from .kinds import BOOKKEEPING, FACTS, LIMIT, OF_A_LANE, ON_OFFER, PROGRESS, SYSTEM
from .lines import AGENT_TOOLS, Json, Line, is_result
from .places import at, deeper
from .queue import Queue
from .results import background, commit, exit_code, is_amended, kept, structured, verdict
from .threads import Threads
from .words import (
    ELSEWHERE,
    OTHER_AGENT,
    SKILL_BODY,
    SKILL_IN,
    answered,
    answered_in_part,
    is_meta,
    of_agents,
    pieces,
    sender,
    with_rejection,
)

USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


class Reader:
    """Reads lines in order and remembers what a later copy would repeat."""

    def __init__(self, found: Threads, queue: Queue) -> None:
        self.found, self.queue = found, queue
        self.seen: set[tuple[Any, ...]] = set()
        self.contents: dict[tuple[str, str | None], set[int]] = {}
        """What the records say that share a uuid and a time."""
        self.tools: dict[str, str] = {}
        self.delegated: set[str] = set()
        self.briefed = False
        self.command: str | None = None
        """The record of the last human words, where they are a command."""
        self.begin()

    def begin(self) -> None:
        """A session begins: nothing was told of it yet, and nothing said in it."""
        self.facts: dict[str, Any] = {}
        self.lanes: dict[str, dict[str, Any]] = {}
        """The same of each subagent."""
        self.answers: set[str] = set()
        """All words of the agent itself."""
        self.used: tuple[str | None, Json] = (None, {})
        """The last message of which figures were told, and they."""

    def read(self, line: Line) -> Iterator[Event]:
        """At least one event for each record."""
        here = self._origin(line, "user" if line.kind == "user" else "agent")
        if line.skip:
            yield Skipped(here, line.skip)
            return
        if not line.prefix and self._is_copy(line):
            yield Skipped(here, "repeated history")
            return
        if line.is_fork:
            above = line.follows.message if line.follows is not None else None
            yield Fact(at(here, pointer("parentUuid")), "follows", {"message": above})
        yield from self._session_facts(line, here)
        if line.lane and not (line.brief or line.is_meta) and line.lane not in self.delegated:
            yield from self._unbriefed(line, here)
        match line.body:
            case {"type": "assistant", "message": dict(message)}:
                yield from self._assistant(line, message)
            case {"type": "user", "message": dict(message)}:
                yield from self._user(line, message)
            case {"type": "system"}:
                yield from self._system(line, here)
            case {"type": "attachment", "attachment": dict(attachment)}:
                yield from self._attachment(line, here, attachment)
            case {"type": "progress", "data": dict(data)}:
                yield from self._progress(here, data)
            case {"type": "queue-operation"}:
                yield from self.queue.read(line, here)
            case {"type": "result"}:
                yield from self._result(line, here)
            case {"type": str(kind)} if kind in BOOKKEEPING:
                yield Skipped(here, f"bookkeeping: {kind}")
            case {"type": str(kind)}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "not a record")

    def _is_copy(self, line: Line) -> bool:
        """Copies keep their uuid and time; one id for everything is no copy."""
        if line.uuid is None or (line.uuid, line.at) not in self.found.repeated:
            return False
        contents = self.contents.setdefault((line.uuid, line.at), set())
        known = len(contents)
        contents.add(_content_key(line.body))
        return len(contents) == known

    def _origin(self, line: Line, role: str, path: str = "", message: str | None = None) -> Origin:
        actor = self.found.actors.get(line.lane, "agent") if line.lane else role
        if role in ("system", "user") and not line.lane:
            actor = role
        return Origin(line.here.at(line.prefix + path), line.at, actor, message, line.branch)

    def _session_facts(self, line: Line, here: Origin) -> Iterator[Event]:
        """What a record says of the session; a subagent's, of where that one works."""
        if line.lane and line.lane not in self.found.actors:
            return
        known = self.lanes.setdefault(line.lane, {}) if line.lane else self.facts
        for key, name in OF_A_LANE if line.lane else FACTS:
            value = line.body.get(key)
            if isinstance(value, str) and value and known.get(name) != value:
                known[name] = value
                yield Fact(at(here, pointer(key)), name, value)

    def _assistant(self, line: Line, message: Json) -> Iterator[Event]:
        model, uid = message.get("model"), message.get("id")
        line.message = ident = uid if isinstance(uid, str) else None
        here = self._origin(line, "agent", "/message", ident)
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if isinstance(content, str) and content.strip():
            blocks = [content]
        if model == "<synthetic>" or line.body.get("isApiErrorMessage") is True:
            yield self._synthetic(line, here, message)
            return
        if isinstance(model, str) and ("model", ident) not in self.seen:
            self.seen.add(("model", ident))
            yield Fact(at(here, "/message/model", line), "model", model)
        fresh = False
        for index, block in enumerate(blocks):
            path = f"/message/content/{index}" if content is blocks else "/message/content"
            origin = self._origin(line, "agent", path, ident)
            if isinstance(block, str):
                key = (ident or uid_of(line), "text", block)
                event = self._once(key, Message(origin, "agent", block))
            else:
                event = self._block(line, origin, block if isinstance(block, dict) else {}, ident)
            if event is not None:
                fresh = fresh or not isinstance(event, Skipped)
                yield event
        usage = message.get("usage")
        if fresh and isinstance(usage, dict):
            told = (ident, _usage(usage, model))
            if ident is None or told != self.used:  # a client writes them with each block
                yield Fact(at(here, "/message/usage", line), "usage", told[1])
            self.used = told
        elif not blocks or not fresh:
            yield Skipped(here, "repeated history" if blocks else "empty message")

    def _block(self, line: Line, here: Origin, block: Json, ident: str | None) -> Event | None:
        """One block of an answer; None where an earlier record already gave it."""
        kind = block.get("type")
        unit = ident or uid_of(line)
        match block:
            case {"type": "text", "text": str(text)}:
                if text.strip() in ("", "(no content)"):
                    return Skipped(here, "blank text")
                if not line.lane:
                    self.answers.add(text.strip())
                return self._once(
                    (unit, "text", text), Message(deeper(here, "text"), "agent", text)
                )
            case {"type": "thinking", "thinking": str(text)} if text.strip():
                return self._once(
                    (unit, "thinking", text), Thinking(deeper(here, "thinking"), text)
                )
            case {"type": "thinking" | "redacted_thinking"}:
                return Skipped(here, "hidden reasoning")
            case {
                "type": "tool_use" | "server_tool_use" | "mcp_tool_use",
                "id": str(call),
                "name": str(tool),
            }:
                self.tools[call] = tool
                return self._once(("call", call), _call(line, here, block, call, tool))
            case {"type": str(), "tool_use_id": str(call)}:
                origin = _held(here, block, "content")
                output = _shown(block)
                return self._once(
                    ("result", call), ToolResult(origin, call, output, "ok", "server-tool-result")
                )
            case {"type": "fallback"}:
                return Skipped(here, "model fallback")
        return Skipped(here, f"unknown block{named(kind)}")

    def _once(self, key: tuple[Any, ...], event: Event) -> Event | None:
        if key in self.seen:
            return None
        self.seen.add(key)
        return event

    def _synthetic(self, line: Line, here: Origin, message: Json) -> Event:
        """What the client wrote in the model's name."""
        text = text_of(message.get("content"))
        if line.body.get("isApiErrorMessage") is not True:
            return Skipped(here, "the client's placeholder")
        where = _held(here, message, "content")
        return Notice(where, "limit" if LIMIT.search(text[:400]) else "model error", text)

    def _user(self, line: Line, message: Json) -> Iterator[Event]:
        content, body = message.get("content"), line.body
        here = self._origin(line, "user", "/message/content")
        if line.brief and not line.is_meta:
            yield self._brief(line, here)
            return
        if body.get("isCompactSummary") is True:
            if not line.lane:
                yield Fact(here, "brought", {"text": text_of(content)})
            yield Skipped(here, "injected: compaction summary")
            return
        if isinstance(content, str):
            events = list(self._words(line, here, content))
            yield from events or [Skipped(here, "repeated history")]
            return
        blocks = content if isinstance(content, list) else []
        found = False
        pictures = tuple(_pictures(blocks, f"{line.prefix}/message/content"))
        for index, block in enumerate(blocks):
            origin = self._origin(line, "user", f"/message/content/{index}")
            match block:
                case {"type": "tool_result", "tool_use_id": str(call)}:
                    events = list(self._tool_result(line, origin, block, call))
                case {"type": "text", "text": str(text)}:
                    events = list(self._words(line, deeper(origin, "text"), text, pictures))
                    pictures = () if any(isinstance(e, Message) for e in events) else pictures
                case str():
                    events = list(self._words(line, origin, block, pictures))
                case {"type": "image" | "document"}:
                    continue
                case _:
                    kind = block.get("type") if isinstance(block, dict) else None
                    events = [Skipped(origin, f"unknown block{named(kind)}")]
            found = found or bool(events)
            yield from events
        if pictures and not any(is_result(block) for block in blocks):
            event = self._picture_alone(line, here, blocks, pictures)
            found = found or event is not None
            if event is not None:
                yield event
        if not found:
            yield Skipped(here, "repeated history" if blocks else "empty message")

    def _picture_alone(
        self, line: Line, here: Origin, blocks: list[Any], pictures: tuple[Attachment, ...]
    ) -> Event | None:
        """A picture that no words came with."""
        shown = [block for block in blocks if isinstance(block, dict) and _is_picture(block)]
        key = ("picture", line.at or uid_of(line), *(str(block)[:200] for block in shown))
        if line.body.get("isMeta") is True or line.lane:
            return Skipped(here, "injected: picture")
        text = text_of(shown)
        return self._once(key, Message(here, "user", text, "typed", pictures, within=True))

    def _brief(self, line: Line, here: Origin) -> Event:
        call = self.found.calls.get(line.lane)
        if call is None and self.found.is_alone and not self.briefed:
            said = next((one.text for one in pieces(line.words) if one.via == "typed"), "")
            if said:
                self.briefed = True
                return Fact(here, "brief", said)
        if call is None or line.lane in self.delegated:
            return Skipped(here, "a subagent's brief")
        self.delegated.add(line.lane)
        return Delegation(here, call, self.found.actors.get(line.lane, "agent"))

    def _unbriefed(self, line: Line, here: Origin) -> Iterator[Event]:
        """A subagent whose log lacks its brief (2.0.60) was started all the same."""
        self.delegated.add(line.lane)
        call = self.found.calls.get(line.lane)
        if call is not None:
            yield Delegation(here, call, self.found.actors.get(line.lane, "agent"))

    def _words(
        self, line: Line, here: Origin, text: str, pictures: tuple[Attachment, ...] = ()
    ) -> Iterator[Event]:
        """What of a user turn's text is a human's."""
        key = ("said", line.at or uid_of(line), text)
        if key in self.seen:
            return
        self.seen.add(key)
        for part in pieces(text):
            if part.notice == "interrupted" and line.body.get("interruptedByShutdown") is True:
                why = "the client was shut down"
                yield Skipped(here, why) if line.lane else Notice(here, "cut", why)
            elif part.notice == "interrupted":
                actor = here.actor if line.lane else "system"
                yield Notice(
                    Origin(here.evidence, here.at, actor, None, here.branch), "interrupted"
                )
            elif part.notice == "cleared":
                yield Notice(here, "cleared")
            elif is_meta(line.body, part):
                yield from self._injected(line, here, text, part.reason)
            elif part.reason == "notice: background task ended":
                yield self._notification(here, text)
            elif part.reason == OTHER_AGENT and not line.lane:
                told = of_agents(text)
                reports = [event for one in told for event in self._of_agent(here, *one)]
                yield from reports or [Notice(here, "ended", part.reason)]
            elif line.lane and part.via is not None:
                yield Skipped(here, "message to a subagent")
            elif not line.lane and (why := sender(line.body, part)):
                yield Notice(here, "ended", why)
            elif part.via is None:
                yield Skipped(here, part.reason)
            else:
                if part.notice == "plan":
                    yield Notice(here, "cleared")
                self.queue.said.add(part.text.strip())
                self.command = line.uuid if part.via == "command" else None
                within = part.text != text
                yield Message(here, "user", part.text, part.via, pictures, within=within)

    def _injected(self, line: Line, here: Origin, text: str, reason: str) -> Iterator[Event]:
        """What the client put in by itself; a skill's text came with the call that names it.

        One that the user invoked, and any command's text, stands right behind the command.
        """
        first = text.partition("\n")[0].strip()
        folder = first.removeprefix(SKILL_IN).strip() if first.startswith(SKILL_IN) else None
        brought = {"text": text, "folder": folder}
        call = line.body.get("sourceToolUseID")
        if isinstance(call, str) and self.tools.get(call) == "Skill":
            yield Fact(here, "brought", {"call": call, **brought})
        elif self.command and line.parent == self.command and reason in ("", SKILL_BODY):
            if folder:
                yield Fact(here, "skills", [folder.replace("\\", "/").rpartition("/")[2]])
            yield Fact(here, "brought", brought)
        else:
            yield Skipped(here, reason or "injected: text")

    def _of_agent(self, here: Origin, name: str, said: str) -> Iterator[Event]:
        """What a subagent or a member of a team reports, if it was started here.

        What its client says in its name, that it is idle or has shut down, is an object.
        """
        if name in self.found.mates and said.strip() and not said.lstrip().startswith('{"'):
            actor, call = self.found.mates[name]
            origin = Origin(here.evidence, here.at, actor, None, here.branch)
            yield Message(origin, "agent", said, "notification", answers=call, within=True)

    def _mailbox(self, here: Origin, held: list[Any]) -> Iterator[Event]:
        """The messages of a team that reached the agent amid its work."""
        found = False
        for index, one in enumerate(held):
            match one:
                case {"from": str(name), "text": str(said)}:
                    where = deeper(deeper(here, str(index)), "text")
                    for event in self._of_agent(where, name, said):
                        found = True
                        yield event
        if not found:
            yield Skipped(here, OTHER_AGENT)

    def _notification(self, here: Origin, text: str) -> Event:
        """The end of a background task; a subagent's brings its report."""
        names = ("task-id", "tool-use-id", "result")
        tags = {name: between(text, f"<{name}>", f"</{name}>") or "" for name in names}
        lane = tags["task-id"]
        actor, call = self.found.actors.get(lane), self.found.calls.get(lane, "")
        if actor is None and lane in self.found.mates:  # its log is not here
            actor, call = self.found.mates[lane]
        call = call or tags["tool-use-id"]
        if actor is None:
            lanes = [lane for lane, start in self.found.calls.items() if start == call]
            actor = self.found.actors.get(lanes[0]) if lanes else None
            if actor is None and self.tools.get(call) in AGENT_TOOLS:
                actor = "subagent:agent_1" if not self.found.actors else None
        report = tags["result"].strip()
        if actor is None or not report or report.startswith(ELSEWHERE):
            return Skipped(here, "notice: background task ended")
        origin = Origin(here.evidence, here.at, actor, None, here.branch)
        return Message(origin, "agent", report, "notification", answers=call, within=True)

    def _tool_result(self, line: Line, here: Origin, block: Json, call: str) -> Iterator[Event]:
        if ("result", call) in self.seen:
            return
        self.seen.add(("result", call))
        extra = structured(line.body)
        text = text_of(block.get("content"))
        found = verdict(block, text, extra, line.body, stopped=self._is_stopped(call))
        origin = _held(here, block, "content")
        base = here.evidence.pointer
        basis = kept(line.body, found.basis)
        if basis in ("content", "is_error"):
            basis = f"{base}/{basis}"
        actor = self.found.actors.get(line.lane, "agent") if line.lane else "agent"
        yield ToolResult(
            Origin(origin.evidence, here.at, actor, None, here.branch),
            call,
            _shown(block),
            found.outcome,
            found.rule,
            basis or base,
            exit_code(text, extra),
            tuple(replace(one, pointer=kept(line.body, one.pointer)) for one in changes(extra)),
            (*_pictures(block.get("content"), f"{base}/content"), *self._spilled(text)),
            end=self.found.ends.get(background(extra, text)),
            amended=is_amended(extra),
            commit=commit(extra),
        )
        if not line.lane:
            yield from self._spoken(line, origin, call, text, found.outcome)

    def _is_stopped(self, call: str) -> bool:
        """Whether hooks ran before a call and none behind it, as one does behind failures."""
        before, after, failed = (
            self.found.hooks.get(f"{event}:{self.tools.get(call)}", ())
            for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure")
        )
        return bool(failed) and call in before and call not in failed and call not in after

    def _spilled(self, text: str) -> Iterator[Attachment]:
        """The file that holds the whole of an output which the client cut (2.1.49 and later)."""
        if text.startswith("<persisted-output>"):
            for name, size in self.found.spilled.items():
                if name in text[:600]:
                    yield Attachment("text/plain", size, f"tool-results/{name}")

    def _spoken(
        self, line: Line, here: Origin, call: str, text: str, outcome: str
    ) -> Iterator[Event]:
        """A human's words inside a result: with a rejection, or an answer to a question."""
        if outcome == "rejected":
            said = with_rejection(text)
            picked = answered_in_part(text)
            if said:
                yield Message(here, "user", said, "rejection", (), call, within=True)
            elif picked:
                yield Message(here, "user", picked, "answer", (), call, within=True)
        elif self.tools.get(call) == "AskUserQuestion" and outcome == "ok":
            said, place = answered(structured(line.body), text)
            if place:
                where = line.here.at(line.prefix + kept(line.body, place))
                here = Origin(where, here.at, "user", None, here.branch)
            if said.strip():
                yield Message(here, "user", said, "answer", (), call, within=True)

    def _system(self, line: Line, here: Origin) -> Iterator[Event]:
        body = line.body
        here = Origin(here.evidence, here.at, "system", None, here.branch)
        match body.get("subtype"):
            case "init":
                yield from self._init(body, here)
            case "compact_boundary":
                yield Notice(here, "compacted")
            case "model_refusal_fallback" | "model_refusal_no_fallback":
                where = _held(here, body, "content")
                yield Notice(where, "model error", words(body.get("content")))
            case "local_command" if "<command-name>/clear<" in str(body.get("content")):
                yield Notice(here, "cleared")
            case str(kind) if kind in SYSTEM:
                yield Skipped(here, SYSTEM[kind])
            case None:
                yield Skipped(here, "hook output")
            case kind:
                yield Skipped(here, f"unknown system record{named(kind)}")

    def _init(self, body: Json, here: Origin) -> Iterator[Event]:
        """The opening of a `stream-json` run."""
        yield Notice(here, "resumed")
        for key, name in (
            ("tools", "tools"),
            ("model", "offered_model"),
            ("permissionMode", "permission_mode"),
            ("claude_code_version", "version"),
            ("output_style", "output_style"),
        ):
            value = body.get(key)
            if value and self.facts.get(name) != value:
                self.facts[name] = value
                yield Fact(deeper(here, key), name, value)
        if body.get("tools"):
            yield Fact(deeper(here, "tools"), "shows", ON_OFFER)

    def _attachment(self, line: Line, here: Origin, attachment: Json) -> Iterator[Event]:
        origin = deeper(here, "attachment")
        match attachment:
            case {"type": "queued_command", "prompt": prompt}:
                text = text_of(prompt)
                where = Origin(
                    deeper(origin, "prompt").evidence, here.at, "user", None, here.branch
                )
                yield from self._queued(line, where, text)
            case {"type": "deferred_tools_delta", "addedNames": list(names)}:
                yield Fact(deeper(origin, "addedNames"), "tools", list(strings(names)))
            case {"type": "max_turns_reached" as kind} if not line.lane:
                where = Origin(origin.evidence, here.at, "system", None, here.branch)
                yield Notice(deeper(where, "type"), "limit", kind)
            case {"type": "teammate_mailbox", "messages": list(held)}:
                yield from self._mailbox(deeper(origin, "messages"), held)
            case {"type": "nested_memory"}:
                yield Fact(deeper(origin, "content"), "memory", text_of(attachment.get("content")))
            case {"type": str(kind)}:
                yield Skipped(here, f"attachment{named(kind)}")
            case _:
                yield Skipped(here, "attachment")

    def _queued(self, line: Line, here: Origin, text: str) -> Iterator[Event]:
        """A prompt that was queued while the agent worked, and delivered in mid-turn."""
        for event in self._words(line, here, text):
            match event:
                case Message(role="user", via="typed"):
                    yield Message(here, "user", event.text, "queued", within=event.within)
                case _:
                    yield event
        if ("said", line.at or uid_of(line), text) not in self.seen:
            yield Skipped(here, "repeated history")

    def _progress(self, here: Origin, data: Json) -> Iterator[Event]:
        kind = data.get("type")
        if kind == "hook_progress" and data.get("hookName") == "SessionStart:clear":
            yield Notice(here, "cleared")
        else:
            yield Skipped(here, PROGRESS.get(str(kind), "progress"))

    def _result(self, line: Line, here: Origin) -> Iterator[Event]:
        """The end of a `stream-json` run; its text repeats the last answer, if that is there."""
        body = line.body
        facts = {
            key: body[key]
            for key in ("subtype", "is_error", "num_turns", "total_cost_usd", "duration_ms")
            if isinstance(body.get(key), (str, int, float, bool))
        }
        yield Fact(here, "run_end", facts)
        subtype, text = words(body.get("subtype")), words(body.get("result"))
        is_known = text.strip() in self.answers
        if subtype.startswith("error_max"):
            yield Notice(deeper(here, "subtype"), "limit", subtype)
        elif subtype.startswith("error") or body.get("is_error") is True:
            if not is_known:
                path = "result" if text else "subtype"
                yield Notice(deeper(here, path), "model error", text or subtype)
        elif text.strip() and not is_known:
            yield Message(deeper(here, "result"), "agent", text)


def _call(line: Line, here: Origin, block: Json, call: str, tool: str) -> ToolCall:
    """A call as it was sent; the client may have put other arguments in their place (2.1.267)."""
    name, kept = f"{here.evidence.pointer}/name", block.get("input")
    match line.body:
        case {"wireToolInputs": {**all_sent}} if not line.prefix:
            sent = all_sent.get(call)
            if isinstance(sent, dict) and sent != kept:
                where = at(here, pointer("wireToolInputs", call))
                return ToolCall(where, call, tool, sent, name, Meant(tool, kept))
    return ToolCall(_held(here, block, "input"), call, tool, kept, "" if "input" in block else name)


def _held(here: Origin, block: Json, key: str) -> Origin:
    """The place of a block's own value; the block itself where it has none."""
    return deeper(here, key) if key in block else here


def _shown(block: Json) -> str | None:
    """What a result shows; None where it has no content."""
    content = block.get("content")
    return None if content is None else text_of(content)


def uid_of(line: Line) -> Any:
    """What tells a record without a time from every other: its uuid, or its place."""
    return line.uuid if line.uuid is not None else line.here.record


def _content_key(body: Json) -> int:
    """The kind and size of what a record says: tells copies from records that share an id."""
    message = msgspec.json.encode(body.get("message"))
    return hash((str(body.get("type")), len(message), message[:200]))


def _usage(usage: Json, model: Any) -> Json:
    counted = {key: usage[key] for key in USAGE if isinstance(usage.get(key), int)}
    return {"model": model if isinstance(model, str) else None, **counted}


def _is_picture(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image", "document")


def _pictures(blocks: Any, base: str) -> Iterator[Attachment]:
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if _is_picture(block):
            media, size = media_of(block)
            yield Attachment(media, size, f"{base}/{index}/source/data")
