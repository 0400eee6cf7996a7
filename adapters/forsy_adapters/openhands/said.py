"""Words and thoughts of the SDK's events, and what the client puts beside them."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Message, Origin, Skipped, Thinking
from forsy_retrace.sdk import later, pointer, words

from .shapes import OFFERED, Json

OWN = later(
    r"I received your image, but the currently selected model \("
    r"|ACP error: |ACP prompt timed out after "
)
"""How words begin that the client says in the agent's place."""
INJECTED = later(
    r"Your previous response was blocked by the model's content filter\."
    r"|Parameter '[^'\n]{1,200}' is (?:not allowed for function|expected to be) "
    r"|Missing required parameters for function '"
    r"|Function '[^'\n]{1,200}' not found in available tools: "
)
"""How words begin that the client itself says in the user's place."""


def prompt(value: Json, here: Origin) -> Iterator[Event]:
    """The system prompt; the tools on offer, where they are told by their names (SDK 1.0)."""
    match value.get("system_prompt"):
        case {"text": str(text)} if text.strip():
            yield Fact(here.below("/system_prompt/text"), "system_prompt", text)
    tools = value.get("tools")
    names = [
        words(one["function"].get("name"))
        for one in (tools if isinstance(tools, list) else ())
        if isinstance(one, dict) and isinstance(one.get("function"), dict)
    ]
    if names and all(names):
        yield Fact(here.below("/tools"), "tools", names)
        yield Fact(here.below("/tools"), "shows", OFFERED)


def thought(held: Any, here: Origin) -> Iterator[Event]:
    """Recorded reasoning, once: a provider's blocks are told as one text too."""
    if not isinstance(held, dict):
        return
    if whole := words(held.get("reasoning_content")):
        yield Thinking(here.below("/reasoning_content"), whole)
    blocks = held.get("thinking_blocks")
    for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
        where = here.below(pointer("thinking_blocks", at))
        match block:
            case {"thinking": str(text)} if text.strip():
                if text not in whole:
                    yield Thinking(where.below("/thinking"), text)
            case _:
                yield Skipped(where.by("system"), "hidden reasoning")
    match held.get("responses_reasoning_item"):
        case {"summary": list(texts)} if any(words(one) for one in texts):
            for at, one in enumerate(texts):
                if words(one) and one not in whole:
                    path = pointer("responses_reasoning_item", "summary", at)
                    yield Thinking(here.below(path), one)
        case {"encrypted_content": str()}:
            where = here.below("/responses_reasoning_item")
            yield Skipped(where.by("system"), "hidden reasoning")


def texts(held: Any, key: str, here: Origin) -> Iterator[Event]:
    """What an agent says."""
    parts = held.get(key) if isinstance(held, dict) else None
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        match part:
            case {"text": str(text)} if text.strip():
                yield Message(here.below(pointer(key, at, "text")), "agent", text)


def brought(value: Json, here: Origin, call: str | None) -> Iterator[Event]:
    """What the client puts behind words or a result."""
    for at, part in enumerate(listed(value, "extended_content")):
        if text := text_in(part):
            told = {"text": text} if call is None else {"text": text, "call": call}
            yield Fact(here.below(pointer("extended_content", at, "text")), "brought", told)


def own(value: Json) -> str:
    """What the client says in the agent's place: it names no answer of a model."""
    match value.get("llm_message"):
        case {"content": [{"text": str(text)}, *_]} if not value.get("llm_response_id"):
            return text if OWN.match(text) else ""
    return ""


def listed(value: Json, key: str) -> list[Any]:
    held = value.get(key)
    return held if isinstance(held, list) else []


def text_in(part: Any) -> str:
    return words(part.get("text")) if isinstance(part, dict) else ""
