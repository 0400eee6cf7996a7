"""What did the agent itself write about options that it did not take? Verbatim, or nothing."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from forsy_retrace.evidence import inferred
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace, put


class Row(NamedTuple):
    """A way to speak of another option, and how surely it names one not taken."""

    rule: str
    sentence: str
    words: tuple[str, ...]
    """One of them stands, in small letters, in whatever the pattern finds."""
    pattern: re.Pattern[str]
    confidence: float
    and_done: bool = False
    """Whether it names what is done beside what is not."""

    def may_shape(self, small: str) -> bool:
        """Whether a text in small letters has one of the words."""
        return any(word in small for word in self.words)

    def shapes(self, sentence: str) -> bool:
        return self.may_shape(sentence.lower()) and self.pattern.search(sentence) is not None


ROWS: tuple[Row, ...] = (
    Row(
        "weighs-options",
        "A sentence that names an alternative, another way or an option by its letter.",
        ("alternative", "another ", "option", "other approach"),
        later(
            r"(?i)\b(?:alternatively|(?<!try )(?<!take )(?<!use )(?<!if there's )(?<!if there is )another (?:option|approach|way)|(?<!to )other (?:options|approaches)"
            r"|option [a1]\b.{3,200}\boption [b2]|one option|two options|the alternative)\b"
        ),
        0.7,
    ),
    Row(
        "could-but",
        "A sentence of the shape `I could …, but …`.",
        (" could", " might"),
        later(
            # What would be done if things were otherwise is no option.
            r"(?i)\A(?!.*\bif (?:this|it|that|there|they|i|we) (?:were|was|had)\b)"
            r".*\b(?:i|we) (?:could|might)(?: also)?\b.{3,200}(?<![.!?])\b(?:but|however|(?<!even )though)\b"
            # One word more, or what comes first, speaks against nothing either.
            r"(?! \w+[.!?]?\Z| first\b)"
            # What has to be heeded on the way speaks against nothing.
            r"(?!,? (?:(?:i|we) )?(?:must|need to|have to|should) (?:also |be careful|check|ensure|first|keep|make sure))"
        ),
        0.75,
    ),
    Row(
        "rather-than",
        "A sentence that names what is done and what it is done instead of.",
        ("rather than", "instead of"),
        later(
            r"(?i)\b(?:i'll|i will|i'd|i should|i'm going to|we'll|we should|we keep|let's|let me|i think|i can)\b"
            r"[^.(]{0,160}\brather than (?:\w+ )?\w+ing\b"
            r"|\binstead of \w+ing\b[^.]{0,120}\bi (?:can|could|will)\b"
            r"|\A\s*rather than \w+[^.,(]{0,120}, (?:i'll|i will|i'm going to|we'll|let's|let me)\b"
        ),
        0.65,
        and_done=True,
    ),
)
"""Sentences of these shapes are copied, in their order and as they stand together."""

SENTENCE = later(
    r"[^.!?\n]+(?:[.!?](?!['\"”’)]?(?:\s|$))[^.!?\n]*)*(?:[.!?](?:['\"”’)](?=\s|$))?)?", re.M
)
NAMED = later(
    r"`([^`\n]{2,80})`|(?<![\w/.])(/\w[\w./{}-]{0,200}[\w}])|(?<=\s)(-{1,2}[a-z][\w-]{0,60})(?=\s)"
    r"|\b([a-z]\w*[A-Z]\w*|\w+_\w+|\d{4,})\b"
)
"""What a sentence calls by its name: code, a path, a flag, an identifier, a long number."""

LEFT_OUT = "\n[…]\n"
"""What stands in a quote for the sentences between."""


AHEAD = 20
"""So many steps on, an option that was weighed is looked for among the calls of the same turn."""


def alternatives(trace: Trace) -> Trace:
    """alternatives_considered, from the step's own reasoning."""
    steps = trace.steps
    weighed = (_weighed(step, steps[n : n + AHEAD]) for n, step in enumerate(steps))
    return msgspec.structs.replace(trace, steps=tuple(weighed))


def _weighed(step: Step, ahead: Sequence[Step]) -> Step:
    """The step with the options that it weighs and that none of the steps ahead takes."""
    if not step.reasoning or step.action == "user_message":
        return step
    small = step.reasoning.lower()
    likely = [row for row in ROWS if row.may_shape(small)]
    found: list[re.Match[str]] = []
    rows: list[Row] = []
    for sentence in SENTENCE.finditer(step.reasoning) if likely else ():
        row = next((row for row in likely if row.shapes(sentence[0])), None)
        if row is not None and (row.and_done or not _is_taken(sentence[0], step, ahead)):
            found.append(sentence)
            rows.append(row)
    if not found:
        return step
    weakest = min(rows, key=lambda row: row.confidence)
    evidence = step.grounds["reasoning"].evidence
    ground = inferred(weakest.rule, weakest.confidence, *evidence)
    quoted = _quoted(step.reasoning, found)
    return put(step, {"alternatives_considered": ground}, alternatives_considered=quoted)


def _quoted(text: str, sentences: Iterable[re.Match[str]]) -> str:
    """Sentences as they stand in a text, with a mark where others are between them."""
    runs: list[str] = []
    end = 0
    for sentence in sentences:
        between = text[end : sentence.start()]
        if runs and not between.strip():
            runs[-1] += between + sentence[0]
        else:
            runs.append(sentence[0])
        end = sentence.end()
    return LEFT_OUT.join(map(str.strip, runs))


def _is_taken(sentence: str, step: Step, ahead: Sequence[Step]) -> bool:
    """Whether the step, or one call of its turn from there on, has all that a sentence names."""
    names = ["".join(name) for name in NAMED.findall(sentence)]
    return bool(names) and any(
        all(re.search(rf"{re.escape(name)}(?!\w)", sent) for name in names)
        for sent in (
            f"{one.tool} {one.input}"
            for one in ahead
            if (one.call is not None or one is step)
            and one.turn == step.turn
            and one.actor == step.actor
        )
    )
