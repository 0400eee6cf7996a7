"""Failures that only the words of an output tell: a summary, a crash, nothing but a complaint."""

import re
from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.commands import MOVES, REMOVES, Command, Simple
from forsy_retrace.frames import below_header
from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed
from forsy_retrace.trace import shortened

from ..rule import Rule
from ..shells import RUNS_CODE
from .begun import says_it_never_began
from .found import looks_up
from .runners import (
    CALLED_ERROR,
    CHECKED,
    CRASHED,
    ERROR_ONLY,
    OWN,
    TAIL,
    Verdict,
    kinds_of,
    read_summary,
)

OPENS = Rule(
    "opens-with-error",
    "The answer of an MCP server or a web search opens with its error, though no flag says so.",
    0.9,
)
INDENT = later(r"(?m)^[ \t]+")
"""What a line puts before each line that it prints: `| sed 's/^/  /'`."""
LONGEST = 60
"""Lines of an output that may be nothing but a complaint."""
USAGE_ERROR = later(
    r"(?i)^(?:\S+: )?(?:error: )?(?:unexpected|unknown|unrecogni[sz]ed|invalid|illegal)"
    r" (?:argument|option|flag|(?:sub)?command|parameter|json field)|^failed to parse \w+ expression\b"
)
"""How a program complains about its arguments before it prints its usage, what it knows, or a mark
below the place that it can't read."""
LISTERS = frozenset(["gofmt", "gofumpt", "goimports"])
"""Formatters that exit with 0 whatever they find."""
UNFORMATTED = later(r"(?m)^(?:diff .*|\S.*\.go)$")
"""How they name a file that is not as they would have it, or show how they would change one."""


def lists_unformatted(text: str, run: Command) -> bool:
    """Whether a formatter that only looks found something to change."""
    looks = any(one.check and one.name in LISTERS for one in run.simples)
    return looks and UNFORMATTED.search(text) is not None


FAILURE_TOLD = later(
    r"(?im)\b(?:success|succeeded|passed|ok)[\"']?\s*[:=]\s*false\b|^Traceback \(most recent call last\):"
    r"|^[^\w\n]{0,8}(?:failed|failure)\b(?!\W{0,3}0\b)|^panic: "
)
"""How a program tells of a failure, its own or that of what it ran."""
ERROR_TOLD = later(r"(?i)\berror: ")
"""So does this where no exit status speaks for it; else it may be a library's that it gets over."""


def speaks_of_failure(text: str, *, is_hidden: bool) -> bool:
    """Whether a run tells of a failure: then its exit status, told or hidden, is no pass."""
    found = FAILURE_TOLD.search(text) or (is_hidden and ERROR_TOLD.search(text))
    return bool(found)


OPENS_WITH_ERROR: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        later(r"mcp__"),
        later(
            r"\s*(?=### Error\b|Error: |MCP error -?\d+"
            r"|Content at \S{1,1000} could not be (?:retrieved|fetched|loaded)\.)"
        ),
    ),
    (
        later(r"WebSearch$"),
        later(r"(?:Web search results for query: [^\n]{0,1000}\n\s*)?(?=Web search error: )"),
    ),
)
"""Tools that flag no error, and how an answer of theirs begins that is nothing but one."""
MOST = 200
"""Characters of a failure's words that a trace repeats."""
PROMPTED = later(r"(?m)^(?:>>>|In \[\d+\]:|\(Pdb\)|ipdb>) \S")
"""A line behind Python's prompt: an error is of what was typed there, and Python goes on."""


def failed_by_its_own_words(
    text: str, run: Command | None, tool: str, *, untold: bool
) -> Verdict | None:
    """A failure that the exit status did not tell: something else's was seen, or none (`untold`)."""
    for of, opening in OPENS_WITH_ERROR:
        if of.match(tool) and (found := opening.match(text)):
            error = text[found.end() :].split("\n", 1)[0].strip()
            return Verdict(False, OPENS.name, OPENS.confidence, shortened(error, MOST, ""))
    bare = below_header(text)
    if not bare.strip():
        return None
    if not (untold or (run is not None and run.masked)):
        return _of_a_hidden_check(bare, run)
    if (run is None or run.check is None) and PROMPTED.search(bare):
        return None
    summary = _summary(bare, run, tool)
    if summary is not None and not summary.passed:
        return summary
    for row in COMPLAINTS:
        if words := row.test(bare, run):
            return Verdict(False, row.rule, row.confidence, shortened(words, MOST, ""))
    return None


