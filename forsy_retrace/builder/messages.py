"""How a human message reads: rules vote, the surest vote over its floor wins.

Cues that hold in any language (how the words came, what stood before them, which options were
offered) outrank words; the words of eight languages are data.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from forsy_retrace.evidence import Vote

FLOOR = 0.5
"""A vote below this is no reading; the role then is `other`, the feedback null."""


class Context(NamedTuple):
    """What stood around a message."""

    first: bool
    asked: bool
    """The agent's last words asked the user for something."""
    question: str
    cut: bool
    """The message follows an interrupt, a rejection or a failed call."""
    worked: bool
    rejected: bool
    answer: bool
    options: tuple[str, ...]
    repeats: bool


class Reading(NamedTuple):
    """Role, feedback and the passage that judges, with all votes."""

    role: str
    feedback: str | None
    passage: str | None
    role_votes: tuple[Vote, ...]
    feedback_votes: tuple[Vote, ...]


class Cues(NamedTuple):
    """Which kinds of phrase a message holds, and the earliest of each."""

    found: dict[str, str]
    opens: str
    """The kind of phrase that it opens with."""
    words: int
    question: bool
    rest: str
    """What follows the opening phrase."""
    error: bool
    """It quotes an error or a stack trace."""


Test = Callable[[Cues, Context, str], bool]


class Rule(NamedTuple):
    """A named rule: what it says of a message, how surely, and when it speaks."""

    name: str
    role: str | None
    feedback: str | None
    confidence: float
    test: Test


def _short(cues: Cues) -> bool:
    return cues.words <= 8


def _asks_more(cues: Cues) -> bool:
    return "request" in cues.found and cues.words > 4


RULES: tuple[Rule, ...] = (
    # Any language: how the words came and what stood before them.
    Rule("plan-taken-up", "approval", "approval", 0.98, lambda c, x, via: via == "plan accepted"),
    Rule("first-message", "direct_request", None, 0.97, lambda c, x, via: x.first),
    Rule("sent-again", "direct_request", None, 0.96, lambda c, x, via: x.repeats),
    Rule(
        "offered-option",
        "selection",
        None,
        0.95,
        lambda c, x, via: x.answer and "option" in c.found,
    ),
    Rule("dialog-answer", "answer_to_agent_question", None, 0.9, lambda c, x, via: x.answer),
    Rule(
        "client-command",
        "direct_request",
        None,
        0.9,
        lambda c, x, via: via in ("command", "shell line"),
    ),
    Rule(
        "rejection-accepts-and-adds",
        "new_constraint",
        "new_instruction",
        0.85,
        lambda c, x, via: x.rejected and c.opens == "praise",
    ),
    Rule(
        "rejection-adds",
        "new_constraint",
        "new_instruction",
        0.8,
        lambda c, x, via: x.rejected and c.opens == "constrain",
    ),
    Rule(
        "rejection-asks",
        "direct_request",
        "other",
        0.72,
        lambda c, x, via: (
            x.rejected and c.question and "correct" not in c.found and "request" not in c.found
        ),
    ),
    Rule("rejection-with-words", "correction", "correction", 0.75, lambda c, x, via: x.rejected),
    # Words: what a short message says by itself.
    Rule(
        "permits",
        "approval",
        None,
        0.93,
        lambda c, x, via: c.opens == "permit" and _short(c) and not c.question and not x.asked,
    ),
    Rule(
        "praises-only",
        "approval",
        "approval",
        0.92,
        lambda c, x, via: (
            "praise" in c.found
            and _short(c)
            and "correct" not in c.found
            and not c.question
            and not _asks_more(c)
        ),
    ),
    Rule(
        "yes-to-a-question",
        "answer_to_agent_question",
        None,
        0.9,
        lambda c, x, via: x.asked and c.opens in ("yes", "permit", "no"),
    ),
    Rule(
        "short-answer",
        "answer_to_agent_question",
        None,
        0.8,
        lambda c, x, via: x.asked and c.words <= 25 and not c.question,
    ),
    Rule(
        "yes-alone",
        "approval",
        None,
        0.8,
        lambda c, x, via: c.opens == "yes" and c.words <= 3 and not x.asked,
    ),
    # Words: what a longer one does to the work.
    Rule(
        "doubts",
        "correction",
        "correction",
        0.8,
        lambda c, x, via: x.worked and c.found.get("correct") == "are you sure",
    ),
    Rule(
        "opens-with-no",
        "correction",
        "correction",
        0.82,
        lambda c, x, via: x.worked and c.opens == "no" and not x.asked and "clarify" not in c.found,
    ),
    Rule(
        "explains-after-a-cut",
        "clarification",
        "clarification",
        0.84,
        lambda c, x, via: x.cut and "clarify" in c.found,
    ),
    Rule(
        "says-it-is-wrong",
        "correction",
        "correction",
        0.78,
        lambda c, x, via: (
            x.worked and "correct" in c.found and not (c.opens == "request" and c.question)
        ),
    ),
    Rule(
        "explains",
        "clarification",
        "clarification",
        0.74,
        lambda c, x, via: x.worked and c.opens == "clarify",
    ),
    Rule(
        "accepts-and-asks",
        "direct_request",
        "approval",
        0.78,
        lambda c, x, via: (
            x.worked and c.opens in ("praise", "yes") and c.words > 3 and "correct" not in c.found
        ),
    ),
    Rule(
        "accepts-and-asks-on",
        "direct_request",
        "approval",
        0.72,
        lambda c, x, via: (
            x.worked and "praise" in c.found and "correct" not in c.found and c.question
        ),
    ),
    Rule(
        "adds-while-working",
        "new_constraint",
        "new_instruction",
        0.7,
        lambda c, x, via: x.worked and c.opens == "constrain" and (x.cut or via == "queued"),
    ),
    Rule(
        "suspects",
        "direct_request",
        "other",
        0.66,
        lambda c, x, via: x.worked and c.question and c.opens in ("unsure", "but"),
    ),
    Rule(
        "tells-what-happened",
        "status_update",
        "other",
        0.62,
        lambda c, x, via: (
            x.worked and c.opens == "report" and not c.question and "request" not in c.found
        ),
    ),
    Rule("asks", "direct_request", None, 0.6, lambda c, x, via: c.question or "request" in c.found),
    Rule("says-something", "direct_request", None, 0.5, lambda c, x, via: True),
)
"""Every rule that holds casts its vote; the surest counts, the earlier row among equals."""


