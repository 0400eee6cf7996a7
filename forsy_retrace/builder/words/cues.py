"""What a human message holds to read it by: phrases where they are meant, and its shape.

Cues that hold in any language (how the words came, what stood before them, which options were
offered) outrank words; the words of eight languages are data.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from forsy_retrace.patterns import later

from .agent_words import OPTION, has_options, lists
from .message_rules import Context, Cues
from .phrases import Span, phrases

QUOTED = r"(?=['\"”’)]+(?:\s+[^a-z\s]|\s*$))"
"""Before a closing quote or bracket that no small letter follows."""
SENTENCE = later(
    rf"(?:[^.!?。！？\n]+|(?<![.!?])[.!?]++(?=[^\s.!?])(?!{QUOTED}))++"
    rf"[.!?。！？]*(?:(?<=[.!?]){QUOTED}['\"”’)]+)?"
)
"""A sentence with its marks and what closes behind them; one within a name or an address ends none."""
RUNS = (
    r"(?:npm|npx|pnpm|yarn|bun|make|just|go|cargo|pytest|python3?|uv|tox|docker|bash|sh|mix|bundle|gradle|mvn"
    r"|dotnet|\./\S+|[\w.-]+/[\w./-]+@\S+)(?=\s)"
)
"""What a step of a workflow runs: a program, or an action by its name and version."""
_LOG = rf"^Run {RUNS}[^\n]*[^\n.:,]\n(?:[^\n]*+\n){{0,400}}?[^\n]*Process completed with exit code \d+\.?"
LOG = later(_LOG, re.M)
"""The log of a step of GitHub's workflows."""
FENCES = later(rf"```.*?(?:```|\Z)|{_LOG}", re.S | re.M)
"""What was pasted and is known to be: between fences, or the log of a step of GitHub's workflows."""
NEGATED = later(
    r"(?i)(?:\b(?:not|no|never|isn't|ain't|doesn't|didn't|nicht|kein|pas|não|не)\s+(?:\w+\s+)?|[不没未]"
    r"|\b(?:neither|none|nothing)\s+(?:(?!and\b|but\b)\w+\s+){0,4})$"
)
"""What turns a word of praise into its opposite."""
DENIED = later(r"(?i)\s*(?:jetzt |noch |leider |so |mir |hier |aber )?(?:nicht|pas)\b(?! mehr)")
"""The same behind it, in German and French."""
NOT_WRONG = later(
    r"(?i)(?:\b(?:nothing|not|isn't|wasn't|never|no longer|nichts|nicht|nada|rien|ne|no|não|ничего|не)\s+"
    r"|[不没]再?|不会|不要|别)$"
)
"""What turns a word of blame into its opposite."""
NO_MORE = later(r"(?i)\s*(?:(?:nicht mehr|any ?more|no more)\b|ない|ません|なく)")
"""The same behind it."""
NOT_ONLY = later(r"(?i) (?:just|only|merely)\b")
"""What tells behind a `not` that something is so, and more."""
ORDERED = later(
    r"(?i)(?:^|[.,;:!?\n]\s*|\b(?:please|and|to|so|then|just|but|also|next|now|that|which|who"
    r"|(?:ignore|skip)(?: all| any| the| those)?)\s+)$"
)
"""What stands before a `don't show` that bans or tells which ones, and no fault."""
GRACE = later(r"(?i) (?:gracefully|safely|as (?:it should|expected|intended)|on purpose)\b")
"""What tells behind a failure that it is as it should be."""
NAMES = later(r"[\u4e00-\u9fff]{1,12}を")
"""A noun that a Japanese verb before it only tells apart."""
SUPPOSED = later(
    r"(?i)(?:\b(?:make sure|ensure|if|whether|in case|unless|until|as long as|even if|how|when|verify|check"
    r"|\w,? so|asegúrate de que|si|cuando|para que|cómo|hasta que|ob|wenn|falls|damit|bis|wie|assure-toi que"
    r"|comment|quand|pour que|certifique-se de que|até que|если|когда|чтобы|как|убедись)\b(?: [\w']+){0,3} "
    r"|(?:如果|怎么|是否|直到|确保|万一)[^，。]{0,8})$"
)
"""What tells of a case or a wish, and not of what is."""
GOES_ON = later(
    r"(?i)\s+(?:(?:about|almost|basically|exactly|just|much|nearly|only|pretty) )*(?:the same|like|by|if|when|morning|afternoon|evening|to have)\b"
)
"""What makes plain words of a word of praise before it."""
HANDED = later(
    r"(?i)\b(?:giv(?:e|es|en|ing)|pass(?:es|ed|ing)?|enter(?:s|ed|ing)?|typ(?:e|es|ed|ing))(?: (?:in|it|me|them))? (?:an?|any|some) $"
)
"""What makes of a wrong thing one that is handed to a program, not one that it does."""
TO_COME = later(r"(?i)\s+to\b")
"""What tells behind a `still` of a plan: `I still have to look`."""
NOUNS = later(r"(?i)\b(?:an?|the|and|or|to|of|can i|do i|don'?t)\s+$")
"""What makes a noun, a question or a ban of an order to undo."""
A_THING = later(
    r"(?i)(?:^|[.,;:!?\n]\s*|\b(?:mind|because|since|that|if|when|once|but|so)\s+)"
    r"(?:an?|the|this|these|those|my|your|our|its)\s+$"
)
"""What makes a noun of the verb of an ask: `never mind the test`, `the fix works`."""
OWN_ACT = later(
    r"(?i)\b(?:i'll|i will|i'm going to|i am going to)\s+(?:(?:also|just|now|then)\s+)?$"
)
"""What tells that the author does it: `I'll commit it myself`."""
MIND = later(r"(?i)\s+mind\b")
"""What makes of a `never` that something is left as it is."""
EXCEPTS = later(
    r"(?i)\b(?:but|except|apart from|however|though|aber|außer|pero|excepto|mais|sauf|mas|exceto|но)\b|但|不过"
)
"""What goes on behind a word of acceptance to say what is not accepted."""
ASKS_ON = later(
    r"(?i),? (?:(?:what|how|where|when|who|which|first|before|can|could"
    r"|comment|où|combien|qu'est-ce|est-ce|cómo|dónde|cuándo|wann)\b"
    r"|(?:(?:so|then|du coup|alors|donc|entonces|dann|então),? (?:why|pourquoi|por qué|warum|por que)"
    r"|(?:why|warum) (?:then|dann))\b(?! (?:did|do|have|would) you\b| (?:tu|vous|as|avez|hast|haben)\b))"
)
"""How words go on behind a `but` that takes nothing back."""
THANKS = later(
    r"(?i)(?:many )?(?:thanks|thank you|cheers|gracias|muchas gracias|danke|vielen dank|merci|obrigad[oa]"
    r"|спасибо|谢谢|ありがとう)$"
)
THANKED = later(
    r"(?i)(?:thanks|thank you|cheers|gracias|danke|merci|obrigad[oa]|спасибо|谢谢|ありがとう(?:ございます)?)[\s.!。！]*$"
)
"""Thanks at the end."""
GREETING = later(
    r"(?i)\W*(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening)|hallo|guten (?:tag|morgen)"
    r"|hola|buenos días|bonjour|salut|olá|oi|ciao|привет|здравствуйте|你好|您好|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?)"
    r"(?: (?:there|again|all|everyone))?(?:\W{1,4}how are you(?: doing)?(?: today)?)?\W*"
)
"""Words that greet and ask for nothing."""
BYE = later(
    r"(?i)[\s,.!]*(?:for (?:all )?(?:your|the) help|good ?bye|bye(?:[- ]bye)?|have a (?:great|good|nice) (?:day|one|evening|weekend))[\s.!]*$"
)
"""What may follow them."""
CLAUSE = later(r"[,，.。;；\n]")
POLITE = later(r"(?i)(?:please|por favor|bitte|s'il te plaît|пожалуйста)$")
WEAK = frozenset(
    ["good", "great", "nice", "cool", "right", "fine", "neat", "sweet", "bien", "gut", "bon"]
)
"""Words that praise only where a message opens with them or says little else."""
WORD = later(r"\w+")
DENSE = later(r"(?![\u3040-\u30ff\ua000-\uabff])[\u2e80-\ud7af]")
"""Letters of scripts that set no spaces: two make about a word."""
KANA = later(r"[\u3040-\u30ff]")
"""Letters of which three make about a word."""
BLAMES = ("correct", "still", "undo", "back")
"""Kinds of phrases that each say that something done is wrong."""
PRIORITY = (
    "permit",
    "praise",
    "clarify",
    "mind",
    "correct",
    "again",
    "symptom",
    "no",
    "yes",
    "enough",
    "prefer",
    "forbid",
    "constrain",
    "report",
    "unsure",
    "place",
    "next",
    "request",
    "ask",
)
OPENERS = later(
    r"(?i)(?:\W|(?:so|and|oh|ah|um|uh|well|hey|careful|whoa|oops|ну|а|ach|na|bon|eh|pues|bueno|então|bom|えっと|あの|那|嗯)\b)*"
)
"""What stands before the first words that say something."""


