"""Does a closing message ask the user for something that the work needs, or is the work done?

A question waits for an answer; an offer to do more, below what was asked, waits for nothing. Both
may end in `Want me to ...?`: what was asked and what was done tell them apart.
"""

from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.patterns import later

from .phrases import phrases


class Turn(NamedTuple):
    """What a message closes."""

    asked: str = ""
    """The user's last words."""
    changed: bool = False
    """Whether a call of the turn changed something, or may have."""
    talk: bool = False
    """Whether the session has no calls, so that words are all that it can deliver."""


class Close(NamedTuple):
    """A closing message, and the parts of it that may ask."""

    text: str
    last: str
    """The end of the last line."""
    paragraph: str
    """The last paragraph."""
    body: int
    """Characters before it."""
    turn: Turn


class Closing(NamedTuple):
    """A named rule: whether a message asks, how surely, in a sentence why, and when."""

    name: str
    asks: bool
    confidence: float
    sentence: str
    test: Callable[[Close], bool]


QUESTION = later(r"[?？]\s*[*_`)\"']*\s*$")
COURTESY = later(
    r"(?i)(?:^|[.!。！]\s*)[^.!?。！]{0,60}(?:\b(?:how (?:can|may) i (?:help|assist)|what can i (?:do|help)"
    r"|what'?s on your mind|wie kann ich (?:dir |ihnen )?helfen|en qué (?:te )?puedo ayudar(?:te|le|les|os)?"
    r"|comment puis-je (?:vous |t')?aider|(?:em que|como) posso (?:te )?ajud(?:ar|á-l[oa])|чем (?:я )?могу помочь)\b"
    r"|有什么[^。？]{0,14}(?:可以|能)[^。？]{0,6}(?:帮|回答|解答)|有什么[^。？]{0,8}我(?:可以|能)|お手伝い(?:でき|しましょう))"
    r"[^.!?。！]{0,60}[?？]?\W*$"
)
"""What a host asks every guest."""
MORE_OF_IT = (
    r"(?:(?:any|some)thing (?:else|more|further)|any (?:other|more|further|additional) (?:questions?|concerns?|requests?"
    r"|help|assistance))"
)
ANYTHING_ELSE = later(
    r"(?i)(?:^|[.!?,;:\u2014]\s*)(?:and |so |now |otherwise,? |please )?(?:"
    rf"(?:is there |will there be |(?:do you )?(?:have|need) |would you like )?(?:help with |assistance with )?{MORE_OF_IT}"
    r"(?: (?:that )?(?:i|we) (?:can|could|may) (?:help|assist|do)(?: you)?(?: for you| with)?"
    r"| you(?:'d| would)? (?:need|like to know|need help with|need assistance with|would like(?: to know)?))?"
    rf"|(?:can|may|could) (?:i|we) (?:help|assist) (?:you )?with {MORE_OF_IT}"
    r"|what else (?:can|may) i (?:do|help)(?: you)?(?: for you| with)?"
    r"|(?:can|may) i be of (?:any )?(?:further|other|more) (?:assistance|help|service)"
    rf"|(?:if you (?:have|need) {MORE_OF_IT}[^.!?]{{0,20}},? )(?:please )?(?:feel free to|let me know|just)[^.!?]{{0,40}}"
    rf"|(?:feel free to|let me know)[^.!?]{{0,30}} if (?:you (?:have|need)|there(?:'s| is)) {MORE_OF_IT}[^.!?]{{0,30}}"
    r")(?: (?:today|now|right now|for now|at (?:this|the) (?:time|moment|point)))?[.!?]?\W*$"
)
"""What a host asks a guest whom he has served."""
OFFER = later(
    r"(?im)(?:^|[.!?。！？:;,\u2014\u2013-]\s+)[\s*_#•-]*(?:or,? )?"
    r"(?:(?:would you (?:also )?like|do you (?:also )?want|want)"
    r" (?:me to\b|that\?|any (?:additional|more|other)\b|also\b)"
    r"|do you also want\b|(?:should|shall) i (?:also|commit|push)\b|ready to (?:commit|push|merge|start|begin|implement|build|deploy|ship)\b"
    r"|(?:do you )?want to (?:start|begin|implement|build|dive in)\b"
    r"|(?:anything|what) else\b|anything you(?:'d| would) like me to\b"
    r"|if you(?:'d| would)? (?:like|want|wish|prefer),? i (?:can|could)\b"
    r"|let me know if you(?:'d| would)? (?:like|want|need)\b|(?:¿|\b)(?:quieres|quiere|te gustaría) que\b"
    r"|(?:möchtest du|möchten sie|willst du|wollen sie),? dass ich\b|soll ich (?:auch|noch|außerdem)\b"
    r"|(?:veux-tu|voulez-vous|souhaitez-vous|souhaites-tu) que\b|(?:você )?(?:quer|gostaria) que eu\b"
    r"|(?:хочешь|хотите),? чтобы я\b"
    r"|(?:是否)?(?:需要|要不要|想要?)我|(?:よろしければ|必要であれば|ご希望であれば))"
)
"""An offer, as the words of a sentence begin."""
MORE = later(
    r"(?i)\b(?:also|anything else|what else|more|further|longer|shorter|another|additional|as well"
    r"|any of (?:those|these|them)|también|algo más|auch|noch|aussi|autre chose|também|mais alguma"
    r"|также|ещё)\b|[还再]|ほか|さらに"
)
"""What says that an offer goes beyond what was asked."""
SEVERAL = later(r"(?i)\bme to(?: also)?:[ \t]*\n")
"""What leads a list of offers; one with numbers to pick by waits for an answer."""
GO_ON = later(
    r"(?i)\b(?:proceed|go ahead|continue|(?:go|keep|move) (?:on|going|forward)|pick up|take (?:on|up)"
    r"|tackle|sig[ao]|contin[uúû]e|fortfahre|weitermache|poursuive|prossiga|продолж\w*)\b|继续|続け"
)
"""What asks for leave to go on with the work itself."""
BEGIN = later(
    r"(?i)\b(?:start|begin|implement|finish|apply|go with|empiece|anfange|umsetze|commence|comece"
    r"|нач\w+|реализ\w+)\b|开始|实现|始め|実装"
)
"""What asks for leave to do the work itself, where nothing was done yet."""
SECOND = later(
    r"(?i)[?,]? or,? (?:keep|leave|is|are|do|does|did|was|were|would|should|shall)\b"
    r"|[?,] or,? (?:which|what|how)\b"
    r"|[?] +(?:which|what|or|do|does|is|are|should|how)\b|\bif so,"
    r"|[?,] and,? (?:which|what|how|where|(?:as|in|under) [^?]{1,40} or)\b"
)
"""A question of fact or taste behind an offer: that waits for an answer."""
CHOICE = later(r"(?i)\bor\b|(?<!\w)(?:oder|ou|или)(?!\w)|还是|それとも")
NUMBERED = later(
    r"(?m)^[ \t]*(?:\d{1,2}[.)]|[*_]{0,2}(?:option )?[A-Ha-h1-9][.):][*_]{0,2})[ \t]+\S"
)
"""An option with a label to pick it by."""
LISTED = later(
    r"(?i)[ \t]*(?:\d{1,2}[.)]|[-*•]|[*_]{0,2}(?:option )?[A-Ha-h1-9][.):])[*_]{0,2}\s|[ \t]{2,}\S"
)
"""A line of a list, or of what goes on in one."""
LEADS = later(
    r"(?i)\b(?:do you want|would you like|want me to|should i|shall i|which|what would you)\b[^?]{0,80}:[*_\s]*$"
)
"""A line that asks, with the options below it."""
ASKS = later(
    r"(?i)\b(?:should i|shall i|would you like|do you want|want me to|which (?:one|option|approach|of)"
    r"|can you (?:confirm|share|provide|clarify|check|try|run|paste|tell)|could you|do you have"
    r"|let me know (?:which|if you(?:'d| would) (?:like|prefer)|what|how you)|please (?:confirm|choose"
    r"|provide|share|clarify|tell|let me know)|what would you|(?:how )?would you (?:like|prefer)|ready to (?:proceed"
    r"|commit)|what do you think|which do you prefer|does (?:this|that) (?:look|sound|work))"
)
TELL = later(
    r"(?i)(?:^|[.!?]\s+)\W*(?:please )?(?:say|tell me|let me know|confirm|choose|pick) (?:which|whether)\b"
)
"""A sentence that asks for a choice without a question mark."""
LACKS = later(
    r"(?i)\b(?:can(?:'t|not) (?:access|answer|determine|find|open|read|say|see|tell|view)|unable to"
    r"|(?:do|did)(?: not|n't) (?:find|get|have|know|receive|see)|no (?:code|document|file|image|text) "
    r"|(?:is|are|was|were)(?: not|n't) (?:attached|clear|included|provided|specified)|not enough)\b"
    r"|不明|未指定|判定不可|できません|(?:わか|分か|あ)りません|没有(?:看到|收到)|无法|不清楚|缺少"
)
"""How an answer says that something is not there, or cannot be told."""
GIVE = later(
    r"(?im)(?:^|[.!?]\s+)\W*please (?:attach|clarify|give|paste|provide|send|share|specify|supply|tell|upload)\b"
    r"|を[^。\nに]{0,8}(?:指定|教え|提示|共有|送|添付|提供)[^。\n]{0,6}[てで](?:ください|下さい)"
    r"|请您?先?(?:提供|告诉|指定|说明|上传|粘贴)"
)
"""A sentence that asks the user for something, without a question mark."""
SENDS = later(
    r"(?im)(?:^|[.!?:]\s+)[\s*_>#•-]*(?:(?:now|first|next|so|then),? )?please (?:first |also )?(?:attach|choose|clarify"
    r"|confirm|enter|give me|paste|provide|reply|select|send|share|specify|supply|tell me|upload)\b"
)
"""A sentence that asks the user for something, which may also be for somebody else."""
REPLY = later(
    r"(?im)(?:^|[.!?:]\s+)[\s*_>#•-]*(?:(?:now|first|next|so|then),? )?"
    r"(?:(?:(?:if|when|once) [^.!?\n]{3,60}, )?reply(?: with)? [\"'“‘`]"
    r"|(?:please )?tell me (?:exactly )?(?:how|what|when|where|which|who|your)\b(?![^\n]{0,200}\bi can\b))"
)
"""A sentence that asks for a reply, without a question mark."""
LISTED_QUESTION = later(r"(?m)^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+\S[^\n]{0,300}[?？]")
ANSWER = later(
    r"(?i)\b(?:let me know|tell me|answer (?:these|this|the|my)|answers? to|your (?:preferences?|answers?|choices?)"
    r"|confirm)\b"
)
"""What asks for the answers to questions above it."""
YOURS = later(
    r"(?i)\b(?:your (?:call|choice)|up to you|you (?:decide|choose))\b|你(?:来)?决定|deine Entscheidung|tú decides"
)
"""What leaves a choice to the user."""
DONE = later(
    r"(?i)^\W*(?:(?:all )?(?:done|set|fixed|added|implemented|updated|created|removed|deleted|committed"
    r"|pushed|configured|rewrote|renamed|replied|merged|completed?|finished|noted|rolled back)\b"
    r"|(?:yes|great|thanks|got it|sure|okay|perfect)?[^.\n]{0,60}\bi(?:'ve| have)?(?: now| just)?"
    r" (?:fixed|added|implemented|updated|created|removed|configured|finished|completed|made|wired)\b"
    r"|(?:listo|hecho|fertig|erledigt|c'est fait|terminé|pronto|feito|готово)\b|完成|已|完了)"
)
"""An answer that opens by telling what was done."""
DOING = later(
    r"(?i)\b(?:fix|implement|add|create|write|update|change|remove|delete|rename|move|refactor|set ?up"
    r"|commit|install|build|make)\b"
)
LOOK = later(
    r"(?i)^\W*(?:(?:please|can you|could you|now|just|and|also)\W+)*(?:explain|show|tell|describe|list"
    r"|summari[sz]e|compare|check|review|analy[sz]e|investigate|look|validate|research|find out|search)\b"
)
WISHES = later(
    r"(?i)^\W*(?:(?:so|and|now|ok|okay|also|hm+)\W+)*(?:can|could|would|will|shall) (?:you|we)\b"
)
SERVED = "anything-else"
OPENING = 300
"""Characters at its beginning in which an answer says what it comes to."""
BODY = 200
"""Characters of an answer that stands before an offer."""


