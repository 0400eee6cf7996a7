"""The rules that read a human message: each row a name, what it says, a sentence, a confidence.

Cues that hold in any language (how the words came, what stood before them, which options were
offered) outrank words. The confidences were set by reading messages of real sessions and are
checked against labelled ones.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.patterns import later

from .agent_words import agrees, asks_if_it_suits, asks_leave, concedes, invites_changes


class Context(NamedTuple):
    """What stood around a message."""

    first: bool
    asked: bool
    """The agent's last words asked the user for something that the work needs."""
    offered: bool
    """They offered to do more than was asked."""
    served: bool
    """They asked whether there was anything else, as a host does."""
    last_words: str
    """What the agent said last; for a label alone, its words that list the options."""
    reply: tuple[str, str]
    """What it said first after the message, and in the end, where it only looked before."""
    cut: bool
    """The message follows an interrupt, a rejection or a failed call."""
    worked: bool
    acted: bool
    """The agent changed or ran something since the user last spoke, or was about to."""
    built: bool
    """It did so at any time."""
    under_way: bool
    """The message came in the middle of a turn."""
    rejected: bool
    """The message comes with a rejection, or behind a plan that was turned down without words."""
    answer: bool
    options: tuple[str, ...]
    repeats: bool


class Cues(NamedTuple):
    """Which kinds of phrase a message holds, and the earliest of each."""

    found: dict[str, str]
    opens: str
    """The kind of phrase that it opens with."""
    words: int
    question: bool
    rest: str
    """What follows the opening phrase."""
    label: bool
    """It opens with the label of an option: `A`, `2.`, `option 3`."""
    place: bool
    """It names one of the options by its place among them: `the second`."""
    title: bool
    """It names one of the options by its title, and says no more."""
    praises: bool
    """Its first words hold praise."""
    yes_but: bool
    """It accepts in a word and goes on with a `but`."""
    thanks: bool
    """It ends in thanks."""
    lettered: bool
    """It opens with a letter as with an option's: `B please, …`."""
    why_not: bool
    """It asks why something is not so, and nobody why they do not do it."""
    told_first: bool
    """It tells how something fails before its sentence asks for anything."""
    greets: bool
    """It is a greeting and no more."""
    plain: bool
    """It holds no praise but thanks: `I'm good` is none."""
    goes_on: bool
    """A sentence behind the praise holds none."""
    only_tells: bool
    """All behind the praise is more of it, or tells what is so."""
    states: bool
    """It tells what is so in the user's world, and sets nothing for the work."""
    printed: bool
    """What a program printed is pasted in it, and tells of a failure."""
    wordless: bool
    """It is that, and nothing else."""
    own: str
    """The words behind it."""
    orders: bool
    """It opens with an order, in more than one sentence, that refers to nothing said before."""
    takes_up: bool
    """A few words that order what the agent offered."""
    answers: bool
    """It says itself that it answers."""
    disputes: bool
    """Its first words say that what the agent said is not so."""
    prefers: bool
    """It names another way before anything in it is asked."""
    banned: str
    """What it forbids to be used, by its name."""


Test = Callable[[Cues, Context, str], bool]


class Rule(NamedTuple):
    """A named rule: what it says of a message, in a sentence why, how surely, and when."""

    name: str
    role: str
    feedback: str | None
    confidence: float
    sentence: str
    test: Test


def _narrows(cues: Cues) -> bool:
    excepts = cues.found.get("constrain", "").startswith("but ") and cues.words <= 25
    return excepts or re.match(r"(?i)(?:only|just)\b", cues.rest.strip()) is not None


COMMAND = later(r"\s*/[A-Za-z][\w:-]*(?=\s|$)")
"""A command as it is typed while the agent works; a path goes on with another slash."""


def _wrong(cues: Cues, context: Context) -> bool:
    """It says that something is wrong, and not only in answer to a question of taste."""
    is_old = context.built and not {"still", "undo", "back"}.isdisjoint(cues.found)
    is_of_work = context.acted or is_old or cues.disputes or not context.asked
    return context.worked and "correct" in cues.found and is_of_work


