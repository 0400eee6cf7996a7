"""What the client notes beside the messages: its own state, attachments, the end of a run."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Message, Notice, Origin, Skipped
from forsy_retrace.sdk import named, strings, text_of, words

from .blocks import held_at
from .kinds import ON_OFFER, PROGRESS, SYSTEM
from .known import Known
from .lines import Json, Line
from .places import deeper
from .prompts import Prompts


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
            case "model_refusal_fallback" | "model_refusal_no_fallback":
                where = held_at(here, body, "content")
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
            case {"type": "nested_memory"}:
                yield Fact(deeper(origin, "content"), "memory", text_of(attachment.get("content")))
            case {"type": str(kind)}:
                yield Skipped(here, f"attachment{named(kind)}")
            case _:
                yield Skipped(here, "attachment")

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
        is_known = text.strip() in self.known.answers
        if subtype.startswith("error_max"):
            yield Notice(deeper(here, "subtype"), "limit", subtype)
        elif subtype.startswith("error") or body.get("is_error") is True:
            if not is_known:
                path = "result" if text else "subtype"
                yield Notice(deeper(here, path), "model error", text or subtype)
        elif text.strip() and not is_known:
            yield Message(deeper(here, "result"), "agent", text)
