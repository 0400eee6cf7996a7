"""What caused a step, what does it retry or check?

Direct causes only, earlier steps only, and never across what the actor could not see: another
subagent's inside, an abandoned branch, what lay before a cleared or compacted context.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from forsy_retrace.events import SHELL
from forsy_retrace.evidence import Evidence, Ground, inferred
from forsy_retrace.times import order
from forsy_retrace.trace import Step, Touch, Trace, put

from .again.retries import Again
from .causes.corrected import Work
from .causes.flow import Flow
from .causes.lanes import Lane, Line, in_progress
from .causes.named_by_user import Beside, Given, Named, brought_values, values_given
from .causes.needles import Wanted
from .causes.notes import attempts, came_from, checks, under_plan
from .causes.position import POSITION, Position, asked, received
from .causes.source import Source
from .judging.intended import meant
from .outcome import never_ran
from .pair import issued_together
from .rule import SURE, Rule
from .tools import AGENT_TOOLS
from .variants import Lines, branch_of, variants
from .words.cited import numbers_named
from .words.messages import answers, finds_fault, says_yes

REACTS = Rule(
    "reacts-to", "A message reacts to the call that it rejects or answers, else to the last words."
)
BRIEF = Rule(
    "brief",
    "A subagent's first step takes its input from the call that started it, or from the brief that its log alone holds.",
)
REPORT = Rule("notification", "A report belongs to the call that started its subagent.")
TYPED_ANEW = Rule(
    "typed-anew", "The message that took the place of one that the user went back on."
)
PLACED = POSITION.ground(sure=SURE)
"""Why a cause stands that the log itself tells."""
RULES = (TYPED_ANEW, POSITION, REACTS, BRIEF, REPORT)
ASKS_ANEW = ("direct_request", "correction")
"""Roles of a message that wants other work than what was under way."""
PLAN_TOOLS = ("TodoWrite", "TaskUpdate", "update_plan", "todo_list", "plan_update")


def link(trace: Trace) -> Trace:
    """Each step with its causes, their type in words, and the step that it attempts again."""
    linker = _Linker(trace)
    steps = tuple(linker.take(step) for step in trace.steps)
    return msgspec.structs.replace(trace, steps=steps, uses=linker.uses)


class _Linker:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.starts = frozenset(trace.delegations.values())
        """The steps that started subagents."""
        self.lanes: dict[str, Lane] = {}
        self.wanted = Wanted(trace.steps)
        self.meant = meant(trace)
        self.read: dict[int, list[Touch]] = {}
        self.wrote: dict[int, list[Touch]] = {}
        for touch in trace.touches:
            if touch.kind == "read":
                self.read.setdefault(touch.step, []).append(touch)
            elif touch.kind in ("edit", "write"):
                self.wrote.setdefault(touch.step, []).append(touch)
        self.steps: dict[int, Step] = {}
        self.work = Work(trace.replaced)
        self.lines = Lines(trace, Line)
        self.line = Line()
        """What lies before the step at hand."""
        self.boundaries = list(trace.boundaries)
        self.replanned = list(trace.replanned)
        self.users = 0
        self.uses: dict[int, int] = {}
        self.variants = variants(trace)
        self.tells = bool(trace.session.facts("replaces"))
        self.beside = Beside(trace.session.events)
        self.named = Named()
        self.brief = next(iter(trace.session.facts("brief")), None)
        """What a subagent was asked whose log is all there is, until it acts."""
        self.left_behind: Step | None = None
        """The first message of a line that the user went back on."""

    def take(self, step: Step) -> Step:
        step = self._again(step)
        self.line = self.lines.of(step)
        if self.lines.forks.get(step.step) == 0:
            self._named(f"agent {branch_of(step)}").begin()
        while self.boundaries and self.boundaries[0][0] < step.step:
            self.boundaries.pop(0)
            self._boundary()
        while self.replanned and self.replanned[0][0] < step.step:
            self._replan(self.replanned.pop(0)[1])
        if step.action == "user_message":
            step = self._user(step)
        elif step.call is not None:
            step = self._call(step)
        else:
            step = self._words(step)
        self._enter(step)
        return step

    def _enter(self, step: Step) -> None:
        self.steps[step.step] = step
        self.work.take(step)
        if not self._is_to_a_subagent(step):
            self.line.take(step)
        self.lines.end(step)

    def _is_to_a_subagent(self, step: Step) -> bool:
        """Whether words turn down a subagent's call: the main agent does not see them."""
        if step.action != "user_message" or step.answers is None:
            return False
        answered = self.steps.get(step.answers)
        return answered is not None and answered.actor.startswith("subagent")

    def _lane(self, step: Step) -> Lane:
        """Whose results a step goes on from: what the harness runs by itself is for the agent."""
        actor = "agent" if step.actor == "system" else step.actor
        return self._named(f"{actor} {branch_of(step)}")

    def _named(self, name: str) -> Lane:
        if name not in self.lanes:
            known = (self.trace.tokens, self.wanted, self.read, self.wrote, self.beside.calls)
            self.lanes[name] = Lane(Flow(*known, Given(self.named)))
        return self.lanes[name]

    def _replan(self, actor: str) -> None:
        """Which items are in progress is not known from a new plan that the log does not show."""
        for name, lane in self.lanes.items():
            if name.startswith(f"{actor} "):
                lane.forget_the_plan()

    def _boundary(self) -> None:
        """What lay before a cleared or compacted context is out of sight, but for its summary."""
        lane = self.lanes.get("agent ")
        if lane is not None:
            lane.see()
            lane.flow.forget()
            lane.begin()
        if (summary := self.beside.summaries.pop(0)) is not None:
            flow = self._named("agent ").flow
            flow.given.add(brought_values(summary) | self._given(summary.text))

    def _given(self, words: str) -> set[str]:
        """The values, the short ids and the lines of files that words name."""
        lines = self.wanted.put.intersection(map(str.strip, words.splitlines()))
        spaced = (path for path in self.wanted.spaced if path in words)
        return {*values_given(words), *self.wanted.idents.of(words), *lines, *spaced}

    def _user(self, step: Step) -> Step:
        before = self._reacts_to(step)
        self.users += 1
        main = self._named("agent ")
        named = self._given(step.input or "")
        if step.origin in self.beside.words:
            named |= brought_values(self.beside.words[step.origin])
        lines = numbers_named(step.input or "")
        self.named.take(named)
        for lane in self.lanes.values():
            lane.flow.hits.given = lines
        self.work.reopen(step, before, main.retries)
        if step.message_role in ASKS_ANEW:
            main.items = {}
        step = self._typed_anew(step)
        if before is None:
            return step
        kind, verb = "other", "Follows"
        if answers(step) or (before.operation == "ask_user" and says_yes(step)):
            kind, verb = "answer_to_agent_question", "Answers"
        stopped = never_ran(before) and before.success is False  # a plan may be taken up afresh
        if before.call is not None and (stopped or before.via == "interrupted"):
            verb = "Follows the stop of"
            if step.via == "rejection":
                verb = "Comes with the rejection of"
        note = f"{verb} step {before.step}."
        return _caused(step, [before.step], kind, note, REACTS.ground())

    def _again(self, step: Step) -> Step:
        """What was edited or generated again."""
        variant = self.variants.get(step.step)
        if variant is None:
            return step
        ground = variant.rule.ground(steps=(variant.step,), sure=variant.sure)
        return put(step, {"retry_of": ground}, retry_of=variant.step)

    def _typed_anew(self, step: Step) -> Step:
        """The message that took the place of one the user went back on."""
        if self.tells:
            return step
        left = self.left_behind
        if branch_of(step):
            self.left_behind = left or step
            return step
        self.left_behind = None
        if left is None or self._went_on(left):
            return step
        ground = TYPED_ANEW.ground(steps=(left.step,))
        return put(step, {"retry_of": ground}, retry_of=left.step)

    def _went_on(self, left: Step) -> bool:
        """Whether the line at hand went on from where another left it, before the step at hand."""
        above, done = self.lines.forks.get(left.step), self.line.done
        if above is None or done is None:
            return False
        return done.step > above + (done.via == "interrupted")  # what was stopped did not go on

    def _reacts_to(self, step: Step) -> Step | None:
        """The call that a message rejects, interrupts or answers; else the last output.

        A label reacts to the words whose options it picks from, also where they are not the last.
        """
        if step.answers is not None:
            return self.steps.get(step.answers)
        if picked := step.grounds["message_role"].steps:
            return self.steps[picked[0]]
        last = self.line.done
        if last is None or last.call is not None or last.action == "error":
            return self._before_typing(step, last)
        return self.line.said or last

    def _before_typing(self, step: Step, last: Step | None) -> Step | None:
        """What the agent had begun when words were typed that it got later."""
        typed = step.started_at
        if last is None or step.via != "queued" or typed is None:
            return last
        for number in range(last.step, 0, -1):
            one = self.steps[number]
            begun = one.actor == last.actor and branch_of(one) == branch_of(last)
            if begun and (order(one.started_at) <= order(typed)):
                return one
        return last

    def _call(self, step: Step) -> Step:
        lane = self._lane(step)
        issued = (*lane.batch, lane.latest)
        beside = next((one for one in issued if one and issued_together(one, step)), None)
        first = self.steps[beside.step] if beside is not None else None
        if first is None:
            lane.see()
            lane.receive(step)
        position = self._position(step, lane, first)
        step = self._briefed(step, lane)
        check = self.trace.checks.get(step.step)
        again = lane.retries.take(step, check, step.step in self.meant)
        if step.retry_of is not None:
            again = None  # the log says what it was done in place of
        found = lane.flow.sources(step)
        for source in found:
            if source.is_use:
                self.uses.setdefault(source.step, step.step)
            if source.found_by:
                self.uses.setdefault(source.found_by, step.step)
        step = self._joined(step, lane, position, found, again)
        if first is None:
            lane.begin(lane.late)
        lane.issue(step)
        if step.like in PLAN_TOOLS and step.call is not None and not never_ran(step):
            self._planned(step.step, lane, step.call.input)
        return step

    def _planned(self, step: int, lane: Lane, sent: Any) -> None:
        """Items of a list are told all at once; a task of the session's own list one by one, by any
        actor, who may end what another had begun."""
        task = sent.get("taskId") if isinstance(sent, dict) else None
        if not isinstance(task, str):
            lane.works_on(step, in_progress(sent))
        elif sent.get("status") == "in_progress":
            lane.works_on(step, (*lane.items, task))
        elif sent.get("status") is not None:
            for other in self.lanes.values():
                other.ends(task)

    def _briefed(self, step: Step, lane: Lane) -> Step:
        """A subagent's first step takes its input from the brief."""
        if lane.started:
            return step
        start = self._start(step)
        ground = (
            BRIEF.ground(steps=(start,)) if start is not None else self._asked_elsewhere(step, lane)
        )
        if ground is None:
            return step
        source = {
            "actor": "agent",
            "source_step": start,
            "source_field": "external" if start is None else "input",
            "note": "The brief with which this subagent was started.",
        }
        return put(step, {"input_source": ground}, input_source=source)

    def _asked_elsewhere(self, step: Step, lane: Lane) -> Ground | None:
        """The ground of a brief whose sender's log is not here."""
        brief = self.brief
        if brief is None or brief.origin.actor not in ("system", step.actor):
            return None
        self.brief = None
        lane.flow.given.add(self._given(str(brief.value)))
        return BRIEF.ground(brief.origin.evidence)

    def _position(self, step: Step, lane: Lane, first: Step | None) -> Position:
        """Causes by what the actor had just received."""
        if maker := lane.made_by(step):
            return Position([maker], "other", f"Step {maker} made this call while it ran.")
        if first is not None:
            causes = [c for c in first.caused_by or () if self.steps[c].call is None]
            note = f"Issued in the same message as step {first.step}."
            return Position(causes, "parallel_work", note)
        if step.actor.startswith("subagent") and not lane.started:
            start = self._start(step)
            if start is not None:
                lane.flow.given.add(self._given(self.steps[start].input or ""))
                note = f"Step {start} started this subagent."
                return Position([start], "delegated_work", note)
        if step.actor == SHELL:
            return Position()  # one line of a history is not the cause of the next
        if self.line.asker is not None and step.actor in ("agent", "system"):
            return asked(self.line.asker, is_first=self.users <= 1)
        if lane.came:
            return received(step, lane.came)
        return Position()

    def _start(self, step: Step) -> int | None:
        """The step that started a subagent, where it stands before this one."""
        start = self.trace.delegations.get(step.actor)
        return start if start is not None and start < step.step else None

    def _joined(
        self,
        step: Step,
        lane: Lane,
        position: Position,
        given: list[Source],
        again: Again | None,
    ) -> Step:
        """All causes together; the type that wins, and the others in the note."""
        causes, kind, note, sure = position
        check = self.trace.checks.get(step.step)
        notes = [note] if note else []
        rule, confidence = POSITION.name, sure
        if given:
            sures = dict.fromkeys(causes, sure)
            for source in given:
                sures[source.step] = max(sures.get(source.step, 0), source.confidence)
            causes, confidence = [*sures], min(sures.values())
            notes += [came_from(source, step) for source in given]
            rule = given[0].rule.name
            if kind == "dependency_on_tool_result" and len(causes) > 1:
                kind = "dependency_on_multiple_prior_steps"
        if again is not None:
            causes = [*causes, again.step]
            notes.append(attempts(step, self.steps[again.step]))
            rule, confidence = rule if given else again.rule, again.confidence
            retry = inferred(again.rule, confidence, steps=(again.step,), votes=again.votes)
            step = put(step, {"retry_of": retry}, retry_of=again.step)
            if self.steps[again.step].success is False:
                kind = "retry_after_failure"
            elif kind in WEAK and self._corrected_since(step, again.step):
                kind = "correction_response"
        kind = self._under(step, lane, kind, notes)
        if check is not None and check.edits:
            notes.append(checks(check, step))
            if edits := [edit for edit in check.edits if not self._beside(edit, step)]:
                causes, rule = edits, check.rule
                kind, confidence = "verification_of_prior_step", check.confidence
        is_alone = not any(cause < step.step for cause in causes)
        if is_alone and position.kind == "parallel_work":
            return put(step, {"causal_note": PLACED}, causal_note=" ".join(notes))
        ground = inferred(rule, confidence) if confidence < SURE else PLACED
        beside = tuple(dict.fromkeys(filter(None, map(self._brought_in, given))))
        ground = msgspec.structs.replace(ground, evidence=beside)
        return _caused(step, causes, kind or "other", " ".join(notes), ground)

    def _corrected_since(self, step: Step, before: int) -> bool:
        """Whether a step does again, in the turn of a correction, what it found fault with."""
        since = (self.steps[number] for number in range(step.step - 1, before, -1))
        words = next((one for one in since if one.action == "user_message"), None)
        return self.steps[before].operation in WORK and words is not None and finds_fault(words)

    def _brought_in(self, source: Source) -> Evidence | None:
        """Where a value stands that came beside its step's result, which does not show it."""
        step = self.steps[source.step]
        if step.call is None or source.value in (step.output or ""):
            return None
        more = self.beside.calls.get(step.call.call)
        return more.here if more is not None else None

    def _beside(self, other: int, step: Step) -> bool:
        """Whether a step is a call of the same message: none of them was caused by another."""
        group = self.steps[other].parallel_group
        return group is not None and group == step.parallel_group

    def _under(self, step: Step, lane: Lane, kind: str | None, notes: list[str]) -> str | None:
        """Delegations, and calls under a plan item that a plan tool logged as in progress.

        A retry stays one; its note says what else it is.
        """
        if kind is None:
            return None
        is_retry = kind == "retry_after_failure"
        asks = step.like in AGENT_TOOLS and step.success is not False
        if asks or (step.step in self.starts and not never_ran(step)):
            notes.append("Starts a subagent.")
            return kind if is_retry else "delegation_to_subagent"
        if lane.items and (is_retry or kind in WEAK) and step.operation != "plan":
            notes.append(under_plan(lane.items))
            return kind if is_retry else "execution_of_plan"
        return kind

    def _words(self, step: Step) -> Step:
        """An answer, a cut-off text, an error: caused by what the actor had just received."""
        lane = self._lane(step)
        if step.via == "notification":
            start = step.answers
            lane.begin([step])
            if start is None:
                return step
            note = f"The report of the subagent that step {start} started."
            main = self._named("agent ")
            main.begin([step])
            main.see()
            main.flow.show(step)
            return _caused(step, [start], "handoff_from_subagent", note, REPORT.ground())
        lane.receive(step)
        causes, kind, note, sure = self._position(step, lane, None)
        if step.action == "output" or step.actor == "agent":
            lane.begin([step])
        if not causes:
            return step
        ground = POSITION.ground(sure=sure)
        return _caused(step, causes, kind or "other", note, ground)


WORK = ("edit", "write", "plan")
WEAK = ("parallel_work", "dependency_on_tool_result", "dependency_on_multiple_prior_steps")
"""Types that say less of a call than that it works on a plan."""


def _caused(step: Step, causes: Iterable[int], kind: str, note: str, ground: Ground) -> Step:
    found = tuple(sorted({cause for cause in causes if cause < step.step}))
    if not found:
        return step
    ground = msgspec.structs.replace(ground, steps=found)
    grounds = {"caused_by": ground, "causal_type": ground, "causal_note": ground}
    return put(step, grounds, caused_by=found, causal_type=kind, causal_note=note)
