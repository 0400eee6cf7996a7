"""Lookups that found nothing, and are made again in other words or by other means."""

from itertools import takewhile

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.sdk import text_of

from .attempts import (
    LOOKS,
    NEARLY,
    TELLING,
    WORD,
    Attempt,
    looks_for_one,
    operands,
    searches_of,
    words_of,
)
from .commands import KEY, targets
from .likeness import are_alike


def one_thing_changed(old: Attempt, new: Attempt) -> bool:
    """The same query of the same tool with one argument changed, soon after."""
    if old.step.tool != new.step.tool or old.run is not None or old.step.call is None:
        return False
    if old.step.operation != "search":
        return False
    a, b = old.step.call.input, new.step.call.input if new.step.call else None
    if not isinstance(a, dict) or not isinstance(b, dict):
        return False
    keys = [k for k in {**a, **b} if k not in ("description", "timeout")]
    changed = [k for k in keys if a.get(k) != b.get(k)]
    if new.step.like == "Glob" and "pattern" in changed:
        return _same_glob(text_of(a.get("pattern")), text_of(b.get("pattern")))
    if len(changed) == 1 and len(keys) > 1:
        before, after = a.get(changed[0]), b.get(changed[0])
        if changed[0] in QUERIES:
            return before is None or _begins_alike(before, after)
        return not QUERIES.isdisjoint(keys)
    floor = NEARLY if _is_in_words(old) else 0.6
    return bool(changed) and all(
        are_alike(text_of(a.get(k)), text_of(b.get(k)), floor) for k in changed
    )


def _same_glob(old: str, new: str) -> bool:
    """Whether two globs mean files of like names, or files of one folder."""
    (folder, _, name), (other, _, other_name) = (one.rpartition("/") for one in (old, new))
    parts, others = (_telling(one) for one in (name, other_name))
    alike = any(a in b or b in a for a in parts for b in others)
    return name == other_name or alike or folder.rstrip("*/") == other.rstrip("*/") != ""


def _telling(pattern: str) -> list[str]:
    """The longer words of a glob's name."""
    return [word for word in LETTERS.findall(pattern.lower()) if len(word) >= 4]


def _begins_alike(old: object, new: object) -> bool:
    """Whether two queries share a word, or the beginning of one."""
    a, b = ([w.lower() for w in WORD.findall(text_of(one))][:20] for one in (old, new))
    return any(
        min(len(x), len(y)) >= 5 and (x.startswith(y) or y.startswith(x)) for x in a for y in b
    )


LETTERS = later(r"[^\W\d_]+")
QUERIES = frozenset(["pattern", "query", "q", "search", "search_term", "regex"])
"""Arguments that say what is looked for: another is another search, unless it is much like it."""


def looks_for_the_same(old: Attempt, new: Attempt) -> bool:
    """Another lookup of the same words, by whatever tool, soon after, not elsewhere for others."""
    if not old.terms or not new.terms or (_are_apart(old, new) and not old.terms <= new.terms):
        return False
    shared = old.terms & new.terms
    if not shared:
        by_tools = old.run is None and new.run is None
        shared = _held(old.terms, new.terms, LONG_FOR_A_TOOL if by_tools else LONG)
    least = HALF if _is_in_words(old) and _is_in_words(new) else 0.3
    return any(len(term) >= TELLING for term in shared) and len(shared) >= least * len(old.terms)


def _held(old: frozenset[str], new: frozenset[str], least: int) -> frozenset[str]:
    """The longer words of one lookup that hold one of another, or stand in one, as most of it."""
    among = [word for word in new if len(word) >= least]
    return frozenset(
        word
        for word in old
        if len(word) >= least and any(_is_most(*sorted((word, x), key=len)) for x in among)
    )


def _is_most(short: str, long: str) -> bool:
    return short in long and len(short) >= MOST * len(long)


MOST = 0.4
"""Which share of a longer word its shorter form is."""


LONG = 12
"""Letters of a word that stands in another for the same thing: `PromptSubmit`."""
LONG_FOR_A_TOOL = 7
"""The same of two searches by the harness's own tools, which look for nothing but what they name."""


def _are_apart(old: Attempt, new: Attempt) -> bool:
    """Whether the one worked, and no place that it names holds one that the other names."""
    if old.step.success is False:
        return False
    pairs = [(f"{a}/", f"{b}/") for a in old.paths for b in new.paths]
    return bool(pairs) and not any(a.startswith(b) or b.startswith(a) for a, b in pairs)


