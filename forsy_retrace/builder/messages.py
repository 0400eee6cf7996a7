"""How a human message reads: rules vote, the surest vote over its floor wins.

Cues that hold in any language (how the words came, what stood before them, which options were
offered) outrank words; the words of eight languages are data.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from forsy_retrace.evidence import Vote

from .message_rules import RULES, Context, Cues

FLOOR = 0.5
"""A vote below this is no reading; the role then is `other`, the feedback null."""


class Reading(NamedTuple):
    """Role, feedback and the passage that judges, with all votes."""

    role: str
    feedback: str | None
    passage: str | None
    role_votes: tuple[Vote, ...]
    feedback_votes: tuple[Vote, ...]


def read_message(text: str, via: str, context: Context) -> Reading:
    """What a message is to the work so far."""
    cues = _cues(text, context)
    held = [rule for rule in RULES if rule.test(cues, context, via)]
    best = max(held, key=lambda rule: rule.confidence)
    role = best.role
    roles = tuple(Vote(rule.name, rule.role, rule.confidence) for rule in held)
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
    return {kind: _pattern(listed, kind in ("yes", "no")) for kind, listed in kinds.items()}


def _pattern(listed: list[str], alone: bool) -> re.Pattern[str]:
    ordered = sorted(dict.fromkeys(listed), key=len, reverse=True)
    spaced = [
        re.escape(p) for p in ordered if p.isascii() or (p[0].isalpha() and ord(p[0]) < 0x2E80)
    ]
    dense = [re.escape(p) for p in ordered if ord(p[0]) >= 0x2E80]
    if alone:
        # A yes or no of one letter is one only by itself: `对` agrees, `对这个文件` does not.
        dense = [rf"{p}(?=[\s，,。.!！、]|$)" for p in dense]
    parts = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    return re.compile("|".join([*parts, *dense]), re.I)


ERROR = re.compile(
    r"(?m)^[ \t]*(?:Traceback |\w*(?:Error|Exception)\b.*:|error[:\[]|fatal: |panic: |FAIL\b|npm ERR|\s+at \S+ \()"
)
FENCES = re.compile(r"```.*?(?:```|\Z)", re.S)
NEGATED = re.compile(
    r"(?i)(?:\b(?:not|no|never|isn't|ain't|doesn't|nicht|kein|pas|não|не)\s+(?:\w+\s+)?|[不没未])$"
)
"""What turns a word of praise into its opposite."""
WEAK = frozenset(["good", "great", "nice", "cool", "right", "fine", "bien", "gut", "bon"])
"""Words that praise only where a message opens with them or says little else."""
DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
"""Letters of scripts that set no spaces: two make about a word."""
PRIORITY = (
    "permit",
    "praise",
    "clarify",
    "correct",
    "no",
    "yes",
    "prefer",
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
        if hit is None:
            continue
        if kind == "praise" and NEGATED.search(said[max(0, hit.start() - 24) : hit.start()]):
            kind = "correct"
        if kind == "praise" and hit.start() > 3 and hit[0].lower() in WEAK and len(said) > 30:
            continue
        if kind not in found:
            found[kind], places[kind] = hit[0].lower(), hit.start()
    start = min(places.values(), default=99)
    opens = next((k for k in PRIORITY if places.get(k) == start), "") if start <= 3 else ""
    if opens in ("", "yes") and LATE_NO.match(said):
        opens = "no"
    if not opens and re.match(r"(?i)but\b", said):
        opens = "but"
    lines = [line.strip() for line in text.splitlines()]
    if context.options and any(
        line.lower() in {o.lower() for o in context.options} for line in lines
    ):
        found["option"] = "option"
    dense = len(DENSE.findall(said))
    words = len(re.findall(r"\w+", DENSE.sub(" ", said))) + (dense + 1) // 2
    rest = said[len(found.get(opens, "")) :] if opens in found else said
    question = "?" in said[-120:] or "？" in said[-60:]
    label = LABEL.match(said)
    return Cues(
        found=found,
        opens=opens,
        words=words,
        question=question,
        rest=rest,
        error=ERROR.search(text) is not None,
        label=label is not None
        and (words <= 30 or label.end(1) - label.start() > 3)
        and _lists(context.last_words, label[1]),
        yes_but=opens in ("yes", "praise") and re.search(r"(?i)\bbut\b", said[:60]) is not None,
    )


LATE_NO = re.compile(r"(?i)(?:ok(?:ay)?|uh+|um+|hm+|ah+|well|sorry)[.,! ]+(?:uh+[.,! ]+)?no\b")
"""A no behind a filler."""
LABEL = re.compile(
    r"(?i)(?:(?:let'?s )?(?:go|do|use|take)(?: (?:for|with))? )?(?:option |number |#)?([a-f]|\d{1,2})"
    r"(?:[.,):;]|\s+(?:-|but|is|and|please|then|seems)|\s*$)"
)
"""The label of an option at the head of a message."""


def _lists(text: str, label: str) -> bool:
    """Whether a text lists an option of that label."""
    item = rf"(?im)^[\s>*#|-]*(?:option |\*\*)?(?:option )?{re.escape(label)}[.):*]"
    return re.search(item, text) is not None


SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
KINDS = {
    "correction": ("correct", "prefer", "no", "unsure"),
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
