"""What an agent's message holds: words, reasoning in its dialects, calls, tools on offer."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.dialects import Call, arguments, content_text, part_text
from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
)
from forsy_retrace.sdk import later, text_or_json

from .harnesses import in_the_models_place
from .place import Json, Place, Told, opened, text_in
from .verdicts import in_content, result

REASONING = ("reasoning_content", "reasoning", "thinking")
THOUGHTS = ("thinking", "think", "reasoning")
PLAIN = ("text", "content")
"""Where a part keeps its text; AgentDojo writes the second."""
THINK = later(r"\A\s*<think>.*?</think>", re.S)
COPIES = ("tool_call", "tool_output", "toolCall", "tool_calls")
"""Parts with which some writers repeat what `tool_calls` says."""


def spoken(message: Json, here: Place) -> Iterator[Told]:
    content = message.get("content")
    where = here.words
    if told := in_the_models_place(content_text(content), where):
        yield told
    elif isinstance(content, str):
        if content.strip():
            yield said(content, where.origin(), is_whole=True)
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield from _part(part, where.deeper(index))
    for path in (("refusal",), ("audio", "transcript")):
        holder = message if len(path) == 1 else message.get(path[0])
        text = text_in(holder, path[-1])
        if text:
            yield said(text, here.deeper(*path).origin())


def _part(part: Any, here: Place) -> Iterator[Told]:
    """One part of an agent's content; calls among the parts are read with the others."""
    match part:
        case {"type": "tool_use"}:
            return
        case {"type": str(kind)} if kind in THOUGHTS:
            key = next((k for k in ("thinking", "think", *PLAIN) if text_in(part, k)), "")
            yield thought(part[key], here.deeper(key).origin()) if key else _hidden(here)
        case {"type": str(kind)} if kind in COPIES:
            yield Told(None, Skipped(here.origin(), "a copy of a call"))
        case {"type": "refusal", "refusal": str(text)} if text.strip():
            yield said(text, here.deeper("refusal").origin())
        case {"text": {"value": str(text)}} if text.strip():
            yield said(text, here.deeper("text", "value").origin())
        case {"text": str(text)}:
            if text.strip():
                yield said(text, here.deeper("text").origin(), is_whole=True)
        case {"type": "text", "content": str(text)}:
            if text.strip():
                yield said(text, here.deeper("content").origin())
        case {"type": "redacted_thinking"}:
            yield _hidden(here)
        case _:
            yield said(part_text(part), here.origin())


def said(text: str, origin: Origin, *, is_whole: bool = False) -> Told:
    """Words of the agent, known again without the reasoning that a client glued before them."""
    key = ("agent", THINK.sub("", text).strip())
    return Told(key, Message(origin, "agent", text), is_whole=is_whole)


def idea(holder: Json, here: Place) -> Iterator[Told]:
    """The words before an action, which SWE-agent keeps apart from it; often there are none."""
    if text := text_in(holder, "thought"):
        yield said(text, here.deeper("thought").origin())


def thought(text: str, origin: Origin) -> Told:
    """Reasoning, which a later copy of the history may lack."""
    return Told(None, Thinking(origin, text))


def choice_branch(number: int, here: Place) -> str:
    """The branch of a choice of the reply at `here`; the first stands on the visible line."""
    return f"choice {number} of {here.message or here.name}" if number else ""


def beside(here: Place) -> Told:
    """Another choice of a reply, which nobody went back on."""
    return Told(None, Fact(here.origin("system"), "beside", here.branch))


def _hidden(here: Place) -> Told:
    return Told(None, Skipped(here.origin(), "hidden reasoning"))


def reasoning(message: Json, here: Place) -> Iterator[Told]:
    """Each dialect's field, once: Hermes writes the same text under two names."""
    key = next((k for k in REASONING if text_in(message, k)), "")
    if key:
        yield thought(message[key], here.deeper(key).origin())
        return
    details = message.get("reasoning_details")
    for index, detail in enumerate(details if isinstance(details, list) else ()):
        key = next((k for k in ("text", "summary") if text_in(detail, k)), "")
        where = here.deeper("reasoning_details", index)
        yield thought(detail[key], where.deeper(key).origin()) if key else _hidden(where)


def called(call: Call, here: Place, meant: Meant | None = None, reading: str = "") -> Told:
    """A call, known again by its id, or by what it asks for."""
    key = ("call", call.id, call.name, "" if call.id else text_or_json(call.input))
    origin = replace(here.to(call.pointer).origin(), reading=reading)
    return Told(key, ToolCall(origin, call.id, call.name, call.input, call.named, meant))


def printed(output: Any, here: Place) -> tuple[str, Place]:
    """What came back of a call as text, and where it stands: the code interpreter's logs alone."""
    match output:
        case [{"type": "logs", "logs": str(text)}]:
            return text, here.deeper(0, "logs")
    return content_text(output), here


def executed(tools: Any, here: Place) -> Iterator[Told]:
    """Groq's `executed_tools`: calls that the server made itself, with what came back."""
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        where = here.deeper(index)
        match tool:
            case {"type": str(kind), "arguments": sent}:
                ident = where.name
                path = f"{where.pointer}/arguments"
                yield called(
                    Call(ident, kind, arguments(sent), path, f"{where.pointer}/type"), where
                )
                output = tool.get("output")
                if isinstance(output, str) and output:
                    found = in_content(output, f"{where.pointer}/output")
                    at = where.deeper("output").origin()
                    yield Told(("result", ident, ""), result(at, ident, output, found))
            case _:
                yield Told(None, Skipped(where.origin(), "unknown executed tool"))


def offered(holder: Json, here: Place) -> Iterator[Told]:
    """The tools that a request puts on offer, by name."""
    for key in ("tools", "functions"):
        listed = opened(holder.get(key))
        tools = listed if isinstance(listed, list) else []
        names = [name for tool in tools if (name := _tool_name(tool))]
        if names:
            event: Event = Fact(here.deeper(key).origin("system"), "tools", names)
            yield Told(None, event)


def _tool_name(tool: Any) -> str:
    match tool:
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
            return name
        case {"name": str(name)}:
            return name
        case {"type": "mcp"}:
            return ""
        case {"type": str(kind)}:
            return kind
        case str():
            return tool
    return ""
