"""The ways in which a call attempts again what another failed at: a table of named rules."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.sdk import text_of
from forsy_retrace.trace import Step

from ..causes.wanted import last_part
from ..checks.places import between_slashes
from ..outcome import never_ran
from ..outputs.verdicts import NO_PROGRAM, SEARCHES
from ..tools import AGENT_TOOLS, PLAN_EXITS
from ..touched.touches import absolute, lines_put, lines_taken, replacements, takes_back
from .attempts import LOOKS, WORD, Attempt, operands, searches_of, words_of
from .likeness import are_alike
from .untold import is_mended

SOON = 4
"""Within how many of them another lookup still answers one that found nothing."""
TELLING = 5
"""Letters of a term that stands for one thing."""

Test = Callable[[Attempt, Attempt], bool]


class Rule(NamedTuple):
    """A way in which two calls attempt the same thing."""

    name: str
    confidence: float
    test: Test


def _same_command(old: Attempt, new: Attempt) -> bool:
    if old.run is None or new.run is None or _apart(old.run, new.run):
        return False
    return bool(new.run.normal) and old.run.normal == new.run.normal


def _same_check(old: Attempt, new: Attempt) -> bool:
    """A check of the kind that had failed, by the same tool; a fixer that mends it is none."""
    if old.check is None or new.check is None or not (old.step.success is False or old.hidden):
        return False
    if new.step.operation == "edit" and new.step.success:
        return False
    if old.check.kind != new.check.kind or old.check.kind == "read-back":
        return False
    if old.run is None or new.run is None or _family(old.run) != _family(new.run):
        return False
    if _other_task(old.run, new.run):
        return False
    since = any(edit > old.step.step for edit in new.check.edits)
    anew = since and _same_program(old.run, new.run)
    if old.check.kind == "run" and not anew and not _same_run(old.run, new.run):
        return False  # with other words, and nothing mended, it shows another thing
    began = old.check.passed is not None or old.hidden
    if not began and bool(old.run.covers) != bool(new.run.covers):
        return new.order - old.order <= SOON
    return not _cover_others(old.run, new.run)


def are_elsewhere(old: Attempt, new: Attempt) -> bool:
    """Whether two commands ran in folders of which neither holds the other, however written."""
    if old.run is None or new.run is None or not old.step.cwd or not new.step.cwd:
        return False
    places = (absolute(one.run.cwd or ".", one.step.cwd) for one in (old, new) if one.run)
    a, b = (between_slashes(place).lower() for place in places)
    return "$" not in a + b and a not in b and b not in a


def _same_run(old: Command, new: Command) -> bool:
    """The same line, or the same program with the same operands wherever they lie."""
    return old.normal == new.normal or _targets(old) == _targets(new)


def _same_program(old: Command, new: Command) -> bool:
    """Whether two lines run a program of one name; where they name none by a file, by one tool."""
    a, b = ({posixpath.basename(path) for path in _programs(run)} for run in (old, new))
    return not a.isdisjoint(b) if a or b else old.main == new.main


def _programs(run: Command) -> list[str]:
    return [path for one in run.simples if one.rule == "run-program" for path in one.reads]


def _other_task(old: Command, new: Command) -> bool:
    """Whether two lines run tasks of different names, of which neither mends what the other checks."""
    a, b = (_task(run) for run in (old, new))
    parts = {*a.split(":"), *b.split(":")}
    mends = a.split(":")[0] == b.split(":")[0] and not MENDING.isdisjoint(parts)
    return bool(a and b) and a != b and not mends


MENDING = frozenset(["fix", "write"])
"""Parts of a task's name that mends what it finds: `lint:fix`."""


def _task(run: Command) -> str:
    """The task that a line is for, by its name; empty where it is for none."""
    is_task = any(one.name == run.main and one.rule.startswith("script:") for one in run.simples)
    return run.main.split()[-1] if is_task else ""


def _family(run: Command) -> str:
    return run.main.split()[0] if run.main else ""