def _summary(text: str, run: Command | None, tool: str = "") -> Verdict | None:
    """What the runner of a check says at its end, a program that crashed, or what the line is for."""
    if run is not None and run.check is not None:
        return read_summary(text) or read_summary(INDENT.sub("", text))
    runs = run.operation in ("execute", "verify") if run else tool in RUNS_CODE
    main = run.main.partition(" ")[0] if run is not None else ""
    own = [row for row in CHECKED if main in OWN.get(row.rule, ())]
    return read_summary(text, (*own, *(CRASHED if runs else ())))


def _of_a_hidden_check(text: str, run: Command | None) -> Verdict | None:
    """What tells that a check failed of which the exit status of another, behind it, says nothing."""
    hidden = {one.check for one in run.simples if one.check} - set(run.told) if run else set()
    found = read_summary(text, CHECKED) if hidden else None
    if found is None or found.passed or not hidden.intersection(kinds_of(found)):
        return None
    return found


def _never_began(text: str, run: Command | None) -> str:
    """The exit is masked or not told; the runner, or the shell, says nothing but that there was nothing to check."""
    is_check = run is not None and run.check is not None
    if not is_check or not says_it_never_began(text) or _summary(text, run) is not None:
        return ""
    return text.strip().splitlines()[0]


def _own_excuse(text: str, run: Command | None) -> str:
    """What the line's own `|| echo` says of a failure was printed, for the command that the line is for.

    A lookup before it may have come to nothing in its place.
    """
    if run is None:
        return ""
    said = {line.strip() for line in text.splitlines()}
    for one in run.excuses:
        before = run.simples[one.first : run.place]
        if one.first <= run.place < one.end and not any(map(looks_up, before)):
            words = one.words.strip()
            if words in said and FAILS.search(words):
                return words
    return ""


def _usage_error(text: str, run: Command | None) -> str:
    """The exit is masked or not told; a complaint about an argument, and the usage behind it."""
    lines = _complaint(text, run)
    if run is None or not lines or not USAGE_ERROR.match(lines[0]):
        return ""
    points = any(line[0] == "^" for line in lines[1:])
    helps = len(lines) <= 12 and ("sage:" in text or points)
    return lines[0] if helps or lines[1:2] == ["Available fields:"] else ""


def _error(text: str, run: Command | None) -> str:
    """The exit is masked or not told; the output is nothing but a tool's error message, or a server's refusal with its status."""
    if run is not None and run.surface == "api" and (answer := _refused(text)):
        return answer
    lines = [line for line in _complaint(text, run) if not HELP.match(line)]
    is_error = 0 < len(lines) <= 3 and all(_complains(line, run) for line in lines)
    return lines[0] if is_error else ""


class Row(NamedTuple):
    """A way in which an output tells of a failure; its test's docstring is its sentence."""

    rule: str
    confidence: float
    test: Callable[[str, Command | None], str]
    """Gives the output's words; empty where it does not hold."""


COMPLAINTS: tuple[Row, ...] = (
    Row("says-it-never-began", 0.9, _never_began),
    Row("says-it-failed", 0.9, _own_excuse),
    Row("nothing-but-a-usage-error", 0.9, _usage_error),
    Row("nothing-but-an-error", 0.85, _error),
)
"""The first that holds decides."""


def _complaint(text: str, run: Command | None) -> list[str]:
    """The lines of a short output, but for what its command echoes; none of a long one."""
    if text.count("\n") > LONGEST:
        return []
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[:2] != "> "]
    own = _own_words(run)
    return [line for line in lines if line not in own or ERROR_ONLY.match(line)]


def _refused(text: str) -> str:
    """What a server's refusal says, where that is the whole output; empty for any other."""
    match parsed(text) if text.lstrip()[:1] == "{" and len(text) < TAIL else None:
        case {"message": str(said), "status": str() | int() as status}:
            return (
                f"{shortened(said, MOST, '')} ({status})" if REFUSED.fullmatch(str(status)) else ""
            )
    return ""