def _informs(cues: Cues, context: Context) -> bool:
    """It tells what happened or, while the agent works, what is so, and asks for nothing."""
    tells = cues.opens == "report" or (context.under_way and cues.states)
    return tells and not cues.question and "request" not in cues.found


def _short(cues: Cues) -> bool:
    return cues.words <= 8


def _asks_more(cues: Cues) -> bool:
    return "request" in cues.found or "next" in cues.found


def _halts(cues: Cues) -> bool:
    """Whether it calls for a halt, which is no `no` to a question."""
    return cues.found.get("no", "").startswith(("wait", "hold on", "hang on"))


def _wants_no_more(cues: Cues, context: Context) -> bool:
    """Whether it declines more, with thanks or without: that judges nothing."""
    more = {"correct", "symptom", "again", "constrain", "request", "next", "permit"}
    if not cues.plain or cues.words > 12 or cues.question or more & set(cues.found):
        return False
    if "enough" in cues.found:
        return context.served or cues.opens == "no" or "praise" not in cues.found
    return cues.opens == "no" and (cues.thanks or context.served)


def _views(cues: Cues) -> bool:
    """Whether it opens with what its author thinks or would have."""
    meant = cues.opens == "clarify" and cues.found["clarify"] == "i mean"
    return meant or VIEW.match(cues.rest) is not None


def _whole(cues: Cues) -> str:
    """The words from the opening phrase on."""
    return cues.found.get(cues.opens, "") + cues.rest


def _steers(cues: Cues) -> bool:
    """Whether words say how the work shall be: what it needs, or may not, or by which means."""
    if CHATS.match(whole := _whole(cues)):
        return False
    is_told = bool({"constrain", "forbid", "prefer"} & set(cues.found))
    says = (SETS.match(whole), SETS.match(cues.rest), VIEW.match(whole), NEEDS.search(whole))
    return is_told or any(says)


def _was_used(what: str, context: Context) -> bool:
    """Whether the agent's last words name a thing, and not only where they offer more."""
    told = context.last_words.rpartition("\n\n")[0] if context.offered else context.last_words
    return bool(what) and re.search(rf"(?<!\w){re.escape(what)}(?!\w)", told, re.I) is not None


def _answers_points(said: str, listed: str) -> bool:
    """Whether the lines of an answer are labelled as two or more of the points that were listed."""
    above = said[: first.start()] if (first := POINTS.search(said)) else ""
    if ASIDE.search(above):
        return False
    own = {
        label for label in POINTS.findall(said) if re.search(rf"(?m)^[\s>*-]*{label}[.)]", listed)
    }
    return len(own) > 1


def _thanks(cues: Cues) -> bool:
    return cues.thanks and cues.words <= 25 and not {"report", "constrain"} & set(cues.found)


def _leaves_it(cues: Cues) -> bool:
    """Whether words that praise end in thanks, or in what their author does, and want nothing."""
    wants = {"correct", "symptom", "again", "constrain", "forbid", "prefer", "request", "next"}
    if cues.words > 25 or cues.question or cues.plain or wants & set(cues.found):
        return False
    if cues.yes_but or not cues.only_tells or REQUIRES.search(_whole(cues)):
        return False
    return cues.thanks or (cues.praises and DOES_THE_REST.search(cues.rest) is not None)


