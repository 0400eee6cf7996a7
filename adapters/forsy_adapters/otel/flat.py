"""Messages of which each value is an attribute: `llm.input_messages.0.message.role`."""

from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.dialects import arguments, media
from forsy_retrace.sdk import words

from .parts import FORMS, ROLES, Part, Role, content, result
from .spans import Leaf

Json = dict[str, Any]

WRAPPED = ("message", "message_content", "tool_call", "function")
"""Steps in the names of flattened attributes that OpenInference has and Traceloop has not."""


def flattened(held: dict[str, Leaf], prefix: str, otherwise: Role) -> Iterator[Part]:
    """The messages below a prefix, in the order of their numbers."""
    for number, one in sorted(_nested(held, prefix).items()):
        for part in _message(one, otherwise):
            yield part._replace(of=f"{prefix}{number}")


def _message(one: Json, otherwise: Role) -> Iterator[Part]:
    role = ROLES.get(str(_value(one, "role")), otherwise)
    said, answered = one.get("content"), words(_value(one, "tool_call_id"))
    if isinstance(said, Leaf) and isinstance(said.value, str):
        if answered or role == "tool":
            yield result(said.value, said.pointer, answered)
        elif said.value:
            yield from content(said.value, said.pointer, role)
    else:
        for part in _numbered(one.get("contents")):
            yield from _flat_part(part, role)
    for call in _numbered(one.get("tool_calls")):
        yield from _flat_call(call, role)


def _nested(held: dict[str, Leaf], prefix: str) -> dict[int, Json]:
    """The attributes below a prefix as a tree, without what only wraps."""
    found: dict[int, Json] = {}
    for name, leaf in held.items():
        if not name.startswith(prefix):
            continue
        first, *path = name.removeprefix(prefix).split(".")
        steps = [step for step in path if step not in WRAPPED]
        if not (first.isdecimal() and len(first) < 9 and steps):
            continue
        node = found.setdefault(int(first), {})
        for step in steps[:-1]:
            below = node.setdefault(step, {})
            node = below if isinstance(below, dict) else {}
        node[steps[-1]] = leaf
    return found


def _numbered(node: Any) -> Iterator[Json]:
    held = node if isinstance(node, dict) else {}
    for key in sorted((key for key in held if key.isdecimal() and len(key) < 9), key=int):
        if isinstance(held[key], dict):
            yield held[key]


def _value(node: Json, key: str) -> Any:
    leaf = node.get(key)
    return leaf.value if isinstance(leaf, Leaf) else None


def _flat_part(node: Json, role: Role) -> Iterator[Part]:
    leaf = node.get("text")
    form = FORMS.get(str(_value(node, "type")))
    if isinstance(leaf, Leaf) and words(leaf.value):
        kind: Literal["text", "thinking"] = "text"
        if form is not None and form.kind == "thinking":
            kind = "thinking"
        yield Part(kind, role, leaf.value, leaf.pointer)
    match node.get("image"):
        case {"image": {"url": Leaf(value=str(link), pointer=where)}}:
            if (found := media({"type": "image_url", "image_url": link})) is not None:
                yield Part("file", role, found, where)


def _flat_call(node: Json, role: Role) -> Iterator[Part]:
    name, sent = node.get("name"), node.get("arguments")
    if isinstance(name, Leaf) and words(name.value):
        value, where = (None, name.pointer)
        if isinstance(sent, Leaf):
            value, where = arguments(sent.value), sent.pointer
        ident = words(_value(node, "id"))
        yield Part("call", role, value, where, ident, name.value, name.pointer)
