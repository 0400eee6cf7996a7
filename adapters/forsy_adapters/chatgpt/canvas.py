"""Canvas: the documents that the agent writes beside the conversation, with every version.

A document is created whole; an update names patterns to replace, and nearly always the whole.
"""

import re
from typing import Any

from forsy_retrace.events import Change
from forsy_retrace.sdk import packed, pointer

from .tree import Json, Node

Docs = dict[str, str | None]
"""The documents of a line by name, the last written last; None where the text is not known."""
WHOLE = (".*", "^.*$", "(?s).*", "[\\s\\S]*")


def changes(tool: str, sent: Any, answer: list[Node], docs: Docs, place: str) -> tuple[Change, ...]:
    """What a call to the canvas changed, where its answer says that it did; `docs` is updated."""
    if not isinstance(sent, dict):
        return ()
    document = _document(answer)
    match tool:
        case "canmore.create_textdoc":
            name, text = sent.get("name"), sent.get("content")
            if not isinstance(name, str) or not name or not isinstance(text, str):
                return ()
            docs.pop(name, None)
            docs[name] = text
            return (Change(name, "created", after=text, pointer=place + pointer("content")),)
        case "canmore.update_textdoc":
            title = document.get("title")
            named = title if isinstance(title, str) and title in docs else None
            name = named or next(reversed(docs), None)
            if name is None:
                return ()
            before = docs.pop(name)
            after = docs[name] = _updated(before, sent.get("updates"))
            where = place + pointer("updates")
            held = packed(before)
            return (Change(name, "modified", before=held, after=after, pointer=where),)
    return ()


def _document(answer: list[Node]) -> Json:
    for node in answer:
        found = node.metadata.get("canvas")
        if isinstance(found, dict):
            return found
    return {}


def _updated(text: str | None, updates: Any) -> str | None:
    """The text after the updates; None where a pattern would have to be guessed at."""
    for update in updates if isinstance(updates, list) else [None]:
        match update:
            case {"pattern": str(pattern), "replacement": str(put), **rest}:
                text = _replaced(text, pattern, put, rest.get("multiple") is True)
            case _:
                return None
    return text


def _replaced(text: str | None, pattern: str, put: str, every: bool) -> str | None:
    if pattern in WHOLE:
        return put
    plain = re.sub(r"\\([^\w\s])", r"\1", pattern)
    escapes = re.findall(r"\\\w", pattern)
    bare = re.sub(r"\\[^\w\s]", "", pattern)
    if text is None or escapes or "\\" in put or re.search(r"[.^$*+?{}\[\]|()]", bare):
        return None
    count = text.count(plain)
    if not count or (count > 1 and not every):
        return None
    return text.replace(plain, put)