def cues_of(text: str, context: Context) -> Cues:
    said = _ends(FENCES.sub(" ", text)).replace("\u2019", "'").strip()
    printed = PASTE.match(text) is not None
    failure = FAILURE.search((text if printed else _fenced(text))[-600:])
    pasted = printed and failure is not None
    own = OWN_WORDS.search(text) if pasted else None
    spans = {} if pasted else phrases().first(said, partial(_meant, said))
    blames = [spans[kind] for kind in BLAMES if kind in spans]
    if blames:
        spans["correct"] = min(blames, key=lambda span: (span[0], -span[1]))
    opens = _opens(said, spans)
    question = (
        "?" in (text.rstrip()[-1:] if pasted else said[-120:])
        or "？" in said[-60:]
        or (not pasted and PUT.search(said) is not None)
        or _asks(said, spans)
        or ASKED.search(said) is not None
    )
    _drop_what_only_seems(said, spans, opens, question)
    found = {kind: said[start:end].lower() for kind, (start, end) in spans.items()}
    if failure and "request" not in found:
        found.setdefault("symptom", failure[0].lower())
    if context.options and _is_offered(text, context.options):
        found["option"] = "option"
    words = _words(said)
    praise = spans.get("praise", (99, 99))[0]
    return Cues(
        found=found,
        opens=opens,
        words=words,
        question=question,
        rest=said[len(found.get(opens, "")) :],
        label=_opens_with_a_label(said, words, context),
        lettered=LETTERED.match(said) is not None,
        place="place" in found and words <= 12 and has_options(context.last_words),
        title=context.asked and words <= 10 and _is_title(said, context.last_words),
        praises=praise <= 60 and _words(said[:praise]) <= 3,
        yes_but=opens in ("yes", "praise") and _excepts(said[:90]),
        thanks=THANKED.search(BYE.sub("", said[-60:])) is not None,
        why_not=WHY_NOT.search(said) is not None,
        told_first="symptom" in spans and not _asks_before(said, spans["symptom"][0]),
        greets=GREETING.fullmatch(said) is not None,
        plain=found.get("praise", "good") == "good" or THANKS.match(found["praise"]) is not None,
        goes_on="praise" in spans and _goes_on(said[spans["praise"][1] :]),
        only_tells="praise" in spans and _only_tells(said[spans["praise"][1] :]),
        answers=ANSWERS.search(said) is not None,
        disputes=DISPUTES.match(said) is not None,
        prefers=_prefers(said, spans),
        banned=ban["what"].rstrip(".") if (ban := BANS.search(said)) else "",
        states=STATES.match(said) is not None and not found.keys() & STEERS,
        printed=failure is not None,
        wordless=pasted and own is None,
        own=own["words"] if own else "",
        orders=opens == "request" and _orders(said, spans.get("request", (0, 0))[1]),
        takes_up=words <= 4 and _takes_up(context.last_words, found.get("request", "")),
    )


