"""ATIF trajectories (v1.0 to 1.8), and Harbor trials: a `result.json` with `agent/trajectory.json`.

One JSON object a run, whose steps hold calls and results together. Continued trajectories and those
of subagents lie in it or beside it. Harbor converts most harnesses into it; its trial, named by its
folder or `result.json`, adds what a verifier gave. Learnt from what Harbor (1.5, 1.7) and NeMo's
toolkit (1.7) write.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import Shows, counts, later, parsed, pointer, when, words
from forsy_retrace.source import Record, Source

from ._patches import changes, patch_in

WORKED = "whether a call worked: the form has no flag, only some outputs tell an exit code"
PLACE = "where the agent worked"
SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="rarely",
    time="sometimes",
    cwd="no",
    reasoning="sometimes",
    edits="sometimes",
    subagents="mostly",
    harness="ATIF",
    stores=("trajectory.json", "jobs/*/*/result.json of Harbor"),
    cannot=(
        WORKED,
        "whether a person or a program wrote the user's turns",
        PLACE,
    ),
    marks_people=False,
    tools={
        "bash_command": "bash",
        "execute_bash": "bash",
        "execute_ipython_cell": "bash",
        "shell_exec": "bash",
        "read_file": "Read",
        "read": "Read",
        "write_file": "Write",
        "write": "Write",
        "edit": "Edit",
        "replace": "Edit",
        "str_replace_editor": "Edit",
        "glob": "Glob",
        "list_directory": "LS",
        "ls": "LS",
        "search_file_content": "Grep",
        "grep": "Grep",
        "google_web_search": "WebSearch",
        "web_fetch": "WebFetch",
        "task": "Task",
        "task_tracker": "TodoWrite",
        "mark_task_complete": "finish",
        "task_complete": "finish",
        "submit": "finish",
        "attempt_completion": "finish",
    },
)

Json = dict[str, Any]

SOURCES = ("system", "user", "agent")
TRAJECTORY, REWARD = "agent/trajectory.json", "verifier/reward.txt"
OWN = later(r"trajectory(?:\.cont-\d+)?\.json\Z")
"""How Harbor names a trajectory; people set a lead before it when they copy one elsewhere."""
MOST_FILES = 200
DEEPEST = 8
"""Trajectories beside one, and how deep subagents may start others."""

EXIT = later(
    r"\A(?:Chunk ID: [^\n]{1,80}\n)?Wall time:? [^\n]{1,80}\n"
    r"Process exited with code (-?\d{1,10})(?:\n|\Z)"
    r"|(?:\A|\n)(?:\[(?:The )?[Cc]ommand (?:completed|finished) with exit code (-?\d{1,10})\.?\]"
    r"|<returncode>(-?\d{1,10})</returncode>|[Ee]xit [Cc]ode:? (-?\d{1,10}))[ \t]*(?:\n|\Z)"
)
"""How the outputs of OpenHands, mini-swe-agent, Gemini CLI, Codex and Claude Code tell it."""
ON = later(
    r"Command still running \(session |Command running in background with ID: "
    r"|Async agent launched successfully"
    r"|(?:Chunk ID: [^\n]{1,80}\n)?Wall time:? [^\n]{1,80}\nProcess running with session ID "
)
"""How OpenClaw, Claude Code and Codex begin that say that a call runs on."""
TURNED_DOWN = later(r"The user doesn't want to (?:proceed|take)\b")
"""How Claude Code begins that tells of a call that the user turned down."""

EDITORS = ("Edit", "Write", "MultiEdit", "str_replace_based_edit_tool", "apply_patch")
REFUSED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # How the result of an editor begins that changed nothing; by whose tool.
    ("editor-error", later(r"\s*ERROR:\s*\n|\s*No replacement was performed\b")),  # OpenHands
    ("edit-failed", later(r"Failed to edit, ")),  # Gemini CLI
    ("tool-use-error", later(r"<tool_use_error>")),  # Claude Code
    ("patch-refused", later(r"apply_patch verification failed")),  # Codex
)
"""Editors tell no exit code, and no log of this form has a flag: their own words count."""

CLAUDE_CODE, CODEX, OPENHANDS, TERMINUS = "claude-code", "codex", "openhands", "terminus-2"
"""How Harbor names the harnesses whose own words its trajectories keep."""
COMPOSED: dict[str, re.Pattern[str]] = {
    CLAUDE_CODE: later(r"Executed \S{1,200} (?:toolu|call)_\w{1,80}\Z"),
    OPENHANDS: later(
        r"(?:Running (?:command|Python code interactively)|Reading file): "
        r"|I (?:edited|read|wrote to) the file "
        r"|Managing \d+ task items?\.\Z|Clearing the task list\.\Z"
        r"|I am interacting with the MCP server with name:\n"
        r"|All done! What's next on the agenda\?\Z"
    ),
}
"""What a harness or Harbor says in the agent's place of a call, where the agent said nothing."""
COMPLAINS = later(
    r"(?:Missing required parameters for function|Parameter '[^\n]{1,80}' is not allowed)"
)
"""How OpenHands begins that could not read a call; Harbor files it under the agent."""
NOBODYS: dict[str, tuple[tuple[str, str], ...]] = {
    CLAUDE_CODE: (
        ("This session is being continued from a previous", "injected: compaction summary"),
        ("<local-command-", "output of a local command"),
        ("[Request interrupted by user for tool use]", "an interrupt that its call tells"),
        ("Caveat: The messages below were generated by the user while", "injected: caveat"),
    ),
    CODEX: (
        ("<environment_context>", "injected: environment"),
        ("# AGENTS.md instructions", "injected: instructions"),
        ("<user_instructions>", "injected: instructions"),
    ),
    OPENHANDS: (("Please continue on whatever approach you think is", "injected: continuation"),),
}
"""How turns in the user's role begin that the harness wrote: to sum up, or for who isn't there."""
STOPS: dict[str, re.Pattern[str]] = {
    CLAUDE_CODE: later(r"\s*\[Request interrupted by user\]\s*"),
    CODEX: later(r"(?s)\s*<turn_aborted>.*</turn_aborted>\s*"),
}
"""What a harness writes in the user's place where the user stopped the agent."""
LOCAL = later(
    r"\s*(?:<command-message>[^<]*</command-message>\s*)?<command-name>/(?:clear|compact|config|cost|doctor"
    r"|exit|help|login|logout|model|quit|resume|status)</command-name>[\s\S]*"
)
"""A command of Claude Code's client that changes the screen or the client alone."""
TASK = later(
    r"(?s)\s*You are an AI assistant tasked with solving command-line tasks\b.*?"
    r"\nTask Description:\n(?P<task>.*\S)\s+Current terminal state:\n"
)
"""How Terminus 2 puts the task into its own prompt."""
NAMELESS = later(r"[A-Z]+(?:_[A-Z]+)+\Z")
"""What stands for an id where it was taken out: it is the same for all."""
NO_WORDS = "null"
"""What Harbor writes for thoughts that Claude Code stored without their text."""

USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read_input_tokens",
}


def sniff(source: Source) -> bool:
    """A trajectory among the first records, or a trial that has one."""
    if any(_is_trajectory(record.value) for record in source.head):
        return True
    return any(_is_trial(record.value) for record in source.head) and bool(_trial_files(source))


def companions(source: Source) -> Iterator[Source]:
    """The trajectories that it names, and what a trial's verifier left."""
    files = _files(source)
    yield from (one for one in files if one is not source)
    if any(_is_trial(record.value) for record in source.head):
        yield from source.beside(REWARD)


def read(source: Source) -> Iterator[Event]:
    """Trajectory by trajectory; a trial's own result comes last, as it was made last."""
    files = _files(source)
    docs = [doc for one in files for doc in _docs(one)]
    reader = Reader(docs)
    trials = []
    for doc in docs:
        if doc.file is source and _is_trial(doc.value):
            trials.append(doc)
        elif _begins(doc, source, bool(trials)) and _is_trajectory(doc.value):
            yield from reader.session(doc)
        elif doc.file is source:
            yield Skipped(doc.here(""), doc.record.problem or "not a trajectory")
    for doc in docs:
        if doc.file is not source and doc.place not in reader.read:
            yield Skipped(doc.here(""), doc.record.problem or "a trajectory that no step leads to")
    for trial in trials:
        yield from _graded(trial, source)


