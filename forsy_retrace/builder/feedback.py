"""What is each human message to the work so far?"""

import msgspec

from forsy_retrace.evidence import Ground, Vote, inferred
from forsy_retrace.trace import Step, Trace, put

from .message_rules import Context
from .messages import read_message


def feedback(trace: Trace) -> Trace:
    """The role of each human message, and how it judges what is done."""
    steps = list(trace.steps)
    for index, step in enumerate(steps):
        if step.action == "user_message":
            steps[index] = _read(step, _context(steps, index))
    return msgspec.structs.replace(trace, steps=tuple(steps))


def _context(steps: list[Step], index: int) -> Context:
    before = steps[:index]
    users = [step for step in before if step.action == "user_message"]
    worked = [step for step in before if step.action != "user_message"]
    last_output = next((s for s in reversed(worked) if s.action == "output"), None)
    asked = bool(worked) and worked[-1].action == "output" and worked[-1].operation == "ask_user"
    cut = bool(before) and (
        before[-1].via == "interrupted"
        or (before[-1].call is not None and before[-1].success is False)
    )
    answered = steps[(steps[index].answers or 0) - 1] if steps[index].answers else None
    return Context(
        first=not users,
        asked=asked,
        last_words=(last_output.output or "") if last_output else "",
        cut=cut,
        worked=bool(worked),
        acted=_acted(before),
        under_way=_under_way(before),
        rejected=steps[index].via == "rejection",
        answer=steps[index].via == "answer",
        options=_options(answered),
        repeats=any(user.input == steps[index].input for user in users),
    )


ACTS = ("edit", "write", "execute", "install", "download", "plan")


def _acted(before: list[Step]) -> bool:
    """Whether the last turn did or proposed anything beyond looking."""
    for step in reversed(before):
        if step.action == "user_message":
            return False
        if step.call is not None and step.operation in ACTS:
            return True
    return False


def _under_way(before: list[Step]) -> bool:
    """Whether the words came while the agent worked: after a call that was not cut."""
    last = before[-1] if before else None
    if last is None or last.call is None or last.actor != "agent" or last.via == "interrupted":
        return False
    return last.success is not False and last.operation != "ask_user"


def _options(step: Step | None) -> tuple[str, ...]:
    """The choices that a question dialog offered."""
    match step.call.input if step is not None and step.call else None:
        case {"questions": list(questions)}:
            return tuple(
                option["label"]
                for question in questions
                if isinstance(question, dict)
                for option in question.get("options") or ()
                if isinstance(option, dict) and isinstance(option.get("label"), str)
            )
    return ()


def _read(step: Step, context: Context) -> Step:
    reading = read_message(step.input or "", step.via, context)
    role, kind, passage = reading.role, reading.feedback, reading.passage
    grounds = {"message_role": _ground(reading.role_votes, role)}
    if kind is not None:
        grounds["feedback_type"] = _ground(reading.feedback_votes, kind)
        if passage:
            where = step.origin.evidence if step.origin else None
            rule = "shortest-passage-that-judges"
            grounds["feedback_content"] = inferred(rule, 0.7, *((where,) if where else ()))
    return put(
        step,
        grounds,
        message_role=role,
        feedback_type=kind,
        feedback_content=passage if kind else None,
    )


def _ground(votes: tuple[Vote, ...], value: str) -> Ground:
    best = max((v for v in votes if v.value == value), key=lambda v: v.confidence)
    return inferred(best.rule, best.confidence, votes=votes)
