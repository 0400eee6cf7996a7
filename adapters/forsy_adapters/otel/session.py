"""One session: what the agent was asked, said and did, in the order of the spans' times.

A model is given the whole history at each call: of it only what no event told before is told.
"""

from collections import Counter, deque
from collections.abc import Iterator

from msgspec.structs import replace

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Attachment,
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
from forsy_retrace.sdk import words

from .._facts import Facts
from .about import cut_short, offered, usage
from .messages import given, instructions, said
from .mind import Mind, key_of, waiting_for
from .names import HARNESSES, MODEL, RESULT, is_clients
from .parts import Part
from .spans import Span
from .tools import Run, is_quoted, of_tool, output_text, run_of
from .tree import MAIN, Node, Tree

SILENT = "What was said, asked and shown is not told: no attribute that is read holds any of it."
DROPPED = "The program that sent the spans dropped attributes of some, and what they told."
READING = "text-in-json"
LEFT_OUT = {
    "cut": "messages that are cut off, or no JSON",
    "unknown": "unknown part of a message",
}
"""Why a kind of part is no word of anybody's."""


class Session:
    """Reads the spans of one session."""

    def __init__(self, ident: str, at: Origin, spans: list[Span]) -> None:
        self.ident, self.start = ident, at
        self.limits = [DROPPED] if any(span.is_cut for span in spans) else []
        self.tree = Tree(spans)
        self.calls = Calls()
        self.minds: dict[str, Mind] = {}
        self.told: dict[str, Counter[object]] = {}
        """What was told already, by the names of agents."""
        self.tools: dict[str, str] = {}
        """The tool of each call."""
        self.run_by: dict[int, str] = {}
        """Spans of tools, and the call that each runs."""
        self.facts = Facts()
        for node in self.tree.nodes:
            _choose(node)

    def events(self) -> Iterator[Event]:
        """All that happened; what the session cannot tell is known only at its end."""
        told = [event for moment in self.tree.moments() for event in self._moment(*moment)]
        for mind in self.minds.values():
            told += self._let_go(mind)
        silent = [] if _has_words(told) else [SILENT]
        yield SessionStart(self.start, self.ident, limits=(*silent, *self.limits))
        yield from told

    def _moment(self, node: Node, begins: bool) -> Iterator[Event]:
        span = node.span
        if self.tree.known[span.name_of] is not node:
            if begins:
                yield Skipped(span.at(span.base, "system"), "a span that was sent twice")
            return
        if begins:
            yield from self._harness(span)
        match node.kind, begins:
            case _ if node.repeats:
                if begins:
                    yield Skipped(span.at(span.base, "system"), "told by the span around it")
            case "model", True:
                yield from self._asked(node)
            case "model", False:
                yield from self._answered(node)
            case "tool", True:
                yield from self._runs(node)
            case "tool", False:
                yield from self._ran(node)
            case "agent", _ if not any(_tells(model.span) for model in node.models):
                yield from self._witnessed(node, begins)
            case kind, True:
                client = "telemetry of a client" if is_clients(span) else "a span around others"
                yield Skipped(span.at(span.base, "system"), "an agent's run" if kind else client)
            case _, False:
                yield from self._broke(node)

    # Models.

    def _asked(self, node: Node) -> Iterator[Event]:
        """What a model was given that is new."""
        span, actor = node.span, self.tree.actor(node)
        yield from self._delegated(node, actor)
        if model := span.told(MODEL):
            yield Fact(span.at(model.pointer, actor, "began", span.id), "model", model.value)
        if actor == MAIN and (names := offered(span)):
            here = span.at(span.base + "/attributes", "system", "began")
            yield from self.facts.told(here, "tools", names)
        for part in instructions(span)[:1]:
            yield from self._prompt(part, span.at(part.pointer, actor, "began"))
        mind = self._mind(actor)
        parts = given(span)
        last = max((i for i, part in enumerate(parts) if part.role == "assistant"), default=-1)
        for part in parts:
            if part.kind == "result" and self._open(part.id) in mind.held:
                yield from self._given_back(part, span.at(part.pointer, actor, "began"), mind)
        yield from self._let_go(mind)
        yield from self._history(span, actor, parts, last)

    def _history(self, span: Span, actor: str, parts: list[Part], last: int) -> Iterator[Event]:
        """What is new of a conversation: what stands behind the part `last` is new to the span."""
        mind = self._mind(actor)
        messages: dict[str, int] = {}
        for group in self._new(parts, mind):
            index, part = group[0]
            number = messages.setdefault(part.of, len(messages))
            message = f"{span.id}:{number}" if part.role == "assistant" else ""
            here = span.at(part.pointer, actor, "began" if index > last else "", message)
            yield from self._told([part for _, part in group], here, mind)

    def _witnessed(self, node: Node, begins: bool) -> Iterator[Event]:
        """An agent's run, and what its own span tells of words that no model's in it does."""
        span, parts = node.span, given(node.span)
        actor = self.tree.actor_in(node) if parts or said(span) else ""
        first = next((i for i, part in enumerate(parts) if part.role == "assistant"), len(parts))
        if begins:
            yield Skipped(span.at(span.base, "system"), "an agent's run")
        if begins and actor:
            yield from self._delegated(node, actor)
            yield from self._history(span, actor, parts[:first], -1)
        elif actor:
            yield from self._history(span, actor, parts, len(parts))
            if not parts or parts[-1].role != "assistant":
                yield from self._answer_of(node, actor)
        if not begins:
            yield from self._broke(node)

    def _answer_of(self, node: Node, actor: str) -> Iterator[Event]:
        """What was said at the end of a span, in its order."""
        span, mind = node.span, self._mind(actor)
        for part in said(span):
            mind.told[key_of(part)] += 1
            yield from self._spoken(part, span.at(part.pointer, actor, "ended", span.id), mind)

    @staticmethod
    def _new(parts: list[Part], mind: Mind) -> Iterator[list[tuple[int, Part]]]:
        """The parts that no event told before: alone, but a user's of one message together."""
        seen: Counter[object] = Counter()
        group: list[tuple[int, Part]] = []
        for index, part in enumerate(parts):
            key = key_of(part)
            seen[key] += 1
            if seen[key] <= mind.told[key]:
                continue
            mind.told[key] += 1
            if group and not (
                part.role == group[0][1].role == "user" and part.of == group[0][1].of
            ):
                yield group
                group = []
            group.append((index, part))
        if group:
            yield group

    def _told(self, parts: list[Part], here: Origin, mind: Mind) -> Iterator[Event]:
        """A part of the history; what an answer lies behind happened at a time unknown."""
        part = parts[0]
        if part.kind in LEFT_OUT:
            yield Skipped(here.by("system"), LEFT_OUT[part.kind])
        elif part.kind == "result":
            yield from self._given_back(part, here, mind)
        elif part.role == "system":
            yield from self._prompt(part, here)
        elif part.role == "assistant":
            yield from self._spoken(part, here, mind)
        elif here.actor != MAIN:
            yield Skipped(here.by("system"), "what a subagent was asked")
        else:
            yield from self._heard(parts, here.by("user"))

    @staticmethod
    def _heard(parts: list[Part], here: Origin) -> Iterator[Event]:
        """The words of one message to the agent, with its pictures and documents."""
        texts = [part for part in parts if part.kind == "text" and words(part.value)]
        files = tuple(
            Attachment(part.value.type, part.value.size, part.pointer)
            for part in parts
            if part.kind == "file"
        )
        places = tuple(here.evidence.at(part.pointer) for part in texts)
        if texts:
            pieces = places if len(places) > 1 else ()
            here = replace(here, evidence=places[0], pieces=pieces)
        if texts or files:
            text = "\n\n".join(part.value for part in texts)
            yield Message(here, "user", text, attachments=files)
        elif any(part.value is not None for part in parts):
            yield Skipped(here, "empty message")

    def _prompt(self, part: Part, here: Origin) -> Iterator[Event]:
        if here.actor == MAIN and part.kind == "text" and part.value:
            yield from self.facts.told(here.by("system"), "system_prompt", part.value)

    def _answered(self, node: Node) -> Iterator[Event]:
        """What a model said, what that took, and how it ended."""
        span, actor = node.span, self.tree.actor(node)
        self._mind(actor).answer = span.id
        yield from self._answer_of(node, actor)
        if not any(part.value is not None or part.kind == "call" for part in said(span)):
            yield Skipped(span.at(span.base, "system"), "a model's answer without its words")
        here = span.at(span.base + "/attributes", actor, "ended", span.id)
        if used := usage(span):
            yield Fact(here, "usage", used)
        for leaf in cut_short(span):
            yield Notice(span.at(leaf.pointer, "system", "ended"), "limit", leaf.value)
        yield from self._broke(node)

    def _spoken(self, part: Part, here: Origin, mind: Mind) -> Iterator[Event]:
        """A part of an agent's own."""
        if part.kind == "call":
            yield from self._issued(part, here, mind)
        elif part.kind in LEFT_OUT:
            yield Skipped(here.by("system"), LEFT_OUT[part.kind])
        elif part.value is None:
            pass
        elif part.kind == "thinking":
            if part.value.strip():
                yield Thinking(here, part.value)
        elif part.kind == "file":
            yield Skipped(here.by("system"), "a file that the model made")
        elif words(part.value):
            yield Message(here, "agent", part.value)

    def _issued(self, part: Part, here: Origin, mind: Mind) -> Iterator[Event]:
        if not part.tool:
            yield Skipped(here, "a call that names no tool")
            return
        call = str(self.calls.issue(part.id, here.evidence.line, part.pointer))
        self.tools[call] = part.tool
        mind.waiting.setdefault(part.tool, deque()).append((call, part.value))
        yield ToolCall(here, call, part.tool, part.value, part.named)

    # Tools.

    def _runs(self, node: Node) -> Iterator[Event]:
        """A tool begins: for a call that is known, or it is the only word of the call."""
        run, actor = run_of(node.span), self.tree.actor(node)
        yield from self._delegated(node, actor)
        mind = self._mind(actor)
        call = waiting_for(mind, run)
        if call is None:
            call = str(self.calls.issue(run.call, node.span.record.here.line, node.span.base))
            here = node.span.at(run.sent_at, actor, "began", mind.answer)
            maker = self._maker(node)
            yield ToolCall(here, call, run.tool, run.sent, run.named, made_by=maker)
            self.tools[call] = run.tool
            if run.call:
                mind.told["call", run.call, run.tool] += 1
        else:
            yield Skipped(node.span.at(node.span.base, "system"), "the run of a call")
        self.run_by[id(node)] = call

    def _maker(self, node: Node) -> str:
        """The call of the tool in which another runs with no model between: its code made this."""
        around = node.around
        is_within = around is not None and around.kind == "tool" and not around.asks
        return self.run_by.get(id(around), "") if is_within else ""

    def _ran(self, node: Node) -> Iterator[Event]:
        run, actor = run_of(node.span), self.tree.actor(node)
        call = self.run_by.get(id(node), "")
        mind = self._mind(actor)
        if node.span.ended is None and run.output is None and run.error is None:
            return  # a span that was exported before it ended
        if run.output is None:
            mind.held[call] = (node, run)
        else:
            yield from self._result(call, node, run, actor)

    def _result(self, call: str, node: Node, run: Run, actor: str) -> Iterator[Event]:
        """What a tool's span tells of the end of a call."""
        span, output = node.span, run.output or run.error
        here = span.at(output.pointer if output else span.base, actor, "ended")
        if is_quoted(output):
            here = replace(here, reading=READING)
        if (name := self._answer(call)) is None:
            yield Skipped(here, "a result that was told before")
            return
        yield ToolResult(here, name, output_text(output), *run.verdict)

    def _answer(self, call: str) -> str | None:
        """The call, unless it has its answer."""
        if call in self.calls.closed:
            return None
        self.calls.closed.add(call)
        return call

    def _open(self, ident: str) -> str:
        """The first call of an id that has no answer; one that the log lacks keeps its id."""
        names = self.calls.open.get(ident) or [ident]
        return next((name for name in names if name not in self.calls.closed), "")

    def _given_back(self, part: Part, here: Origin, mind: Mind) -> Iterator[Event]:
        """A result that a model was given."""
        if part.value is None:
            return
        call = self._open(part.id)
        if not call or self._answer(call) is None:
            return  # the span of the tool told it
        verdict = of_tool(part.verdict, self.tools.get(call, ""))
        if ended := mind.held.pop(call, None):
            node, run = ended
            done = node.span.at(node.span.base, here.actor, "ended")
            if run.verdict.outcome != "unknown":  # the text is a message's, its end the span's
                here = replace(done, pieces=(here.evidence,), reading=here.reading)
                verdict = run.verdict
            else:
                here = replace(here, at=done.at, dated=done.evidence)
        yield ToolResult(here, call, output_text(part), *verdict)

    def _let_go(self, mind: Mind) -> Iterator[Event]:
        """Calls whose results nobody shows."""
        for call, (node, run) in list(mind.held.items()):
            yield from self._result(call, node, run, self.tree.actor(node))
        mind.held.clear()

    # The session.

    def _mind(self, actor: str) -> Mind:
        """What an agent knows; one that is run again may be given what it was told before."""
        if actor not in self.minds:
            name = actor.rpartition("_")[0]
            self.minds[actor] = Mind(self.told.setdefault(name, Counter()))
        return self.minds[actor]

    def _delegated(self, node: Node, actor: str) -> Iterator[Event]:
        """The call that started a subagent, at the first act of its own."""
        if actor == MAIN or actor in self.minds:
            return
        self._mind(actor)
        runner = self.tree.runner(node)
        if runner is not None and (call := self.run_by.get(id(runner))):
            yield Delegation(node.span.at(node.span.base, "system", "began"), call, actor)

    def _broke(self, node: Node) -> Iterator[Event]:
        """An error that no span below tells, but of a call."""
        span = node.span
        if not span.failed or node.told_below:
            return
        actor = self.tree.actor(node) if node.kind == "model" else "system"
        leaf = span.error()
        where = leaf.pointer if leaf else span.base + "/status"
        yield Notice(span.at(where, actor, "ended"), "model error", leaf.value if leaf else "")

    def _harness(self, span: Span) -> Iterator[Event]:
        if name := HARNESSES.get(span.scope):
            yield from self.facts.told(span.at(span.base, MAIN, "began"), "harness", name)


def _choose(node: Node) -> None:
    """Of two spans that tell the same, the outer one counts, unless only the inner has content."""
    if node.repeats and node.around and _tells(node.span) and not _tells(node.around.span):
        node.around.kind = ""


def _tells(span: Span) -> bool:
    return any(part.value is not None for part in (*given(span), *said(span))) or bool(
        span.told(RESULT)
    )


def _has_words(told: list[Event]) -> bool:
    for event in told:
        match event:
            case Message() | Thinking():
                return True
            case ToolCall(input=sent) if sent is not None:
                return True
            case ToolResult(output=str()):
                return True
    return False