def _begins(doc: "Doc", source: Source, is_trial: bool) -> bool:
    """Whether a session may begin there; the other files go on, or are subagents'."""
    return doc.file is source or (is_trial and doc.file.path.name == TRAJECTORY.split("/")[1])


# Files and their trajectories.


class Doc(NamedTuple):
    """A trajectory: the file and record that hold it, and where it stands in the record."""

    file: Source
    record: Record
    value: Any
    base: str = ""

    @property
    def place(self) -> tuple[str, int, str]:
        return (self.record.here.file, self.record.here.start, self.base)

    def here(self, path: str, at: Any = None, actor: str = "system", message: str = "") -> Origin:
        """The origin of an event at a pointer below the trajectory."""
        return Origin(self.record.here.at(self.base + path), when(at), actor, message or None)


def _docs(file: Source) -> Iterator[Doc]:
    for record in file.records():
        yield Doc(file, record, record.value)


def _is_trajectory(value: Any) -> bool:
    match value:
        case {"schema_version": str(version), "steps": list()} if version.startswith("ATIF"):
            return True
        case {"agent": dict(), "steps": [{"source": str(said), "step_id": _}, *_]}:
            return said in SOURCES
    return False


def _is_trial(value: Any) -> bool:
    match value:
        case {"trial_name": str()} | {"task_name": str()}:
            return any(key in value for key in ("verifier_result", "agent_info", "exception_info"))
    return False


def _trial_files(source: Source) -> list[Source]:
    found = source.beside(TRAJECTORY)
    return [one for one in found if any(_is_trajectory(record.value) for record in one.head)]


def _files(source: Source) -> list[Source]:
    """The log and the trajectories that it leads to; a name in a log only picks among files."""
    files = [source]
    if any(_is_trial(record.value) for record in source.head):
        files += _trial_files(source)
    for one in files:
        names = {
            near for record in one.head for name in _names(record.value) for near in _as(name, one)
        }
        known = {near.path for near in files}
        for near in one.called(name for name in names if name.endswith(".json")):
            if near.path not in known and len(files) < MOST_FILES:
                files.append(near)
    return files


def _as(name: str, by: Source) -> tuple[str, ...]:
    """How a file may be called that another one names: copies have a lead in common."""
    return (name, OWN.sub("", by.path.name) + name) if name else ()