WISH = later(r"(?i)\W*(?:can|could) (?:we|you)\b")
"""What makes an ask of words that open with a doubt: `hm, can we …`."""
ADDS = later(
    r"(?i)^.{0,30}\b(?:but|(?:just )?make sure|ensure|as long as|provided|except|only)\b"
    r"|(?:^|[.;,:)!]\s)please (?:use|keep|don't|add|make|name|call)\b"
)
"""How words go on that pick an option with a condition."""
VIEW = later(
    r"(?i)(?![^\n]*\?)(?!.{0,20}\bi['’]d like)\W*(?:(?:so|well|ok|okay|hm+|yeah)\b\W*)?(?:i (?:think|want|don['’]?t want|would|feel|guess|prefer|believe|like)\b"
    r"|we (?:want|should|need|could)\b|it (?:feels|should|depends)\b|let['’]?s (?:go with|use|do|start|keep)\b"
    r"|(?:both|neither|probably|maybe|ideally)\b)"
)
"""How words begin that say what their author thinks, or would have."""
IDLE = later(
    r"(?i)\W*(?:i feel|i['\u2019]?d like an?|i would like an?|i want to (?:know|understand|see|ask)|i (?:think|guess) (?:i|my|we)\b"
    r"|(?:maybe|probably) i\b)"
)
"""How words begin that tell of their author, or want to be told something: they set nothing."""
STEPS_IN = later(
    r"(?i)(?:\s+(?:a|one)?\s*(?:bit|sec|second|moment|minute))?[\s,.:;!–-]*"
    r"(?:i['’]?ll|i will|let me (?!see|know)|i['’]?m going to|i (?:just |already )?(?:fixed|did(?! not\b)|changed|solved|found))\b"
)
"""How words go on that stop the agent since their author does something."""
DOES_THE_REST = later(
    r"(?i)[.,;!\n][^\S\n]*(?:(?:and|so|now|then)\b\s*)*(?:i'll|i will|i'm going to|i am going to)\s+"
    r"(?!need\b|want\b|like\b|have to\b)[^.!?\n]*+[\s.!]*+$"
)
"""How words end that tell what their author does next."""
OTHER_CAUSE = later(
    r"(?i)\W*(?:(?:ah|oh|hm+|actually|i think|the|real|actual|root)\b\W*)*"
    r"(?:issue|problem|bug|cause|culprit)(?:'s| is| was) [^.!?\n]{1,80}?, not\b(?! (?:yet|sure|only|just)\b)"
)
"""How words begin that name another cause than the one supposed: `the issue is X, not Y`."""
REVIEW = later(
    r"(?i)\W*(?:(?:and|also|here|is|are|some|more|another|the|new|latest)\b\W*)*"
    r"(?:(?:pr|pull request|peer|reviewer|review)\W+(?:feedback|review|comments?|notes|findings)|code review)\b"
    r"[^.?!\n]{0,60}[:\n]\s*\S"
)
"""How words begin that hand on what a reviewer said: `PR feedback:` and what follows."""
DETAIL = later(
    r"(?i)[^\n]{0,60}?(?:\b(?:(?:just|only) one (?:\w+ )?|one (?:small|little|tiny|minor) )(?:thing|detail|point|nit)\b"
    r"|\b(?:juste? une? |une? petite? |une? seule? )(?:petite? )?(?:truc|détail|chose|point|remarque)\b"
    r"|\bnur eine (?:kleine )?(?:sache|kleinigkeit)\b|\b(?:solo|sólo) una? (?:detalle|cosa)\b"
    r"|\bsó uma? (?:detalhe|coisa)\b|только одно\b|只有一点|[一1]つだけ)"
)
"""How words behind praise come to the one thing that it does not cover."""
NEEDS = later(
    r"(?i)\b(?:should|must|needs? to|ha(?:s|ve) to|ought to|(?:we|i) (?:also |really )?(?:want|need))\b"
)
"""How words say what has to be."""
_CLAUSE = r"(?:^|[.,;:!\n-]\s*|\b(?:and|but|so|then|that|think|thinking|guess|say) )"
REQUIRES = later(
    rf"(?i){_CLAUSE}(?:it|this|that|they|we|i|you|(?:the|each|all) [\w -]{{1,40}}) "
    r"(?:should|must|_?needs?_? to|ha(?:s|ve) to|ought to|(?:also |really )?(?:want|need))\b"
    rf"|{_CLAUSE}(?:please )?(?:make sure|(?:don['\u2019]?t|do not) (?!know|care|mind|think|have\b)|keep (?:it|this|them)|avoid|ensure"
    r"|only use|never(?! mind)|remember to|note that|no need to|also (?:add|use|keep|make|do|have))\b"
    r"|\bbut (?:please )?(?:keep|use)\b"
)
"""How a clause of an answer says how the work shall be: `the total must …`, `but keep …`; not
`I don't know what it should be`."""
SETS = later(
    r"(?i)\W*(?:please )?(?:(?:and|but|also|then|plus|use|keep|leave|put|take|only|just|don't|do not)\b"
    r"|\w+ (?:it|them|that|this|those|these)\b"
    r"|my (?:bet|concern|guess|idea|opinion|point|preference|suggestion|take|worry)\b)"
)
"""How an order begins that adds to the work under way, or says how it is to be done; or a view of it."""
CHATS = later(
    r"(?i)\W*(?:take your time|keep it up|just checking|leave it to me|forget it|then i\b|looks like)"
)
"""How words begin that set nothing for the work."""
ANOTHER = later(
    r"(?i)\W*(?:how about|what about(?= (?:an?|if|just|using|we|with|\w+ing)\b)) (?!the rest\b|it\b|you\b|(?:that|this)\W*$)"
    r"(?![^\n]*[,.?!] (?:and |so )?(?:is|are|was|were|does|did|has|have|which|who|why|when)\b[^\n]*\?)"
)
"""How another way is proposed."""
ASIDE = later(
    r"(?i)\b(?:aside|ignore|forget|instead|in this order|other (?:work|things?|tasks?) (?:first|that))\b"
)
"""What above a list of points says that they answer nothing."""
POINTS = later(r"(?m)^\s*(\d{1,2})[.)]\s")
"""The labels of the lines of an answer."""
HANDS_OVER = later(
    r"(?i)\W*(?:(?:this|that|here)(?:['\u2019]s| is) (?:the |my )?(?:\w+ ){0,3}|(?:the|my|our) (?:\w+ ){0,3}"
    r"|(?:(?:browser|server|client|error|build|test|full|raw|ci)(?:['\u2019]s)? ){0,2})"
    r"(?:console|logs?|output|trace(?:back)?|transcript)\s*:[ \t]*\n"
)
"""How words begin below which stands what was printed: `this is the console:`."""
ASKED_BELOW = later(
    r"(?is)\n[ \t]*\n[^\n]{0,40}\b(?:please|can you|could you|fix|let['\u2019]?s)\b[^\n]*\Z"
)
"""A last paragraph that asks for something."""
HOW = later(r"(?i)\s+(?!(?:please|now|then|thanks|all)\b)\w")
"""What tells how, or where, behind a `do it`."""
PASTED = "pastes-a-failure"
"""The rule of what judges nothing in words, and shows a fault all the same."""