REFUSED = later(r"[45][0-9]{2}")
"""A status with which a server says no."""
FAILS = later(r"(?i)\b(?:fail(?:s|ed|ure)?|errors?|could not|couldn't|cannot|can't|unable)\b")
"""How a line speaks of its own failure; of a mere probe it says what there is not."""


def _own_words(run: Command | None) -> frozenset[str]:
    """What a line echoes of its own, but for the words that it has for a failure."""
    if run is None:
        return frozenset()
    return frozenset(map(echoed, run.simples)) - {one.words.strip() for one in run.excuses}


def echoed(simple: Simple) -> str:
    """The words of an `echo`; empty for any other command."""
    return " ".join(simple.words[1:]).strip() if simple.words[:1] == ("echo",) else ""


SHELLS = frozenset(["bash", "sh", "zsh", "fish", "dash", "ksh", "(eval)"])
"""What an error message names in front, where it is not the program."""
SHOWS = ("read", "search", "other")
"""Operations that print what they look at, or their own words."""
HELP = later(
    r"(?i)^check your internet connection\b|^(?-i:LINE \d+|HINT|DETAIL|CONTEXT|QUERY): |^\^$|^(?:try|see|run|use) .{0,60}(?:--help|-h\b|\bhelp\b|\bman )"
)
"""Where a complaint says that more is told, or where in a query it stands."""


def _complains(line: str, run: Command | None) -> bool:
    """An error message that says so; any other names its program or shell in front.

    So does every one of what shows data.
    """
    if run is None:
        return CALLED_ERROR.match(line) is not None
    if any(of in run.programs and words.fullmatch(line) for of, words in REFUSALS.items()):
        return True
    if not ERROR_ONLY.match(line) or _says_gone(line, run):
        return False
    if run.operation not in SHOWS and any(map(CALLED_ERROR.match, (line, line.partition(": ")[2]))):
        return True
    programs = frozenset(name.rpartition("/")[2] for name in run.programs) - ECHOES
    programs = programs.union(*(SPEAKS_AS.get(name, ()) for name in programs))
    speaker = line.partition(":")[0].strip().rpartition("/")[2].lower()
    speaker = CODE.sub("", speaker)
    return bool(programs) and (speaker in programs or speaker in SHELLS)


def _says_gone(line: str, run: Command) -> bool:
    """Whether a listing does not find something behind a command that removes or moves things."""
    speaker, _, rest = line.partition(":")
    if speaker not in ("ls", "stat", "du") or not rest.endswith("No such file or directory"):
        return False
    names = [one.words[0] if one.words else "" for one in run.simples]
    before = run.simples[: names.index(speaker)] if speaker in names else ()
    return any(one.name in REMOVES or one.name in MOVES for one in before)


SPEAKS_AS = {
    "git": ("fatal", "error", "remote"),
    "gh": ("graphql", "error connecting to api.github.com"),
    "mysql": ("error",),
    "mysqldump": ("error",),
    "mariadb": ("error",),
}
"""What programs write in front of an error message in place of their names."""
REFUSALS = {
    "gh": later(
        r"(?i)(?:run|job) \d+ is still in progress; logs will be available when it is complete"
        r"|no checks reported on the .+ branch|no (?:open )?pull requests found for branch .+"
        r"|(?:failed to determine base repo: )?(?:no git remotes found"
        r"|none of the git remotes configured for this repository .+)"
        r"|to get started with github cli, please run: .+|alternatively, populate the \w+ environment variable .+"
    ),
    "aws": later(
        r"(?i)(?:aws: \[error\]: )?an error occurred \(\w+\)(?: when calling the \w+ operation.*)?: .+"
        r"|unable to locate credentials\..*"
    ),
    "kubectl": later(
        r"(?i)error from server(?: \(\w+\))?: .+|unable to connect to the server: .+"
        r"|the connection to the server \S+ was refused\b.*"
    ),
    "docker": later(r"(?i)cannot connect to the docker daemon\b.*|error response from daemon: .+"),
}
"""How programs refuse that name neither themselves nor an error in front."""
CODE = later(r" \d+ \(\w+\)(?: at line \d+)?$")
"""The number of an error, its SQL state and its place, behind the word."""
ECHOES = frozenset(["echo", "printf", "print"])
"""Programs that print the words that they are given."""
