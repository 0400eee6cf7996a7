"""What kind of step is it, on which surface?"""

from collections.abc import Iterable

import msgspec

from forsy_retrace.commands import Command
from forsy_retrace.commands import classify as read_command
from forsy_retrace.events import CODE_ENDED
from forsy_retrace.evidence import Ground, derived, inferred
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace, put

from .tools import (
    APPLIES,
    KINDS_OF_PATCHES,
    PATCHERS,
    Kind,
    command_of,
    kind_of,
    patched_files,
)


def classify(trace: Trace) -> Trace:
    """The operation and surface of each step; answers told from questions to the user."""
    return msgspec.structs.replace(trace, steps=tuple(_kind(step) for step in trace.steps))


def command(step: Step) -> Command | None:
    """What a shell call runs."""
    if step.call is None:
        return None
    line = command_of(step.like, step.call.input)
    if line is None:
        return None
    run = read_command(*line)
    return msgspec.structs.replace(run, masked=True, told=()) if ends_as_code(step) else run


def ends_as_code(step: Step) -> bool:
    """Whether the end of code is told, and not that of the call which it makes."""
    return step.told is not None and step.told.rule == CODE_ENDED


def _kind(step: Step) -> Step:
    if step.call is not None:
        return _call(step)
    if step.action == "output":
        asks, rule, confidence = asks_user(step.output or "")
        return put(
            step,
            {"operation": inferred(rule, confidence)},
            operation="ask_user" if asks else "answer",
            surface="messaging",
        )
    if step.operation is not None:
        rule = "notification" if step.via == "notification" else "words-without-call"
        return put(step, {"operation": derived(rule)}, surface="other_surface")
    return put(step, {}, surface=None if step.actor == "user" else "other_surface")


def _call(step: Step) -> Step:
    assert step.call is not None
    run = command(step)
    kind = _patch(step, run) or kind_of(step.like, step.call.input)
    if kind is not None:
        ground = _by_name(kind.rule)
        return put(step, {"operation": ground}, operation=kind.operation, surface=kind.surface)
    if run is None:
        unread = {"operation": derived("tool-table")}
        return put(step, unread, operation="execute", surface="cli")
    confidence = 0.5 if run.rule == "unknown-command" else 0.95
    return put(
        step,
        {"operation": inferred(run.rule, confidence)},
        operation=run.operation,
        surface=run.surface,
    )


DOES = {"created": "Add", "modified": "Update", "deleted": "Delete"}
"""How a patch says what the harness records of it."""


def _patch(step: Step, run: Command | None) -> Kind | None:
    """A patch that a shell's line is there to apply, or of which the log holds only what came of it.

    None unless it does but one thing to its files.
    """
    does: Iterable[str] = ()
    if run is not None and run.main in APPLIES and step.call is not None:
        does = patched_files(step.call.input).values()
    elif step.like in PATCHERS and step.result is not None:
        does = (DOES[change.kind] for change in step.result.changes if change.kind in DOES)
    kind = KINDS_OF_PATCHES.get(frozenset(does))
    return kind._replace(surface=run.surface) if kind is not None and run is not None else kind


def _by_name(rule: str) -> Ground:
    if rule.startswith("mcp-verb"):
        return inferred(rule, 0.8)
    return inferred(rule, 0.5) if rule == "unknown-tool" else derived(rule)


ASKS = later(
    r"(?i)\b(?:should i|shall i|would you like|do you want|want me to|which (?:one|option|approach|of)"
    r"|can you (?:confirm|share|provide|clarify|check|try|run|paste|tell)|could you"
    r"|let me know (?:which|if you(?:'d| would) (?:like|prefer)|what|how you)|please (?:confirm|choose"
    r"|provide|share|clarify|tell|let me know)|what would you|how would you like|ready to (?:proceed"
    r"|commit)|what do you think|which do you prefer|does (?:this|that) (?:look|sound|work))"
)
QUESTION = later(r"[?？]\s*[*_`)\"']*\s*$")


OFFERS = later(
    r"(?i)^(?:would you like|do you want|want|shall i|should i|let me know if you(?:'d| would)? (?:like|want))\b"
    r"(?:.{0,200}\b(?:also|anything else|more|further|longer|shorter|another|additional|as well)\b|.{0,20}me to:)"
)
"""A closing offer to do more than was asked."""
CHOICES = later(r"(?m)^\s*(?:\d+[.)]|[-*]|\(?[A-Ca-c][.)])\s|\bor\b")
"""More than one course to choose from."""
GREETS = later(
    r"(?i)^.{0,60}\b(?:how (?:can|may) i (?:help|assist)|what can i (?:do|help))\b.{0,60}$"
    r"|^.{0,60}(?:有什么.{0,4}(?:可以|能).{0,4}帮|wie kann ich (?:dir |ihnen )?helfen"
    r"|en qué puedo ayudar|comment puis-je (?:vous |t')?aider).{0,60}$"
)
"""Courtesy that waits for no answer."""
BODY = 200
"""Characters of an answer that stands before an offer."""


def asks_user(text: str) -> tuple[bool, str, float]:
    """Whether a closing message asks the user for something that the work needs."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return False, "no-question", 0.5
    tail = " ".join(lines[-3:])[-600:]
    paragraphs = text.strip().rpartition("\n\n")
    if GREETS.match(lines[-1]):
        return False, "offers-more", 0.75
    offers = not CHOICES.search(paragraphs[2])
    if offers and len(paragraphs[0]) >= BODY and OFFERS.match(paragraphs[2].lstrip("*_ ")):
        return False, "offers-more", 0.75
    if QUESTION.search(lines[-1]):
        return True, "ends-with-question", 0.85
    if ASKS.search(lines[-1]) and "?" in tail:
        return True, "asks-at-the-end", 0.8
    return False, "no-question", 0.9
