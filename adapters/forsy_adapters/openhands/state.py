"""What the client knows of a conversation: who it is, where it works, what it cost."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, SessionStart, Skipped
from forsy_retrace.sdk import counts, pointer, resolve, words

from .files import Item

FACTS = (
    ("cwd", "/workspace/working_dir"),
    ("skills", "/activated_knowledge_skills"),
)
MODEL = "/agent/llm/model"
USAGE = {
    # What was read from a cache is a part of the prompt.
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


def opening(one: Item, actor: str = "agent") -> Iterator[Event]:
    """Which conversation it is, and what is known of it; of a subagent's, only the facts."""
    system = one.here()
    if actor == "agent":
        yield SessionStart(system.below("/id"), one.value["id"])
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