def read_message(text: str, via: str, context: Context) -> Reading:
    """What a message is to the work so far."""
    cues = _cues(text, context)
    held = [rule for rule in RULES if rule.test(cues, context, via)]
    best = max(held, key=lambda rule: rule.confidence)
    role = best.role or "other"
    roles = tuple(Vote(rule.name, rule.role or "other", rule.confidence) for rule in held)
    kinds = tuple(
        Vote(rule.name, rule.feedback, rule.confidence)
        for rule in held
        if rule.feedback is not None
    )
    kind = best.feedback if best.confidence >= FLOOR and context.worked else None
    passage = _passage(text, kind, cues) if kind else None
    return Reading(role, kind, passage, roles, kinds)


@cache
def phrases() -> dict[str, re.Pattern[str]]:
    """One pattern a kind of phrase, over all languages; longest first."""
    table = tomllib.loads(files("forsy_retrace").joinpath("data/feedback.toml").read_text("utf-8"))
    kinds: dict[str, list[str]] = {}
    for language in table.values():
        for kind, listed in language.items():
            kinds.setdefault(kind, []).extend(listed)
    return {kind: _pattern(listed) for kind, listed in kinds.items()}


def _pattern(listed: list[str]) -> re.Pattern[str]:
    ordered = sorted(dict.fromkeys(listed), key=len, reverse=True)
    spaced = [
        re.escape(p) for p in ordered if p.isascii() or (p[0].isalpha() and ord(p[0]) < 0x2E80)
    ]
    dense = [re.escape(p) for p in ordered if ord(p[0]) >= 0x2E80]
    parts = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    return re.compile("|".join([*parts, *dense]), re.I)


ERROR = re.compile(
    r"(?m)^\s*(?:Traceback |\w*(?:Error|Exception)\b.*:|error[:\[]|fatal: |panic: |FAIL\b|npm ERR|\s+at \S+ \()"
)
FENCES = re.compile(r"```.*?(?:```|\Z)", re.S)
PRIORITY = (
    "permit",
    "praise",
    "clarify",
    "correct",
    "no",
    "yes",
    "constrain",
    "report",
    "unsure",
    "request",
)


def _cues(text: str, context: Context) -> Cues:
    said = FENCES.sub(" ", text)[:2000].replace("\u2019", "'").strip()
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    for kind in PRIORITY:
        hit = phrases()[kind].search(said)
        if hit is not None:
            found[kind], places[kind] = hit[0].lower(), hit.start()
    start = min(places.values(), default=99)
    opens = next((k for k in PRIORITY if places.get(k) == start), "") if start <= 3 else ""
    if not opens and re.match(r"(?i)but\b", said):
        opens = "but"
    lines = [line.strip() for line in text.splitlines()]
    if context.options and any(
        line.lower() in {o.lower() for o in context.options} for line in lines
    ):
        found["option"] = "option"
    words = (
        len(re.findall(r"\w+", said)) if said.isascii() else max(len(said) // 2, len(said.split()))
    )
    rest = said[len(found.get(opens, "")) :] if opens in found else said
    question = "?" in said[-120:] or "？" in said[-60:]
    return Cues(found, opens, words, question, rest, ERROR.search(text) is not None)


SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
KINDS = {
    "correction": ("correct", "no", "unsure"),
    "approval": ("praise", "yes", "permit"),
    "clarification": ("clarify",),
    "new_instruction": ("constrain", "praise"),
    "other": ("unsure", "report"),
}


def _passage(text: str, kind: str, cues: Cues) -> str | None:
    """The shortest verbatim passage that carries the judgement: the sentence with its phrase."""
    stripped = text.strip()
    if not stripped:
        return None
    for cue in KINDS.get(kind, ()):
        phrase = cues.found.get(cue)
        if phrase is None:
            continue
        for sentence in SENTENCE.finditer(text):
            if phrase in sentence[0].lower().replace("\u2019", "'"):
                return sentence[0].strip()
    first = SENTENCE.search(stripped)
    return first[0].strip() if first else stripped[:200]
