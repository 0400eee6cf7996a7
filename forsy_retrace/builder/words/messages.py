"""How a human message reads: rules vote, the surest vote over its floor wins."""

from typing import NamedTuple

from forsy_retrace.evidence import Vote
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, shortened

from .cues import LOG, OPENERS, SENTENCE, cues_of
from .message_rules import (
    NO_MORE,
    PASTED,
    PERMITTED,
    RULES,
    YES_ALONE,
    YES_TO_A_QUESTION,
    Context,
    Cues,
)

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
    cues = cues_of(text, context)
    held = [rule for rule in RULES if rule.test(cues, context, via)]
    best = max(held, key=lambda rule: rule.confidence)
    role = best.role
    roles = tuple(Vote(rule.name, rule.role, rule.confidence) for rule in held)
    kinds = tuple(
        Vote(rule.name, rule.feedback, rule.confidence)
        for rule in held
        if rule.feedback is not None
    )
    has_something = context.worked or via == "plan accepted"  # the plan may lie in another log
    kind = best.feedback if best.confidence >= FLOOR and has_something else None
    passage = _passage(text, kind, cues) if kind else None
    return Reading(role, kind, passage, roles, kinds)


KINDS = {
    "correction": ("correct", "symptom", "prefer", "no", "again", "unsure", "forbid"),
    "approval": ("praise", "yes", "permit"),
    "clarification": ("clarify",),
    "new_instruction": ("constrain", "forbid", "prefer"),
    "other": ("unsure", "report"),
}
AT_HEAD = ("yes", "no")
"""Words that judge only where a message opens with them: `no need to …` is no no."""


LONGEST = 300
"""Characters of a sentence with what is pasted in it that is quoted as a whole."""
MANY = 6
"""Sentences of a message beyond which its first is not taken for the one that judges."""


def answers(step: Step) -> bool:
    """Whether a message replies to what the agent asked or offered last."""
    role = step.grounds.get("message_role")
    replies = step.message_role in ("answer_to_agent_question", "selection")
    return replies or (role is not None and role.rule == PERMITTED)


def says_yes(step: Step) -> bool:
    """Whether a message says yes or no to a question, whatever else it does."""
    role = step.grounds.get("message_role")
    return role is not None and any(vote.rule == YES_TO_A_QUESTION for vote in role.votes)


def wants_no_more(step: Step) -> bool:
    """Whether a message only ends the talk: nothing has to answer it."""
    role = step.grounds.get("message_role")
    return role is not None and role.rule in (*NO_MORE, YES_ALONE)


def asks_nothing(step: Step) -> bool:
    """Whether a message only ends the talk, or is a shell line that its author ran."""
    return step.action == "user_message" and (step.via == "shell line" or wants_no_more(step))


def finds_fault(step: Step) -> bool:
    """Whether a message says that something done is wrong, or shows by what was printed that it fails."""
    role = step.grounds.get("message_role")
    return step.message_role == "correction" or (role is not None and role.rule == PASTED)


def plain(text: str) -> str:
    """A text as phrases are written: in small letters, with straight apostrophes."""
    return text.lower().replace("\u2019", "'")


def _passage(text: str, kind: str, cues: Cues) -> str | None:
    """The shortest verbatim passage that carries the judgement: the sentence with its phrase.

    Where something is pasted, it is the words behind that. What stands between fences is no part of
    it, unless the phrase does: then it is all of a short one; nor is the log of a workflow, unless
    nothing else was said. Where nothing tells which one of many does, none.
    """
    said = LOG.sub("", text)
    text = said if said.strip() else text
    text = _behind_a_no(text, cues) if kind == "correction" else text
    stripped = text.strip()
    if not stripped:
        return None
    if cues.own:
        return cues.own
    for cue in KINDS.get(kind, ()):
        phrase = cues.found.get(cue)
        if phrase is None or (cue in AT_HEAD and cues.opens != cue):
            continue
        for sentence in SENTENCE.finditer(text):
            if phrase in plain(sentence[0]):
                own = (words.strip() for words in sentence[0].split("```")[::2])
                whole = sentence[0].strip()
                short = whole if len(whole) <= LONGEST else None
                return next((words for words in own if phrase in plain(words)), short)
    told = (sentence[0].strip() for sentence in SENTENCE.finditer(stripped))
    sentences = [one for one in told if not OPENERS.fullmatch(one) and not A_LABEL.fullmatch(one)]
    if kind == "new_instruction" and len(sentences) > 1 and _only_praises(sentences[0], cues):
        return sentences[1]
    if kind == "correction" and len(sentences) > MANY:
        return None
    first = shortened(stripped, 200, "")
    if kind == "correction":
        return next(filter(WANTS.search, sentences), sentences[0] if sentences else first)
    return sentences[0] if sentences else first


def _behind_a_no(text: str, cues: Cues) -> str:
    """The words behind a mere `Stop!`, which does not say what is wrong; all where there are none."""
    first = SENTENCE.search(text)
    is_bare = first is not None and plain(first[0]).strip(" .!\n") == cues.found.get("no")
    behind = text[first.end() :] if first is not None and is_bare else ""
    return behind if behind.strip(" .!\n") else text


A_LABEL = later(r"(?i)\W*(?:option )?(?:[a-h]|\d{1,2})\W*")
"""The label of an option and no more."""
WANTS = later(
    r"(?i)\b(?:should|must|instead|rather than|(?<!no )needs? to|ought to)\b|\bnot\b|n['\u2019]t\b"
)
"""Words of the sentence that says how it ought to be."""


def _only_praises(sentence: str, cues: Cues) -> bool:
    return cues.opens == "praise" and sentence.strip(" .!,").lower() == cues.found["praise"]