NO_MORE = ("wants-no-more", "ends-the-talk")
"""The rules of a goodbye, which nothing has to answer: one that the agent asked for, and others."""
YES_ALONE = "yes-alone"
"""The rule of a yes that nothing has to answer either."""
YES_TO_A_QUESTION = "yes-to-a-question"
"""The rule of a yes or no to what the agent asked or offered."""

GREETS = "greets"
"""The rule of a greeting, which asks for nothing."""
PERMITTED = "permits-what-was-offered"
"""The rule of an approval that speaks for what is to come, and not for what is done."""

RULES: tuple[Rule, ...] = (
    # Any language: how the words came and what stood before them.
    Rule("plan-taken-up", "approval", "approval", 0.98,
         "The client's turn that takes up an accepted plan.",
         lambda c, x, via: via == "plan accepted"),
    Rule(GREETS, "other", None, 0.98,
         "A greeting by itself asks for nothing.",
         lambda c, x, via: c.greets and not x.answer),
    Rule("first-message", "direct_request", None, 0.97,
         "The first message of a session asks for something, unless it answers or rejects.",
         lambda c, x, via: x.first and not (x.answer or x.rejected)
         and not (x.asked and c.opens in ("yes", "no", "permit"))),
    Rule("sent-again", "direct_request", None, 0.96,
         "A message sent again word for word asks again, unless it picks an option, tells what was done or"
         " says that this is wrong too.",
         lambda c, x, via: x.repeats and not c.label and not _wrong(c, x)
         and c.opens not in ("yes", "no", "permit", "praise", "report")),
    Rule("offered-option", "selection", None, 0.95,
         "An answer in a dialog that is one of the options offered.",
         lambda c, x, via: x.answer and "option" in c.found),
    Rule("dialog-answer-that-steers", "answer_to_agent_question", "new_instruction", 0.91,
         "An answer in a dialog in the user's own words, which says how the work shall be and asks nothing.",
         lambda c, x, via: x.answer and not c.question
         and ("prefer" in c.found or REQUIRES.search(_whole(c)) is not None)),
    Rule("dialog-answer", "answer_to_agent_question", None, 0.9,
         "An answer in a dialog in the user's own words.",
         lambda c, x, via: x.answer),
    Rule("client-command", "direct_request", None, 0.9,
         "A command of the client, or a shell line typed into it.",
         lambda c, x, via: via in ("command", "shell line")
         or (via == "queued" and COMMAND.match(c.rest) is not None)),
    Rule("rejection-accepts-and-adds", "new_constraint", "new_instruction", 0.85,
         "Words with a rejection that open with praise only add to what was proposed.",
         lambda c, x, via: x.rejected and c.opens == "praise"),
    Rule("rejection-adds", "new_constraint", "new_instruction", 0.8,
         "Words with a rejection that open with an addition.",
         lambda c, x, via: x.rejected and c.opens == "constrain"),
    Rule("rejection-asks", "direct_request", "other", 0.76,
         "Words with a rejection that only ask.",
         lambda c, x, via: x.rejected and c.question and not {"correct", "prefer"} & set(c.found)),
    Rule("rejection-with-words", "correction", "correction", 0.75,
         "Words with a rejection mostly change what was proposed.",
         lambda c, x, via: x.rejected),
    # Words: what a short message says by itself.
    Rule("permits", "approval", None, 0.93,
         "A few words that let the work go on, and nothing more.",
         lambda c, x, via: c.opens == "permit" and _short(c) and not c.question
         and not x.asked and not x.offered and not {"request", "correct", "prefer"} & set(c.found)
         and not (c.found["permit"] == "do it" and HOW.match(c.rest))),
    Rule(NO_MORE[0], "answer_to_agent_question", None, 0.93,
         "A few words that want nothing more, where the agent asked or offered something.",
         lambda c, x, via: (x.asked or x.offered or x.served) and _wants_no_more(c, x)),
    Rule(NO_MORE[1], "other", None, 0.93,
         "A few words that want nothing more, where the agent asked for nothing.",
         lambda c, x, via: x.worked and not (x.asked or x.offered or x.served) and _wants_no_more(c, x)),
    Rule("praises-only", "approval", "approval", 0.92,
         "A few words of praise, or more that end in thanks, and nothing asked.",
         lambda c, x, via: "praise" in c.found and (_short(c) or _thanks(c)) and not c.goes_on and "correct" not in c.found
         and not c.question and not _asks_more(c) and not x.rejected and not c.yes_but
         and not {"symptom", "again"} & set(c.found) and not REQUIRES.search(_whole(c))
         and not (c.place and x.asked)
         and not (c.opens == "no" and (x.asked or x.offered))),
    Rule("praises-and-leaves-it", "approval", "approval", 0.8,
         "It praises, ends in thanks or in what its author does next, and tells no more than what is so.",
         lambda c, x, via: x.worked and "praise" in c.found and not x.asked and not x.rejected
         and c.opens != "no" and _leaves_it(c)),
    Rule("picks-and-adds", "selection", "new_instruction", 0.92,
         "It opens with the label of an option, and goes on with a condition: `3, but enabled by default`.",
         lambda c, x, via: x.worked and c.label and not c.question and ADDS.search(c.rest) is not None),
    Rule("picks-a-label", "selection", None, 0.91,
         "It opens with the label of an option that the agent's last words listed, or is one alone that words not yet answered did.",
         lambda c, x, via: x.worked and c.label and (x.asked or c.lettered or not c.question)),
    Rule("accepts-what-was-shown", "approval", "approval", 0.91,
         "A yes and no more, where the agent asked whether what it showed is as it should be.",
         lambda c, x, via: x.asked and asks_if_it_suits(x.last_words) and c.opens in ("yes", "permit", "praise")
         and _short(c) and not c.question and not c.yes_but
         and not {"request", "correct", "constrain"} & set(c.found)),
    Rule(PERMITTED, "approval", "approval", 0.91,
         "A yes and no more, where the agent asked leave for a step or offered one.",
         lambda c, x, via: (x.asked or x.offered) and asks_leave(x.last_words) and c.opens in ("yes", "permit")
         and c.words <= 4 and not c.question and not c.yes_but
         and not {"correct", "constrain"} & set(c.found)),
    Rule("no-and-undo", "answer_to_agent_question", "correction", 0.9,
         "A no to the agent's question that has what was done undone.",
         lambda c, x, via: (x.asked or x.offered) and c.opens == "no" and not {"undo", "back"}.isdisjoint(c.found)
         and _wrong(c, x)),
    Rule(YES_TO_A_QUESTION, "answer_to_agent_question", None, 0.9,
         "A yes or no after the agent's question or offer.",
         lambda c, x, via: (x.asked or x.offered) and c.opens in ("yes", "permit", "no")
         and not (c.opens == "no" and ((c.words > 12 and not x.asked) or _halts(c)) and _wrong(c, x))),
    Rule("picks-by-place", "selection", None, 0.85,
         "A few words that name one of the agent's options by its place: `the second`.",
         lambda c, x, via: x.worked and c.place and not c.question and (x.asked or c.words <= 5)),
    Rule("picks-by-title", "selection", None, 0.85,
         "It is the title of one of the options that the agent's question listed, and no more.",
         lambda c, x, via: x.worked and c.title and not c.question),
    Rule("takes-up-an-offer", "answer_to_agent_question", None, 0.8,
         "A few words that order what the agent's last words offered.",
         lambda c, x, via: x.offered and c.takes_up and not c.question),
    Rule("short-answer", "answer_to_agent_question", None, 0.8,
         "A short statement after the agent's question.",
         lambda c, x, via: x.asked and c.words <= 25 and not c.question and not _wrong(c, x)
         and c.opens != "constrain" and not (c.orders and c.words > 12)
         and not c.found.get("request", "").startswith(("can you", "could you"))),
    Rule("says-that-it-answers", "answer_to_agent_question", None, 0.85,
         "Behind the agent's question or offer it says that it answers: `to answer your question`.",
         lambda c, x, via: (x.asked or x.offered) and c.answers),
    Rule("takes-up-an-invitation", "answer_to_agent_question", None, 0.7,
         "The agent's last words ask what the user would have clarified or changed, and it tells that, and asks nothing.",
         lambda c, x, via: x.asked and invites_changes(x.last_words) and not c.question and not _wrong(c, x)),
    Rule("answers-with-a-view", "answer_to_agent_question", "new_instruction", 0.66,
         "Behind the agent's question or offer it opens with what the user thinks or wants, at any length.",
         lambda c, x, via: (x.asked or x.offered) and _views(c) and not _wrong(c, x)),
    Rule("proposes-another", "answer_to_agent_question", "new_instruction", 0.64,
         "Behind the agent's question or offer it proposes another way: `how about …`.",
         lambda c, x, via: (x.asked or x.offered) and ANOTHER.match(_whole(c)) is not None and not _wrong(c, x)),
    Rule("answers-point-by-point", "answer_to_agent_question", "new_instruction", 0.68,
         "Behind the agent's question it answers two or more of the listed points by their labels.",
         lambda c, x, via: x.asked and _answers_points(c.rest, x.last_words)),
    Rule("settles-with-lets", "answer_to_agent_question", None, 0.65,
         "Behind the agent's question or offer it opens with `let's`, at any length.",
         lambda c, x, via: (x.asked or x.offered) and c.opens == "request"
         and c.found.get("request") in ("let's", "lets") and not _wrong(c, x)),
    Rule(YES_ALONE, "approval", None, 0.8,
         "A yes by itself, where nothing was asked.",
         lambda c, x, via: c.opens == "yes" and c.words <= 3 and not x.asked and not c.question),
    # Words: what a longer one does to the work.
    Rule("explains-after-a-cut", "clarification", "clarification", 0.84,
         "It explains an earlier ask, after an interrupt or a failure, and opens with that or asks for nothing.",
         lambda c, x, via: x.cut and "clarify" in c.found
         and (c.opens == "clarify" or not (c.question or _asks_more(c)))),
    Rule("steps-in", "status_update", "other", 0.83,
         "It stops the agent since its author does something, and finds no fault: `hang on, I'll …`.",
         lambda c, x, via: x.worked and (c.opens == "no" or x.rejected) and not x.asked
         and STEPS_IN.match(c.rest) is not None and not {"correct", "prefer", "symptom"} & set(c.found)),
    Rule("opens-with-no", "correction", "correction", 0.82,
         "It opens with a no that answers no question.",
         lambda c, x, via: x.worked and c.opens == "no" and not x.asked
         and "clarify" not in c.found and not (_halts(c) and c.question and "correct" not in c.found)),
    Rule("forbids-after-a-cut", "correction", "correction", 0.75,
         "It opens with a ban, after an interrupt, a rejection or a failure.",
         lambda c, x, via: x.worked and x.cut and c.opens == "forbid"),
    Rule("forbids-while-working", "new_constraint", "new_instruction", 0.7,
         "It opens with a ban while the work is under way.",
         lambda c, x, via: x.worked and not x.cut and c.opens == "forbid" and via == "queued"),
    Rule("doubts", "correction", "correction", 0.8,
         "It doubts the work: `are you sure`, or a yes with a question mark alone.",
         lambda c, x, via: x.worked and (c.found.get("correct", "").startswith(("are you sure", "are we sure"))
         or (c.opens == "yes" and c.question and c.words <= 2))),
    Rule("changes-mind", "new_constraint", "new_instruction", 0.83,
         "Its author wants something else now than what was asked before: what was done of that was not wrong.",
         lambda c, x, via: x.worked and "mind" in c.found),
    Rule("yes-but", "correction", "correction", 0.79,
         "A word of acceptance, then a but, over work that changed something.",
         lambda c, x, via: x.acted and c.yes_but and not x.asked),
    Rule("says-it-is-wrong", "correction", "correction", 0.78,
         "It says that something done is wrong, missing or to be undone.",
         lambda c, x, via: _wrong(c, x) and not (c.opens == "request" and c.question and "back" not in c.found)),
    Rule("wants-after-a-cut", "new_constraint", "new_instruction", 0.62,
         "After an interrupt, and no mere few words, it opens with what its author wants.",
         lambda c, x, via: x.cut and not x.rejected and not c.question and c.words > 8
         and not {"permit", "praise", "again"} & set(c.found) and IDLE.match(_whole(c)) is None
         and (c.found.get("request") == "i want" if c.opens == "request" else VIEW.match(c.rest) is not None)),
    Rule("names-another-cause", "correction", "correction", 0.82,
         "It opens with what the cause is, and what it is not: `the issue is X, not Y`.",
         lambda c, x, via: x.worked and OTHER_CAUSE.match(c.rest) is not None),
    Rule("hands-on-a-review", "correction", "correction", 0.76,
         "After work that changed something, it opens as a review: `PR feedback:` and what that says.",
         lambda c, x, via: x.built and not x.asked and not _short(c) and REVIEW.match(c.rest) is not None),
    Rule("agent-concedes", "correction", "correction", 0.75,
         "The agent's first words behind it, or its answer where it only looked, own up to a fault, and it answers no question.",
         lambda c, x, via: x.worked and any(map(concedes, x.reply)) and c.opens not in ("ask", "request", "unsure", "but")
         and not c.wordless and (not x.asked or c.question or _asks_more(c))),
    Rule("agent-agrees", "correction", "correction", 0.7,
         "A few words that say what is so, answer no question and ask none, behind which the agent's first words say that the user is right.",
         lambda c, x, via: x.worked and any(map(agrees, x.reply)) and c.words <= 40 and not (c.question or x.asked)
         and c.opens not in ("ask", "request", "unsure", "but", "constrain")),
    Rule("accepts-but-for-a-detail", "correction", "correction", 0.79,
         "It opens with praise, and behind `just one thing` it names another way than the one taken, or a fault.",
         lambda c, x, via: x.acted and c.praises and not x.asked and not c.question
         and DETAIL.search(c.rest) is not None and not {"prefer", "correct"}.isdisjoint(c.found)),
    Rule("accepts-and-asks", "direct_request", "approval", 0.78,
         "It opens with praise and goes on to the next ask.",
         lambda c, x, via: x.worked and c.praises and c.words > 3
         and "correct" not in c.found and not x.asked),
    Rule("explains", "clarification", "clarification", 0.74,
         "It opens with an explanation of an earlier ask.",
         lambda c, x, via: x.worked and c.opens == "clarify" and not (c.question and c.words <= 15)
         and not ((x.asked or x.offered) and _views(c))),
    Rule("accepts-and-asks-on", "direct_request", "approval", 0.72,
         "Praise somewhere in it, and a question.",
         lambda c, x, via: x.worked and "praise" in c.found and "correct" not in c.found
         and c.question and c.opens not in ("unsure", "ask")),
    Rule("prefers-otherwise", "correction", "correction", 0.72,
         "It names another way than the one just taken.",
         lambda c, x, via: x.acted and "prefer" in c.found and not c.question),
    Rule("prefers-otherwise-and-asks", "direct_request", "new_instruction", 0.62,
         "It names another way than the one just taken, and goes on to ask for something.",
         lambda c, x, via: x.acted and c.prefers and c.question and not x.asked),
    Rule("forbids-what-was-used", "correction", "correction", 0.68,
         "After work that changed something, it forbids to use what the agent's last words name, and not only where they offer more.",
         lambda c, x, via: x.acted and not x.asked and not c.question and _was_used(c.banned, x)),
    Rule("adds-while-working", "new_constraint", "new_instruction", 0.7,
         "It opens with an addition, and no mere question, while the work is under way or was cut.",
         lambda c, x, via: x.worked and c.opens == "constrain" and (x.cut or via == "queued")
         and not (c.question and "request" not in c.found)),
    Rule("narrows-after-a-cut", "new_constraint", "new_instruction", 0.7,
         "It narrows the work after a cut: `only …`, `just …`, an ask and `but don't …`.",
         lambda c, x, via: x.cut and _narrows(c) and not c.question),
    Rule("adds-in-mid-turn", "new_constraint", "new_instruction", 0.68,
         "Words in the middle of a turn that say how the work under way shall be.",
         lambda c, x, via: x.under_way and not c.question and "correct" not in c.found
         and not _informs(c, x) and _steers(c)),
    Rule("hands-over", "status_update", None, 0.75,
         "It hands over what was printed: `this is the console:` and what follows.",
         lambda c, x, via: x.worked and HANDS_OVER.match(c.rest) is not None and not c.question
         and c.opens != "request" and ASKED_BELOW.search(c.rest) is None),
    Rule(PASTED, "status_update", None, 0.74,
         "After work that changed something, all of it is what was printed of a failure: it reports, and judges nothing.",
         lambda c, x, via: (x.acted or x.built) and c.wordless and not x.asked and not c.question),
    Rule("tells-how-it-fails", "correction", "correction", 0.72,
         "After work that changed something, it tells how that fails, or has words about what was printed of it.",
         lambda c, x, via: (x.acted or (x.built and c.printed)) and "symptom" in c.found and not x.asked
         and not c.question and c.opens not in ("request", "praise") and "next" not in c.found),
    Rule("asks-why-not", "correction", "correction", 0.66,
         "After work that changed something, it asks why that does not do or show what it should.",
         lambda c, x, via: x.acted and c.why_not and not x.asked),
    Rule("asks-again", "correction", "correction", 0.7,
         "After work that changed something, a few words that want the same once more.",
         lambda c, x, via: x.acted and c.opens == "again" and not x.cut and not x.asked
         and c.words <= 8 and not c.question),
    Rule("suspects", "direct_request", "other", 0.66,
         "A doubt put as a question.",
         lambda c, x, via: x.worked and c.question and c.opens in ("unsure", "but")
         and not WISH.match(c.rest)),
    Rule("tells-how-it-fails-and-asks", "direct_request", "correction", 0.65,
         "After work that changed something, it tells how that fails, and asks about it.",
         lambda c, x, via: x.acted and c.told_first and "next" not in c.found and not x.asked
         and (c.question or "request" in c.found)),
    Rule("tells-what-happened", "status_update", "other", 0.62,
         "It tells what happened or was done or, in the middle of a turn, what is so, and asks for nothing.",
         lambda c, x, via: x.worked and _informs(c, x)),
    Rule("asks", "direct_request", None, 0.6,
         "A question or an order.",
         lambda c, x, via: c.question or "request" in c.found),
    Rule("says-something", "direct_request", None, 0.5,
         "Anything else that a human types to an agent is most often an ask.",
         lambda c, x, via: True),
)  # fmt: skip
"""Every rule that holds casts its vote; the surest counts, the earlier row among equals."""
