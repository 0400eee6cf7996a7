"""Calls that are made again with what was wrong in them mended."""

import posixpath
import re
from collections import Counter
from collections.abc import Sequence

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.sdk import text_of
from forsy_retrace.trace import Step

from ..causes.needles import last_part
from ..outputs.begun import NO_PROGRAM
from .attempts import LOOKS, NEARLY, SAYS_SO, Attempt, acts, operands
from .commands import family, things, unsaid
from .files import called, since
from .histories import is_mended
from .likeness import are_alike

DIGITS = later(r"\d+")
NUMBERED = later(r"[\w#-]+")
"""A name with a number in it: with another number it names another order, page or process."""


def one_argument_changed(old: Attempt, new: Attempt) -> bool:
    """The same call of a tool of its own kind, with one argument a little changed, or much the same text, soon after a failure.

    Of a call that the user turned down or called wrong the one argument may change in any way.
    """
    if old.step.tool != new.step.tool or old.run is not None or old.path is not None:
        return False
    if old.step.call is None or (old.step.success is not False and not acts(old.step)):
        return False
    a, b = old.step.call.input, new.step.call.input if new.step.call else None
    if isinstance(a, str) and isinstance(b, str):
        return old.step.success is False and a.count(" ") >= TEXT and are_alike(a, b, 0.7)
    if not isinstance(a, dict) or not isinstance(b, dict):
        return False
    changed = [k for k in {**a, **b} if a.get(k) != b.get(k)]
    if len(changed) != 1:
        texts = ((text_of(a[k]), text_of(b[k])) for k in a if k in b)
        return any(x.count(" ") >= TEXT and (x == y or are_alike(x, y, 0.7)) for x, y in texts)
    if (changed[0] in a) != (changed[0] in b):  # one thing left out, or added
        return len(a) + len(b) > 1
    turned_down = old.step.told is not None and old.step.told.outcome == "rejected"
    if turned_down or old.step.success is not False:
        return len(a) > 1
    before, after = (text_of(sent.get(changed[0])) for sent in (a, b))
    if NUMBERED.fullmatch(before) and DIGITS.sub("", before) == DIGITS.sub("", after):
        return False
    return are_alike(before, after, 0.7)


def arguments_mended(old: Attempt, new: Attempt) -> bool:
    """The same tool at once, after a call that was refused for its arguments."""
    if old.step.tool != new.step.tool or new.run is not None or new.order == old.order:
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


def by_another_program(old: Attempt, new: Attempt) -> bool:
    """The same word given to another program, at once after one that is not installed."""
    if not NO_PROGRAM.search((old.step.output or "")[-SAYS_SO:]):
        return False
    said = _last_words(old.step.printed)
    missing = [one for one in old.line.simples if said & {*one.words[:1]}] or old.line.simples[-1:]
    return any(
        one.words[:1] != other.words[:1] and not set(one.words[1:]).isdisjoint(other.words[1:])
        for one in missing
        for other in new.line.simples
    )


def asked_rightly(old: Attempt, new: Attempt) -> bool:
    """The same program with all that it was to work on, at once after it was used wrongly."""
    if old.step.success is not False or not MISUSED.search(old.step.printed[:SAYS_SO]):
        return False
    named, line = things(old.line), new.line.normal
    if len(named) < 2 or family(old.line) != family(new.line):
        return False
    return all(re.search(rf"(?<![\w.-]){re.escape(one)}(?![\w-])", line) for one in named)


MISUSED = later(
    r"(?im)^usage:|\b(?:accepts|requires|takes|expects) (?:(?:at most|at least|exactly|only|between|no) )?"
    r"(?:\d+ )?(?:and \d+ )?arg|\btoo (?:many|few) arguments|\bunexpected argument"
    r"|\b(?:unknown|invalid|illegal|unrecogni[sz]ed|no such) (?:shorthand |command )?"
    r"(?:flag|option|argument|subcommand)"
)
"""How a program says that it was not given what it takes."""


def unknown_skill(old: Attempt, new: Attempt) -> bool:
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


