"""How the session was set up and run: harness, models, tools, tokens, prompts."""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from forsy_retrace.events import Event, Fact, Message, Origin, Session, Thinking, ToolCall
from forsy_retrace.sdk import Shows, number, strings, words
from forsy_retrace.trace import Trace

from .facts import Told, values

ONE_VALUE = {
    "version": "harness_version",
    "permission_mode": "permission_mode",
    "entrypoint": "entrypoint",
    "cwd": "working_directory",
    "branch": "git_branch",
    "output_style": "output_style",
    "platform": "os_platform",
    "operator": "operator",
}
"""Facts of which the value that the session began with is its own, and what the format calls them."""


def _offered(told: Told) -> list[str]:
    return [tool for tools in values(told, "tools") for tool in strings(tools) if tool]


def tools_of(trace: Trace, told: Told) -> tuple[str, ...]:
    """The tools that were offered, then those that were used beside them."""
    used = [step.tool for step in trace.steps if step.tool]
    return tuple(dict.fromkeys([*_offered(told), *used]))


def config_of(trace: Trace, shows: Shows, told: Told) -> dict[str, Any]:
    """Only logged facts; what the log does not say is absent."""
    named = values(told, "harness")
    config: dict[str, Any] = {"harness": words(*named, shows.harness, trace.adapter)}
    at_first = _told_at_first(trace.session)
    for name, key in ONE_VALUE.items():
        facts = told.get(name, [])
        mains = [one for one in facts if not one.origin.actor.startswith("subagent")]
        held = list(dict.fromkeys(strings([one.value for one in mains or facts])))
        if held and name in at_first:
            config[key] = held.pop(0)
        if held:
            config[f"{key}_later"] = held[:50]
    models, own = _models(trace, told)
    if models:
        steps = own if any(own.values()) else models
        config["model"] = max(steps, key=lambda name: steps[name])
        if any(models.values()):  # else the log names a model, and not what it did
            config["models"] = models
    offered = _offered(told)
    used = {step.tool for step in trace.steps if step.tool}
    config["agent_tools_complete"] = bool(offered) and used <= set(offered)
    usage = _usage(told)
    if usage:
        config["token_usage"] = usage
    for name in ("system_prompt", "memory"):
        if texts := dict.fromkeys(strings(values(told, name))):
            config[f"{name}_hash"] = "\n\n".join(texts)
    return config


def _told_at_first(session: Session) -> frozenset[str]:
    """The names of the facts that the log tells before the agent's first act."""
    acts = {event.origin.actor for event in session.events if _is_act(event)}
    mains = {actor for actor in acts if not actor.startswith("subagent")} or acts
    before = takewhile(
        lambda event: not (_is_act(event) and event.origin.actor in mains), session.events
    )
    return frozenset(event.name for event in before if isinstance(event, Fact))


def _is_act(event: Event) -> bool:
    if isinstance(event, Message):
        return event.role != "user"
    return isinstance(event, Thinking | ToolCall)


def _models(trace: Trace, told: Told) -> tuple[dict[str, int], dict[str, int]]:
    """Steps by the model that issued them: all, and those of no subagent."""
    facts = [fact for fact in told.get("model", ()) if isinstance(fact.value, str)]
    by_message = {fact.origin.message: fact.value for fact in facts if fact.origin.message}
    since = _models_since(trace.session, facts)
    counts = dict.fromkeys((fact.value for fact in facts), 0)
    own = dict(counts)
    for step in trace.steps:
        if step.actor in ("user", "system") or step.origin is None:
            continue
        message = step.origin.message
        name = by_message.get(message) if message else since.get(step.origin)
        if name is None:
            continue
        counts[name] += 1
        own[name] += not step.actor.startswith("subagent")
    return counts, own


def _models_since(session: Session, facts: Sequence[Fact]) -> dict[Origin, str]:
    """The model at each event, by the last fact of no message; before all of them by the first."""
    named = [fact for fact in facts if not fact.origin.message]
    at: Any = next((fact.value for fact in named), None)
    found: dict[Origin, str] = {}
    for event in session.events if at else ():
        if isinstance(event, Fact) and event.name == "model" and not event.origin.message:
            at = event.value if isinstance(event.value, str) else at
        found[event.origin] = at
    return found


def _usage(told: Told) -> dict[str, int]:
    """Per message the largest figure, never a sum of repeats; then the sum over messages."""
    best: dict[Any, dict[str, int]] = {}
    for index, fact in enumerate(told.get("usage", ())):
        if isinstance(fact.value, dict):
            held = best.setdefault(fact.origin.message or index, {})
            for name, value in fact.value.items():
                if number(value) is not None:
                    held[name] = max(held.get(name, 0), value)
    total: Counter[str] = Counter()
    for held in best.values():
        total.update(held)
    return dict(sorted(total.items()))


def skills_of(trace: Trace, told: Told) -> tuple[str, ...] | None:
    """The names that the log says were loaded."""
    found: list[str] = []
    for step in trace.steps:
        match step.call.input if step.call and step.like == "Skill" and step.success else None:
            case {"skill": str(name)}:
                found.append(name)
    named = [one for listed in values(told, "skills") for one in strings(listed)]
    return tuple(dict.fromkeys([*found, *named])) or None