def asks_user(text: str, turn: Turn) -> Closing:
    """The rule that says whether a closing message asks for something that the work needs."""
    close = _close(text, turn)
    return next(row for row in CLOSINGS if row.test(close))


def _close(text: str, turn: Turn) -> Close:
    whole = text.strip().replace("\u2019", "'")
    before, _, paragraph = whole.rpartition("\n\n")
    return Close(whole, whole.rpartition("\n")[2].strip()[-1000:], paragraph, len(before), turn)


def _offers(close: Close) -> bool:
    """Whether it ends in an offer, below what was asked for."""
    end = close.paragraph[-1200:]
    found = OFFER.search(end)
    if found is None:
        return False
    offer = end[found.start() :]
    if SECOND.search(offer) or len(NUMBERED.findall(offer)) > 1:
        return False
    before = close.body + len(close.paragraph) - len(offer)
    is_more = MORE.search(offer[:400]) is not None and not CHOICE.search(offer)
    if before >= BODY and (is_more or SEVERAL.search(offer)):
        return True
    if GO_ON.search(offer[:200]):
        return False
    if close.turn.changed or DONE.match(close.text):
        return True
    if BEGIN.search(offer[:200]) or CHOICE.search(offer):
        return False
    return before >= BODY and (close.turn.talk or _asks_to_be_told(close.turn.asked))


