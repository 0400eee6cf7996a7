"""The ways in which a call attempts again what another failed at: a table of named rules."""

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Literal, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..outcome import never_ran
from ..tools import AGENT_TOOLS, PLAN_EXITS
from .attempts import AT_ONCE, SOON, WINDOW, Attempt
from .commands import same_check, same_command, similar_command, targets
from .files import (
    looked_for_by_name,
    name_mended,
    other_form,
    same_file,
    same_folder,
    same_name_elsewhere,
    same_path_by_another_tool,
    since,
    substituted_by_a_line,
    written_by_a_line,
)
from .likeness import are_alike
from .lookups import (
    listed_otherwise,
    looked_for_by_a_program,
    looks_for_the_same,
    one_thing_changed,
    same_numbers,
    same_object,
    same_pattern_by_another_tool,
    searched_more_widely,
    shares_an_alternative,
)
from .mended import (
    arguments_mended,
    asked_rightly,
    blanks_quoted,
    by_another_program,
    end_of_a_line,
    gone_on_with,
    in_a_longer_line,
    one_argument_changed,
    part_mended,
    path_mended,
    unknown_skill,
    word_mended,
)

Test = Callable[[Attempt, Attempt], bool]
Of = Literal["any calls", "shell lines", "another tool"]
"""Which calls a rule is for: both are shell lines, or the first is of another tool."""


class Rule(NamedTuple):
    """A way in which two calls attempt the same thing; its test's docstring is its sentence."""

    name: str
    confidence: float
    test: Test
    of: Of = "any calls"
    within: int = WINDOW
    """How many of the actor's calls may lie between them, the later one counted."""
    after: Collection[str] = ()
    """Operations, or tools, of which the first has to be one; empty of a rule for any."""


def _same_arguments(old: Attempt, new: Attempt) -> bool:
    """The same tool with the same arguments."""
    return old.step.tool == new.step.tool and old.step.input == new.step.input


def _described_alike(old: Attempt, new: Attempt) -> bool:
    """A command that the agent describes in the words that it had for one which failed, soon after.

    The same program with other operands works on something else.
    """
    if old.step.success is not False:
        return False
    if old.line.main == new.line.main and targets(old.line).isdisjoint(targets(new.line)):
        return False
    title = _title(old.step).lower()
    return len(title.split()) >= 3 and title == _title(new.step).lower()


def _same_plan(old: Attempt, new: Attempt) -> bool:
    """A plan that was sent back, offered again."""
    return old.step.like in PLAN_EXITS and new.step.like in PLAN_EXITS


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
    return not any(_kind(one.step) for one in since(old, new))


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


def _asked_again(old: Attempt, new: Attempt) -> bool:
    """A question that the user turned down, asked again under the same heading, in some of its words."""
    if not never_ran(old.step) or not old.step.operation == new.step.operation == "ask_user":
        return False
    if _headings(old.step).isdisjoint(_headings(new.step)):
        return False
    return not _words_of(old.step).isdisjoint(_words_of(new.step))


def _headings(step: Step) -> set[str]:
    """What a dialog's questions are headed with."""
    heads = (one.get("header") for one in _questions(step))
    return {head.strip().lower() for head in heads if isinstance(head, str)} - {""}


LONG_WORD = later(r"[^\W\d_]{4,}")
ASKING = later(
    r"about|does|from|have|into|like|other|shall|should|that|their|them|then|there|these|they|this|those|want|what"
    r"|when|where|which|will|with|would|your"
)
"""Long words that any question has."""


def _words_of(step: Step) -> set[str]:
    """The long words of a dialog's questions and of the labels of their options."""
    texts = []
    for one in _questions(step):
        options = one.get("options")
        labels = options if isinstance(options, list) else ()
        texts.append(one.get("question"))
        texts += (label.get("label") for label in labels if isinstance(label, dict))
    said = " ".join(text.lower() for text in texts if isinstance(text, str))
    return {word for word in LONG_WORD.findall(said) if not ASKING.fullmatch(word)}


def _questions(step: Step) -> list[dict[str, object]]:
    match step.call.input if step.call else None:
        case {"questions": [*questions]}:
            return [one for one in questions if isinstance(one, dict)]
    return []


def _same_url(old: Attempt, new: Attempt) -> bool:
    """The same page, by whatever tool."""
    return old.url is not None and old.url == new.url


def _handed_in_again(old: Attempt, new: Attempt) -> bool:
    """What was handed in was refused, and something else is handed in by the same tool."""
    ends = old.step.like == new.step.like == "finish"
    return ends and old.step.tool == new.step.tool and old.step.success is False


