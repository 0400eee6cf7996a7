"""What the model sent for an action before the SDK, and the answer that it came of."""

from typing import Any

from forsy_retrace.sdk import parsed, pointer, resolve, words

from .shapes import Json

RESPONSE = "/tool_call_metadata/model_response"
MESSAGE = f"{RESPONSE}/choices/0/message"


def sent(action: str, args: Json, value: Json) -> tuple[str, str, Any, str]:
    """A call's tool, where it is named, what was sent, where it stands: as the model sent it."""
    tool = words(at_place(value, "/tool_call_metadata/function_name"))
    if not tool:
        return action, "/action", args or None, "/args" if args else ""
    place, ident = "/tool_call_metadata/function_name", call_id(value)
    calls = at_place(value, f"{MESSAGE}/tool_calls")
    same = [
        at
        for at, one in enumerate(calls if isinstance(calls, list) else ())
        if isinstance(one, dict) and one.get("id") == ident
    ]
    if len(same) == 1:
        path = f"{MESSAGE}/tool_calls" + pointer(same[0], "function", "arguments")
        text = at_place(value, path)
        inner = parsed(text) if isinstance(text, str) else None
        if isinstance(inner, dict):
            return tool, place, inner, path
    return tool, place, args or None, "/args" if args else ""


def call_id(value: Json) -> str:
    """The id that the model gave the call."""
    return words(at_place(value, "/tool_call_metadata/tool_call_id"))


def response(value: Json) -> str:
    """The answer of the model that an action came of."""
    return words(of_response(value, "id")) if "action" in value else ""


def of_response(value: Json, key: str) -> Any:
    """What the answer says of itself."""
    return at_place(value, f"{RESPONSE}/{key}")


def at_place(value: Any, path: str) -> Any:
    """What stands at a pointer, or None."""
    try:
        return resolve(value, path)
    except LookupError:
        return None
