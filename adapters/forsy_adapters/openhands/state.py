"""What the client knows of a conversation: who it is, where it works, what it cost."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, SessionStart, Skipped
from forsy_retrace.sdk import counts, later, pointer, resolve, when, words

from .files import Item

FACTS = (
    ("cwd", "/workspace/working_dir"),
    ("skills", "/activated_knowledge_skills"),
)
KNOWN = (("title", "title"), ("selected_branch", "branch"))
PLAIN = later(r"[0-9a-f]{32}")
MODEL = "/agent/llm/model"
USAGE = {
    # What was read from a cache is a part of the prompt.
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


def begun(state: Item | None, meta: Item | None) -> Iterator[Event]:
    """Which conversation it is, and which it was forked from, as the server knows."""
    lead = state or meta
    if lead is not None and words(lead.value.get("id")):
        before = dashed(meta.value.get("forked_from_conversation_id")) if meta else ""
        yield SessionStart(lead.here("/id"), dashed(lead.value["id"]), before or None)


def dashed(ident: Any) -> str:
    """An id of a conversation as its state has it; the server leaves the dashes out."""
    text = words(ident)
    if PLAIN.fullmatch(text):
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    return text


def opening(one: Item, actor: str = "agent") -> Iterator[Event]:
    """What is known of a conversation, or of a subagent's."""
    system = one.here()
    for name, path in FACTS:
        try:
            value = resolve(one.value, path)
        except LookupError:
            continue
        if value and isinstance(value, str | list):
            yield Fact(system.below(path).by(actor), name, value)
    costs = list(_costs(one, actor))
    yield from costs
    if not any(isinstance(event, Fact) and event.name == "model" for event in costs):
        try:
            model = resolve(one.value, MODEL)
        except LookupError:
            model = ""
        if words(model):
            yield Fact(system.below(MODEL).by(actor), "model", model)
    if actor != "agent":
        yield Skipped(system, "state of a subagent's conversation")


def known(one: Item) -> Iterator[Event]:
    """What a server knows of a conversation."""
    for key, name in KNOWN:
        if words(one.value.get(key)):
            yield Fact(one.here(pointer(key)), name, one.value[key])
    made = when(one.value.get("created_at"))
    if made is not None and not one.value.get("forked_from_conversation_id"):
        yield Fact(one.here("/created_at"), "began", made)


def totals(one: Item) -> Iterator[Event]:
    """Models and tokens as an event tells them, up to it."""
    held = one.value.get("value")
    kinds = held.get("usage_to_metrics") if isinstance(held, dict) else None
    for kind, told in kinds.items() if isinstance(kinds, dict) else ():
        path = pointer("value", "usage_to_metrics", kind)
        used = told.get("accumulated_token_usage") if isinstance(told, dict) else None
        if isinstance(told, dict) and words(told.get("model_name")):
            yield Fact(one.here(f"{path}/model_name"), "model", told["model_name"])
        if found := counts(used, USAGE):
            yield Fact(one.here(f"{path}/accumulated_token_usage"), "usage", found)


def _costs(one: Item, actor: str) -> Iterator[Event]:
    """Models and tokens by the response that they came of."""
    stats = one.value.get("stats")
    kinds = stats.get("usage_to_metrics") if isinstance(stats, dict) else None
    for kind, held in kinds.items() if isinstance(kinds, dict) else ():
        told = held.get("token_usages") if isinstance(held, dict) else None
        for at, used in enumerate(told if isinstance(told, list) else ()):
            if not isinstance(used, dict):
                continue
            path = pointer("stats", "usage_to_metrics", kind, "token_usages", at)
            ident = words(used.get("response_id"))
            here = one.here(path).by(actor)
            here = type(here)(here.evidence, None, actor, ident or None)
            if words(used.get("model")) and ident:
                yield Fact(here.below("/model"), "model", used["model"])
            if found := counts(used, USAGE):
                yield Fact(here, "usage", found)
