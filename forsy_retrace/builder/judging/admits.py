"""Words in which an agent owns that something fails, or that it can't go on."""

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..finishes import closing_words
from ..words.cues import SENTENCE

BLOCKED = later(
    r"(?i)\b(?:i(?: can(?:no|['’])?t|(?:['’]m| am) (?:unable|not able) to| could ?n[o'’]t) (?:proceed|continue|go on|access"
    r"|complete|do (?:this|that)|(?:help|assist)(?: you)? with (?:this|that)\b|comply\b|fulfil?l (?:this|that|your) request)|unable to (?:proceed|continue)|cannot (?:proceed|continue)"
    r"|i(?:['’]m| am) blocked|(?<!no longer )(?<!not )blocked until|waiting for (?:your|you to)|need (?:your|you to) .{0,60}(?:before|to (?:proceed|continue)))"
)
"""Closing words that say the agent can't go on, or refuse."""
STILL = later(
    r"(?i)\bstill (?:fail|broken|not working|failing|errors?|crash)|\bnot (?:yet )?(?:fixed|working|passing)\b"
    r"|\btests? (?:are |is )?(?:still )?fail(?:ing|s)?\b|\bcould ?n[o'’]t (?:fix|complete|finish)"
    r"|\b(?:i|we|am|are) (?:was |were )?unable to|\bremaining (?:failures?|errors?)"
    r"|\b(?:funktioniert|l\u00e4uft|geht)(?: [^.]{0,20})? nicht\b|\bschl(?:\u00e4gt|agen)(?: [^.]{0,20})? fehl\b"
    r"|\bsiguen? (?:fallando|sin funcionar)|\bno funciona\b|\bne (?:fonctionne|marche|passe)(?:nt)? (?:toujours |encore )?pas"
    r"|\u4ecd\u7136\u5931\u8d25|\u8fd8\u662f\u5931\u8d25|\u4e0d\u80fd\u5de5\u4f5c"
)
"""Words of a failure that lasts."""
HAPPENED = later(
    r"(?i)\b(?:does|do|did)(?: not|n['’]t) (?:work|pass)|\bfailed to\b|\b(?:was|were) unable to"
    r"|\bi (?:could ?n[o'’]t|could not|can(?:not|['’]t)|was(?: not|n['’]t) able to) (?:push|publish|deploy|upload|merge)\b"
    r"|\bneeds? to be fixed\b|\bother (?:two|three|four|\d{1,4}) (?:failures|errors|failing tests)\b"
)
"""Words of a failure that may be told of as mended."""
MENDED = later(
    r"(?i)\b(?:fix(?:ed|es)|resolve[ds]|repaired|root cause|caused by|no longer|previously|used to"
    r"|(?:bug|crash|error|failure|issue|problem|case)s? (?:where|when|that|in which)|now \w+s)\b"
)
"""Words of a sentence that tells of what was mended, or why."""
DENIED = later(
    r"(?i)\b(?:no|not any|without(?: any)?|zero|0|none of the|keine?|sin|aucune?)\s+(?:\w+\s+)?$"
)
"""What turns the words of a failure behind it round."""
CODE = later(r"(?s)```.*?(?:```|\Z)|`[^`\n]*`")
"""What a text only quotes."""


def speaks_of_failure(text: str) -> bool:
    """Whether closing words claim a failure: one that lasts, or one not told of as mended."""
    for sentence in SENTENCE.findall(CODE.sub(" ", text)):
        found = STILL.search(sentence) or HAPPENED.search(sentence)
        if found is None or DENIED.search(sentence[: found.start()]):
            continue
        if found.re is STILL or not MENDED.search(sentence):
            return True
    return False


def said(step: Step) -> str:
    """The words of an answer, or of a call that ends the work."""
    return closing_words(step) if step.call else step.output or ""