def _same_file(old: Attempt, new: Attempt) -> bool:
    """The same file by the same kind of tool: edit or write after edit or write, read after read."""
    if not old.paths & new.paths:
        return False
    if old.side is None or old.side != new.side:
        return False
    if not old.step.success:
        return not _finds_done(old.step, new.step)
    return _works_on(old.step, new.step)


def _written_by_a_line(old: Attempt, new: Attempt) -> bool:
    """A file that a tool could not write or edit, written by a shell's line."""
    if old.step.success is not False or old.run is not None or old.side != "change":
        return False
    return new.step.operation in ("write", "edit") and not old.paths.isdisjoint(new.written)


def is_moot(old: Attempt, new: Attempt) -> bool:
    """Whether an edit shows that a failed one of its file had nothing left to do."""
    edits = old.side == new.side == "change"
    return edits and bool(old.paths & new.paths) and _finds_done(old.step, new.step)


def _finds_done(old: Step, new: Step) -> bool:
    """Whether an edit replaces text that was already as a failed one would have made it."""
    if old.result is not None and old.result.changes:
        return False  # a line failed behind its patch
    wanted, found = replacements(old), replacements(new)
    here = {line.strip() for before, _ in found for line in before.splitlines()}
    put, taken = lines_put(wanted), lines_taken(wanted)
    return bool(put and taken) and put <= here and taken.isdisjoint(here)


def _works_on(old: Step, new: Step) -> bool:
    """Whether an edit changes what another that worked had put in, and does not take that back.

    Of one that only took lines out it puts some back.
    """
    before, after = replacements(old), replacements(new)
    if not before or not after:
        return True
    if takes_back(new, old):
        return False
    back = {(new, old) for old, new in before}
    after = [pair for pair in after if pair not in back]
    if put := lines_put(before):
        return not put.isdisjoint(lines_taken(after))
    return not lines_taken(before).isdisjoint(lines_put(after))


def _same_name_elsewhere(old: Attempt, new: Attempt) -> bool:
    """A file that was not there, looked for in another place."""
    if old.step.tool != new.step.tool or old.step.success is not False:
        return False
    if old.step.operation != "read" or new.step.operation != "read":
        return False
    if old.run is not None and not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    a, b = ({_called(path) for path in one.paths} for one in (old, new))
    return not a.isdisjoint(b)


def _called(path: str) -> str:
    """A file's name: `cart.rs` for `cart/mod.rs` too."""
    return posixpath.basename(_module(path)) + posixpath.splitext(path)[1]


def _same_arguments(old: Attempt, new: Attempt) -> bool:
    return old.step.tool == new.step.tool and old.step.input == new.step.input


