"""The parts of messages in JSON: texts, reasoning, calls, results, files."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import Media, arguments, calls, media
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import base64_size, compact, number, opened, pointer, words

Json = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}


class Part(NamedTuple):
    """One part of a message, and where its value stands."""

    kind: Literal["text", "thinking", "call", "result", "file", "cut", "unknown"]
    role: Role | None
    value: Any
    """A text, what a call was given, what came back, `Media`; None where the log leaves it out."""
    pointer: str
    id: str = ""
    """The call's, where the log gives it one."""
    tool: str = ""
    named: str | None = None
    """Where the tool's name stands."""
    verdict: Verdict = Verdict()
    """What a result says of itself."""
    of: str = ""
    """The message that it is of."""


class Form(NamedTuple):
    """How a kind of part is written: the keys of its value, of its call's id and of its tool."""

    kind: Literal["text", "thinking", "call", "result"]
    value: tuple[str, ...]
    id: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()


FORMS: dict[str, Form] = {
    # By the `type` of a part.
    "text": Form("text", ("content", "text")),
    "input_text": Form("text", ("text",)),
    "output_text": Form("text", ("text",)),
    "reasoning": Form("thinking", ("content", "text")),
    "thinking": Form("thinking", ("content", "thinking", "text")),
    "tool_call": Form("call", ("arguments",), ("id",), ("name",)),
    "tool_use": Form("call", ("input",), ("id",), ("name",)),
    "tool-call": Form("call", ("input", "args"), ("toolCallId",), ("toolName",)),
    "tool_call_response": Form("result", ("response", "result", "content"), ("id",), ("name",)),
    "tool_result": Form("result", ("content",), ("tool_use_id",)),
    "tool-result": Form("result", ("output", "result"), ("toolCallId",), ("toolName",)),
}
BLOCKS: dict[str, Form] = {
    # By the one key of a part that has no type, as Amazon's Converse has it.
    "toolUse": Form("call", ("input",), ("toolUseId",), ("name",)),
    "toolResult": Form("result", ("content",), ("toolUseId",)),
}
CODES = ("exit_code", "exitCode", "returncode")
WORDS_OF_ERRORS = ("error-text", "error-json")
"""Types of the Vercel AI SDK's outputs of tools that failed."""


def message(value: Json, base: str, otherwise: Role) -> Iterator[Part]:
    """The parts of one message."""
    role = ROLES.get(words(value.get("role")), otherwise)
    key = "parts" if "parts" in value else "content"
    answered, where = words(value.get("tool_call_id")), base + pointer(key)
    if answered or (role == "tool" and isinstance(value.get(key), str)):
        yield result(value.get(key), where, answered)
    else:
        yield from (part._replace(of=base) for part in content(value.get(key), where, role))
    holder, at = value, base
    if not value.get("tool_calls") and isinstance(value.get("additional_kwargs"), dict):
        holder, at = value["additional_kwargs"], base + "/additional_kwargs"  # LangChain's
    if holder.get("tool_calls"):
        for one in calls(holder, at):
            named = one.named or one.pointer.rpartition("/")[0] + "/name"
            yield Part("call", role, one.input, one.pointer, one.id, one.name, named, of=base)


def content(held: Any, base: str, role: Role) -> Iterator[Part]:
    """A text, or a list of parts that may stand as a text itself."""
    if isinstance(held, str):
        inner = opened(held) if held.lstrip()[:1] == "[" else None
        if not (inner and isinstance(inner, list) and all(map(_is_part, inner))):
            yield Part("text", role, held, base, of=base)
            return
        held = inner
    for index, part in enumerate(held if isinstance(held, list) else ()):
        if isinstance(part, dict):
            yield _part(part, base + pointer(index), role)._replace(of=base)
        elif isinstance(part, str):
            yield Part("text", role, part, base + pointer(index), of=base)


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and ("type" in value or "text" in value or bool(_block(value)))


def _block(part: Json) -> str:
    return next((key for key in BLOCKS if isinstance(part.get(key), dict)), "")


def _part(part: Json, base: str, role: Role) -> Part:
    if key := _block(part):
        return formed(part[key], base + pointer(key), role, BLOCKS[key])
    kind = part.get("type", "text" if "text" in part else None)
    form = FORMS.get(kind) if isinstance(kind, str) else None
    if form is None:
        found = file_in(part)
        if found is None:
            return Part("text", role, compact(part), base)
        return Part("file", role, found, base + found.path)
    return formed(part, base, role, form)


def formed(part: Json, base: str, role: Role, form: Form) -> Part:
    key = next((key for key in form.value if part.get(key) is not None), "")
    value, where = (part[key], base + pointer(key)) if key else (None, base)
    ident = words(*(part.get(name) for name in form.id))
    if form.kind == "result":
        return result(value, where, ident, part, base)
    named = next((name for name in form.tool if words(part.get(name))), "")
    tool = words(part.get(named))
    if form.kind == "call" and key:
        value = arguments(value)
    elif form.kind != "call":
        value = value if isinstance(value, str) else None
    return Part(
        form.kind, role, value, where, ident, tool, base + pointer(named) if named else None
    )


def result(value: Any, where: str, ident: str, part: Any = None, base: str = "") -> Part:
    """What came back of a call; texts are taken out of what they are wrapped in."""
    verdict = Verdict()
    match part:
        case {"status": "success" | "error" as word}:
            verdict = status(word, base + "/status")
    match value:
        case {"type": str(kind), "value": inner}:
            if kind in WORDS_OF_ERRORS:
                verdict = Verdict("failed", "error-text", where + "/type")
            value, where = inner, where + "/value"
        case [{"text": str(text)}]:
            value, where = text, where + "/0/text"
    if verdict.outcome == "unknown":
        verdict = told_by(value, where)
    return Part("result", "tool", value, where, ident, verdict=verdict)


def told_by(value: Any, where: str) -> Verdict:
    """What an answer in JSON says of itself: a flag for an error, an exit code."""
    held = opened(value) if isinstance(value, str) and value.lstrip()[:1] == "{" else value
    match held:
        case {"isError": bool(flag)}:
            return Verdict("failed" if flag else "ok", "error-flag", where + "/isError")
        case dict():
            for key in CODES:
                if (code := number(held.get(key))) is not None:
                    at = where + pointer(key)
                    return Verdict("failed" if code else "ok", "exit-code", at, code)
    return Verdict()


def status(word: str, where: str) -> Verdict:
    """The verdict of a word for how a call ended."""
    outcomes: dict[str, Outcome] = {"success": "ok", "error": "failed"}
    return Verdict(outcomes[word], "status", where) if word in outcomes else Verdict()


def file_in(part: Json) -> Media | None:
    """A picture, sound or document of a message."""
    match part:
        case {"type": "blob", "mime_type": str(kind), "content": str(data)}:
            return Media(kind, base64_size(data), "/content")
        case {"type": "file" | "image", "mediaType": str(kind), "data": str(data)}:
            return Media(kind, base64_size(data), "/data")
        case {"type": "uri" | "file", "mime_type": str(kind)}:
            return Media(kind, 0, "")
    return media(part)
