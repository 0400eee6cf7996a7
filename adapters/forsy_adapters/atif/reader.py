"""Steps, one by one."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import counts, later, parsed, pointer, subagent, when, words

from .. import _terminus as terminus
from .._patches import changes, patch_in
from . import outcome, turns
from .files import (
    DEEPEST,
    Doc,
    Json,
    called_as,
    is_trajectory,
    listed,
    name_of,
    refs,
    results,
)
from .shows import PLACE, WORKED

NAMELESS = later(r"[A-Z]+(?:_[A-Z]+)+\Z")
"""What stands for an id where it was taken out: it is the same for all."""

NO_WORDS = "null"
"""What Harbor writes for thoughts that Claude Code stored without their text."""

USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read_input_tokens",
}

HANDED = "context from a trajectory that is not in the log"
"""What a continued trajectory begins with, and none that was read holds."""


class Reader:
    """Reads the trajectories of a log."""

    def __init__(self, docs: list[Doc]) -> None:
        self.docs = docs
        self.read: dict[tuple[str, int, str], int] = {}
        """The trajectories that were read, and which they were."""
        self.said: set[tuple[str, str]] = set()
        """Who said what in their steps."""
        self.calls = Calls()
        self.open: dict[str, str] = {}
        """Call ids as logged to the calls that wait for a result."""
        self.issued: list[str] = []
        """The calls of the step at hand, as logged."""
        self.agents = 0
        self.lanes: dict[str, str] = {}
        """The subagents whose steps stand among the main agent's, by their ids."""
        self.worked = False
        """Whether one has worked since the last brief: the next without an id is another."""
        self.briefs: dict[str, str] = {}
        """What calls that start subagents hand to them, and the calls."""
        self.cwd = ""

    def session(self, doc: Doc) -> Iterator[Event]:
        """A trajectory and what continues it; nothing where it was read as a part of another."""
        if doc.place in self.read:
            return
        self.calls, self.open, self.cwd, self.lanes, self.briefs = Calls(), {}, "", {}, {}
        ids = (k for k in ("session_id", "trajectory_id") if words(doc.value.get(k)))
        key = next((k for k in ids if not NAMELESS.match(doc.value[k])), "")
        yield SessionStart(doc.here(pointer(key) if key else ""), words(doc.value.get(key)))
        part: Doc | None = doc
        while part is not None and part.place not in self.read:
            yield from self._trajectory(part, "agent", 0)
            part = self._file(name_of(part.value.get("continued_trajectory_ref")), part)

    def _file(self, name: str, near: Doc) -> Doc | None:
        """The trajectory in another file of that name."""
        names = called_as(name, near.file)
        found = (one for one in self.docs if one.file.path.name in names)
        return next((one for one in found if is_trajectory(one.value)), None)

    def _trajectory(self, doc: Doc, actor: str, depth: int) -> Iterator[Event]:
        self.read[doc.place] = len(self.read) + 1
        if depth == 0:
            yield from _facts(doc)
        steps = listed(doc.value, "steps")
        for index, step in enumerate(steps):
            yield from self._step(doc, index, step, actor, depth)
        if not steps:
            yield Skipped(doc.here(""), "trajectory without steps")
        for index, inner in enumerate(listed(doc.value, "subagent_trajectories")):
            below = doc._replace(
                value=inner, base=doc.base + pointer("subagent_trajectories", index)
            )
            if below.place not in self.read and depth < DEEPEST and isinstance(inner, dict):
                yield from self._trajectory(below, self._named(inner), depth + 1)

    def _step(self, doc: Doc, index: int, step: Any, actor: str, depth: int) -> Iterator[Event]:
        base = pointer("steps", index)
        if not isinstance(step, dict):
            yield Skipped(doc.here(base), "not a step")
            return
        message = f"{self.read[doc.place]}/{index + 1}"
        said, aside = step.get("source"), depth == 0 and self._aside(step)
        here = doc.here(base, step.get("timestamp"), aside or actor, message)
        words_of = (str(said), content_text(step.get("message")))
        is_request = said == "user" and depth == 0 and not self.said  # its own file may be missing
        if step.get("is_copied_context") is True and not is_request:
            known = words_of in self.said
            yield Skipped(here, "repeated: copied from the trajectory before" if known else HANDED)
            return
        self.said.add(words_of)
        self.issued = []
        yield from self._placed(step, here)
        if said == "agent":
            yield from self._agent(doc, step, here)
        elif said == "user" and depth == 0 and not aside:
            yield turns.typed(step, here, harness(doc))
        elif said == "system":
            yield from turns.notice(step, here, index == 0 and depth == 0)
        else:
            name = self.briefs.pop(content_text(step.get("message")), None) if aside else None
            if name is not None and aside:
                yield Delegation(here, name, aside)
            yield Skipped(
                here, "a subagent's brief" if said == "user" else "step of no known source"
            )
        waiting = self.issued
        yield from self._subagents(doc, step, depth)
        for place, result in enumerate(results(step)):
            where = here.below(pointer("observation", "results", place))
            yield from self._result(result, step, waiting, where, here)

    def _aside(self, step: Json) -> str:
        """The subagent whose step Harbor keeps among those of Claude Code; else empty."""
        match step.get("extra"):
            case {"is_sidechain": True, **rest}:
                ident = words(rest.get("agent_id"))
                is_brief = step.get("source") == "user"
                if ident not in self.lanes or (is_brief and not ident and self.worked):
                    self.agents += 1
                    self.lanes[ident] = f"subagent:agent_{self.agents}"
                self.worked = not is_brief
                return self.lanes[ident]
        return ""

    def _placed(self, step: Json, here: Origin) -> Iterator[Event]:
        """Where the agent worked, which Harbor keeps of Claude Code."""
        match step.get("extra"):
            case {"cwd": str(cwd)} if cwd and cwd != self.cwd:
                self.cwd = cwd
                where = here.below("/extra/cwd")
                yield Fact(where, "cwd", cwd)
                yield Fact(where, "shows", PLACE)

    def _agent(self, doc: Doc, step: Json, here: Origin) -> Iterator[Event]:
        model = step.get("model_name")
        if words(model):
            yield Fact(here.below("/model_name"), "model", model)
        elif words(held := of_agent(doc.value).get("model_name")):
            where = doc.here("/agent/model_name", None, here.actor, here.message or "")
            yield Fact(where, "model", held)
        if step.get("reasoning_content") == NO_WORDS:
            yield Skipped(here.below("/reasoning_content"), "hidden reasoning")
        elif words(step.get("reasoning_content")):
            yield Thinking(here.below("/reasoning_content"), step["reasoning_content"])
        calls = listed(step, "tool_calls")
        text, inner = step.get("message"), None
        if not calls and isinstance(text, str) and text.lstrip()[:1] == "{":
            inner = parsed(text)
        if terminus.is_answer(inner):
            yield from self._typed(inner, here)
        elif content_text(text).strip():
            yield turns.said(content_text(text), here.below("/message"), harness(doc))
        for index, call in enumerate(calls):
            yield self._call(call, here.below(pointer("tool_calls", index)))
        if used := counts(step.get("metrics"), USAGE):
            yield Fact(here.below("/metrics"), "usage", used)

    def _typed(self, inner: Json, here: Origin) -> Iterator[Event]:
        """Terminus 2's answer."""
        here = here.below("/message")
        yield from terminus.thoughts(inner, here)
        for where, command in terminus.typed(inner, here):
            yield ToolCall(where, self._own("", where), terminus.TOOL, command, None)

    def _call(self, call: Any, here: Origin) -> Event:
        match call:
            case {"function_name": str(tool), **rest}:
                logged = words(rest.get("tool_call_id"))
                name = self._own(logged, here)
                began = when(times(rest).get("start_timestamp"))
                sent, path = rest.get("arguments"), "/arguments"
                if not isinstance(sent, dict | str):
                    sent, path = call, ""
                if isinstance(sent, dict) and words(sent.get("prompt")):
                    self.briefs.setdefault(sent["prompt"], name)
                named = here.evidence.pointer + "/function_name"
                here = Origin(here.evidence, began or here.at, here.actor, here.message)
                return ToolCall(here.below(path), name, tool, sent, named)
        return Skipped(here, "a call that names no tool")

    def _own(self, logged: str, here: Origin) -> str:
        """A name of its own for a call; it waits for a result."""
        name = str(self.calls.issue(logged, *here.evidence.record, here.evidence.pointer))
        self.open[logged or name] = name
        self.issued.append(logged or name)
        return name

    def _result(
        self, result: Any, step: Json, issued: list[str], here: Origin, of_step: Origin
    ) -> Iterator[Event]:
        if not isinstance(result, dict) or "content" not in result:
            yield Skipped(here, "a result without content")
            return
        logged = result.get("source_call_id")
        # Terminus 2 shows one screen after all that a step typed: it came back of the last call.
        last = next((one for one in reversed(issued) if one in self.open), "")
        name = self.open.pop(logged if isinstance(logged, str) and logged else last, None)
        if name is None:
            yield Skipped(here, "a result of no call in the log")
            return
        output = None if result["content"] is None else content_text(result["content"])
        path = here.evidence.pointer + "/content"
        called = outcome.called_in(step, logged)
        kept, place = outcome.kept(result, step, here, of_step)
        if isinstance(kept.get("content"), str | list):
            output, path = content_text(kept["content"]), place.below("/content").evidence.pointer
        told = outcome.told(output or "", path, called)
        beside = outcome.beside(result, step, here, of_step)
        if beside.outcome != "unknown" or kept:
            yield Fact(place if kept else here, "shows", WORKED)
            if beside.outcome == "unknown":
                beside = outcome.flagged(kept, place)
            if told.outcome not in ("launched", "rejected") and (
                told.exit_code is None
                or beside.exit_code is not None
                or told.outcome != beside.outcome
            ):
                told = beside
        ended = when(times(called).get("end_timestamp"))
        pictures = attachments(result["content"], path)
        where = Origin(here.evidence.at(path), ended, here.actor, here.message)
        rule, basis, code = told.rule, told.basis, told.exit_code
        patch = patch_in(words(called.get("function_name")), called.get("arguments"))
        made = tuple(changes(patch)) if patch and told.outcome == "ok" else ()
        yield ToolResult(where, name, output, told.outcome, rule, basis, code, made, pictures)

    def _subagents(self, doc: Doc, step: Json, depth: int) -> Iterator[Event]:
        """What the subagents did that a step's results point to."""
        for result in results(step):
            logged = result.get("source_call_id") if isinstance(result, dict) else None
            for ref in refs({"observation": {"results": [result]}}):
                below = self._named_by(ref, doc)
                if below is None or below.place in self.read or depth >= DEEPEST:
                    continue
                actor = self._named(below.value)
                call = self.open.get(logged) if isinstance(logged, str) else None
                if call is not None:
                    yield Delegation(below.here(""), call, actor)
                yield from self._trajectory(below, actor, depth + 1)

    def _named_by(self, ref: Json, doc: Doc) -> Doc | None:
        """The trajectory that a reference names: in the same document, or in a file beside it."""
        for index, inner in enumerate(listed(doc.value, "subagent_trajectories")):
            for key in ("trajectory_id", "session_id"):
                if isinstance(inner, dict) and words(ref.get(key)) and inner.get(key) == ref[key]:
                    base = doc.base + pointer("subagent_trajectories", index)
                    return doc._replace(value=inner, base=base)
        return self._file(name_of(ref.get("trajectory_path")), doc)

    def _named(self, value: Any) -> str:
        self.agents += 1
        return subagent(words(of_agent(value).get("name")), self.agents)


def _facts(doc: Doc) -> Iterator[Event]:
    """What the head of a trajectory says of the whole run."""
    agent = of_agent(doc.value)
    for key, fact in (("name", "harness"), ("version", "version")):
        if words(agent.get(key)):
            yield Fact(doc.here(pointer("agent", key)), fact, agent[key])
    offered = [name for tool in listed(agent, "tool_definitions") if (name := _tool_name(tool))]
    if offered:
        yield Fact(doc.here("/agent/tool_definitions"), "tools", offered)


def harness(doc: Doc) -> str:
    return words(of_agent(doc.value).get("name"))


def of_agent(value: Any) -> Json:
    found = value.get("agent") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _tool_name(tool: Any) -> str:
    match tool:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return name
    return ""


def times(call: Any) -> Json:
    """When a call began and ended, where NeMo's toolkit logs it."""
    match call:
        case {"extra": {"invocation": dict(times)}}:
            return times
    return {}
