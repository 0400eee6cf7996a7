"""What the agent's own words ask, offer, list and own up to."""

import re

from forsy_retrace.patterns import later

MARKS = "?吗か"
"""How a question ends, in any of the languages here."""
FINE = r"(?:good|right|ok|okay|reasonable|fine|correct|sensible|acceptable)\b"
SUITS = later(
    rf"(?i)\bdo(?:es)? (?:this|that|it|these)\b[^?\n]{{0,40}}\b(?:(?:look|sound|seem) (?:\w+ )?{FINE}[^?\n]{{0,60}}"
    r"|make sense(?: (?:to|for) you| so far)?|(?:work|suit) for you[^?\n]{0,40}"
    r"|(?:match|capture|fit|align with|reflect|cover|meet)\b[^?\n]{0,40}\byour?\b[^?\n]{0,20}"
    r"\b(?:had|have|want(?:ed)?|need(?:ed|s)?|mind|inten[dt]\w*|expect\w*|vision|requirements?|goals?|idea"
    r"|thinking|looking for|described?)[^?\n]{0,30})\?"
    r"|\bdo(?:es)? (?:this|the) (?:\w+ ){0,3}(?:approach|design|draft|idea|layout|outline|overview|plan"
    r"|proposal|section|structure)\b[^?\n]{0,20}\b(?:work|make sense|fit)\?"
    rf"|(?:^|[.!:\n] ?)(?:look|sound)s? {FINE}[^?\n]{{0,60}}\?"
    r"|(?:\byou |^|[.!:\n] ?)(?:happy|okay|ok|fine|satisfied) with (?:this|that|it|these|the)\b[^?\n]{0,60}\?"
    r"|(?:passt das (?:so|für (?:dich|Sie))|sieht das (?:für (?:dich|Sie) )?(?:so )?gut)[^?\n]{0,40}\?"
    r"|(?:te|le) parece (?:bien|correcto)[^?\n]{0,40}\?"
    r"|(?:te|vous) convient[^?\n]{0,40}\?|parece (?:bom|bem|certo)[^?\n]{0,40}\?"
    r"|(?:вам|тебе) подходит[^?\n]{0,40}\?|(?:вас|тебя) устраивает[^?\n]{0,40}\?"
    r"|(?:这样|看起来)(?:可以|行|好|对|没问题|合适)吗|(?:よろしい|いかが|問題ない)(?:です|でしょう)か"
)
"""How words end that ask whether what they show is as it should be, not how it is with something."""


def asks_if_it_suits(text: str) -> bool:
    """Whether words end by asking whether what they show is as it should be."""
    return _asks(text[-300:]) and SUITS.search(text[-300:]) is not None


LEAVE = later(
    r"(?i)\b(?:want|like|need) me to\b|\b(?:shall|should|may|can) (?:i|we)\b(?! (?:help|do for you))"
    r"|\bif you(?:'d| would)? (?:like|want|wish|prefer),? i (?:can|could)\b"
    r"|\b(?:do you|you) want (?:that|this)\b|\bready to (?:proceed|continue|start|commit|push|implement)\b"
    r"|\bsoll ich\b|\b(?:quieres|quiere|te gustaría) que\b|\b(?:veux-tu|voulez-vous|souhaitez-vous) que\b"
    r"|\b(?:quer|gostaria) que eu\b|(?:хочешь|хотите),? чтобы я\b|(?:需要|要不要|想要?)我|ましょうか"
)
"""How an agent asks leave for a step, or offers one."""
CONCEDES = later(
    r"(?i)(?:(?:oh|ah|yes|yeah|hm+|thanks)\W+)?(?:(?:good|great|nice) catch\b(?!\W+let me \w)"
    r"|you(?:['\u2019]re| are| were) (?:\w+ )?right\b(?! to\b)(?:[^.!?\n]*[.!?]+)?[^.!?\n]*?"
    r"\bI(?:['\u2019]m(?! (?:going|glad))| was| am(?! going)| missed| made| forgot| overlooked| misread"
    r"| misunderstood| confused| conflated| assumed| broke| introduced| didn['\u2019]t"
    r"| should(?:n['\u2019]t| not)? have"
    r"|(?:['\u2019]ve| have) (?:now )?(?:changed|corrected|fixed|removed|reverted|updated))\b)"
)
"""How words begin that own up to a fault. `Good catch, let me check` has yet to look for one."""
OWNS_UP = later(
    r"(?i)[^\n?]{0,100}?(?:\b(?:(?<!not )(?<!n['\u2019]t )my (?:mistake|fault|bad)|(?<!if )i(?:['\u2019]ve| have)? (?:got|had|did) (?:that|this|it) wrong"
    r"|i (?:really )?should(?:n['\u2019]t| not) have|my assumption (?:was|is) wrong)\b"
    r"|\b(?:mein fehler|meine (?:annahme|vermutung)(?: \w+){0,3} falsch"
    r"|(?:da |hier )?habe ich (?:mich (?:geirrt|vertan)|falsch verstanden|übersehen)|hätte ich nicht (?:\w+ )?(?:dürfen|sollen))\b"
    r"|\b(?:mi error|me equivoqué|culpa mía|mon erreur|je me suis trompée?|erro meu|meu erro|me enganei)\b"
    r"|\b(?:моя ошибка|я ошиб(?:ся|лась))\b|我的错|我(?:弄|搞|理解)?错了|私の(?:間違い|ミス))"
)
"""How the first words own up to it wherever they say so."""
AGREES = later(
    r"(?i)(?:(?:oh|ah|yes|yeah|hm+|thanks)\W+)?you(?:['\u2019]re| are| were) (?:\w+ )?right\b(?! to\b)"
)
"""How words begin that say that the user is right; whoever is right to ask has said nothing yet."""
INVITES = later(
    r"(?i)\bwhat (?:would you like|do you want) (?:me )?to (?:clarify|discuss|change|adjust|revise)\b[^?\n]{0,80}\?"
)
"""How an agent asks what the user would have clarified or changed."""


def asks_leave(text: str) -> bool:
    """Whether words end by asking leave for a step, or by offering one."""
    return LEAVE.search(text[-400:]) is not None


def invites_changes(text: str) -> bool:
    """Whether words end by asking what the user would have clarified or changed."""
    return _asks(text[-300:]) and INVITES.search(text[-300:]) is not None


def _asks(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def concedes(text: str) -> bool:
    """Whether words begin by owning up to a fault."""
    return CONCEDES.match(text) is not None or OWNS_UP.match(text) is not None


def agrees(text: str) -> bool:
    """Whether words begin by saying that the user is right."""
    return AGREES.match(text) is not None


OPTION = later(
    r"(?m)^[ \t>]*[*_]{0,2}(?:\d{1,2}[.)]|[-*•]|(?:[Oo]ption )?[A-Ha-h1-9][.):])[*_]{0,2} *\S"
)
"""A line that lists one of several things."""


def has_options(text: str) -> bool:
    """Whether a text lists several things, or ends by naming some of which one is asked for."""
    return (
        len(OPTION.findall(text[-4000:])) > 1
        or re.search(r"(?i)\bor\b|或|还是", text[-300:]) is not None
    )


def lists(text: str, label: str) -> bool:
    """Whether a text lists an option of that label."""
    item = rf"(?im)^[\s>*#|-]*(?:option {re.escape(label)}\b|{re.escape(label)}[.):*])"
    return re.search(item, text) is not None
