"""How such a log is told from others that also have roles and contents."""

from typing import Any

from forsy_retrace.source import Record

from .assistants import objects
from .chat import is_message
from .items import is_item
from .place import Place, opened
from .spans import is_span
from .streams import is_chunk, is_stream_event
from .talks import talks

CODEX = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
CODEX_STREAM = ("thread.started", "turn.started", "turn.completed", "item.completed")
ANTHROPIC = ("tool_use", "tool_result")
FOREIGN = ("toolRequest", "toolResponse", "tool-call", "tool-result")
"""Calls and results as parts of a message: Goose's, and those of Vercel's AI SDK."""
INJECTED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""Texts with which Codex opens a session; its bare rollouts are items of this API."""


def is_ours(record: Record) -> bool:
    """Whether a record holds a conversation of this API, or a piece of one."""
    value, here = record.value, Place(record)
    if is_chunk(value) or is_stream_event(value) or is_span(value):
        return True
    if is_message(value) or is_item(value):
        return True
    if next(objects(value, here), None) is not None:
        return True
    return any(any(one.key is not None for one in talk.told) for talk in talks(opened(value), here))


def is_foreign(value: Any) -> bool:
    """Whether a record is another harness's, whatever else it looks like."""
    match value:
        case {"sessionId": str()} | {"parentUuid": _} | {"mapping": dict()}:
            return True
        case {"type": str(kind), "payload": dict()} if kind in CODEX:
            return True
        case {"type": str(kind)} if kind in CODEX_STREAM:
            return True
        case {"record_type": str()} | {"chat_messages": list()} | {"nbformat": _, "cells": _}:
            return True
        case {"id": str(), "timestamp": str(), "instructions": _}:
            return True
        case {"session": dict(), "items": list()}:
            return True
        case {"schema_version": str(version)} if version.startswith(("ATIF", "forsy")):
            return True
        case {"openapi": _} | {"swagger": _} | {"$schema": _}:
            return True
        case {"version": int(), "eval": {"task": str()}} | {"epoch": int(), "target": _}:
            return True  # Inspect AI's, whole or a sample
        case {"role": "session_meta", "platform": _} | {"role": "session_meta", "tools": _}:
            return True  # the first line of a session of Hermes Agent's gateway
        case {"session_start": str(), "platform": _, "system_prompt": _, "messages": list()}:
            return True  # Hermes Agent's snapshot of a session
        case {"source": str(), "model_config": _, "end_reason": _, "messages": list()}:
            return True  # what it exports of one
        case {"working_dir": str(), "conversation": _} | {"description": _, "message_count": int()}:
            return True  # Goose's, whole or the head of its lines
        case dict() if any(map(_is_anthropics, value.values())):
            return True  # a reply of that API beside its request
        case {"request": {"url": str(url)}} if "/v1/messages" in url:
            return True  # the same, with what stands around both
        case {"role": str(), "content": list(parts)}:
            return _holds(parts, (*ANTHROPIC, *FOREIGN)) or _is_injected(parts)
        case {"role": str(), "content": dict(part)}:
            return _holds([part], (*ANTHROPIC, *FOREIGN))
        case {"type": "message", "role": str(), "content": list(parts)}:
            return _is_injected(parts)
        case {"messages": list(listed)} | {"history": list(listed)}:
            return _all_anthropic(listed) or _any_foreign(listed)
        case list():
            return _all_anthropic(value) or _any_foreign(value)
    return False


def _is_anthropics(value: Any) -> bool:
    match value:
        case {"type": "message", "role": "assistant", "content": list(), "stop_reason": _}:
            return True
    return False


def _holds(parts: list[Any], kinds: tuple[str, ...]) -> bool:
    return any(isinstance(part, dict) and part.get("type") in kinds for part in parts)


def _all_anthropic(listed: list[Any]) -> bool:
    """Calls and results among the parts, and none of this API's own anywhere."""
    messages = [one for one in listed if isinstance(one, dict)]
    own = any(one.get("role") == "tool" or one.get("tool_calls") for one in messages)
    return not own and any(_holds(parts, ANTHROPIC) for parts in _contents(messages))


def _any_foreign(listed: list[Any]) -> bool:
    """Such parts in a list that may hold this API's messages too: nobody would read them."""
    messages = [one for one in listed if isinstance(one, dict)]
    return any(_holds(parts, FOREIGN) for parts in _contents(messages))


def _contents(messages: list[Any]) -> list[list[Any]]:
    return [one["content"] for one in messages if isinstance(one.get("content"), list)]


def _is_injected(parts: list[Any]) -> bool:
    return any(
        isinstance(part, dict) and str(part.get("text", "")).lstrip().startswith(INJECTED)
        for part in parts
    )