def _names(value: Any, depth: int = 0) -> Iterator[str]:
    """The files that a trajectory goes on in, or whose subagents' work lies there."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return
    for step in _list(value, "steps"):
        for ref in _refs(step):
            yield _name(ref.get("trajectory_path"))
    for inner in _list(value, "subagent_trajectories"):
        yield from _names(inner, depth + 1)
    yield _name(value.get("continued_trajectory_ref"))


def _name(path: Any) -> str:
    return re.split(r"[/\\]", path)[-1] if isinstance(path, str) else ""


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _results(step: Any) -> list[Any]:
    return _list(step.get("observation"), "results") if isinstance(step, dict) else []


def _refs(step: Any) -> Iterator[Json]:
    """The subagents' trajectories that a step's results point to."""
    for result in _results(step):
        refs = result.get("subagent_trajectory_ref") if isinstance(result, dict) else None
        for one in refs if isinstance(refs, list) else [refs]:
            if isinstance(one, dict):
                yield one


# Steps, one by one.

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
            part = self._file(_name(part.value.get("continued_trajectory_ref")), part)

    def _file(self, name: str, near: Doc) -> Doc | None:
        """The trajectory in another file of that name."""
        names = _as(name, near.file)
        found = (one for one in self.docs if one.file.path.name in names)
        return next((one for one in found if _is_trajectory(one.value)), None)

    def _trajectory(self, doc: Doc, actor: str, depth: int) -> Iterator[Event]:
        self.read[doc.place] = len(self.read) + 1
        if depth == 0:
            yield from _facts(doc)
        steps = _list(doc.value, "steps")
        for index, step in enumerate(steps):
            yield from self._step(doc, index, step, actor, depth)
        if not steps:
            yield Skipped(doc.here(""), "trajectory without steps")
        for index, inner in enumerate(_list(doc.value, "subagent_trajectories")):
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
            yield _user(step, here, _harness(doc))
        elif said == "system":
            yield from _system(step, here, index == 0 and depth == 0)
        else:
            name = self.briefs.pop(content_text(step.get("message")), None) if aside else None
            if name is not None and aside:
                yield Delegation(here, name, aside)
            yield Skipped(
                here, "a subagent's brief" if said == "user" else "step of no known source"
            )
        waiting = self.issued
        yield from self._subagents(doc, step, depth)
        for place, result in enumerate(_results(step)):
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
        elif words(held := _of_agent(doc.value).get("model_name")):
            where = doc.here("/agent/model_name", None, here.actor, here.message or "")
            yield Fact(where, "model", held)
        if step.get("reasoning_content") == NO_WORDS:
            yield Skipped(here.below("/reasoning_content"), "hidden reasoning")
        elif words(step.get("reasoning_content")):
            yield Thinking(here.below("/reasoning_content"), step["reasoning_content"])
        calls = _list(step, "tool_calls")
        text, inner = step.get("message"), None
        if not calls and isinstance(text, str) and text.lstrip()[:1] == "{":
            inner = parsed(text)
        if isinstance(inner, dict) and isinstance(inner.get("commands"), list):
            yield from self._typed(inner, here)
        elif content_text(text).strip():
            yield _said(content_text(text), here.below("/message"), _harness(doc))
        for index, call in enumerate(calls):
            yield self._call(call, here.below(pointer("tool_calls", index)))
        if used := counts(step.get("metrics"), USAGE):
            yield Fact(here.below("/metrics"), "usage", used)

    def _typed(self, inner: Json, here: Origin) -> Iterator[Event]:
        """Terminus 2 answers in JSON: what it thinks, and what it types into a terminal."""
        here = here.below("/message")
        for key in ("analysis", "plan"):
            if words(inner.get(key)):
                yield Message(here.below(pointer(key)), "agent", inner[key])
        for index, command in enumerate(inner["commands"]):
            where = here.below(pointer("commands", index))
            name = self._own("", where)
            yield ToolCall(where, name, "terminal", command, None)

    def _call(self, call: Any, here: Origin) -> Event:
        match call:
            case {"function_name": str(tool), **rest}:
                logged = words(rest.get("tool_call_id"))
                name = self._own(logged, here)
                began = when(_times(rest).get("start_timestamp"))
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
        called = _called(step, logged)
        kept, place = _kept(result, step, here, of_step)
        if isinstance(kept.get("content"), str | list):
            output, path = content_text(kept["content"]), place.below("/content").evidence.pointer
        told = _told(output or "", path, called)
        beside = _beside(result, step, here, of_step)
        if beside.outcome != "unknown" or kept:
            yield Fact(place if kept else here, "shows", WORKED)
            if beside.outcome == "unknown":
                beside = _flagged(kept, place)
            if told.outcome not in ("launched", "rejected") and (
                told.exit_code is None
                or beside.exit_code is not None
                or told.outcome != beside.outcome
            ):
                told = beside
        ended = when(_times(called).get("end_timestamp"))
        pictures = attachments(result["content"], path)
        where = Origin(here.evidence.at(path), ended, here.actor, here.message)
        rule, basis, code = told.rule, told.basis, told.exit_code
        patch = (
            patch_in(words(called.get("function_name")), called.get("arguments"))
            if called
            else None
        )
        made = tuple(changes(patch)) if patch and told.outcome == "ok" else ()
        yield ToolResult(where, name, output, told.outcome, rule, basis, code, made, pictures)

    def _subagents(self, doc: Doc, step: Json, depth: int) -> Iterator[Event]:
        """What the subagents did that a step's results point to."""
        for result in _results(step):
            logged = result.get("source_call_id") if isinstance(result, dict) else None
            for ref in _refs({"observation": {"results": [result]}}):
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
        for index, inner in enumerate(_list(doc.value, "subagent_trajectories")):
            for key in ("trajectory_id", "session_id"):
                if isinstance(inner, dict) and words(ref.get(key)) and inner.get(key) == ref[key]:
                    base = doc.base + pointer("subagent_trajectories", index)
                    return doc._replace(value=inner, base=base)
        return self._file(_name(ref.get("trajectory_path")), doc)

    def _named(self, value: Any) -> str:
        self.agents += 1
        name = re.sub(r"[^\w.-]", "-", words(_of_agent(value).get("name")))[:40]
        return f"subagent:{name or 'agent'}_{self.agents}"


