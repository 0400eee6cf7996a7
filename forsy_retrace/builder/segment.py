"""Which events make one step?

One step for each message by the human, each tool call, each text of the agent that ends a turn or
is cut off, each error of the harness. Text and thinking before a call are that call's reasoning.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Outcome,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.evidence import Ground, verbatim
from forsy_retrace.patterns import later
from forsy_retrace.sdk import mark_of, text_or_json
from forsy_retrace.times import order
from forsy_retrace.trace import Step, Trace, put

from .administration import is_administration
from .copied import PICTURES, TYPED, copied, times
from .rule import Rule
from .tools import like

CAME_AS = {
    "command": Rule("came-as-command", "The words are a command that the client expands."),
    "answer": Rule("came-as-answer", "The words answer a question of an earlier call."),
}
STOPPED = Rule("interrupted", "The harness says that the user stopped the work here.")
BY_KIND = Rule("kind-of-record", "The tool that records of this kind are of.")
RULES = (*CAME_AS.values(), BY_KIND, STOPPED)

TURN_ENDS = "notice: background task ended"
"""A background task's end reaches the agent as a new turn, though nobody wrote it."""
BLANK = "blank words"
ANNOUNCES = later(
    r"(?im)(?:^|[.!?]\s+)(?:now,? )?(?:let me|let['\u2019]s|i['\u2019]ll|i will|i['\u2019]m going to)\b[^.!?\n]{1,200}:\s*\Z"
)
"""What an agent says right before a call."""
REPORT = "a subagent's report, repeated in the call that started it"


def segment(trace: Trace) -> Trace:
    """The session's steps, numbered, with what was said, sent and thought."""
    found = _Segments(trace.tools)
    for event in _as_the_agent_got_them(trace.session.events):
        found.take(event)
    found.finish()
    return structs.replace(
        trace,
        steps=tuple(found.steps),
        boundaries=tuple(found.boundaries),
        replanned=tuple(found.replanned),
        delegations=found.delegations,
        left_out=found.left_out,
    )


def _as_the_agent_got_them(events: Sequence[Event]) -> Iterator[Event]:
    """The events; what was typed amid a message of the agent stands behind the message's last call.

    The agent was writing that message, and did not know the words yet.
    """
    ends = {
        event.origin.message: index
        for index, event in enumerate(events)
        if isinstance(event, ToolCall) and event.origin.message
    }
    waiting: list[Event] = []
    end = -1
    for index, event in enumerate(events):
        is_typed = isinstance(event, Message) and event.role == "user" and event.answers is None
        if is_typed and index < end:
            waiting.append(event)
            continue
        yield event
        if index == end:
            yield from waiting
            waiting = []
        if not is_typed and isinstance(event, Message | Thinking | ToolCall):
            end = max(end, ends.get(event.origin.message or "", -1))


PLANNED = later(r"Todos have been modified successfully|Plan updated\s*\Z")
"""How Claude Code and Codex acknowledge a new plan."""


