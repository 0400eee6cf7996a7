"""What is each human message to the work so far?"""

import msgspec

from forsy_retrace.events import Message, Origin
from forsy_retrace.evidence import Ground, Vote, inferred
from forsy_retrace.trace import Step, Trace, put

from .outcome import never_ran
from .rule import Rule
from .variants import Lines, branch_of
from .words.agent_words import lists
from .words.closing import SERVED
from .words.cues import LABEL
from .words.message_rules import Context
from .words.messages import answers, read_message

PASSAGE = Rule(
    "shortest-passage-that-judges", "The first sentence that holds the phrase which judges.", 0.7
)


def feedback(trace: Trace) -> Trace:
    """The role of each human message, and how it judges what is done."""
    lines = Lines(trace, _Before)
    replies, ends = _replies(trace), _conclusions(trace)
    said: set[str | None] = set()
    steps = []
    for step in trace.steps:
        before = lines.of(step)
        if step.action == "user_message":
            answered = trace.steps[step.answers - 1] if step.answers else None
            here = step.origin
            reply = (replies.get(here, ""), ends.get(here, "")) if here else ("", "")
            menu = before.menu(step.input or "")
            context = before.context(step, answered, step.input in said, reply, menu)
            step = _read(step, context, menu)
            said.add(step.input)
        before.take(step)
        lines.end(step)
        steps.append(step)
    return msgspec.structs.replace(trace, steps=tuple(steps))


def _replies(trace: Trace) -> dict[Origin, str]:
    """What the agent said first after each human message, before the next one on that line."""
    waiting: dict[str, Origin] = {}
    found: dict[Origin, str] = {}
    for event in trace.session.events:
        match event:
            case Message(origin=here, role="user"):
                waiting[here.branch] = here
            case Message(origin=here, text=text) if text.strip() and here.actor == "agent":
                if here.branch in waiting:
                    found[waiting.pop(here.branch)] = text
    return found


def _conclusions(trace: Trace) -> dict[Origin, str]:
    """What the agent answered each human message in the end, where it only looked before."""
    asked: dict[str, Origin] = {}
    found: dict[Origin, str] = {}
    for step in trace.steps:
        branch = branch_of(step)
        if step.action == "user_message":
            if step.origin is not None:
                asked[branch] = step.origin
        elif step.actor == "agent" and step.operation in ACTS:
            asked.pop(branch, None)
        elif step.actor == "agent" and step.action == "output" and branch in asked:
            found[asked.pop(branch)] = (step.output or "").lstrip("*_ ")
    return found


ACTS = ("edit", "write", "execute", "install", "download", "plan")


class _Before:
    """What stands before a message on its line, kept up to date as steps pass by."""

    def __init__(self) -> None:
        self.spoken = False
        """Whether the user has said anything."""
        self.last: Step | None = None
        self.worked: Step | None = None
        """The last step that is no user's."""
        self.words = ""
        """The agent's last output."""
        self.asked: tuple[Step, ...] = ()
        """Its last outputs that asked something, while nothing has answered."""
        self.acted = False
        """Whether the last turn did or proposed anything beyond looking."""
        self.built = False
        """Whether any turn did."""

    def take(self, step: Step) -> None:
        self.last = step
        if step.action == "user_message":
            self.spoken = True
            self.acted = False
            if answers(step):
                self.asked = ()
            return
        self.worked = step
        if step.action == "output":
            self.words = step.output or ""
            if step.operation == "ask_user":
                self.asked = (*self.asked[-2:], step)
        self.acted = self.acted or (step.call is not None and step.operation in ACTS)
        self.built = self.built or self.acted

    def menu(self, text: str) -> Step | None:
        """Whose options a label alone picks from, where the last words list none."""
        label = LABEL.match(text.strip())
        if label is None or label.end() < len(text.strip()):
            return None
        first = "1" if label[1].isdigit() else "A"
        said = (one for one in reversed(self.asked) if lists(one.output or "", first))
        found = None if lists(self.words, first) else next(said, None)
        return found if found is not None and lists(found.output or "", label[1]) else None

    def context(
        self,
        step: Step,
        answered: Step | None,
        repeats: bool,
        reply: tuple[str, str],
        menu: Step | None,
    ) -> Context:
        worked, last = self.worked, self.last
        return Context(
            first=not self.spoken,
            asked=worked is not None
            and worked.operation == "ask_user"
            and worked.action == "output",
            offered=worked is not None and _closes_by(worked, "offers-more"),
            served=worked is not None and _closes_by(worked, SERVED),
            last_words=menu.output or "" if menu else self.words,
            reply=reply,
            cut=last is not None
            and (last.via == "interrupted" or (last.call is not None and last.success is False)),
            worked=worked is not None,
            acted=self.acted,
            built=self.built,
            under_way=last is not None and (step.via == "queued" or _is_under_way(last)),
            rejected=step.via == "rejection"
            or (last is not None and last.operation == "plan" and never_ran(last)),
            answer=step.via == "answer",
            options=_options(answered),
            repeats=repeats,
        )


def _closes_by(last: Step, rule: str) -> bool:
    """Whether an output ends as that rule reads it: in an offer to do more, or a host's words."""
    return last.action == "output" and last.grounds["operation"].rule == rule


def _is_under_way(last: Step) -> bool:
    """Whether words after this step came while the agent worked: after a call that was not cut."""
    if last.call is None or last.actor != "agent" or last.via == "interrupted":
        return False
    return last.success is not False and last.operation != "ask_user"


def _options(step: Step | None) -> tuple[str, ...]:
    """The choices that a question dialog offered."""
    match step.call.input if step is not None and step.call else None:
        case {"questions": list(questions)}:
            return tuple(
                option["label"]
                for question in questions
                if isinstance(question, dict) and isinstance(question.get("options"), list)
                for option in question["options"]
                if isinstance(option, dict) and isinstance(option.get("label"), str)
            )
    return ()


def _read(step: Step, context: Context, menu: Step | None) -> Step:
    reading = read_message(step.input or "", step.via, context)
    role, kind, passage = reading.role, reading.feedback, reading.passage
    steps = (menu.step,) if menu is not None and role == "selection" else ()
    grounds = {"message_role": _ground(reading.role_votes, role, steps)}
    if kind is not None:
        grounds["feedback_type"] = _ground(reading.feedback_votes, kind)
        if passage:
            where = step.origin.evidence if step.origin else None
            grounds["feedback_content"] = PASSAGE.ground(*((where,) if where else ()))
    return put(
        step,
        grounds,
        message_role=role,
        feedback_type=kind,
        feedback_content=passage if kind else None,
    )


def _ground(votes: tuple[Vote, ...], value: str, steps: tuple[int, ...] = ()) -> Ground:
    best = max((v for v in votes if v.value == value), key=lambda v: v.confidence)
    return inferred(best.rule, best.confidence, steps=steps, votes=votes)