def _facts(doc: Doc) -> Iterator[Event]:
    """What the head of a trajectory says of the whole run."""
    agent = _of_agent(doc.value)
    for key, fact in (("name", "harness"), ("version", "version")):
        if words(agent.get(key)):
            yield Fact(doc.here(pointer("agent", key)), fact, agent[key])
    offered = [name for tool in _list(agent, "tool_definitions") if (name := _tool_name(tool))]
    if offered:
        yield Fact(doc.here("/agent/tool_definitions"), "tools", offered)


def _harness(doc: Doc) -> str:
    return words(_of_agent(doc.value).get("name"))


def _of_agent(value: Any) -> Json:
    found = value.get("agent") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _tool_name(tool: Any) -> str:
    match tool:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return name
    return ""


def _said(text: str, here: Origin, harness: str) -> Event:
    """The agent's words; none are what was composed in their place."""
    composed = COMPOSED.get(harness)
    if composed is not None and composed.match(text):
        return Skipped(here, "words composed for a call")
    if harness == OPENHANDS and COMPLAINS.match(text):
        return Skipped(here, "a call that the harness could not read")
    return Message(here, "agent", text)


KEPT = "/extra/tool_result_metadata/raw_tool_result"
WORDS_FOR = {"success": True, "error": False}
"""How Strands' results say how they ended."""


def _kept(result: Json, step: Json, here: Origin, of_step: Origin) -> tuple[Json, Origin]:
    """A result as Claude Code had it, where Harbor keeps it: beside it, or beside an only call."""
    match result, step:
        case {"extra": {"tool_result_metadata": {"raw_tool_result": dict(kept)}}}, _:
            return kept, here.below(KEPT)
        case _, {
            "tool_calls": [_],
            "extra": {"tool_result_metadata": {"raw_tool_result": dict(kept)}},
        }:
            return kept, of_step.below(KEPT)
    return {}, here


def _beside(result: Json, step: Json, here: Origin, of_step: Origin) -> Verdict:
    """What stands beside a result of how its call ended: there Harbor keeps the harness's word."""
    base = here.below("/extra").evidence.pointer
    match result.get("extra"):
        case {"exit_code": int(code)} if not isinstance(code, bool):
            return _ended(code, f"{base}/exit_code")
        case {"is_error": bool(flag)}:
            return Verdict("failed" if flag else "ok", "error-flag", f"{base}/is_error")
        case {"tool_result_is_error": bool(flag)}:
            where = f"{base}/tool_result_is_error"
            return Verdict("failed" if flag else "ok", "error-flag", where)
        case {"success": bool(flag)}:
            return Verdict("ok" if flag else "failed", "success-field", f"{base}/success")
        case {"status": str(word)} if word in WORDS_FOR:
            return Verdict("ok" if WORDS_FOR[word] else "failed", "status", f"{base}/status")
    ident, path = words(result.get("source_call_id")), tuple[str, ...]()
    match step.get("extra"):
        case {"tool_call_details": dict(each)}:
            path = ("tool_call_details", ident, "metadata")
            one: Any = each.get(ident)
            told = one.get("metadata") if isinstance(one, dict) else None
        case {"tool_metadata": told} if len(_list(step, "tool_calls")) == 1:
            path = ("tool_metadata",)
        case _:
            return Verdict()
    match told:
        case {"exit_code": int(code)} if not isinstance(code, bool):
            there = of_step.below(pointer("extra", *path, "exit_code"))
            return _ended(code, there.evidence.pointer)
    return Verdict()


def _ended(code: int, path: str) -> Verdict:
    return Verdict("failed" if code else "ok", "exit-code", path, code)


def _flagged(kept: Json, place: Origin) -> Verdict:
    """By the client's own flag, which it leaves away from most results that are no error."""
    where = place.evidence.pointer
    match kept.get("is_error"):
        case bool(flag):
            return Verdict("failed" if flag else "ok", "error-flag", where + "/is_error")
    return Verdict("ok", "no-error-flag", where)