class _Segments:
    def __init__(self, tools: Mapping[str, str]) -> None:
        self.tools = tools
        self.steps: list[Step] = []
        self.boundaries: list[tuple[int, str]] = []
        self.replanned: list[tuple[int, str]] = []
        self.delegations: dict[str, int] = {}
        self.left_out: dict[tuple[str, int, int], str] = {}
        self.pending: dict[str, list[Message | Thinking]] = {}
        self.since: dict[str, tuple[int, int]] = {}
        """How many steps there were when an actor's pending words began, and the turn."""
        self.between: dict[str, set[str]] = {}
        """What came to an actor since its pending words began: the result of a `lost` call, or a record
        that was `skipped`."""
        self.facts: dict[str, dict[str, str]] = {}
        """Where each actor works, and in which shell, as far as its own records tell."""
        self.turn = 1
        self.spoken = False
        self.calls: dict[str, int] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.administration: set[str] = set()
        self.branch = ""

    def take(self, event: Event) -> None:
        if event.origin.branch != self.branch and not isinstance(event, Fact | Skipped):
            self._ends_turn()  # another line of the conversation: what was said stands as it is
            self.branch = event.origin.branch
        match event:
            case Message(role="user", text=text) if not (text.strip() or event.attachments):
                self._ends_turn()
                self.left_out.setdefault(event.origin.evidence.record, "a message without words")
            case Message(role="user"):
                self._ends_turn()
                self._user(event)
            case Message(via="notification"):
                self._ends_turn()
                self._report(event)
            case Message() | Thinking():
                if not self.pending.get(event.origin.actor):
                    self.since[event.origin.actor] = len(self.steps), self.turn
                    self.between.pop(event.origin.actor, None)
                self.pending.setdefault(event.origin.actor, []).append(event)
            case ToolCall():
                self._call(event)
            case ToolResult():
                self._result(event)
            case Fact(name="cwd" | "branch" | "shell" as name, value=str(value)):
                self._of(event.origin.actor, own=True)[name] = value
            case Delegation():
                if event.call in self.calls:
                    self.delegations[event.actor] = self.calls[event.call]
            case Notice():
                self._notice(event)
            case Skipped(reason=reason):
                self._came_between(event.origin.actor, "skipped")
                if reason == TURN_ENDS:
                    self._ends_turn()

    def finish(self) -> None:
        """What was still unsaid when the log ended; what a subagent said stands where it did."""
        is_alone = all(step.actor.startswith("subagent") for step in self.steps)
        late: list[tuple[int, Step]] = []
        for actor in list(self.pending):
            count = len(self.steps)
            self._flush(actor, ends=not self._announces(actor), is_alone=is_alone)
            place, turn = self.since.get(actor, (count, self.turn))
            if actor.startswith("subagent") and place < count:
                words = self.steps[count:]
                del self.steps[count:]
                place = self._behind(place, words[0]) if words else place
                late += ((place, structs.replace(step, turn=turn)) for step in words)
        self._insert(sorted(late, key=lambda one: one[0]))

    def _announces(self, actor: str) -> bool:
        """Whether an actor's last words only say what it is about to do: the log breaks off there."""
        said = [part for part in self.pending.get(actor, ()) if isinstance(part, Message)]
        return bool(said) and ANNOUNCES.search(said[-1].text[-300:]) is not None

    def _behind(self, place: int, words: Step) -> int:
        """The place behind what others had begun to say before: it became a step later."""
        at = words.started_at
        while place < len(self.steps):
            before = self.steps[place].started_at
            if before is None or at is None or order(before) > order(at):
                break
            place += 1
        return place

    def _insert(self, late: list[tuple[int, Step]]) -> None:
        """Puts steps in behind so many others; all that stand behind them have later numbers."""
        if not late:
            return
        places = [place for place, _ in late]

        def moved(number: int) -> int:
            return number + bisect_left(places, number)

        self.calls = {call: moved(number) for call, number in self.calls.items()}
        self.delegations = {actor: moved(number) for actor, number in self.delegations.items()}
        self.boundaries = [(moved(number), kind) for number, kind in self.boundaries]
        self.replanned = [(moved(number), actor) for number, actor in self.replanned]
        old = [_renumbered(step, moved(step.step), moved) for step in self.steps]
        new = [_renumbered(step, place + at + 1, moved) for at, (place, step) in enumerate(late)]
        self.steps = sorted([*old, *new], key=lambda step: step.step)

    def _of(self, actor: str, *, own: bool = False) -> dict[str, str]:
        """What is known of an actor's place: of a subagent's from its own records, if they tell."""
        lane = actor if actor.startswith("subagent") else ""
        if own or lane in self.facts:
            return self.facts.setdefault(lane, {})
        return self.facts.get("", {})

    def _add(self, grounds: Mapping[str, Ground], **values: object) -> int:
        number = len(self.steps) + 1
        facts = self._of(str(values["actor"]))
        place = {"cwd": facts.get("cwd"), "git_branch": facts.get("branch")}
        step = Step(step=number, turn=self.turn, grounds=grounds, **place, **values)  # type: ignore[arg-type]  # names checked by the struct
        self.steps.append(step)
        return number

    def _user(self, event: Message) -> None:
        if self.spoken:
            self.turn += 1
        self.spoken = True
        here = event.origin
        shown = [mark_of(a.media, a.size) for a in event.attachments]
        text = "\n".join([event.text, *(mark for mark in shown if mark not in event.text)])
        ground = verbatim(*(here.pieces or (here.evidence,)), within=event.within)
        if shown and (not event.within or text != event.text):
            ground = PICTURES.ground(here.evidence)
        elif here.reading:
            ground = copied(here)
        elif rule := TYPED.get(event.via):
            ground = rule.ground(here.evidence)
        answered = self.calls.get(event.answers or "")
        grounds = {"input": ground, **times(here, here)}
        if rule := CAME_AS.get(event.via):
            grounds["input_source"] = rule.ground(here.evidence)
        self._add(
            grounds,
            actor="user",
            action="user_message",
            input=text,
            started_at=here.at,
            ended_at=here.at,
            origin=here,
            via=event.via,
            answers=answered,
            input_source=self._source(event, answered),
        )

    def _source(self, event: Message, answered: int | None) -> dict[str, Any] | None:
        """Where words come from that were not simply typed."""
        if event.via == "command":
            note = "A command of the client; it expands to a prompt of its own."
            return {"actor": "user", "source_step": None, "source_field": "external", "note": note}
        if event.via == "answer":
            note = "An answer in the client's question dialog."
            field = "input" if answered else "external"
            return {"actor": "user", "source_step": answered, "source_field": field, "note": note}
        return None

    def _report(self, event: Message) -> None:
        """A background subagent's result, which comes as a notification."""
        here = event.origin
        self._drop_report(here.actor, event.text)
        self._add(
            {"output": verbatim(here.evidence, within=event.within), **times(here, here)},
            actor=here.actor,
            operation="answer",
            execution_mode="serial",
            output=event.text,
            started_at=here.at,
            ended_at=here.at,
            origin=here,
            via="notification",
            answers=self.calls.get(event.answers or ""),
        )

    def _call(self, event: ToolCall) -> None:
        here = event.origin
        if event.call in self.calls or event.call in self.administration:
            self.left_out[here.evidence.record] = "repeated history"
            return
        does = _meant(event)
        if is_administration(does.input):
            self.administration.add(event.call)
            self.left_out[here.evidence.record] = "trace administration"
            return
        text, ground = _joined(self._said_for(here))
        grounds = times(here, None)
        if event.input is not None:
            grounds["input"] = copied(here)
        if event.tool:
            grounds["tool"] = _naming(event)
        if ground is not None:
            grounds["reasoning"] = ground
        self.calls[event.call] = self._add(
            grounds,
            actor=here.actor,
            tool=event.tool or None,
            like=like(does.tool, does.input, self.tools, self._of(here.actor).get("shell", "")),
            input=_sent(event.input),
            reasoning=text,
            started_at=here.at,
            origin=here,
            call=does,
        )

    def _came_between(self, actor: str, what: Literal["lost", "skipped"]) -> None:
        lane = actor if actor.startswith("subagent") else "agent"
        self.between.setdefault(lane, set()).add(what)

    def _said_for(self, here: Origin) -> list[Message | Thinking]:
        """What was said for a call; beside words of its own message, another's stand as they are.

        That one made no call, and so ended the turn, unless the log lacks the call. Where anything
        else came between, which may have asked for the call, all was said for it.
        """
        parts, since = self.pending.pop(here.actor, []), self.between.pop(here.actor, set())
        said = [part for part in parts if isinstance(part, Message) and part.origin.message]
        others = [part for part in said if part.origin.message != here.message]
        if not others or len(others) == len(said) or "skipped" in since:
            return parts
        self.pending[here.actor] = [*others]
        self._flush(here.actor, ends="lost" not in since)
        return [part for part in parts if part not in others]

    def _result(self, event: ToolResult) -> None:
        self.outcomes[event.call] = event.outcome
        started = self.calls.get(event.call)
        for actor, start in self.delegations.items():
            if start == started:
                self._drop_report(actor, event.output or "")
        record = event.origin.evidence.record
        if event.call in self.administration:
            self.left_out[record] = "trace administration"
        elif event.call not in self.calls:
            self.left_out[record] = "result without its call"
            self._came_between(event.origin.actor, "lost")
            if PLANNED.match(event.output or ""):
                self.replanned.append((len(self.steps), event.origin.actor))

    def _drop_report(self, actor: str, output: str) -> None:
        """A subagent's closing words, where the call that started it brings the same."""
        held = self.pending.get(actor, [])
        kept = []
        for part in held:
            if isinstance(part, Message) and part.text.strip() in output:
                self.left_out[part.origin.evidence.record] = REPORT
            else:
                kept.append(part)
        self.pending[actor] = kept

    def _notice(self, event: Notice) -> None:
        here = event.origin
        if event.kind in ("compacted", "cleared"):
            self._ends_turn()
            self.boundaries.append((len(self.steps), event.kind))
        elif event.kind in ("ended", "cut"):
            self._ends_turn(cut=event.kind == "cut")
            if event.text:
                self.left_out[here.evidence.record] = event.text
        elif event.kind == "interrupted":
            self._interrupted(event)
        elif event.kind in ("model error", "limit"):
            self._ends_turn(cut=True)
            said = {"output": verbatim(here.evidence)} if event.text else {}
            self._add(
                {**said, **times(here, here)},
                actor="system",
                action="error",
                output=event.text or None,
                execution_mode="serial",
                started_at=here.at,
                ended_at=here.at,
                origin=here,
                via=event.kind,
            )

    def _interrupted(self, event: Notice) -> None:
        """An interrupt is the outcome of the calls that it hit, and a step only where none ran."""
        here = event.origin
        self._ends_turn(cut=True)
        hit = self._hit(here)
        again = bool(self.steps) and self.steps[-1].via == "interrupted"
        if hit or again or here.actor.startswith("subagent"):
            self.left_out[here.evidence.record] = "interruption of a call"
            return
        self._add(
            {"output": STOPPED.ground(here.evidence), **times(here, here)},
            actor="system",
            action="error",
            output="Interrupted by the user.",
            execution_mode="serial",
            started_at=here.at,
            ended_at=here.at,
            origin=here,
            via="interrupted",
        )

    def _hit(self, here: Origin) -> bool:
        """Whether a call was running, or had just been turned down; running ones are marked."""
        hit = False
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.call is None:
                break
            outcome = self.outcomes.get(step.call.call)
            if outcome is None:
                why = STOPPED.ground(here.evidence)
                self.steps[index] = put(step, {"success": why}, via="interrupted")
            hit = hit or outcome in (None, "rejected", "interrupted")
        return hit

    def _ends_turn(self, cut: bool = False) -> None:
        for actor in [a for a in self.pending if not a.startswith("subagent")]:
            self._flush(actor, ends=not cut)

    def _flush(self, actor: str, ends: bool, *, is_alone: bool = False) -> None:
        """Words that no call followed: the turn's answer, or words cut off.

        A subagent has no turns, but where nobody else is in the log, its last words end the work.
        """
        parts = self.pending.pop(actor, [])
        groups: list[list[Message | Thinking]] = []
        for part in parts:
            ident = part.origin.message
            if groups and (ident == groups[-1][-1].origin.message or not _says(groups[-1])):
                groups[-1].append(part)
            else:
                groups.append([part])
        for index, group in enumerate(groups):
            last = index == len(groups) - 1
            closes = is_alone or not actor.startswith("subagent")
            self._words(group, actor, ends and last and closes)

    def _words(self, group: list[Message | Thinking], actor: str, ends: bool) -> None:
        if not ends and not any(part.text.strip() for part in group):
            self.left_out.update((part.origin.evidence.record, BLANK) for part in group)
            return
        said = [part for part in group if isinstance(part, Message)]
        thought = [part for part in group if isinstance(part, Thinking)]
        here = (said or group)[0].origin
        reasoning, why = _joined(thought if said else group)
        grounds = dict(times(here, here))
        if why is not None:
            grounds["reasoning"] = why
        text: str | None = None
        if said:
            text, spoken = _joined(said)
            grounds["output"] = spoken or copied(here)
        if ends and said:
            grounds["input"] = grounds["output"]
        self._add(
            grounds,
            actor=actor,
            action="output" if ends and said else "agent_step",
            operation=None if ends and said else "analyze",
            execution_mode="serial",
            input=text if ends else None,
            output=text,
            reasoning=reasoning,
            started_at=here.at,
            ended_at=here.at,
            origin=here,
            via="" if ends else "cut off",
        )