def _asks_to_be_told(asked: str) -> bool:
    """Whether words ask for an answer, and for nothing to be done."""
    said = asked.strip()[:2000]
    if LOOK.match(said):
        return DOING.search(said.replace("don't fix", "")) is None
    if WISHES.match(said):
        return False
    return QUESTION.search(said) is not None or phrases().first(said).get("ask", (99, 0))[0] <= 3


def _has_options(close: Close) -> bool:
    """Whether it ends in a list of options, and the line above the list asks."""
    lines = [line for line in close.text[-4000:].splitlines() if line.strip()]
    listed = 0
    while lines and LISTED.match(lines[-1]):
        listed += NUMBERED.match(lines.pop()) is not None
    if not lines:
        return False
    return (listed > 1 and QUESTION.search(lines[-1]) is not None) or (
        LEADS.search(lines[-1]) is not None
    )


CLOSINGS: tuple[Closing, ...] = (
    Closing("courtesy", False, 0.9,
            "What a host asks every guest, `How can I help?`, is nothing that the work needs.",
            lambda c: COURTESY.search(c.last) is not None),
    Closing(SERVED, False, 0.9,
            "`Anything else?`, asked of whoever was served, is nothing that the work needs.",
            lambda c: ANYTHING_ELSE.search(c.last) is not None and not LISTED.match(c.last)),
    Closing("offers-more", False, 0.9,
            "A closing offer to do more, where the turn changed something, tells what was done, or"
            " answers a question: what was asked is delivered.",
            _offers),
    Closing("ends-with-question", True, 0.85,
            "The agent's closing words end with a question mark.",
            lambda c: QUESTION.search(c.last) is not None),
    Closing("question-above-options", True, 0.9,
            "The closing words end in a list of options, below a line that asks.",
            _has_options),
    Closing("asks-at-the-end", True, 0.8,
            "The last line asks for a choice, and a question stands before its end.",
            lambda c: ASKS.search(c.last) is not None and "?" in c.paragraph[-600:]),
    Closing("asks-without-a-mark", True, 0.8,
            "A sentence of the last line asks which or whether, without a question mark.",
            lambda c: TELL.search(c.last) is not None),
    Closing("asks-for-what-is-missing", True, 0.8,
            "It opens with what is not there or cannot be told, in a turn that changed nothing, and the"
            " last paragraph asks the user for something.",
            lambda c: not c.turn.changed and LACKS.search(c.text[:OPENING]) is not None
            and GIVE.search(c.paragraph[-1200:]) is not None),
    Closing("questions-in-a-list", True, 0.8,
            "Questions stand in a list, and the last line, below them, asks for the answers.",
            lambda c: ANSWER.search(c.last) is not None and not LISTED.match(c.last)
            and LISTED_QUESTION.search(c.text[-2000:]) is not None),
    Closing("asks-for-a-reply", True, 0.75,
            "A sentence near its end asks for a reply: `Reply \"done\"`, `Tell me which …`; or, in a turn that"
            " changed nothing, for something: `Please provide …`.",
            lambda c: REPLY.search(c.text[-600:]) is not None
            or (not c.turn.changed and SENDS.search(c.text[-600:]) is not None)),
    Closing("leaves-the-choice", True, 0.8,
            "The last line leaves the choice to the user, below a question with options to pick by.",
            lambda c: YOURS.search(c.last) is not None and len(NUMBERED.findall(c.text[-4000:])) > 1
            and ASKS.search(c.text[-4000:]) is not None),
    Closing("no-question", False, 0.9,
            "The closing words ask for nothing.",
            lambda c: True),
)  # fmt: skip
"""Whether closing words ask, by the first of these that holds."""