def _prefers(said: str, spans: Mapping[str, Span]) -> bool:
    """Whether it names another way before anything is asked."""
    at = spans.get("prefer", (len(said), 0))[0]
    here = next((one for one in SENTENCE.finditer(said) if one.end() > at), None)
    return here is not None and not {"?", "？"} & set(said[: here.end()])


BANS = later(
    r"(?i)\b(?:don'?t|do not|never|stop|avoid) (?:use|using|rely(?:ing)? on|depend(?:ing)? on|call(?:ing)?|import(?:ing)?) "
    r"(?:the |an? |any )?[`\"']?(?P<what>(?!(?:it|that|this|them|these|those|any|more|all)\b)[\w./:-]{3,60})"
)
"""How words forbid to use something, by its name."""
HEAD, TAIL = 1500, 500
"""Characters of a message that are read: a paste lies between a person's words, or before them."""


def _ends(text: str) -> str:
    """The beginning of a long message, and how it ends from the start of a line on."""
    if len(text) <= HEAD + TAIL:
        return text
    return f"{text[:HEAD]}\n{text[-TAIL:].partition(chr(10))[2]}"


def _fenced(text: str) -> str:
    """The last block between fences."""
    return "".join(FENCES.findall(text)[-1:])


def _is_offered(text: str, options: Sequence[str]) -> bool:
    """Whether each line of an answer is an option, with words behind it or not, or several."""
    offered = {option.lower() for option in options}
    chosen = [line.strip().lower() for line in text.splitlines() if line.strip()]
    return bool(chosen) and all(
        one.startswith(tuple(offered)) or offered.issuperset(one.split(", ")) for one in chosen
    )