def _one_thing_changed(old: Attempt, new: Attempt) -> bool:
    """The same query of the same tool with one argument changed, soon after."""
    if old.step.tool != new.step.tool or old.run is not None or old.step.call is None:
        return False
    if old.step.operation != "search" or new.order - old.order > SOON:
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
    return bool(changed) and all(
        are_alike(text_of(a.get(k)), text_of(b.get(k)), 0.6) for k in changed
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
DIGITS = later(r"\d+")
NUMBERED = later(r"[\w#-]+")
"""A name with a number in it: with another number it names another order, page or process."""


def _one_argument_changed(old: Attempt, new: Attempt) -> bool:
    """The same call of a tool of its own kind, with one argument changed, or much the same text, soon after a failure."""
    if old.step.tool != new.step.tool or old.run is not None or old.path is not None:
        return False
    if old.step.success is not False or new.order - old.order > SOON or old.step.call is None:
        return False
    a, b = old.step.call.input, new.step.call.input if new.step.call else None
    if not isinstance(a, dict) or not isinstance(b, dict):
        return False
    changed = [k for k in {**a, **b} if a.get(k) != b.get(k)]
    if len(changed) != 1:
        texts = ((text_of(a[k]), text_of(b[k])) for k in a if k in b)
        return any(x.count(" ") >= TEXT and (x == y or are_alike(x, y, 0.7)) for x, y in texts)
    if (changed[0] in a) != (changed[0] in b):  # one thing left out, or added
        return len(a) + len(b) > 1
    before, after = (text_of(sent.get(changed[0])) for sent in (a, b))
    if NUMBERED.fullmatch(before) and DIGITS.sub("", before) == DIGITS.sub("", after):
        return False
    return are_alike(before, after, 0.7)


def _arguments_mended(old: Attempt, new: Attempt) -> bool:
    """The same tool at once, after a call that was refused for its arguments."""
    if old.step.tool != new.step.tool or new.run is not None or new.order - old.order != 1:
        return False
    if old.step.success is not False or old.step.parallel_group is not None:
        return False
    return REFUSED.search((old.step.output or "")[:SAYS_SO]) is not None


TEXT = 4
"""Blanks from which an argument is a text of its own, and no name."""
REFUSED = later(
    r"(?i)\bvalidation errors?\b|InputValidationError|did not match schema"
    r"|invalid (?:tool )?(?:arguments|parameters)\b|failed to parse (?:function )?arguments"
    r"|missing required (?:argument|parameter|propert)|unexpected keyword argument"
)
"""How a harness says that a call's arguments do not fit its tool."""


def _looks_for_the_same(old: Attempt, new: Attempt) -> bool:
    """Another lookup of the same words, by whatever tool, soon after."""
    if not old.terms or not new.terms or new.order - old.order > SOON:
        return False
    shared = old.terms & new.terms
    return any(len(term) >= TELLING for term in shared) and len(shared) >= 0.3 * len(old.terms)


def _searched_more_widely(old: Attempt, new: Attempt) -> bool:
    """The same words looked for in a folder that holds the one where there were none."""
    if old.run is None or new.run is None or old.step.operation != "search":
        return False
    a, b = (list(searches_of(run)) for run in (old.run, new.run))
    if not len(a) == len(b) == len(old.paths) == len(new.paths) == 1:
        return False
    (inner,), (outer,) = old.paths, new.paths
    if not inner.startswith(f"{outer.rstrip('/')}/") or _placeless(a[0]) != _placeless(b[0]):
        return False
    return bool(words_of(" ".join(word for word in operands(a[0]) if word not in a[0].reads)))


def _placeless(search: Simple) -> list[str]:
    """The words of a search without where it looks."""
    return [word for word in search.words if word not in search.reads]


def _shares_an_alternative(old: Attempt, new: Attempt) -> bool:
    """A search of which half of the alternatives (`a|b`) are looked for again, soon after."""
    if old.step.operation != "search" or new.step.operation != "search":
        return False
    if new.order - old.order > SOON:
        return False
    a, b = ({part for part in _alternatives(one) if len(part) >= LONG_ENOUGH} for one in (old, new))
    return bool(a & b) and 2 * len(a & b) >= min(len(a), len(b))


def _looked_for_by_a_program(old: Attempt, new: Attempt) -> bool:
    """Each alternative of a search, as a text of a program that the line holds, soon after."""
    if old.step.operation != "search" or new.run is None or new.order - old.order > SOON:
        return False
    texts = {ESCAPED.sub(r"\1", part) for part in _alternatives(old)}
    programs = "\n".join(text for _, text in new.run.inline)
    return any(len(text) >= 5 for text in texts) and all(
        f"'{text}'" in programs or f'"{text}"' in programs for text in texts
    )


ESCAPED = later(r"\\(\W)")
"""A mark that a pattern takes to the letter."""


def _alternatives(one: Attempt) -> set[str]:
    """What the patterns of a search stand for."""
    if one.run is None:
        return set()
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


def _same_object(old: Attempt, new: Attempt) -> bool:
    """The same lookup of the same thing with other flags, at once after it showed nothing."""
    if old.run is None or new.run is None or new.order - old.order > 1:
        return False
    if old.step.operation not in LOOKS or new.step.operation not in LOOKS:
        return False
    a, b = (_before_flags(run) for run in (old.run, new.run))
    return len(a) > 2 and a == b


def _before_flags(run: Command) -> list[str]:
    """The words of what a line is for, up to its first flag: what is done to what."""
    main = next((one for one in run.simples if one.name == run.main), None)
    return list(takewhile(lambda word: not word.startswith("-"), main.words if main else ()))


def _by_another_program(old: Attempt, new: Attempt) -> bool:
    """The same word given to another program, at once after one that is not installed."""
    if old.run is None or new.run is None or new.order - old.order > 1:
        return False
    if not NO_PROGRAM.search((old.step.output or "")[-SAYS_SO:]):
        return False
    said = _last_words(old.step.printed)
    missing = [one for one in old.run.simples if said & {*one.words[:1]}] or old.run.simples[-1:]
    return any(
        one.words[:1] != other.words[:1] and not set(one.words[1:]).isdisjoint(other.words[1:])
        for one in missing
        for other in new.run.simples
    )


def _described_alike(old: Attempt, new: Attempt) -> bool:
    """A command that the agent describes in the words that it had for one which failed, soon after.

    The same program with other operands works on something else.
    """
    if old.run is None or new.run is None or new.order - old.order > SOON:
        return False
    if old.step.success is not False:
        return False
    if old.run.main == new.run.main and _targets(old.run).isdisjoint(_targets(new.run)):
        return False
    title = _title(old.step).lower()
    return len(title.split()) >= 3 and title == _title(new.step).lower()


def _asked_rightly(old: Attempt, new: Attempt) -> bool:
    """The same program with all that it was to work on, at once after it was used wrongly."""
    if old.run is None or new.run is None or new.order - old.order > 1:
        return False
    if old.step.success is not False or not MISUSED.search(old.step.printed[:SAYS_SO]):
        return False
    things, line = _things(old.run), new.run.normal
    if len(things) < 2 or _family(old.run) != _family(new.run):
        return False
    return all(re.search(rf"(?<![\w.-]){re.escape(one)}(?![\w-])", line) for one in things)


MISUSED = later(
    r"(?im)^usage:|\b(?:accepts|requires|takes|expects) (?:(?:at most|at least|exactly|only|between|no) )?"
    r"(?:\d+ )?(?:and \d+ )?arg|\btoo (?:many|few) arguments|\bunexpected argument"
    r"|\b(?:unknown|invalid|illegal|unrecogni[sz]ed|no such) (?:shorthand |command )?"
    r"(?:flag|option|argument|subcommand)"
)
"""How a program says that it was not given what it takes."""


def _unknown_skill(old: Attempt, new: Attempt) -> bool:
    """A skill that there is none of; then one whose name holds its name, its page or its command."""
    name = _skill(old.step).rpartition(":")[2]
    if not name or old.step.success is not False or not UNKNOWN.search(old.step.printed[:SAYS_SO]):
        return False
    if new.run is None:
        folder, page = posixpath.split(posixpath.splitext(new.path or "")[0])
        own = "/skills/" in folder and name in (page, posixpath.basename(folder))
        return own or name in (*_skill(new.step).split(":"), *re.split(r"\W|_", _skill(new.step)))
    names = (one.name.split() or one.words[:1] for one in new.run.simples)
    return any(name in words[-1:] for words in names)


def _skill(step: Step) -> str:
    """The skill that a call names: `commit-commands:commit`."""
    match step.call.input if step.call and step.like == "Skill" else None:
        case {"skill": str(name)} | {"command": str(name)}:
            return name.strip()
    return ""


def _same_pattern_by_another_tool(old: Attempt, new: Attempt) -> bool:
    """The same pattern, to the letter, looked for in files by another tool."""
    return old.step.tool != new.step.tool and not _patterns(old).isdisjoint(_patterns(new))


def _patterns(one: Attempt) -> set[str]:
    """What a search in files looks for, as it was sent: the names of files are no such pattern."""
    match one.step.call.input if one.step.call and one.step.like == "Grep" else None:
        case {"pattern": str(pattern)} if len(pattern) >= 4:
            return {pattern}
    found = searches_of(one.run) if one.run is not None else ()
    inside = [simple for simple in found if simple.name in SEARCHES]
    words = ((simple, word) for simple in inside for word in operands(simple))
    return {word for simple, word in words if word not in simple.reads and len(word) >= 4}


def _same_path_by_another_tool(old: Attempt, new: Attempt) -> bool:
    """A file or folder that one tool refused, read by another."""
    if old.step.operation != "read" or new.step.operation not in LOOKS:
        return False
    if new.step.operation == "search" and new.order - old.order > SOON:
        return False
    failed = old.step.success is False
    return failed and old.step.tool != new.step.tool and bool(old.paths & new.paths)


def _looked_for_by_name(old: Attempt, new: Attempt) -> bool:
    """A file that was not there; its name is looked for soon after."""
    if old.step.operation != "read" or new.step.operation != "search" or old.path is None:
        return False
    if new.order - old.order > SOON or not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    name = posixpath.basename(old.path)
    stem = posixpath.splitext(name)[0]
    return len(stem) >= 5 and not new.terms.isdisjoint((name, stem))


def _same_folder(old: Attempt, new: Attempt) -> bool:
    """A file that was not there; the next of its folder, not known before, is read soon after.

    Where the failure itself named it, it may have been known.
    """
    if old.path is None or new.path is None or old.step.tool != new.step.tool:
        return False
    if old.step.operation != "read":
        return False  # the text that an edit did not find is no file
    if new.order - old.order > SOON or not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    folder, name = posixpath.split(new.path)
    if posixpath.dirname(old.path) != folder:
        return False
    if any(posixpath.dirname(one.path or "") == folder for one in _since(old, new)):
        return False
    known = any(_names(one, new.path) for one in new.before if _is_by(one, old))
    return name in old.step.printed or not known


def _since(old: Attempt, new: Attempt) -> Iterator[Attempt]:
    """The actor's calls between two messages."""
    return (one for one in new.before if not _is_by(one, old))


def _is_by(one: Attempt, other: Attempt) -> bool:
    """Whether a call was made before another, or together with it."""
    group = one.step.parallel_group
    return one.order <= other.order or (group is not None and group == other.step.parallel_group)


def _names(one: Attempt, path: str) -> bool:
    """Whether an output names a file: with its folder, or alone where it tells of that folder."""
    shown, (folder, name) = one.step.printed, posixpath.split(path)
    if f"{posixpath.basename(folder)}/{name}" in between_slashes(shown):
        return True
    return folder in one.paths and name in shown.split()


def _other_form(old: Attempt, new: Attempt) -> bool:
    """A file that was not there, read with another ending, or `cart/mod.rs` for `cart.rs`."""
    if old.step.operation != "read" or new.step.operation != "read":
        return False
    if old.step.success is not False or not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    a, b = ({_module(path) for path in one.paths} for one in (old, new))
    return old.paths.isdisjoint(new.paths) and not a.isdisjoint(b)


def _module(path: str) -> str:
    """What a file is called without its ending: its folder where it speaks for that.

    `.env.example` is no other form of `.env`.
    """
    if posixpath.basename(path).startswith("."):
        return path
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    return folder if name in ("mod", "index", "__init__") else stem


MISSING = later(r"(?i)does not exist|no such file|not found|ENOENT")
SAYS_SO = 300
"""Within so many characters of an output."""


def _same_plan(old: Attempt, new: Attempt) -> bool:
    """A plan that was sent back, offered again."""
    return old.step.like in PLAN_EXITS and new.step.like in PLAN_EXITS


def _similar_command(old: Attempt, new: Attempt) -> bool:
    """The same program with something changed, soon after."""
    if old.run is None or new.run is None:
        return False
    if old.run.check is not None and old.run.check != new.run.check:
        return False
    if old.side == new.side == "change":
        return False  # patches are alike whatever they change
    if _cover_others(old.run, new.run) or _looks_for_others(old, new):
        return False
    if old.run.main in LISTS and _looks_inside(old) != _looks_inside(new):
        return False
    likely = old.run.main == new.run.main and _same_target(old, new)
    if not likely and not _shares_script(old.run, new.run):
        return False
    if _wordless(old.run) == _wordless(new.run):
        return True
    soon = new.order - old.order <= SOON
    if soon and old.step.success is False and new.run.normal.startswith(f"{old.run.normal} "):
        return True
    floor = 0.55 if new.order - old.order <= 2 * SOON else 0.8
    return are_alike(old.run.normal, new.run.normal, floor)


def _part_mended(old: Attempt, new: Attempt) -> bool:
    """The one command of a line whose argument its error quotes, with another argument, soon after."""
    if old.run is None or new.run is None or new.order - old.order > SOON:
        return False
    part = _quoted(old.run, old.step.printed) if old.step.success is False else None
    if part is None or part.check is not None or part.operation in LOOKS:
        return False
    words = set(operands(part))
    return any(
        one.words[:1] == part.words[:1]
        and not words.isdisjoint(operands(one))
        and are_alike(" ".join(part.words), " ".join(one.words), NEARLY)
        for one in new.run.simples
    )


def _quoted(run: Command, printed: str) -> Simple | None:
    """The only command of a line of which the last line of an output quotes a word of its own."""
    named = [set(operands(simple)) for simple in run.simples]
    times = Counter(word for words in named for word in words)
    said = _last_words(printed)
    own = [{word for word in words & said if times[word] == 1} for words in named]
    found = [simple for simple, words in zip(run.simples, own, strict=True) if words]
    return found[0] if len(found) == 1 < len(named) else None


def _last_words(printed: str) -> set[str]:
    """The words of the last line of an output."""
    return {word.strip(MARKS) for word in printed.strip().rpartition("\n")[2].split()}


MARKS = ".,:;'\"`‘’()"
"""What stands about a word that an error quotes."""


def _path_mended(old: Attempt, new: Attempt) -> bool:
    """The same command with a file from another folder, of a name that the last error quotes, soon after."""
    if old.run is None or new.run is None or new.order - old.order > SOON:
        return False
    if old.step.success is not False or old.run.check is not None:
        return False
    quoted = {word for word in _last_words(old.step.printed) if "/" in word}
    wrong = {(one.name, _called(word)) for one in old.run.simples for word in quoted & {*one.words}}
    again = ((one.name, _called(word)) for one in new.run.simples for word in operands(one))
    return any(name and (name, called) in wrong for name, called in again)


def _in_a_longer_line(old: Attempt, new: Attempt) -> bool:
    """The only command of a line in a longer one, whatever its flags and wherever its files lie, soon after."""
    if old.run is None or new.run is None or new.order - old.order > SOON:
        return False
    if old.step.success is not False or len(old.run.simples) != 1 or len(new.run.simples) < 2:
        return False
    asked = _asked(old.run.simples[0])
    return len(asked) > 1 and any(_asked(one) == asked for one in new.run.simples)


def _asked(simple: Simple) -> list[str]:
    """The words of a command without its flags and what it says to people, paths by their last part."""
    return [last_part(word) for word in _unsaid(simple) if not word.startswith("-")]


def _blanks_quoted(old: Attempt, new: Attempt) -> bool:
    """The same program with one argument in place of several that its blanks had made, soon after."""
    if old.run is None or new.run is None or new.order - old.order > SOON:
        return False
    if old.step.success is not False:
        return False
    return any(
        one.words[:1] == other.words[:1] and _stands_in(word.split(" "), one.words)
        for other in new.run.simples
        for word in operands(other)
        if " " in word
        for one in old.run.simples
    )


def _stands_in(parts: list[str], words: Sequence[str]) -> bool:
    """Whether words stand one behind the other among others."""
    ends = range(len(parts), len(words) + 1)
    return any(list(words[end - len(parts) : end]) == parts for end in ends)


def _looks_for_others(old: Attempt, new: Attempt) -> bool:
    """Whether two searches are for words of which none is much like one of the other."""
    if not old.terms or not new.terms:
        return False
    return not any(are_alike(x, y, NEARLY) for x in old.terms for y in new.terms)


LISTS = frozenset(["find", "fd", "git ls-files", "ls"])
"""Commands that print the names of files."""
INSIDE = later(r"(?:\bxargs|-exec|-x)\s[^|;&]{0,200}\b(?:[ef]?grep|rg|ag)\b")
"""How a line looks for words in the files that it lists."""


def _looks_inside(one: Attempt) -> bool:
    """Whether a line that lists files looks for words in them, not in their names."""
    return INSIDE.search(one.step.input or "") is not None


def _cover_others(old: Command, new: Command) -> bool:
    """Whether two checks are limited to different things: files, or tests by their names."""
    a, b = ({one.strip("^$") for one in run.covers} for run in (old, new))
    names = ({name for x in one if NAME.fullmatch(x) for name in x.split("|")} for one in (a, b))
    return _are_apart(a, b) or _are_apart(*names)


def _are_apart(a: set[str], b: set[str]) -> bool:
    """Whether both hold something, and nothing of one stands in anything of the other."""
    return bool(a and b) and not any(x in y or y in x for x in a for y in b)


NAME = later(r"[\w|]+")
"""A test's name, not a path."""


def _same_target(old: Attempt, new: Attempt) -> bool:
    """Whether two commands share an operand, name one nearly alike, or have none."""
    if old.run is None or new.run is None:
        return False
    if old.step.operation in LOOKS and new.step.operation in LOOKS and old.paths and new.paths:
        return bool(old.paths & new.paths) and not _apart(old.run, new.run)
    a, b = _targets(old.run), _targets(new.run)
    if not a or not b or a & b or any(KEY.fullmatch(x) and x in new.run.normal for x in a):
        return True
    return any(are_alike(x, y, NEARLY) for x in islice(a, 8) for y in islice(b, 8))


KEY = later(r"\d{6,}")
"""A number that names one thing, wherever it stands."""


def _targets(run: Command) -> set[str]:
    """What the command that a line is for works on, paths by their last part."""
    return {posixpath.basename(one.rstrip("/")) or one for one in _things(run)}


def _things(run: Command) -> set[str]:
    """What the command that a line is for works on, as it names it; no messages."""
    return {
        operand
        for simple in run.simples
        if simple.name == run.main or simple.words[:1] == (run.main,)
        for operand in operands(simple)
        if len(operand) <= MESSAGE and "\n" not in operand
    }


SAID = frozenset(["-m", "-am", "--message", "--title", "--body", "--notes"])
"""Flags whose value is a text for people."""


def _wordless(run: Command) -> list[str]:
    """The words of a line without what it says to people."""
    return [word for simple in run.simples for word in _unsaid(simple)]


def _unsaid(simple: Simple) -> list[str]:
    words = simple.words
    return [w for at, w in enumerate(words) if at == 0 or words[at - 1] not in SAID]


MESSAGE = 80
"""Characters past which an operand is a text, not a name."""
RANGE = later(r"(\d+)(?:,(\d+))?p")


def _apart(old: Command, new: Command) -> bool:
    """Whether two commands show line ranges that do not meet."""
    a, b = (
        [found for s in run.simples for w in s.words if (found := RANGE.fullmatch(w))]
        for run in (old, new)
    )
    if not a or not b:
        return False
    (first, last), (start, end) = ((int(x[1]), int(x[2] or x[1])) for x in (a[0], b[0]))
    return last < start or end < first


NEARLY = 0.75
"""How alike two operands are of which one may be a mending of the other."""


def _word_mended(old: Attempt, new: Attempt) -> bool:
    """The same words but for a mistyped one, after a command or subcommand that is not there."""
    if old.step.success is not False or new.order - old.order > SOON:
        return False
    if old.run is None or new.run is None or len(old.run.simples) != len(new.run.simples):
        return False
    a, b = ([w for one in run.simples for w in one.words] for run in (old.run, new.run))
    if len(a) != len(b) or not _was_unknown(old.step):
        return False
    changed = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return len(changed) == 1 and is_mended(*changed[0])


def _was_unknown(step: Step) -> bool:
    code = step.result.exit_code if step.result else None
    return code == 127 or step.output is None or UNKNOWN.search(step.output[:400]) is not None


UNKNOWN = later(
    r"(?i)not found|unknown|unrecogni[sz]ed|invalid|no such|is not a|did you mean|missing script"
)
"""How a shell or a program says that it knows no such word."""


def _shares_script(old: Command, new: Command) -> bool:
    """A scratch program that was sent again in another way."""
    return "<<" in old.normal and "<<" in new.normal


def _same_delegation(old: Attempt, new: Attempt) -> bool:
    """A subagent for the same: by its brief, or by the title that the brief has.

    A title may have a word more, which another of as many words may not.
    """
    if old.step.like not in AGENT_TOOLS or new.step.like not in AGENT_TOOLS:
        return False
    few, many = sorted((_title(one.step).lower().split() for one in (old, new)), key=len)
    same = few == many if len(few) < 3 else set(few) <= set(many)
    return (bool(few) and same) or are_alike(old.step.input or "", new.step.input or "", 0.6)


def _delegated_otherwise(old: Attempt, new: Attempt) -> bool:
    """The next subagent of a kind that the user turned down, within the same task, in the turn after."""
    kind = _kind(old.step)
    if not never_ran(old.step) or not kind or kind != _kind(new.step):
        return False
    if old.task != new.task or new.step.turn != old.step.turn + 1:
        return False
    return not any(_kind(one.step) for one in _since(old, new))


def _kind(step: Step) -> str:
    """The kind of subagent that a call starts."""
    match step.call.input if step.call and step.like in AGENT_TOOLS else None:
        case {"subagent_type": str(kind)}:
            return kind
    return ""


def _title(step: Step) -> str:
    match step.call.input if step.call else None:
        case {"description": str(title)}:
            return title.strip()
    return ""


def _same_url(old: Attempt, new: Attempt) -> bool:
    """The same page, by whatever tool."""
    return old.url is not None and old.url == new.url


def _handed_in_again(old: Attempt, new: Attempt) -> bool:
    """What was handed in was refused, and something else is handed in by the same tool."""
    ends = old.step.like == new.step.like == "finish"
    return ends and old.step.tool == new.step.tool and old.step.success is False


RULES: tuple[Rule, ...] = (
    Rule("same-command-after-failure", 0.95, _same_command),
    Rule("same-check-after-failure", 0.9, _same_check),
    Rule("same-arguments-after-failure", 0.95, _same_arguments),
    Rule("same-file-after-failure", 0.9, _same_file),
    Rule("written-by-a-line", 0.85, _written_by_a_line),
    Rule("same-url-after-failure", 0.85, _same_url),
    Rule("same-delegation-after-failure", 0.85, _same_delegation),
    Rule("delegated-otherwise", 0.7, _delegated_otherwise),
    Rule("plan-offered-again", 0.9, _same_plan),
    Rule("unknown-skill", 0.75, _unknown_skill),
    Rule("query-with-one-thing-changed", 0.75, _one_thing_changed),
    Rule("one-argument-changed-after-failure", 0.75, _one_argument_changed),
    Rule("arguments-mended", 0.85, _arguments_mended),
    Rule("handed-in-again", 0.85, _handed_in_again),
    Rule("same-path-by-another-tool", 0.8, _same_path_by_another_tool),
    Rule("same-pattern-by-another-tool", 0.85, _same_pattern_by_another_tool),
    Rule("same-file-in-another-form", 0.8, _other_form),
    Rule("same-name-elsewhere", 0.75, _same_name_elsewhere),
    Rule("same-words-looked-for", 0.7, _looks_for_the_same),
    Rule("searched-more-widely", 0.8, _searched_more_widely),
    Rule("shares-an-alternative", 0.7, _shares_an_alternative),
    Rule("looked-for-by-a-program", 0.75, _looked_for_by_a_program),
    Rule("same-object-after-nothing", 0.75, _same_object),
    Rule("asked-rightly-after-misuse", 0.75, _asked_rightly),
    Rule("by-another-program", 0.75, _by_another_program),
    Rule("described-alike", 0.8, _described_alike),
    Rule("looked-for-by-name", 0.75, _looked_for_by_name),
    Rule("same-folder-after-missing-file", 0.65, _same_folder),
    Rule("word-mended-after-failure", 0.85, _word_mended),
    Rule("part-mended-after-failure", 0.75, _part_mended),
    Rule("blanks-quoted", 0.9, _blanks_quoted),
    Rule("path-mended-after-failure", 0.75, _path_mended),
    Rule("in-a-longer-line", 0.8, _in_a_longer_line),
    Rule("similar-command-after-failure", 0.7, _similar_command),
)
