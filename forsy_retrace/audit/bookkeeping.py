"""Steps that no log can show as work: the trace's own bookkeeping, and what is no act. A table."""

import re
from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.builder.administration import is_administration
from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed

from .claimed import ClaimedStep

FIRST = 400
TRACE = r"(?:forsy[-_ ]?traces?|trace[-_ .](?:json|file|folder|package|data|manifest|skill|schema))"
"""A trace of this format: a stack trace, or a request's, is none."""
WROTE = later(
    r"(?i)\b(?:wr(?:ite|ote|iting)|sav(?:e|ed|ing)|record(?:ed|ing)?|finali[sz]\w+|format\w*"
    rf"|creat(?:e|ed|ing)|updat(?:e|ed|ing)|compil(?:e|ed|ing)|assembl\w+)\b.{{0,40}}"
    rf"(?:\b{TRACE}\b|\b(?:the|this|my) trace\b)"
)
CHECKED = later(rf"(?i)\b(?:validat|check|verif|lint)\w*\b.{{0,40}}\b{TRACE}\b")
PUBLISHED = later(
    rf"(?i)\b(?:publish|submit|packag|upload|releas|commit|shar)\w*\b.{{0,40}}\b{TRACE}\b"
)
SKILL = later(r"(?i)\b(?:re-?)?read\w*\b.{0,40}\bforsy[-_ ]?trace\b|forsy[-_]trace[-_]skill")
FILE = later(
    r"(?:^|[/\"'\s])(?:trace|manifest|data)\.json\b|\btraces?/[\w.-]+|forsy[-_]trace", re.I
)
WRITERS = ("write", "edit", "execute", "verify", "read", "other", "")


class Row(NamedTuple):
    """A kind of step that no log can bear out, and why that is no charge against it."""

    name: str
    test: Callable[[ClaimedStep], bool]
    says: str


def bookkeeping(step: ClaimedStep) -> Row | None:
    """The row that a step without a place in the log falls under, if any."""
    if step.kind in ("words", "odd"):
        return None
    return next((row for row in ROWS if row.test(step)), None)


def _head(step: ClaimedStep) -> str:
    return (step.input or "")[:FIRST]


def _by_tool(step: ClaimedStep) -> bool:
    sent = parsed(step.input or "")
    if isinstance(sent, dict):
        return is_administration(sent)
    text = step.input or ""
    named = ({"command": text}, {"file_path": text.strip()}, {"content": text})
    return bool(step.tool) and any(is_administration(one) for one in named)


def _by_words(pattern: re.Pattern[str]) -> Callable[[ClaimedStep], bool]:
    """In prose for a step without a tool; a tool's call must name a file of a trace, too."""

    def holds(step: ClaimedStep) -> bool:
        head = _head(step)
        return pattern.search(head) is not None and (
            not step.tool or (step.operation in WRITERS and FILE.search(head) is not None)
        )

    return holds


def _writes_trace(step: ClaimedStep) -> bool:
    """`Write` to a trace.json: by its path alone, the text being left out of the claim."""
    return (
        bool(step.tool)
        and step.operation in ("write", "edit", "verify", "read")
        and re.fullmatch(r'\s*(?:\{"\w+": ?")?[^\s"]*trace\.json"?\}?\s*', _head(step)) is not None
    )


ROWS: tuple[Row, ...] = (
    Row("trace-call", _by_tool, "The call serves a Forsy trace alone; a log's trace omits such."),
    Row("wrote-trace", _by_words(WROTE), "It tells of writing the trace itself."),
    Row("wrote-trace-file", _writes_trace, "It writes, reads or checks a trace.json."),
    Row("checked-trace", _by_words(CHECKED), "It tells of checking the trace itself."),
    Row("published-trace", _by_words(PUBLISHED), "It tells of publishing the trace itself."),
    Row("read-skill", _by_words(SKILL), "It tells of reading the instructions for traces."),
    Row(
        "thought",
        lambda step: step.kind == "thought",
        "It calls no tool and says nothing to anybody: a thought, which no log can show.",
    ),
)
