"""What tools other than Git say in lines of their own that they did: quoted, and nothing more."""

from collections.abc import Callable
from re import Pattern
from typing import NamedTuple

from forsy_retrace.commands import REWRITES, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..outputs.printed import bare_output


class Line(NamedTuple):
    """A line by which some commands say that they did something."""

    is_of: Callable[[Simple], bool]
    pattern: Pattern[str]
    beside: Callable[[Simple], bool] = lambda one: True
    """What may stand beside them: what else prints such lines may not."""


CHANGES_AN_ISSUE = ("add", "close", "create", "delete", "dep", "reopen", "update")
QUIET = ("git add", "git commit", "git push", "npm publish")
LINES = (
    Line(  # npm, pnpm, Go, pip, Cargo, uv
        lambda one: one.operation == "install" and "--dry-run" not in one.words,
        later(
            r"(?m)^(?:(?:added|removed|changed) [1-9]\d* packages?\b|go: (?:added|upgraded|downgraded|removed) \S"
            r"|Successfully (?:un)?installed |[ \t]{1,20}Adding \S+ v\S+ to |(?:Uni|I)nstalled [1-9]\d* packages? in ).*"
        ),
    ),
    Line(  # Biome, Black, Ruff, standard
        lambda one: one.role in REWRITES,
        later(
            r"(?m)^(?:(?:Checked \d+ files? in \S+ )?Fixed [1-9]\d* (?:files?|errors?)\b|[1-9]\d* files? reformatted\b|reformatted \S"
            r"|Found \d+ errors? \([1-9]\d* fixed\b).*"
        ),
    ),
    Line(  # Mix's generators, Ecto's migrations
        lambda one: one.words[:1] == ("mix",) and one.check is None,
        later(r"(?m)^\* creating \S+$|^(?:[\d:.]{1,15} \[info\] )?== Migrated \d+ in [\d.]+s$"),
    ),
    Line(
        lambda one: one.words[:2] == ("npm", "version") and len(one.words) > 2,
        later(r"(?m)^v\d{1,9}\.\d{1,9}\.\d{1,9}(?!\d)\S{0,60}$"),
        lambda one: one.role == "prep" or one.name in QUIET,
    ),
    Line(
        lambda one: (
            one.words[:1] == ("bd",) and one.words[1:2] != () and one.words[1] in CHANGES_AN_ISSUE
        ),
        later(r"(?m)^✓ (?:Added|Closed|Created|Updated) .*"),
        lambda one: one.role == "prep" or one.words[:1] == ("bd",),
    ),
)
STOPPED = later(r"Successfully (?:killed|stopped) (?:shell|task): \w+")
"""How Claude Code says that it ended what ran in the background."""
STARTED = later(r"Server started successfully on port \d+(?=\.)")
"""How Claude's browser says that it began to serve what it is to show."""
STOPS = ("KillBash", "KillShell", "TaskStop")
MOST_SAID = 3
LONGEST = 200


def said(step: Step) -> str | None:
    """`The output says “go: added github.com/shop/till v1.2.0”.`"""
    if step.success is False:
        return None
    patterns = [STOPPED] if step.like in STOPS else []
    patterns += [STARTED] if (step.tool or "").endswith("__preview_start") else []
    simples = step.run.simples if step.run is not None else ()
    for row in LINES:
        own = [one for one in simples if row.is_of(one)]
        if own and all(row.beside(one) for one in simples if one not in own):
            patterns.append(row.pattern)
    if not patterns:
        return None
    text = bare_output(step)
    lines = [found[0].strip() for one in dict.fromkeys(patterns) for found in one.finditer(text)]
    told = [f"“{line}”" for line in dict.fromkeys(lines) if len(line) <= LONGEST]
    more = f" and {len(told) - MOST_SAID} more lines" if len(told) > MOST_SAID + 1 else ""
    shown = told[:MOST_SAID] if more else told
    began = step.result is not None and step.result.outcome == "launched"
    which = "Its later output" if began else "The output"
    return f"{which} says {', '.join(shown)}{more}." if told else None
