"""Which steps do an answer's or a report's words repeat?"""

import re

from forsy_retrace.frames import shown_of
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Tokens, Trace

from ..causes.distinctive import is_camel
from .behind_answers import Heard, in_time, over, tells


def answers(trace: Trace, heard: Heard) -> dict[int, int]:
    """Step to the first later answer, or subagent's report, that repeats what only it showed."""
    said_by_words = _Telling(trace.tokens)
    told = {
        s.step: said_by_words.of(s.printed if s.call else s.output or "", words=True)
        for s in trace.steps
        if tells(s)
    }
    wanted = _Telling(trace.tokens, set().union(*told.values()))
    first: dict[str, dict[str, int]] = {}
    """What each actor was shown, and by which step; 0 where several did, each in its own way."""
    said: set[str] = set()
    spoken: set[str] = set()
    """What somebody said in words: an answer may have it from there."""
    found: dict[int, int] = {}
    for step, is_over in in_time(trace):
        if not is_over:
            said |= wanted.of(step.input or "")
            continue
        for actor in heard.by(step) if step.step in told else ():
            shown = first.get(actor, {})
            values: dict[int, list[str]] = {}
            for value in told[step.step] & shown.keys() - spoken:
                values.setdefault(shown[value], []).append(value)
            for number, held in values.items():
                if number and not (_is_far(trace, number, step) and _is_a_word(held)):
                    found.setdefault(number, step.step)
        if step.call is None:
            words = wanted.of(step.input or step.output or "", words=True)
            said |= words
            spoken |= words
        elif step.success is not False:
            shown = first.setdefault(step.actor, {})
            for value in wanted.of(shown_of(step.output or "")[:MAX_TEXT]) - said:
                before = shown.setdefault(value, step.step)
                if before and trace.steps[before - 1].input != step.input:
                    shown[value] = 0
    return found


FAR = 3
"""Turns from an output to an answer beyond which one word of it may come from anywhere."""
PLAIN = later(r"[a-z]+(?:-[a-z]+)+|[A-Za-z]+")
"""A word of common use, as `user-facing`, or a name that a library gave, as `defineConfig`."""


NAME = later(r"[a-z]+(?:_[a-z]+)+|[A-Za-z]+\.[a-z]{1,4}")
"""A name in small letters that any code may have, `final_space`, or a file's without its folder."""


def _is_far(trace: Trace, shown: int, said: Step) -> bool:
    return said.turn - trace.steps[shown - 1].turn >= FAR


def _is_a_word(values: list[str]) -> bool:
    """Whether one word, or a name or two, is all that an answer shares with an output."""
    if len(values) == 1 and PLAIN.fullmatch(values[0]):
        return True
    return len(values) <= 2 and all(map(NAME.fullmatch, values))


HASH = later(r"[0-9a-f](?<![\w/-][0-9a-f])[0-9a-f]{6,39}(?![\w-])")
"""A commit's name, of which the first seven tell it; one of letters or digits alone is none."""
BRIEF = 5_000
"""Characters of a text in which such names are looked for: git says no more of one commit."""


def commits(trace: Trace, heard: Heard) -> dict[int, int]:
    """Calls to the first later answer, or report, that names a commit which they showed first."""
    first: dict[str, dict[str, int]] = {}
    said: set[str] = set()
    found: dict[int, int] = {}
    for step in over(trace):
        for actor in heard.by(step) if tells(step) else ():
            shown = first.get(actor, {})
            for name in _hashes(step.output) & shown.keys():
                found.setdefault(shown[name], step.step)
        if step.call is None:
            said |= _hashes(step.input or step.output)
        elif step.success is not False and _asks_git(step):
            said |= _hashes(step.input)
            shown = first.setdefault(step.actor, {})
            for name in _hashes(step.output) - said:
                shown.setdefault(name, step.step)
    return found


def _asks_git(step: Step) -> bool:
    run = step.run
    return step.surface == "api" or (run is not None and not GIT.isdisjoint(run.programs))


GIT = frozenset(["git", "gh", "glab", "hub", "jj"])
"""Programs that print the names of commits."""