READ = frozenset(["read"])
RULES: tuple[Rule, ...] = (
    Rule("same-command-after-failure", 0.95, same_command, "shell lines"),
    Rule("same-check-after-failure", 0.9, same_check, "shell lines"),
    Rule("same-arguments-after-failure", 0.95, _same_arguments),
    Rule("same-file-after-failure", 0.9, same_file),
    Rule("written-by-a-line", 0.85, written_by_a_line, "another tool"),
    Rule("substituted-by-a-line", 0.8, substituted_by_a_line, "another tool"),
    Rule("same-url-after-failure", 0.85, _same_url),
    Rule(
        "same-delegation-after-failure", 0.85, _same_delegation, "another tool", after=AGENT_TOOLS
    ),
    Rule("delegated-otherwise", 0.7, _delegated_otherwise, "another tool", after=AGENT_TOOLS),
    Rule("plan-offered-again", 0.9, _same_plan, "another tool", after=PLAN_EXITS),
    Rule("unknown-skill", 0.75, unknown_skill, "another tool", after=frozenset(["Skill"])),
    Rule("query-with-one-thing-changed", 0.75, one_thing_changed, "another tool", SOON),
    Rule("one-argument-changed-after-failure", 0.75, one_argument_changed, "another tool", SOON),
    Rule("arguments-mended", 0.85, arguments_mended, within=AT_ONCE),
    Rule("asked-again", 0.85, _asked_again, "another tool", SOON),
    Rule("handed-in-again", 0.85, _handed_in_again, after=frozenset(["finish"])),
    Rule("same-path-by-another-tool", 0.8, same_path_by_another_tool, after=READ),
    Rule("same-pattern-by-another-tool", 0.85, same_pattern_by_another_tool),
    Rule("same-file-in-another-form", 0.8, other_form),
    Rule("same-name-elsewhere", 0.75, same_name_elsewhere, after=READ),
    Rule("same-words-looked-for", 0.7, looks_for_the_same, within=SOON),
    Rule("searched-more-widely", 0.8, searched_more_widely, "shell lines"),
    Rule("shares-an-alternative", 0.7, shares_an_alternative, within=SOON),
    Rule("looked-for-by-a-program", 0.75, looked_for_by_a_program, "shell lines", SOON),
    Rule("same-object-after-nothing", 0.75, same_object, "shell lines", AT_ONCE),
    Rule("asked-rightly-after-misuse", 0.75, asked_rightly, "shell lines", AT_ONCE),
    Rule("by-another-program", 0.75, by_another_program, "shell lines", AT_ONCE),
    Rule("same-numbers-after-failure", 0.75, same_numbers, "shell lines", SOON),
    Rule("described-alike", 0.8, _described_alike, "shell lines", SOON),
    Rule("looked-for-by-name", 0.75, looked_for_by_name, within=SOON, after=READ),
    Rule("listed-otherwise", 0.75, listed_otherwise, after=frozenset(["search"])),
    Rule("same-folder-after-missing-file", 0.65, same_folder, within=SOON),
    Rule("name-mended-after-failure", 0.8, name_mended, within=SOON, after=READ),
    Rule("word-mended-after-failure", 0.85, word_mended, "shell lines", SOON),
    Rule("part-mended-after-failure", 0.75, part_mended, "shell lines", SOON),
    Rule("blanks-quoted", 0.9, blanks_quoted, "shell lines", SOON),
    Rule("path-mended-after-failure", 0.75, path_mended, "shell lines", SOON),
    Rule("in-a-longer-line", 0.8, in_a_longer_line, "shell lines", SOON),
    Rule("end-of-a-line", 0.75, end_of_a_line, "shell lines", SOON),
    Rule("gone-on-with", 0.85, gone_on_with, "shell lines"),
    Rule("similar-command-after-failure", 0.7, similar_command, "shell lines"),
)


TOLD_APART = frozenset[str]().union(*(rule.after for rule in RULES))
"""The operations and tools that decide which rules are for a first call."""


def rules_for(old: Attempt, new: Attempt) -> Sequence[Rule]:
    """The rules for such calls, so far apart."""
    first = old.step
    like = first.like if first.like in TOLD_APART else None
    apart = new.order - old.order
    return _rules_for(apart, old.run is not None, new.run is not None, first.operation, like)


@cache
def _rules_for(
    apart: int, is_line: bool, becomes_line: bool, operation: str | None, like: str | None
) -> tuple[Rule, ...]:
    kinds = ["any calls"]
    if is_line and becomes_line:
        kinds.append("shell lines")
    if not is_line:
        kinds.append("another tool")
    return tuple(
        rule
        for rule in RULES
        if rule.of in kinds
        and apart <= rule.within
        and (not rule.after or operation in rule.after or like in rule.after)
    )
