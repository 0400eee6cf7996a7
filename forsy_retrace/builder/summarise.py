"""What does the whole come to? The trace's own fields, from its steps and the session's facts."""

import hashlib
import posixpath
from collections import Counter
from itertools import takewhile
from typing import Any

import msgspec

from forsy_retrace.events import (
    SHELL,
    Event,
    Fact,
    Message,
    Session,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.patterns import later
from forsy_retrace.sdk import Shows, a_log_of, compact, number, strings, when, words
from forsy_retrace.times import order
from forsy_retrace.trace import Step, Touch, Trace, counted

from .finishes import closing_words
from .judging.ending import LENGTHS, ending
from .shells import SHELLS
from .tools import RECORDING

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

Told = dict[str, list[Fact]]
"""The session's facts by name."""

LESSON_FILES = ("CLAUDE.md", "AGENTS.md", "MEMORY.md", "GEMINI.md", "LESSONS.md")
"""Notes that agents keep for later sessions."""


def summarise(trace: Trace, shows: Shows) -> Trace:
    """Task, configuration, ending, and the words of the dataset card."""
    end = ending(trace)
    told = _told(trace)
    times = [t for s in trace.steps for t in (s.started_at, s.ended_at) if t is not None]
    began = min(times or _times(told, "began"), default=None, key=order)
    ended = max(times or _times(told, "ended"), default=None, key=order)
    if began is not None and ended is not None and order(ended) < order(began):
        ended = None  # a clock that ran backwards says nothing of the end
    trace = msgspec.structs.replace(
        trace,
        trace_id=id_of(trace.session, trace.adapter),
        prior_trace_id=_prior(trace),
        task=_task(trace),
        agent_tools=_tools(trace, told),
        started_at=began,
        ended_at=ended,
        skills=_skills(trace, told),
        agent_config=_config(trace, shows, told),
        learning=_learning(trace),
        termination_reason=end.reason,
        goal_achieved=end.goal.achieved,
        goal_notes=end.goal.notes,
        final_output=_final(trace, told),
        facts={**_facts(trace, told), "goal_rule": end.goal.rule},
    )
    return msgspec.structs.replace(
        trace, title=_title(trace), description=_description(trace, shows), tags=_tags(trace)
    )


def id_of(session: Session, adapter: str) -> str:
    """The id of the trace of a session."""
    return trace_id(adapter, session.id or _beginning(session))


def trace_id(adapter: str, session: str) -> str:
    """`forsy_trace_` and 16 hex digits: the same log always gives the same id."""
    digest = hashlib.sha256(f"{adapter}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"forsy_trace_{digest[:16]}"


FIRST = 5
"""Records that stand for a session without an id: many logs begin with the same one."""


def _beginning(session: Session) -> str:
    """What the first records say and where they stand in their file, whatever its name is."""
    records: dict[tuple[str, int, int], None] = {}
    said = []
    for event in session.events:
        here = event.origin.evidence
        records[here.record] = None
        if len(records) > FIRST:
            break
        said.append(f"{here.line} {here.start} {here.end} {event.origin.at} {_said(event)}")
    return "\n".join(said)


def _said(event: Event) -> str:
    match event:
        case Message() | Thinking():
            return event.text
        case ToolCall():
            return f"{event.tool} {compact(event.input)}"
        case ToolResult():
            return event.output or ""
    return ""


def _prior(trace: Trace) -> str | None:
    before = trace.session.continues
    return trace_id(trace.adapter, before) if before else None


def _task(trace: Trace) -> str:
    """The first direct request, or the plan taken up before any, in its own words.

    Of a subagent whose log is all there is, the brief that it was started with.
    """
    humans = [step for step in trace.steps if step.action == "user_message"]
    asks = (s for s in humans if s.message_role == "direct_request" or s.via == "plan accepted")
    others = (
        s for s in humans if s.via not in ("answer", "rejection") and s.message_role not in REPLIES
    )
    first = next(asks, None) or next(others, None)
    if first is not None and first.input:
        return first.input
    if brief := next((fact.value for fact in trace.session.facts("brief") if fact.value), None):
        return str(brief)
    called = [_called(step) for step in trace.steps if step.call is not None]
    noun = called[0] if len(set(called)) == 1 else "tool call"
    return f"No request recorded: {counted(len(called), noun)}."


REPLIES = ("answer_to_agent_question", "selection", "approval")
"""Roles of messages that ask for nothing by themselves."""


def _called(step: Step) -> str:
    """What a call is, in words: a shell's line, all that a terminal showed, or any other."""
    if step.like in SHELLS:
        return "shell command"
    return step.like if step.like == RECORDING else "tool call"


def _told(trace: Trace) -> Told:
    found: Told = {}
    for event in trace.session.events:
        if isinstance(event, Fact):
            found.setdefault(event.name, []).append(event)
    return found


def _values(told: Told, name: str) -> list[Any]:
    return [fact.value for fact in told.get(name, ())]


def _times(told: Told, name: str) -> list[str]:
    """When the log says that the whole began or ended, for where no step has a time."""
    return [at for value in _values(told, name) if (at := when(value)) is not None]


def _objects(told: Told, name: str) -> list[dict[str, Any]]:
    return [value for value in _values(told, name) if isinstance(value, dict)]


def _offered(told: Told) -> list[str]:
    return [tool for tools in _values(told, "tools") for tool in strings(tools)]


def _tools(trace: Trace, told: Told) -> tuple[str, ...]:
    used = [step.tool for step in trace.steps if step.tool]
    return tuple(dict.fromkeys([*_offered(told), *used]))


def _config(trace: Trace, shows: Shows, told: Told) -> dict[str, Any]:
    """Only logged facts; what the log does not say is absent."""
    named = _values(told, "harness")
    config: dict[str, Any] = {"harness": words(*named, shows.harness, trace.adapter)}
    at_first = _told_at_first(trace.session)
    for name, key in ONE_VALUE.items():
        facts = told.get(name, [])
        mains = [one for one in facts if not one.origin.actor.startswith("subagent")]
        values = list(dict.fromkeys(strings([one.value for one in mains or facts])))
        if values and name in at_first:
            config[key] = values.pop(0)
        if values:
            config[f"{key}_later"] = values[:50]
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
        if texts := dict.fromkeys(strings(_values(told, name))):
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
    by_message = {
        fact.origin.message: fact.value
        for fact in told.get("model", ())
        if isinstance(fact.value, str)
    }
    counts = dict.fromkeys(by_message.values(), 0)
    own = dict(counts)
    for step in trace.steps:
        if step.actor == "system" or step.origin is None or step.origin.message not in by_message:
            continue
        name = by_message[step.origin.message]
        counts[name] += 1
        own[name] += not step.actor.startswith("subagent")
    return counts, own


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


def _skills(trace: Trace, told: Told) -> tuple[str, ...] | None:
    """The names that the log says were loaded."""
    found: list[str] = []
    for step in trace.steps:
        match step.call.input if step.call and step.like == "Skill" and step.success else None:
            case {"skill": str(name)}:
                found.append(name)
    named = [one for listed in _values(told, "skills") for one in strings(listed)]
    return tuple(dict.fromkeys([*found, *named])) or None


def _learning(trace: Trace) -> str | None:
    """A lesson that the agent wrote into a notes file of its own, not one that the user asked for."""
    asked = " ".join(s.input or "" for s in trace.steps if s.action == "user_message")
    noted = [
        one for one in trace.touches if _is_notes(one) and posixpath.basename(one.path) not in asked
    ]
    folders = {posixpath.dirname(one.path) for one in noted if not one.path.endswith(INDEX)}
    for touch in reversed(noted):
        lists_others = touch.path.endswith(INDEX) and posixpath.dirname(touch.path) in folders
        if not lists_others and (text := _put_in(touch)):
            return text
    return None


INDEX = "/MEMORY.md"
"""The file that lists the others of its folder, where there are any."""


def _is_notes(touch: Touch) -> bool:
    is_written = touch.kind in ("write", "edit")
    is_named = posixpath.basename(touch.path) in LESSON_FILES
    return is_written and (is_named or "/memory/" in touch.path)


def _put_in(touch: Touch) -> str:
    """The lines that came in, where they stand there as one; empty where others are between them."""
    text = "\n".join(touch.added).strip("\n")
    hunks = touch.change.hunks if touch.change is not None else ()
    places = [touch.new or ""]
    places += ["\n".join(line[1:] for line in hunk.lines if line[:1] != "-") for hunk in hunks]
    return text if any(text in place for place in places) else ""


def _final(trace: Trace, told: Told) -> str:
    """What the harness took as the result of the work, else the last answer that ends it.

    A mere `You're welcome` ends none. Where something came of the last message, but no answer, the
    log ends without one.
    """
    if taken := list(strings(_values(told, "submission"))):
        return taken[-1]
    steps = [s for s in trace.steps if s.origin is None or not s.origin.branch]
    went_on = False
    for index in range(len(steps) - 1, -1, -1):
        is_message = steps[index].action == "user_message"
        if is_message and went_on:
            return ""
        went_on = not is_message
        text = _answer(steps[index])
        if text is not None and not _is_courtesy(steps, index):
            return _cut_before(steps, index) + text
        went_on = went_on and text is None
    return ""


WELCOME = later(
    r"(?i)\W*(?:you(?:['’]re| are) (?:(?:very|most|so|always) )?welcome|(?:it (?:was|is) )?my pleasure"
    r"|(?:i['’]m )?(?:so )?glad (?:i could|to|it|that|you)|happy to (?:help|have helped)|any ?time(?=\s*(?:[!.,]|\Z))"
    r"|de nada|de rien|gern(?:e| geschehen)|por nada|пожалуйста|不客气|どういたしまして)\b"
)
"""How thanks are answered."""
MOST_WELCOME = 300


def _is_courtesy(steps: list[Step], index: int) -> bool:
    """Whether an answer only answers the thanks for work that was done before."""
    before, step = steps[index - 1] if index else None, steps[index]
    thanked = before is not None and before.message_role == before.feedback_type == "approval"
    text = step.output or ""
    return thanked and len(text) <= MOST_WELCOME and WELCOME.match(text) is not None


def _cut_before(steps: list[Step], index: int) -> str:
    """What had come of an answer, each time that it reached its length and went on of itself."""
    found: list[str] = []
    while index >= 2 and steps[index].call is None:
        cut, end, more = steps[index - 2 : index + 1]
        if end.via != "limit" or end.output not in LENGTHS:
            break
        if cut.via != "cut off" or cut.actor != more.actor:
            break
        found.append(cut.output or "")
        index -= 2
    return "".join(reversed(found))


def _answer(step: Step) -> str | None:
    """The words that end a turn; None for every other step."""
    if step.call is not None:
        return closing_words(step) or None
    return step.output or "" if step.action == "output" else None


def _facts(trace: Trace, told: Told) -> dict[str, Any]:
    """What the manifest says beyond the format."""
    hidden = sum(
        isinstance(event, Skipped) and event.reason == "hidden reasoning"
        for event in trace.session.events
    )
    found: dict[str, Any] = {"hidden_reasoning": hidden}
    if shared := _objects(told, "shared_prefix"):
        of = shared[0].get("of")
        found["shared_prefix"] = {
            "trace_id": trace_id(trace.adapter, of) if isinstance(of, str) and of else None,
            "records": shared[0].get("records"),
        }
    if ends := _objects(told, "run_end"):
        found["run_end"] = ends[-1]
    if recovery := _objects(told, "recovery"):
        found["recovery"] = recovery[0]
    if shown := list(dict.fromkeys(strings(_values(told, "shows")))):
        found["shown"] = shown
    surfaces = Counter(step.surface for step in trace.steps if step.surface)
    found["surfaces"] = dict(sorted(surfaces.items()))
    return found


SHORTEST = 8
"""Characters of a first line that say by themselves what a task is."""


def _title(trace: Trace) -> str:
    """The first line of the task, and the next where it only announces what follows."""
    lines = [line.strip() for line in trace.task.splitlines() if line.strip()] or ["Untitled"]
    line, below = lines[0], lines[1].lstrip("#-*> ") if len(lines) > 1 else ""
    if (line.endswith(":") or len(line) < SHORTEST) and below[:1].isalnum():
        line = f"{line} {below}"
    return line if len(line) <= 80 else line[:79].rstrip() + "…"


def _description(trace: Trace, shows: Shows) -> str:
    """What is in the trace and what such a log cannot show, in plain sentences."""
    calls = [s for s in trace.steps if s.call is not None]
    failed = sum(s.success is False for s in calls)
    retries = sum(s.retry_of is not None for s in trace.steps)
    told = f"{failed} of the calls failed or never ran"
    attempt = "attempts" if retries == 1 else "attempt"
    if calls and all(s.success is None for s in calls):
        told = "The log does not tell of any call whether it worked"
        attempt = "may attempt" if all(s.actor == SHELL for s in calls) else attempt
    humans = [s for s in trace.steps if s.action == "user_message"]
    judged = sum(s.feedback_type is not None for s in humans)
    parts = [
        f"Retraced from {a_log_of(shows.harness or trace.adapter, trace.agent_config['harness'])}:"
        f" {counted(len(trace.steps), 'step')}, {counted(len(calls), 'tool call')},"
        f" {counted(len(humans), 'human message')}.",
        f"{told}; {counted(retries, 'step')} {attempt} an earlier one again;"
        f" {counted(judged, 'message')} {'judges' if judged == 1 else 'judge'} the work.",
        f"It ended as {trace.termination_reason}.",
    ]
    cannot = [what for what in shows.cannot if what not in trace.facts.get("shown", ())]
    if cannot:
        parts.append(f"Such a log cannot show {'; '.join(cannot)}.")
    return " ".join(parts)


def _tags(trace: Trace) -> tuple[str, ...]:
    surfaces = {step.surface for step in trace.steps}
    tags = ["agent-work-trace", "retraced"]
    if any(touch.kind in ("edit", "write") for touch in trace.touches):
        tags.append("coding")
    if any(step.call is not None for step in trace.steps):
        tags.append("tool-use")
    tags += [name for name in ("browser", "cli", "database", "search") if name in surfaces]
    again = ((step, trace.steps[step.retry_of - 1]) for step in trace.steps if step.retry_of)
    if any(old.success is False and step.success for step, old in again):
        tags.append("failure-recovery")
    return tuple(tags)