def _hashes(text: str | None) -> set[str]:
    """The names of commits at the beginning of a text, and at its end: a hook may print a lot."""
    ends = text or ""
    if len(ends) > 2 * BRIEF:
        ends = f"{ends[:BRIEF]}\n{ends[-BRIEF:]}"
    return {name[:7] for name in HASH.findall(ends) if not (name.isdigit() or name.isalpha())}


MAX_TEXT = 200_000
"""Characters of one output that are looked at."""
JOINED = later(r"[/_.-]")
COMPOUND = later(
    r"(?i)(?:back|front|rear|high|low|top|mid|second)-(?:end|level)|built-in|command-line|cross-platform"
    r"|follow-up|full-time|in-memory|long-(?:lived|running|term)|object-oriented|one-liner"
    r"|(?:open|closed)-source|out-of-(?:date|the-box)|pre-commit|read-only|real-(?:time|world)"
    r"|short-term|side-by-side|single-line|step-by-step|third-party|trade-offs?|up-to-date|well-known"
)
"""Words that people join in any text."""
WORD = later(r"[A-Za-z_]\w{7,}", re.A)
NUMBER = later(r"[0-9](?<![\w.][0-9])[0-9,.]{0,30}[0-9](?:ms|s|%|kB|MB|x)?(?![\w])")
YEAR = later(r"19[5-9]\d|20[0-3]\d")
"""It stands in every date."""
THOUSANDS = later(r"\d{1,3}(?:,\d{3})+")
"""A number as people write it; a program prints it without the commas."""
COUNT = later(r"(\d(?<![\w.:/#-]\d)\d{1,2})\+?\*{0,2} [A-Za-z]")
"""How words say a count: what of is told behind it."""
BEFORE = later(r"\b([A-Za-z]+)\W{1,3}\Z")
NUMBERED = later(
    r"(?i)(?:lines?|rows?|columns?|steps?|pages?|ports?|codes?|status|exit|http|issues?|pr|no|v|versions?"
    r"|items?|chapters?|sections?|node|python|java|ruby|php|go|ubuntu|debian|fedora|postgres"
    r"|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)"
)
"""A word before a number that is no count, but which of several."""
BARE = later(r"\s*(\d{2,3})(?: total)?\s*")
"""An output that is nothing but a count."""


class _Telling(dict[str, tuple[str, ...]]):
    """Values that an answer would repeat only because it read them; of those wanted, if any are."""

    def __init__(self, tokens: Tokens, wanted: set[str] | None = None) -> None:
        super().__init__()
        self.tokens, self.wanted = tokens, wanted

    def of(self, text: str, *, words: bool = False) -> set[str]:
        """Those of a text; of words, also what they count."""
        found = set().union(*filter(None, map(self.__getitem__, self.tokens.of(text))))
        numbers = set(map(_plain, NUMBER.findall(text)))
        if words:
            counts = (one for one in COUNT.finditer(text) if not _is_which(text, one.start()))
            numbers.update(f"count {one[1]}" for one in counts)
        elif len(text) < 40 and (bare := BARE.fullmatch(text)):
            numbers.add(f"count {bare[1]}")
        if self.wanted is not None:
            return found | (numbers & self.wanted)
        return found.union(one for one in numbers if len(one) >= 4 and not YEAR.fullmatch(one))

    def __missing__(self, token: str) -> tuple[str, ...]:
        value = token.strip(".:-#/+%~@")
        words = [token] if token.isidentifier() else WORD.findall(token)
        name = value.rpartition("/")[2].partition(":")[0]
        values = [value, name] if name != value else [value]
        if self.wanted is not None:
            if self.wanted.isdisjoint((*values, *words)):
                self[token] = ()
                return ()
            values = [value for value in values if value in self.wanted]
            words = [word for word in words if word in self.wanted]
        found = [value for value in values if len(value) >= 8 and JOINED.search(value)]
        found = [value for value in found if not COMPOUND.fullmatch(value)]
        found += (word for word in words if is_camel(word))
        self[token] = held = tuple(found)
        return held


def _is_which(text: str, start: int) -> bool:
    """Whether a number is said of which of several, and not how many there are."""
    before = BEFORE.search(text, max(0, start - 40), start)
    return before is not None and NUMBERED.fullmatch(before[1]) is not None


def _plain(number: str) -> str:
    return number.replace(",", "") if "," in number and THOUSANDS.fullmatch(number) else number