def _meant(said: str, kind: str, start: int, end: int) -> str | None:
    """As which kind a phrase reads where it stands."""
    phrase = said[start:end].lower()
    if phrase == "no need to" and _is_aside(said[max(0, start - 200) : start]):
        return None
    if phrase == "never" and MIND.match(said, end):
        return None
    if kind == "request" and _asks_nothing(said[max(0, start - 60) : start]):
        return None
    if kind not in ("praise", "symptom", *BLAMES):
        return kind
    before = said[max(0, start - 60) : start]
    if SUPPOSED.search(before):
        return None
    if kind != "praise":
        is_denied = any((NOT_WRONG.search(before), NO_MORE.match(said, end), HANDED.search(before)))
        is_noun = kind in ("undo", "back") and NOUNS.search(before)
        names = kind == "symptom" and NAMES.match(said, end)
        is_more = phrase.endswith(" not") and NOT_ONLY.match(said, end)
        is_meant = kind == "symptom" and (_is_ordered(phrase, before) or GRACE.match(said, end))
        if is_denied or is_noun or names or is_more or is_meant:
            return None
        return "correct" if kind == "still" and TO_COME.match(said, end) else kind
    is_own = start < 6 and phrase.startswith(("that", "it"))  # `no that's fine` denies nothing
    if not (THANKS.match(phrase) or is_own) and (NEGATED.search(before) or DENIED.match(said, end)):
        return "correct"  # `no thanks` declines, and blames nothing
    is_weak = start > 3 and phrase in WEAK and (len(said) > 30 or _is_asked(said, end))
    return None if is_weak or GOES_ON.match(said, end) else kind


def _asks_nothing(before: str) -> bool:
    """Whether the verb of an ask stands for a thing, or tells what its author does."""
    return A_THING.search(before) is not None or OWN_ACT.search(before) is not None


def _is_asked(said: str, end: int) -> bool:
    """Whether the sentence that holds what ends here is a question: `is there a good one?`."""
    here = next((one for one in SENTENCE.finditer(said) if one.end() >= end), None)
    return here is not None and here[0].rstrip().endswith(("?", "？"))


def _excepts(said: str) -> bool:
    """Whether a `but` stands in what follows a word of acceptance, and no mere ask behind it."""
    found = EXCEPTS.search(said[:60])
    return found is not None and ASKS_ON.match(said, found.end()) is None


def _is_ordered(phrase: str, before: str) -> bool:
    """Whether a symptom is one that the user orders, bans or sets aside: `don't show the total`."""
    is_one = phrase.startswith(("do not", "don't", "dont")) or phrase == "tests failing"
    return is_one and ORDERED.search(before) is not None


