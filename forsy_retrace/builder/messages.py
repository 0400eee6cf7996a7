"""How a human message reads: rules vote, the surest vote over its floor wins.

Cues that hold in any language (how the words came, what stood before them, which options were
offered) outrank words; the words of eight languages are data.
"""

import re
from functools import cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from forsy_retrace.evidence import Vote
from forsy_retrace.patterns import later
from forsy_retrace.tables import table

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


class Phrase(NamedTuple):
    """Words that say one kind of thing."""

    kind: str
    words: str

    @property
    def is_dense(self) -> bool:
        """Whether its script sets no spaces, so that it may stand within a run of letters."""
        return ord(self.words[0]) >= 0x2E80

    def stands(self, text: str, start: int, end: int) -> bool:
        """Whether it is said at this place, and is no part of another word."""
        after = text[end : end + 1]
        if self.is_dense:
            # A yes or no of one letter is one only by itself: `对` agrees, `对这个文件` does not.
            return self.kind not in ("yes", "no") or not after or after in PAUSES or after.isspace()
        return not (_is_letter(text[start - 1 : start]) or _is_letter(after))


PAUSES = "，,。.!！、"


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


class Phrases:
    """The phrases of all languages, found in one reading of a message."""

    def __init__(self, phrases: list[Phrase]) -> None:
        self.phrases = phrases
        self.automaton = AhoCorasick([phrase.words for phrase in phrases])

    def first(self, text: str) -> dict[str, tuple[int, int]]:
        """Where the first phrase of each kind stands; the longest of those that begin there."""
        low = text.lower()
        if len(low) != len(text):
            low = "".join(map(_lower, text))
        found: dict[str, tuple[int, int]] = {}
        for index, start, end in self.automaton.find_matches_as_indexes(low, overlapping=True):
            phrase = self.phrases[index]
            held = found.get(phrase.kind)
            is_better = held is None or (start, -end) < (held[0], -held[1])
            if is_better and phrase.stands(text, start, end):
                found[phrase.kind] = (start, end)
        return found


def _lower(character: str) -> str:
    """In lower case, where that is one character too."""
    low = character.lower()
    return low if len(low) == 1 else character


@cache
def phrases() -> Phrases:
    """The table of phrases, read when the first message is."""
    return Phrases(
        [
            Phrase(kind, words)
            for language in table("data/feedback.toml").values()
            for kind, listed in language.items()
            for words in listed
        ]
    )


ERROR = later(
    r"(?m)^[ \t]*(?:Traceback |\w*(?:Error|Exception)\b.*:|error[:\[]|fatal: |panic: |FAIL\b|npm ERR|\s+at \S+ \()"
)
FENCES = later(r"```.*?(?:```|\Z)", re.S)
NEGATED = later(
    r"(?i)(?:\b(?:not|no|never|isn't|ain't|doesn't|nicht|kein|pas|não|не)\s+(?:\w+\s+)?|[不没未])$"
)
"""What turns a word of praise into its opposite."""
NOT_WRONG = later(
    r"(?i)(?:\b(?:nothing|not|isn't|wasn't|never|nichts|nicht|nada|rien|ничего)\s+|[不没])$"
)
"""What turns a word of blame into its opposite."""
EXCEPTS = later(
    r"(?i)\b(?:but|except|apart from|however|though|aber|außer|pero|excepto|mais|sauf|mas|exceto|но)\b|但|不过"
)
"""What goes on behind a word of acceptance to say what is not accepted."""
WEAK = frozenset(["good", "great", "nice", "cool", "right", "fine", "bien", "gut", "bon"])
"""Words that praise only where a message opens with them or says little else."""
WORD = re.compile(r"\w+")
DENSE = later(r"[\u2e80-\u9fff\uac00-\ud7af]")
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
    "ask",
)


def _cues(text: str, context: Context) -> Cues:
    said = FENCES.sub(" ", text)[:2000].replace("\u2019", "'").strip()
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    said_first = phrases().first(said)
    for kind in PRIORITY:
        if kind not in said_first:
            continue
        start, end = said_first[kind]
        phrase = said[start:end].lower()
        if kind == "praise" and NEGATED.search(said[max(0, start - 24) : start]):
            kind = "correct"
        elif kind == "correct" and NOT_WRONG.search(said[max(0, start - 12) : start]):
            continue
        if kind == "praise" and start > 3 and phrase in WEAK and len(said) > 30:
            continue
        if kind not in found:
            found[kind], places[kind] = phrase, start
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
    words = _words(said)
    rest = said[len(found.get(opens, "")) :] if opens in found else said
    question = (
        "?" in said[-120:]
        or "？" in said[-60:]
        or _asks(said, places)
        or ASKED.search(said) is not None
    )
    if "request" in found and places["request"] < len(found.get(opens, "")):
        # `yes please` permits; what it asks for stands behind it.
        again = phrases().first(rest).get("request")
        if again is None:
            del found["request"]
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
        yes_but=opens in ("yes", "praise") and EXCEPTS.search(said[:60]) is not None,
    )


LATE_NO = later(r"(?i)(?:ok(?:ay)?|uh+|um+|hm+|ah+|well|sorry)[.,! ]+(?:uh+[.,! ]+)?no\b")
"""A no behind a filler."""
LABEL = later(
    r"(?i)(?:(?:let'?s )?(?:go|do|use|take)(?: (?:for|with))? )?(?:option |number |#)?([a-f]|\d{1,2})"
    r"(?:[.,):;]|\s+(?:-|but|is|and|please|then|seems)|\s*$)"
)
"""The label of an option at the head of a message."""


ASKED = later(r"(?:什么|怎么|怎样|如何|为什么|哪[个些里]|多少)[^。！]{0,30}$|[吗嘛呢]\s*$")
"""A question in Chinese that ends without a mark."""
PROPOSES = later(r"(?i)(?:how|what) about\b|why (?:not|don'?t)\b")
"""What opens like a question and proposes something."""


def _asks(said: str, places: dict[str, int]) -> bool:
    """Whether a message of one sentence opens with a question word, though it ends without a mark."""
    if places.get("ask", 99) > 3 or PROPOSES.match(said):
        return False
    return len(SENTENCE.findall(said)) == 1


def _words(text: str) -> int:
    """How many words a text has."""
    if text.isascii():
        return len(WORD.findall(text))
    dense = len(DENSE.findall(text))
    return len(WORD.findall(DENSE.sub(" ", text))) + (dense + 1) // 2


def _lists(text: str, label: str) -> bool:
    """Whether a text lists an option of that label."""
    item = rf"(?im)^[\s>*#|-]*(?:option |\*\*)?(?:option )?{re.escape(label)}[.):*]"
    return re.search(item, text) is not None


SENTENCE = later(r"(?:[^.!?。！？\n]|[.!?]+(?=[^\s.!?]))+[.!?。！？]*")
"""A sentence with its marks; one within a name or an address ends none."""
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