def _user(step: Json, here: Origin, harness: str) -> Event:
    here = Origin(here.evidence, here.at, "user", here.message)
    text = content_text(step.get("message"))
    if not text.strip():
        return Skipped(here, "empty message")
    for opening, reason in NOBODYS.get(harness, ()):
        if text.lstrip().startswith(opening):
            return Skipped(here, reason)
    if harness == CLAUDE_CODE and LOCAL.fullmatch(text):
        return Skipped(here, "local command")
    if harness in STOPS and STOPS[harness].fullmatch(text):
        return Notice(here, "interrupted")
    pictures = attachments(step.get("message"), here.evidence.pointer + "/message")
    if harness == TERMINUS and (told := TASK.match(text)):
        return Message(here.below("/message"), "user", told["task"], within=True)
    return Message(here.below("/message"), "user", text, attachments=pictures)


def _system(step: Json, here: Origin, opens: bool) -> Iterator[Event]:
    """The prompt that opens a run; else a word of the harness, which is nobody's turn."""
    text = content_text(step.get("message"))
    extra = step.get("extra")
    match extra.get("context_management") if isinstance(extra, dict) else None:
        case {"type": "compaction"}:
            yield Notice(here, "compacted")
            return
    if opens and text.strip() and text.lstrip()[:1] != "{":
        yield Fact(here.below("/message"), "system_prompt", text)
    else:
        yield Skipped(here, "notice of the harness")


def _told(output: str, path: str, called: Any) -> Verdict:
    """What an output says of its call: an exit code, or that an editor changed nothing."""
    if ON.match(output):
        return Verdict("launched", "still-running", path)
    if TURNED_DOWN.match(output):
        return Verdict("rejected", "rejected-by-user", path)
    found = EXIT.search(output[:400]) or EXIT.search(output[-400:])
    if found is not None:
        code = int(next(group for group in found.groups() if group is not None))
        return Verdict("failed" if code else "ok", "exit-code-told", path, code)
    match parsed(output) if output[:1] == "{" and '"isError"' in output[-400:] else None:
        case {"content": list(), "isError": bool(flag)}:
            return Verdict("failed" if flag else "ok", "server-says-error", path)
    tool = words(called.get("function_name")) if isinstance(called, dict) else ""
    if SHOWS.tools.get(tool, tool) in EDITORS:
        rule = next((rule for rule, opening in REFUSED if opening.match(output)), "")
        return Verdict("failed", rule, path) if rule else Verdict()
    return Verdict()


def _called(step: Json, logged: Any) -> Any:
    """The call of a step that has that id."""
    calls = (one for one in _list(step, "tool_calls") if isinstance(one, dict))
    return next((one for one in calls if logged and one.get("tool_call_id") == logged), None)


def _times(call: Any) -> Json:
    """When a call began and ended, where NeMo's toolkit logs it."""
    match call:
        case {"extra": {"invocation": dict(times)}}:
            return times
    return {}


def _graded(trial: Doc, source: Source) -> Iterator[Event]:
    """How a trial ended, and what its verifier gave."""
    value: Json = trial.value
    here = trial.here("")
    match value.get("exception_info"):
        case {"exception_type": str(kind), **rest} if kind.strip():
            key = "exception_message" if words(rest.get("exception_message")) else "exception_type"
            where = here.below(pointer("exception_info", key))
            text = value["exception_info"][key]
            yield Notice(where, "limit" if "Timeout" in kind else "model error", text)
    told = False
    match value.get("verifier_result"):
        case {"rewards": {"reward": int() | float() as reward}}:
            told = True
            yield Fact(here.below("/verifier_result/rewards/reward"), "reward", reward)
        case {"reward": int() | float() as reward}:
            told = True
            yield Fact(here.below("/verifier_result/reward"), "reward", reward)
    for file in source.beside(REWARD):
        for doc in _docs(file):
            if not told and isinstance(doc.value, int | float):
                told = True
                yield Fact(doc.here(""), "reward", doc.value)
            else:
                yield Skipped(doc.here(""), doc.record.problem or "the reward, told again")
    yield Skipped(here, "result of the trial")