def _asks_before(said: str, at: int) -> bool:
    """Whether the sentence asks for something before what stands there."""
    here = re.split(r"[.!?\n]", said[:at])[-1]
    asked = phrases().first(here).get("request")
    if asked is None or here[asked[0] :].lower().startswith("why"):
        return False
    polite = here[slice(*asked)].lower() in ("please", "can you", "could you", "let's", "lets")
    return polite or OPENERS.fullmatch(here, 0, asked[0]) is not None


def _is_aside(before: str) -> bool:
    """Whether what spares some work stands in brackets, or behind an order in its sentence."""
    here = re.split(r"[.!?\n]", before)[-1]
    return here.rfind("(") > here.rfind(")") or "request" in phrases().first(here)


def _opens(said: str, spans: Mapping[str, Span]) -> str:
    """The kind of phrase that a message opens with; of several, the longest."""
    start = min((span[0] for span in spans.values()), default=99)
    opens = ""
    if start <= 20 and OPENERS.fullmatch(said, 0, start):
        here = [kind for kind in PRIORITY if kind in spans and spans[kind][0] == start]
        opens = max(here, key=lambda kind: spans[kind][1])
    if not opens and "report" in spans and KANA.match(said[-2:]):
        # Japanese puts the verb last.
        opens = "report" if spans["report"][1] >= len(said.rstrip(" 。.!！")) else ""
    if opens in ("", "yes", "unsure") and LATE_NO.match(said):
        return "no"
    if opens == "yes" and MOVES_ON.match(said):
        return ""
    return "but" if not opens and BUT.match(said) else opens


def _drop_what_only_seems(said: str, spans: dict[str, Span], opens: str, question: bool) -> None:
    """Take out requests that are told of as done or only polite, and thanks in advance."""
    covered = max((spans[kind][1] for kind in (opens, "praise") if kind in spans), default=0)
    if opens != "request" and "request" in spans and spans["request"][1] <= covered:
        again = phrases().first(said[covered:]).get("request")
        del spans["request"]
        if again is not None:
            spans["request"] = (again[0] + covered, again[1] + covered)
    start, end = spans.get("request", (0, 0))
    if end and POLITE.match(said[start:end]) and not said[end:].strip(" .!。！"):
        del spans["request"]
    start, _ = spans.get("request", (0, 0))
    if opens == "report" and start and not CLAUSE.search(said, spans["report"][1], start):
        del spans["request"]
    start, end = spans.get("praise", (0, 0))
    is_last = not said[end:].strip(" .!。！") and _words(said[:start]) > 3
    if is_last and THANKS.match(said[start:end]) and (question or "request" in spans):
        del spans["praise"]


BUT = later(r"(?i)(?:(?:ah+|oh|uh+|um+|hm+|well|ok(?:ay)?)\W+)?but\b")
LATE_NO = later(
    r"(?i)(?:ok(?:ay)?|uh+|um+|hm+|ah+|well|sorry)[.,! ]+(?:uh+[.,! ]+)?no\b(?! (?:problem|worries))"
)
"""A no behind a filler."""
MOVES_ON = later(r"(?i)(?:ok(?:ay)?|right|yeah)[.,! ]+(?:so|now|next)\b")
"""A yes that only leads over to what comes next."""
LABEL = later(
    r"(?i)(?:(?:let'?s )?(?:go|do|use|take|start|implement|apply|address|fix"
    r"|examine|discuss|tackle|try|look)(?: (?:for|with|at))? "
    r"|i(?:'d)? (?:think|prefer|like|choose|say|go with) )?(?:option |number |#)?([a-f]|\d{1,2})"
    r"(?:\.(?!\d)|[,):;]|\s+(?:-|but|is|and|please|then|seems)|\s*$)"
)
"""The label of an option at the head of a message."""
LETTERED = later(r"(?i)(?:option )?[a-f](?:,? please\b|[.,;:)!])")
"""A letter that stands for an option, whatever is asked behind it."""
ASKED = later(
    r"(?:什么|怎么|怎样|如何|为什么|哪[个些里]|多少)[^。！]{0,30}$|[吗嘛呢]\s*$"
    r"|(?:ます|です|ません|でしょう|した|んだ|ん)か[。\s]*$"
)
"""A question in Chinese or Japanese that ends without a mark."""
PUT = later(r"[?？][ \t]*\n")
"""A line that ends in a question."""
PROPOSES = later(r"(?i)(?:how|what) about\b|why (?:not|don'?t)\b")
"""What opens like a question and proposes something."""


