"""What the client notes beside the messages: its own state, attachments, the end of a run."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Message, Notice, Origin, Skipped
from forsy_retrace.sdk import later, named, strings, text_of, words

from .blocks import held_at
from .kinds import ON_OFFER, PROGRESS, PROMPT, SYSTEM
from .known import Known
from .lines import Json, Line
from .places import deeper
from .prompts import Prompts

REFUSED = "UserPromptSubmit operation blocked by hook:"
"""How the client tells that a hook kept what a human typed from the agent."""

STOPPED = later(r"\A\S.{0,80}'s safeguards stopped the response")
"""How the client tells that the API kept back the rest of an answer, and goes on (2.1.332)."""
STAND_IN = "DeferredToolPlaceholder"
"""What stands in a request for the tools that are to be loaded."""

STRUCTURED = "StructuredOutput"
"""The tool that hands in what a run's end says again."""


class Notes:
    """Reads the records that are no message."""

    def __init__(self, known: Known, prompts: Prompts) -> None:
        self.known, self.prompts = known, prompts

    def system(self, line: Line, here: Origin) -> Iterator[Event]:
        """A `system` record, by its subtype."""
        body = line.body
        here = Origin(here.evidence, here.at, "system", None, here.branch)
        match body.get("subtype"):
            case "init":
                yield from self._init(body, here)
            case "compact_boundary":
                yield Notice(here, "compacted")
            case "informational" if STOPPED.search(words(body.get("content"))[:300]):
                yield Notice(deeper(here, "content"), "model error", words(body.get("content")))
            case "model_refusal_no_fallback" if not words(body.get("content")).strip():
                yield Skipped(here, "a refusal that the next record tells")
            case "model_refusal_fallback" | "model_refusal_no_fallback":
                where = held_at(here, body, "content")
                yield Notice(where, "model error", words(body.get("content")))
            case "local_command" if "<command-name>/clear<" in str(body.get("content")):
                yield Notice(here, "cleared")
            case "informational" if words(body.get("content")).startswith(REFUSED):
                yield Skipped(here, "a prompt that a hook refused")
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
            if value and self.known.facts.get(name) != value:
                self.known.facts[name] = value
                yield Fact(deeper(here, key), name, value)
        if body.get("tools"):
            yield Fact(deeper(here, "tools"), "shows", ON_OFFER)

    def attachment(self, line: Line, here: Origin, attachment: Json) -> Iterator[Event]:
        """What the client attached: a queued prompt, tools, words of others, or its own state."""
        origin = deeper(here, "attachment")
        match attachment:
            case {"type": "queued_command", "prompt": prompt}:
                text = text_of(prompt)
                where = Origin(
                    deeper(origin, "prompt").evidence, here.at, "user", None, here.branch
                )
                yield from self.prompts.queued(line, where, text)
            case {"type": "deferred_tools_delta", "addedNames": list(names)}:
                yield Fact(deeper(origin, "addedNames"), "tools", list(strings(names)))
            case {"type": "max_turns_reached" as kind} if not line.lane:
                where = Origin(origin.evidence, here.at, "system", None, here.branch)
                yield Notice(deeper(where, "type"), "limit", kind)
            case {"type": "teammate_mailbox", "messages": list(held)}:
                yield from self.prompts.reports.mailbox(deeper(origin, "messages"), held)
            case {"type": "nested_memory", "content": {"content": str(text)}}:
                yield Fact(deeper(deeper(origin, "content"), "content"), "memory", text)
            case {"type": "instructions", "files": list(files)}:
                yield from self._instructions(deeper(origin, "files"), files)
            case {"type": "prompt_snapshot"} if not line.lane:
                yield from self._snapshot(origin, attachment)
            case {"type": "environment", "snapshot": {"platform": str(name)}} if not line.lane:
                yield Fact(deeper(deeper(origin, "snapshot"), "platform"), "platform", name)
            case {"type": str(kind)}:
                yield Skipped(here, f"attachment{named(kind)}")
            case _:
                yield Skipped(here, "attachment")

    def _instructions(self, here: Origin, files: list[Any]) -> Iterator[Event]:
        """The files of instructions that a session begins with (2.1.3xx)."""
        found = False
        for index, file in enumerate(files):
            match file:
                case {"content": str(text)}:
                    found = True
                    yield Fact(deeper(deeper(here, str(index)), "content"), "memory", text)
        if not found:
            yield Skipped(here, "attachment: instructions")

    def _snapshot(self, here: Origin, told: Json) -> Iterator[Event]:
        """What the client notes of a request (2.1.290): its system prompt, and the tools later."""
        events = [
            *self._prompt(deeper(here, "systemPrompt"), told.get("systemPrompt")),
            *self._offered(deeper(here, "tools"), told.get("tools")),
        ]
        yield from events or [Skipped(here, "attachment: prompt_snapshot")]

    def _prompt(self, here: Origin, parts: Any) -> Iterator[Event]:
        """The parts of the system prompt, each once: the client notes all of it again."""
        found = False
        for index, text in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(text, str) and text.strip():
                told = Fact(deeper(here, str(index)), "system_prompt", text)
                if self.known.once(("system prompt", text), told) is not None:
                    found = True
                    yield told
        if found:
            yield Fact(here, "shows", PROMPT)

    def request(self, here: Origin, tools: list[Any]) -> Iterator[Event]:
        """The tools that a kept request offered; what else it says, other records say."""
        events = list(self._offered(here, tools))
        yield from events or [Skipped(here, "bookkeeping: api-request-shape")]

    def _offered(self, here: Origin, tools: Any) -> Iterator[Event]:
        """The names of tools on offer, once."""
        listed = tools if isinstance(tools, list) else ()
        names = strings([one.get("name") for one in listed if isinstance(one, dict)])
        offered = [name for name in names if name != STAND_IN]
        told = Fact(here, "tools", offered)
        if offered and self.known.once(("offered", *offered), told) is not None:
            yield told
            yield Fact(here, "shows", ON_OFFER)

    def progress(self, here: Origin, data: Json) -> Iterator[Event]:
        """What went on while a tool ran; after `/clear` a hook of it is all that the log has."""
        kind = data.get("type")
        if kind == "hook_progress" and data.get("hookName") == "SessionStart:clear":
            yield Notice(here, "cleared")
        else:
            yield Skipped(here, PROGRESS.get(str(kind), "progress"))

    def end(self, line: Line, here: Origin) -> Iterator[Event]:
        """The end of a `stream-json` run; its text repeats the last answer, if that is there."""
        body = line.body
        facts = {
            key: body[key]
            for key in ("subtype", "is_error", "num_turns", "total_cost_usd", "duration_ms")
            if isinstance(body.get(key), (str, int, float, bool))
        }
        yield Fact(here, "run_end", facts)
        subtype, text = words(body.get("subtype")), words(body.get("result"))
        is_known = text.strip() in self.known.answers or STRUCTURED in self.known.tools.values()
        if subtype.startswith("error_max"):
            yield Notice(deeper(here, "subtype"), "limit", subtype)
        elif subtype.startswith("error") or body.get("is_error") is True:
            if not (is_known or words(body.get("terminal_reason")).startswith("aborted")):
                path = "result" if text else "subtype"
                yield Notice(deeper(here, path), "model error", text or subtype)
        elif text.strip() and not is_known:
            yield Message(deeper(here, "result"), "agent", text)
