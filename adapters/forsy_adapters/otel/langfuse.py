"""Langfuse's convention: attributes of the spans that its SDK sends, fields of its exports.

An observation is a span, `langfuse.observation.type` and the like are its attributes; what an
export says of one gets their names here. What other instrumentations wrote stands in an export
below the observation's metadata, and what they wrote as JSON is values there. Learnt from what the
SDK 5.0 sends, also for LangChain 1.5, and from exports of 2025-06 to 2026-03 that it publishes.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.sdk import number, words
from forsy_retrace.source import Record

from .parts import Part, Role, message
from .spans import Leaf, Span, attributes, listed, place, tree

Json = dict[str, Any]

KIND, NAME = "langfuse.observation.type", "langfuse.observation.name"
GIVEN, SAID = "langfuse.observation.input", "langfuse.observation.output"
USED = "langfuse.observation.usage_details"
CALL = "langfuse.observation.metadata.tool_call_id"
SESSION = "langfuse.session.id"
FIELDS = {
    # What an export calls the attributes of a span.
    KIND: "/type",
    NAME: "/name",
    GIVEN: "/input",
    SAID: "/output",
    USED: "/usageDetails",
    CALL: "/metadata/tool_call_id",
    "langfuse.observation.model.name": "/model",
}
MODELS = ("generation", "GENERATION")
TYPES = frozenset(
    [
        "AGENT",
        "CHAIN",
        "EMBEDDING",
        "EVALUATOR",
        "EVENT",
        "GENERATION",
        "GUARDRAIL",
        "RETRIEVER",
        "SPAN",
        "TOOL",
    ]
)
"""The types of the observations of an export."""
TOKENS = {"input_tokens": "input", "output_tokens": "output"}
"""Our names of counts, and those of `usage_details`."""


def sent(held: dict[str, Leaf], span: Json, base: str) -> dict[str, Leaf]:
    """The attributes of a span; one that Langfuse sent is named by its own name."""
    if KIND in held and words(span.get("name")):
        held[NAME] = Leaf(span["name"], base + "/name")
    if (call := held.get(CALL)) is not None and isinstance(ident := tree(call), str):
        held[CALL] = Leaf(ident, call.pointer)
    return held


def exported(record: Record) -> Iterator[Span]:
    """The observations of an exported trace, as the web client or the API gives it."""
    value = record.value
    if not isinstance(value, dict):
        return
    at, ident = place(value, ("/trace/sessionId", "/sessionId"))
    session = Leaf(ident, at) if words(ident) else None
    for one, base in listed(value, ("observations",), ""):
        match one:
            case {"id": str(), "traceId": str(), "type": str(kind), "startTime": str()}:
                if kind in TYPES:
                    yield _observed(record, one, base, session)


def _observed(record: Record, one: Json, base: str, session: Leaf | None) -> Span:
    held = {}
    for name, path in FIELDS.items():
        at, found = place(one, (path,))
        if found is not None:
            held[name] = Leaf(found, base + at)
    if session is not None:
        held[SESSION] = session
    scope = words(place(one, ("/metadata/scope/name",))[1])
    held |= attributes(one.get("metadata"), base + "/metadata")
    return Span(record, base, one, scope, "", held)


def given(held: dict[str, Leaf]) -> Iterator[Part]:
    """All that a model was given."""
    if _is_model(held) and GIVEN in held:
        leaf = held[GIVEN]
        match tree(leaf):
            case {"messages": list(listed)}:
                yield from _messages(listed, leaf.pointer + "/messages", "user")
            case list(listed):
                yield from _messages(listed, leaf.pointer, "user")
            case {"role": str()} as one:
                yield from message(one, leaf.pointer, "user")
            case None if words(leaf.value):
                yield Part("text", "user", leaf.value, leaf.pointer)


def said(held: dict[str, Leaf]) -> Iterator[Part]:
    """What a model answered."""
    if _is_model(held) and SAID in held:
        leaf = held[SAID]
        match tree(leaf):
            case list(listed):
                yield from _messages(listed, leaf.pointer, "assistant")
            case {"role": str()} as one:
                yield from message(one, leaf.pointer, "assistant")
            case _ if words(leaf.value):
                yield Part("text", "assistant", leaf.value, leaf.pointer)


def _messages(held: list[Any], base: str, otherwise: Role) -> Iterator[Part]:
    for index, one in enumerate(held):
        if isinstance(one, dict):
            yield from message(one, f"{base}/{index}", otherwise)


def _is_model(held: dict[str, Leaf]) -> bool:
    return KIND in held and held[KIND].value in MODELS


def usage(held: dict[str, Leaf]) -> dict[str, int]:
    """The tokens of one answer."""
    told = tree(held[USED]) if USED in held else None
    counts = told if isinstance(told, dict) else {}
    return {ours: counts[name] for ours, name in TOKENS.items() if number(counts.get(name))}