def _asks(said: str, spans: Mapping[str, Span]) -> bool:
    """Whether a message of one sentence opens with a question word, though it ends without a mark."""
    start = spans.get("ask", (99, 99))[0]
    if start > 3 or start < spans.get("praise", (0, 0))[1] or PROPOSES.match(said):
        return False
    return len(SENTENCE.findall(said)) == 1


def _words(text: str) -> int:
    """How many words a text has."""
    if text.isascii():
        return len(WORD.findall(text))
    dense, kana = len(DENSE.findall(text)), len(KANA.findall(text))
    spaced = WORD.findall(KANA.sub(" ", DENSE.sub(" ", text)))
    return len(spaced) + (3 * dense + 2 * kana + 5) // 6


def _opens_with_a_label(said: str, words: int, context: Context) -> bool:
    """Whether a message opens with the label of an option that the agent's last words list."""
    label = LABEL.match(said)
    if label is None or not lists(context.last_words, label[1]):
        return False
    is_brief = words <= 30 or label.end(1) - label.start() > 3
    return is_brief or LETTERED.match(said) is not None or _is_pick(said, label[1], context)


def _is_pick(said: str, label: str, context: Context) -> bool:
    """Whether a number that opens an answer is its only item; else words speak of what was done."""
    is_item = said[len(label) : len(label) + 2] in (". ", ") ")
    return context.asked and is_item and len(OPTION.findall(said)) == 1


_IT = r"(?:it|this|that|they|these|those|(?:the|my|our) \w+(?: \w+)?)"
WHY_NOT = later(
    rf"(?i)\bwhy (?:(?:is|are|does|do)n'?t {_IT}|(?:is|are|does|do) {_IT} not) (?:\w+ )?(?:appl|appear|build|chang"
    r"|compil|display|fir|load|match|open|pass|print|refresh|render|respond|run|sav|show|sort|start|trigger"
    r"|updat|work)(?:y|ie[ds]|e?[ds]|ing|ping|ning)?\b"
)
"""How a question asks why something is not so."""
ANSWERS = later(
    r"(?i)\b(?:to answer|in answer to|answering) (?:your|the|that) (?:\w+ )?questions?\b"
)
"""How words say that they answer."""
DISPUTES = later(
    r"(?i)\W*(?:(?:hm+|wait|sorry|but)\W+)?(?:that|this)(?:'s| is) (?:not (?:right|correct|true)"
    r"|(?:wrong|incorrect))\b(?! with)"
)
"""How words begin that say of what was just said that it is not so."""
STATES = later(
    r"(?is)(?!.*\b(?:should|must|needs?|want|ought)\b)(?:(?:and|btw|by the way|oh|so)\W+)?(?:"
    r"(?:my (?!bet|concern|guess|idea|opinion|point|preference|question|suggestion|take|worry)|our |there\b)"
    r"[^.,!?\n]{0,60}?(?:\b(?:is|are|has|have)\b|'s\b|'re\b)(?! to\b)"
    r"|the \w+(?: \w+){0,2} (?:is|are|runs|lives|lies) (?:at\b|in\b|on\b|under\b|called|named|down\b|up\b|offline|[\d\"'`/])"
    r"|(?!(?:\w+ )?(?:what|which|that|who|only)\b)(?:(?:the|this|these|those) )?\w+(?: \w+)?"
    r" _?already_? (?:is|are|has|have|does|do|was|were|had|did)\b)"
)
"""How words begin that tell what is so, and not of a wish."""
STEERS = {"constrain", "forbid", "prefer", "next", "symptom"}
"""Phrases of words that say how the work shall be, or is not."""
PASTE = later(
    r"\s*(?:[❯➜$%] ?\S[^\n]*\n|`[^`\n]+`\n|[{\[]*\"?\w+\\*\"\s*:"
    r"|(?=\S[^\n]*(?:[|=]| --?\w|\./))[^\n]*\n-?(?:ba|z|fi)?sh: "
    r"|(?:\S+:\d+ )?(?:\[\S+\] )?(?:Uncaught )?\w*Error: "
    r"|Access to \w+ at '|Failed to load resource: |(?:GET|HEAD|POST|PUT|PATCH|DELETE) https?://\S+ )"
)
"""What a machine printed at the head of a message: a command behind its prompt, between backticks or
above what the shell says to it, JSON, an error behind its place, a line of a browser's console."""
OWN_WORDS = later(
    r"(?:^|[\]})`])[ \t]*(?!(?:error|fatal|failed|warning|npm|panic|make)\b)"
    r"(?P<words>[a-z][a-z']*(?:,? [\w'-]+){2,}[.!]?)\s*\Z",
    re.M,
)
"""What somebody wrote behind what was pasted: a few plain words."""
FAILURE = later(
    r"(?i)(?:\bnpm err\w*\b|error:(?! *(?:null|none|nil|false|undefined|0)\b)|\bexit[ _]code\W{1,4}[1-9]"
    r"|\n-?(?:ba|z|fi)?sh: |\bsuccess\W{1,4}false\b|\bblocked by CORS policy\b|\bnet::ERR_|\bstatus of [45]\d\d\b)"
)
"""What tells there, near the end, of a failure."""