def _is_in_words(one: Attempt) -> bool:
    """Whether a call asks as one asks people, and not for the names and texts of files.

    Such queries share words with all that the user asked for.
    """
    match one.step.call.input if one.step.call else None:
        case {"query": str()}:
            return one.step.like not in ("Grep", "Glob")
    return False


HALF = 0.5
"""Which share of its words at least stands in another query for the same."""


def searched_more_widely(old: Attempt, new: Attempt) -> bool:
    """The same words looked for, maybe with others, in a folder that holds the one where there were none."""
    if old.step.operation != "search":
        return False
    a, b = (list(searches_of(run)) for run in (old.line, new.line))
    if not len(a) == len(b) == len(old.paths) == len(new.paths) == 1:
        return False
    (inner,), (outer,) = old.paths, new.paths
    if not inner.startswith(f"{outer.rstrip('/')}/") or a[0].name != b[0].name:
        return False
    asked = _placeless(a[0])
    return asked <= _placeless(b[0]) and bool(words_of(" ".join(asked)))


def _placeless(search: Simple) -> set[str]:
    """The words of a search for what it looks for: neither flags and kinds nor where it looks."""
    return {word for word in operands(search) if len(word) > 1 and word not in search.reads}


def listed_otherwise(old: Attempt, new: Attempt) -> bool:
    """A folder whose files could not be listed, listed by another tool or command."""
    if old.step.operation != "search" or new.step.operation != "search":
        return False
    if old.step.success is not False or old.paths != new.paths or not old.paths:
        return False
    return not any(map(looks_for_one, (old, new)))


def same_numbers(old: Attempt, new: Attempt) -> bool:
    """The same program asked for every long number that it had failed to show, soon after."""
    if old.step.success is not False:
        return False
    if old.step.operation not in LOOKS or new.step.operation not in LOOKS:
        return False
    keys = {one for one in targets(old.line) if KEY.fullmatch(one)}
    return old.line.main == new.line.main and bool(keys) and keys <= {*KEY.findall(new.line.normal)}


def shares_an_alternative(old: Attempt, new: Attempt) -> bool:
    """A search of which half of the alternatives (`a|b`) are looked for again, soon after."""
    if old.step.operation != "search" or new.step.operation != "search":
        return False
    a, b = ({part for part in _alternatives(one) if len(part) >= LONG_ENOUGH} for one in (old, new))
    return bool(a & b) and 2 * len(a & b) >= min(len(a), len(b))


def looked_for_by_a_program(old: Attempt, new: Attempt) -> bool:
    """Each alternative of a search, as a text of a program that the line holds, soon after."""
    if old.step.operation != "search":
        return False
    texts = {ESCAPED.sub(r"\1", part) for part in _alternatives(old)}
    programs = "\n".join(text for _, text in new.line.inline)
    return any(len(text) >= 5 for text in texts) and all(
        f"'{text}'" in programs or f'"{text}"' in programs for text in texts
    )


ESCAPED = later(r"\\(\W)")
"""A mark that a pattern takes to the letter."""


def _alternatives(one: Attempt) -> set[str]:
    """What the patterns of a search stand for."""
    if one.run is None:
        return {part.strip("() ") for pattern in one.patterns for part in pattern.split("|")}
    return {
        part.strip()
        for simple in searches_of(one.run)
        for word in operands(simple)
        if word not in simple.reads
        for part in word.replace("\\|", "|").split("|")
        if part.strip()
    }


LONG_ENOUGH = 12
"""Letters of an alternative that stands for one thing: two words or more, or a longer name."""


def same_object(old: Attempt, new: Attempt) -> bool:
    """The same lookup of the same thing with other flags, at once after it showed nothing."""
    if old.step.operation not in LOOKS or new.step.operation not in LOOKS:
        return False
    a, b = (_before_flags(run) for run in (old.line, new.line))
    return len(a) > 2 and a == b


def _before_flags(run: Command) -> list[str]:
    """The words of what a line is for, up to its first flag: what is done to what."""
    main = next((one for one in run.simples if one.name == run.main), None)
    return list(takewhile(lambda word: not word.startswith("-"), main.words if main else ()))


def same_pattern_by_another_tool(old: Attempt, new: Attempt) -> bool:
    """The same pattern, to the letter, looked for in files by another tool."""
    return old.step.tool != new.step.tool and not old.patterns.isdisjoint(new.patterns)
