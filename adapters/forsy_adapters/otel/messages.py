"""What a model was given and what it said.

Messages stand as JSON in one attribute, flattened into many, or in events of the span. Learnt from
what Pydantic AI 2.68, Microsoft's Agent Framework 1.23, Strands Agents 1.62, OpenInference (for the
Agents SDK 2.6, for LangChain 0.1.80), OpenLLMetry 0.49 and 0.62 and the Vercel AI SDK 6 write.
"""

from collections.abc import Iterator
from typing import Literal

from forsy_retrace.sdk import pointer, words

from . import langfuse
from .flat import flattened
from .parts import FORMS, Part, Role, content, formed, message, result
from .spans import Leaf, Span, tree

SAID_BY: dict[str, Role] = {
    # Events that hold a message each, until the conventions' version 1.36.
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
INSTRUCTIONS = "gen_ai.system_instructions"


def given(span: Span) -> list[Part]:
    """All that a model was given, the history too."""
    return [placed(part, span) for part in _given(span)]


def said(span: Span) -> list[Part]:
    """What a model answered."""
    return [placed(part, span) for part in _said(span)]


def placed(part: Part, span: Span) -> Part:
    """A part with pointers into what its span has, which may name the type of each value."""
    if not span.has_trees:
        return part
    verdict = part.verdict._replace(basis=span.real(part.verdict.basis))
    named, where = part.named and span.real(part.named), span.real(part.pointer)
    if part.kind in ("text", "thinking") and span.is_typed(where):
        return part._replace(kind="unknown", value=None, pointer=where)  # no text, but a tree
    return part._replace(pointer=where, named=named, verdict=verdict)


def _given(span: Span) -> list[Part]:
    held = span.attributes
    for name in ("gen_ai.input.messages", "ai.prompt.messages", "pydantic_ai.all_messages"):
        if name in held:
            return list(messages(held[name], "user"))
    for prefix in ("llm.input_messages.", "gen_ai.prompt."):
        if found := list(flattened(held, prefix, "user")):
            return found
    if found := [part for one in span.happened for part in _of_event(one.name, one.attributes)]:
        return found
    return list(langfuse.given(held))


def _said(span: Span) -> list[Part]:
    held = span.attributes
    if "gen_ai.output.messages" in held:
        return list(messages(held["gen_ai.output.messages"], "assistant"))
    if found := list(_of_vercel(held)):
        return found
    for prefix in ("llm.output_messages.", "gen_ai.completion."):
        if found := list(flattened(held, prefix, "assistant")):
            return found
    choices = (one.attributes for one in span.happened if one.name == CHOICE)
    found = [
        part
        for choice in choices
        if "message" in choice
        for part in content(choice["message"].value, choice["message"].pointer, "assistant")
    ]
    return found or list(langfuse.said(held))


def instructions(span: Span) -> list[Part]:
    """The parts of `gen_ai.system_instructions`."""
    leaf = span.attributes.get(INSTRUCTIONS)
    parts = content(leaf.value, leaf.pointer, "system") if leaf else ()
    return [placed(part, span) for part in parts]


def messages(leaf: Leaf, otherwise: Role) -> Iterator[Part]:
    """A list of messages in one attribute."""
    held = tree(leaf)
    if not isinstance(held, list):
        yield Part("cut", None, leaf.value, leaf.pointer)
        return
    for index, one in enumerate(held):
        if isinstance(one, dict):
            yield from message(one, leaf.pointer + pointer(index), otherwise)


def _of_vercel(held: dict[str, Leaf]) -> Iterator[Part]:
    """The answer of the Vercel AI SDK: reasoning, text or object, calls."""
    for name, kind in (("ai.response.reasoning", "thinking"), ("ai.response.text", "text")):
        leaf = held.get(name)
        if leaf is not None and words(leaf.value):
            told: Literal["thinking", "text"] = "thinking" if kind == "thinking" else "text"
            yield Part(told, "assistant", leaf.value, leaf.pointer)
    leaf = held.get("ai.response.object")
    if leaf is not None and words(leaf.value):
        yield Part("text", "assistant", leaf.value, leaf.pointer)
    leaf = held.get("ai.response.toolCalls")
    listed = tree(leaf) if leaf is not None else None
    for index, call in enumerate(listed if isinstance(listed, list) else ()):
        if leaf is not None and isinstance(call, dict):
            yield formed(call, leaf.pointer + pointer(index), "assistant", FORMS["tool-call"])


def _of_event(name: str, held: dict[str, Leaf]) -> Iterator[Part]:
    """A message that an event holds."""
    role, leaf = SAID_BY.get(name), held.get("content")
    if role is None or leaf is None:
        return
    ident = held.get("id")
    if role == "tool" and ident is not None:
        yield result(leaf.value, leaf.pointer, words(ident.value))
    else:
        yield from content(leaf.value, leaf.pointer, role)