TITLE = later(
    r"(?m)^[ \t>]*[*_]{0,2}(?:\d{1,2}[.)]|[-*•]|(?:[Oo]ption )?[A-Ha-h1-9][.):])[*_]{0,2} *"
    r"[*_`]{0,3}(?P<title>[^*_`:\n(\u2013\u2014]{4,60})"
)
"""An option, as far as it names what it is."""
CHOOSES = later(
    r"(?i)(?:(?:let['’]?s |i['’]?d |i['’]?ll |we (?:can )?)?(?:go (?:with|for)|use|take|pick|choose|prefer|like|do) )?"
    r"(?:the )?(?P<title>.+?)(?:,? (?:please|thanks|then))?[.! ]*"
)
"""How a message says which one."""


def _is_title(said: str, listed: str) -> bool:
    """Whether a message names one of the options listed by its title, and no more."""
    chosen = CHOOSES.fullmatch(said)
    titles = [one["title"].strip(" .,-?").lower() for one in TITLE.finditer(listed[-1500:])]
    return len(titles) > 1 and chosen is not None and titles.count(chosen["title"].lower()) == 1


def _goes_on(behind: str) -> bool:
    """Whether a sentence behind the first one of praise holds none."""
    sentences = SENTENCE.findall(behind)[:6]
    is_same = behind[:1] not in ".!。！?？\n"
    return any(
        _words(one) > 2 and "praise" not in phrases().first(one) for one in sentences[is_same:]
    )


TELLS = later(
    r"(?i)(?!.*\b(?:should|must|needs?|wants?|would|could|can)\b)\W*(?:(?:and|so|but|well|also)\W+)*"
    r"(?:i|i'(?:ll|m|ve)|it|it's|that|that's|this|the|my|we|our|they|just (?:ran|tried|tested|checked)|sorry|never mind"
    r"|as|at|for|here|in|on|than|when|where|with)\b"
)
"""How words begin that tell what is so, and set nothing for the work."""


def _only_tells(behind: str) -> bool:
    """Whether all behind the praise is more of it, or tells what is so."""
    return all(
        _words(one) <= 2 or "praise" in phrases().first(one) or TELLS.match(one)
        for one in SENTENCE.findall(behind)
    )


BACK = later(r"(?i)\s*(?:them|it|that|this|those|these|both|all|each|only|just|us)\b")
"""What refers back to what was asked: `fix them all`."""


def _orders(said: str, end: int) -> bool:
    """Whether an order stands for itself: more than a sentence, and none that refers back."""
    return len(SENTENCE.findall(said)) > 1 and BACK.match(said, end) is None


def _takes_up(text: str, verb: str) -> bool:
    """Whether the last paragraph of a text offers to do what the verb says."""
    return (
        bool(verb)
        and re.search(rf"(?i)\b{re.escape(verb)}\b", text.rpartition("\n\n")[2]) is not None
    )