def part_mended(old: Attempt, new: Attempt) -> bool:
    """The one command of a line whose argument its error quotes, with another argument, soon after."""
    part = _quoted(old.line, old.step.printed) if old.step.success is False else None
    if part is None or part.check is not None or part.operation in LOOKS:
        return False
    words = set(operands(part))
    return any(
        one.words[:1] == part.words[:1]
        and not words.isdisjoint(operands(one))
        and are_alike(" ".join(part.words), " ".join(one.words), NEARLY)
        for one in new.line.simples
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


def path_mended(old: Attempt, new: Attempt) -> bool:
    """The same command with a file from another folder, of a name that the last error quotes, soon after."""
    if old.step.success is not False or old.line.check is not None:
        return False
    quoted = {word for word in _last_words(old.step.printed) if "/" in word}
    wrong = {(one.name, called(word)) for one in old.line.simples for word in quoted & {*one.words}}
    again = ((one.name, called(word)) for one in new.line.simples for word in operands(one))
    return any(name and (name, file) in wrong for name, file in again)


def in_a_longer_line(old: Attempt, new: Attempt) -> bool:
    """The only command of a line, maybe before what shows something, in a longer one, whatever its flags and wherever its files lie, soon after."""
    if old.step.success is not False or not old.line.simples or len(new.line.simples) < 2:
        return False
    alone, *behind = old.line.simples
    if behind and (alone.role != "work" or any(one.role != "view" for one in behind)):
        return False
    asked = _asked(alone)
    is_told = len(asked) > 1 or alone.rule == "run-program"
    return is_told and any(_asked(one) == asked for one in new.line.simples)


def end_of_a_line(old: Attempt, new: Attempt) -> bool:
    """The last command of a line that failed, by itself, whatever its flags, soon after."""
    work = [one for one in new.line.simples if one.role != "view"]
    if old.step.success is not False or len(old.line.simples) < 2 or len(work) != 1:
        return False
    *before, last = [one for one in old.line.simples if one.role != "view"] or old.line.simples
    asked = _asked(last)
    return bool(before) and len(asked) > 1 and asked == _asked(work[0]) and not old.line.check


ASKS_FOR_A_COMMIT = "fix conflicts and then commit the result"


ENDS_A_MERGE = later(
    r"\bgit (?:-C \S+ )?(?:reset\b[^;&|]*--(?:hard|merge)|(?:checkout|switch)\b[^;&|]* (?:-f|--force)\b|\w+ --abort|rebase\b)"
)
"""What takes a conflict back: a commit behind it is another's."""


def gone_on_with(old: Attempt, new: Attempt) -> bool:
    """What Git had stopped at, mostly a conflict, gone on with: `git rebase --continue`.

    A merge goes on by the commit that it asks for.
    """
    if old.step.success is not False:
        return False
    commits = new.step.success and any(one.name == "git commit" for one in new.line.simples)
    if commits and ASKS_FOR_A_COMMIT in old.step.printed:
        return not any(one.run and ENDS_A_MERGE.search(one.run.normal) for one in since(old, new))
    on = {
        one.name for one in new.line.simples if "--continue" in one.words and one.words[0] == "git"
    }
    return bool(on) and not {*on, "git pull"}.isdisjoint(one.name for one in old.line.simples)


def _asked(simple: Simple) -> list[str]:
    """The words of a command without its flags and what it says to people, paths by their last part."""
    return [last_part(word) for word in unsaid(simple) if not word.startswith("-")]


def blanks_quoted(old: Attempt, new: Attempt) -> bool:
    """The same program with one argument in place of several that its blanks had made, soon after."""
    if old.step.success is not False:
        return False
    return any(
        one.words[:1] == other.words[:1] and _stands_in(word.split(" "), one.words)
        for other in new.line.simples
        for word in operands(other)
        if " " in word
        for one in old.line.simples
    )


def _stands_in(parts: list[str], words: Sequence[str]) -> bool:
    """Whether words stand one behind the other among others."""
    ends = range(len(parts), len(words) + 1)
    return any(list(words[end - len(parts) : end]) == parts for end in ends)


def word_mended(old: Attempt, new: Attempt) -> bool:
    """The same words but for a mistyped one, after a command or subcommand that is not there."""
    if old.step.success is not False:
        return False
    if len(old.line.simples) != len(new.line.simples):
        return False
    a, b = ([w for one in run.simples for w in one.words] for run in (old.line, new.line))
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
