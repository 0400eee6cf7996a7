"""Which model answered, and how many tokens it took."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Fact
from forsy_retrace.sdk import counts, number

from .place import Json, Place, Told

USAGE = (
    ("input_tokens", ("prompt_tokens", "input_tokens")),
    ("output_tokens", ("completion_tokens", "output_tokens")),
)
DETAILS = (
    ("cached_input_tokens", ("prompt_tokens_details", "input_tokens_details"), "cached_tokens"),
    (
        "reasoning_output_tokens",
        ("completion_tokens_details", "output_tokens_details"),
        "reasoning_tokens",
    ),
)


WHOLE = {
    # What a run's own writer counted over all its requests: SWE-agent, ToolBench.
    "tokens_sent": "input_tokens",
    "tokens_received": "output_tokens",
    "total_tokens": "total_tokens",
}


def spent(stats: Any, here: Place) -> Iterator[Told]:
    """The tokens of a whole run."""
    if found := counts(stats, WHOLE):
        yield Told(None, Fact(here.origin("system"), "usage", found))


def ran(reply: Json, here: Place) -> Iterator[Told]:
    """The model and the usage that stand in a reply."""
    model = reply.get("model")
    if isinstance(model, str) and model:
        yield Told(None, Fact(here.deeper("model").origin(), "model", model))
    counted = usage(reply.get("usage"))
    if counted:
        yield Told(None, Fact(here.deeper("usage").origin(), "usage", counted))


def usage(value: Any) -> dict[str, int]:
    """Token counts under one set of names; cached and reasoning ones are a part of the others."""
    if not isinstance(value, dict):
        return {}
    found = {}
    for name, keys in USAGE:
        count = next((n for key in keys if (n := number(value.get(key))) is not None), None)
        if count is not None:
            found[name] = count
    for name, places, key in DETAILS:
        for place in places:
            details = value.get(place)
            count = number(details.get(key)) if isinstance(details, dict) else None
            if count:
                found[name] = count
    return found