def _renumbered(step: Step, number: int, moved: Callable[[int], int]) -> Step:
    """A step under another number, with the numbers of the steps that it names."""
    answers = moved(step.answers) if step.answers else step.answers
    source = step.input_source
    if source and source["source_step"]:
        source = {**source, "source_step": moved(source["source_step"])}
    return structs.replace(step, step=number, answers=answers, input_source=source)


def _says(group: list[Message | Thinking]) -> bool:
    return any(isinstance(part, Message) for part in group)


def _joined(parts: Sequence[Message | Thinking]) -> tuple[str | None, Ground | None]:
    if not parts:
        return None, None
    text = "\n\n".join(part.text for part in parts)
    return text, copied(*(part.origin for part in parts))


def _meant(event: ToolCall) -> ToolCall:
    """The call that the rules read: where its input is code, what the code calls."""
    inner = event.meant
    if inner is None:
        return event
    return structs.replace(event, tool=inner.tool, input=inner.input)


def _naming(event: ToolCall) -> Ground:
    here = event.origin.evidence
    if event.named is None:
        return BY_KIND.ground(here.at(""))
    beside = f"{here.pointer.rpartition('/')[0]}/name"
    return verbatim(here.at(event.named or beside), within=bool(event.named))


def _sent(given: Any) -> str | None:
    """What a call was given, as text; None where the log has nothing."""
    return None if given is None else text_or_json(given)
