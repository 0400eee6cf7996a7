"""What a line runs: programs, builds of them, and whether it came so far."""

import posixpath
from collections.abc import Iterable

import msgspec

from forsy_retrace.commands import Command, Simple, classify
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..outputs.begun import no_test_ran, says_it_never_began
from ..outputs.found import runs_on
from ..outputs.printed import bare_output, unreached
from ..outputs.runners import CHECKED, CRASHES, Verdict, kinds_of, read_summary
from ..outputs.verdicts import echoed, lists_unformatted, speaks_of_failure

COMPILES = ("go vet", "go build", "golangci-lint", "staticcheck")


def lines_of_go(run: Command, lines: Iterable[str]) -> str:
    """The lines by which Go's compiler and linters are run; empty where they are not known whole."""
    ran = [one for way in (run, *map(classify, lines)) for one in way.simples]
    told = " ".join(" ".join(one.words) for one in ran if one.name.startswith(COMPILES))
    return "" if "…" in told else told


def never_began(step: Step, run: Command) -> bool:
    """Whether a line failed before its check could run, for want of a folder, a tool or a target."""
    if step.success is not False:
        return False
    first = next((at for at, one in enumerate(run.simples) if one.check), run.place)
    if first < unreached(step) or (step.told is not None and step.told.exit_code == 127):
        return True
    return says_it_never_began(step.printed)


def stopped_at(verdict: Verdict | None, run: Command) -> tuple[str, ...]:
    """The kind of the check on a line that failed by its own words; empty where none tells that."""
    kinds = kinds_of(verdict) if verdict is not None and not verdict.passed else ()
    builds = "build" in kinds[:1] and any(map(builds_and_runs, run.simples))
    return next(((kind,) for kind in kinds if builds or kind in kinds_on(run)), ())


def tells_nothing(kind: str, step: Step, run: Command) -> bool:
    """Whether a check that worked ran no test, found what it only lists, or tells of a failure.

    CI that runs on has not passed either.
    """
    if kind == "tests":
        return no_test_ran(step.printed)
    if kind == "run":
        if run.masked and asks_what_it_runs(run) and not bare_output(step).strip():
            return True  # no answer came
        return speaks_of_failure(step.printed, is_hidden=run.masked) or _ends_in_silence(run)
    if kind == "ci":
        return runs_on(step.printed)
    return kind == "lint" and lists_unformatted(step.printed, run)


def _crashed_behind(kind: str, step: Step, run: Command, verdict: Verdict | None) -> bool:
    """Whether only a program crashed that the line ran behind a check which says that it passed."""
    if verdict is None or verdict.rule not in CRASHES or not run.masked:
        return False
    last = max((at for at, one in enumerate(run.simples) if one.check == kind), default=-1)
    behind = run.simples[last + 1 :] if last >= 0 else ()
    own = read_summary(bare_output(step), CHECKED)
    return own is not None and own.passed and any(one.rule == "run-program" for one in behind)


def _ends_in_silence(run: Command) -> bool:
    """Whether a line hides how a shell ended that stops without a word where something fails."""
    ran = (one.words for one in run.simples if one.rule == "run-program")
    return run.masked and any(STOPS.match(" ".join(words)) for words in ran)


STOPS = later(r"(?:ba|da|k|z)?sh (?:-\S+ )*?-[a-z]*e")
"""A shell that is told to stop at the first command that fails."""


def has_passed(kind: str, step: Step, run: Command, verdict: Verdict | None) -> bool | None:
    """Whether a check of this kind passed; None where neither status nor output tells."""
    if never_began(step, run) or (verdict is not None and verdict.rule == REFUSED):
        return None
    if kind == "ci" and step.success is False and verdict is None:
        return None  # some had not ended yet, or the wait for them did
    if not step.success:
        return step.success if not _crashed_behind(kind, step, run, verdict) else True
    if tells_nothing(kind, step, run):
        return None
    if kind == "run" or kind in run.told:
        return True
    if kind == "ci":
        return concluded(bare_output(step), run)
    if (worked := status_printed(kind, step, run)) is not None:
        return worked
    if verdict is not None:
        return verdict.passed
    return True if found_nothing(step, run) else None


def status_printed(kind: str, step: Step, run: Command) -> bool | None:
    """Whether the checks of a kind ended with 0, by an `echo` of `$?` right behind each."""
    if BESIDE.search(step.input or ""):
        return None
    lines = bare_output(step).splitlines()
    after = run.simples[1:]
    said = [echoed(to) for one, to in zip(run.simples, after, strict=False) if one.check == kind]
    codes = [_status_in(words, lines) for words in said]
    is_whole = len(codes) == sum(one.check == kind for one in run.simples)
    return None if not codes or not is_whole or None in codes else not any(codes)


def _status_in(words: str, lines: list[str]) -> int | None:
    """The status that a line has where these words have `$?`; None unless there is one such line."""
    before, marked, behind = words.partition("$?")
    if not marked or "$" in before + behind or "`" in words:
        return None
    framed = [line[len(before) :] for line in lines if line.startswith(before)]
    found = [line.removesuffix(behind) for line in framed if line.endswith(behind)]
    codes = [int(code) for code in found if code.isdecimal() and len(code) <= 3]
    return codes[0] if len(codes) == 1 else None


BESIDE = later(r"(?<![&>|])&(?![&>])")
"""What runs on behind what follows it: `$?` tells nothing of it."""
REFUSED = "git-refused"
"""The row of what Git refused behind a check, or before one that never came."""
CONCLUSION = later(r'\s*\[?\{[^{}]*"conclusion": ?"(\w+)"[^{}]*\}\]?\s*')
"""One run of CI as `gh run list` lists it alone, and how it ended."""


def concluded(text: str, run: Command) -> bool | None:
    """Whether the one run of CI that a text lists passed; None where it goes on, or there are several.

    Or all checks of a request, behind a filter that lets by those that failed: `grep -E 'pass|fail'`.
    """
    found = CONCLUSION.fullmatch(text) if text.count('"conclusion"') == 1 else None
    if found is not None:
        return ENDS.get(found[1])
    behind = [" ".join(one.words) for one in run.simples[run.place + 1 :]]
    is_whole = bool(behind) and all(map(LETS_BY_ALL.match, behind))
    states = {row[1] if row else "" for row in map(STATE.match, text.strip().splitlines())}
    return True if is_whole and "pass" in states <= {"pass", "skipping"} else None


STATE = later(r"[^\t\n]+\t(\w+)\t")
"""A check as `gh pr checks` lists it, with how it went."""
LETS_BY_ALL = later(r"(?=.*pass)(?=.*fail)(?:e?grep|rg)\b(?!.* -\w*[vocm])")
"""A filter that lets by what passed and what failed, whole."""


ENDS = {"success": True, "failure": False, "timed_out": False, "startup_failure": False}
"""How a run ends that tells of what was pushed; one that was cancelled or skipped does not."""


SILENT = frozenset(
    ["go build", "go vet", "tsc", "gcc", "g++", "cc", "clang", "clang++", "javac", "py_compile", "eslint", "shellcheck"]
)  # fmt: skip
"""Checks that print what is wrong, and nothing where nothing is."""
SHOWS_ALL = frozenset(["head", "tail", "cat", "echo", "printf"])
"""What shows something of whatever comes to it, or words of its own."""
TO_A_FILE = later(r"(?<!=)>(?!&\d)")
"""What takes an output, or the faults in it, out of sight."""


def found_nothing(step: Step, run: Command) -> bool:
    """Whether all checks of a line are silent where nothing is wrong, and nothing of them came."""
    work = [one for one in run.simples if one.role != "prep"]
    known = all(one.name in SILENT or (one.words[:1] and one.words[0] in SHOWS_ALL) for one in work)
    if not known or step.output is None or TO_A_FILE.search(step.input or ""):
        return False
    own = set(map(echoed, run.simples))
    return own.issuperset(filter(None, map(str.strip, bare_output(step).splitlines())))


def as_tests(run: Command) -> Command:
    """A line whose checks are runs of tests, whatever their names say."""
    simples = [
        msgspec.structs.replace(one, check="tests") if one.check == "lint" else one
        for one in run.simples
    ]
    told = tuple("tests" if kind == "lint" else kind for kind in run.told)
    return msgspec.structs.replace(run, check="tests", simples=tuple(simples), told=told)


def kinds_on(run: Command) -> list[str]:
    """The kinds of all checks on a line, that by which it is known first."""
    found = (run.check, *(simple.check for simple in run.simples))
    return [kind for kind in found if kind is not None]


MODULE = later(r"-m ([\w.-]+)")


def programs_of(step: Step, run: Command) -> list[str]:
    """The files that a line runs."""
    modules = frozenset(MODULE.findall(step.input or ""))
    return [read for simple in run.simples for read in _run_by(simple, modules)]


def words_of(run: Command) -> list[str]:
    """The words that a line hands on to the programs which it runs."""
    ran = (one for one in run.simples if one.rule == "run-program")
    return [word.rpartition("=")[2] for one in ran for word in one.words]


def _run_by(simple: Simple, modules: frozenset[str]) -> list[str]:
    """The files that a command runs: a program's path, or a module by its dotted name."""
    if simple.words and simple.words[0] in modules:
        path = simple.words[0].replace(".", "/")
        return [f"{path}.py", f"{path}/__main__.py"]
    return list(simple.reads) if simple.rule == "run-program" else []


HERE = later(r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::|/|$)")
"""An address of this machine."""


def asks_what_it_runs(run: Command) -> bool:
    """Whether a line runs something, and then asks a server on this machine: so it tries it."""
    runs = any(
        one.role == "work" and one.operation == "execute" for one in run.simples[: run.place]
    )
    asks = run.simples[run.place] if runs else None
    return asks is not None and asks.surface == "api" and any(map(HERE.match, asks.words))


BUILDS_AND_RUNS = frozenset(["cargo run", "cargo r", "dotnet run", "go run"])
"""Commands that build the project where they are, and run it."""


def builds_and_runs(simple: Simple) -> bool:
    """Whether a command builds a project and runs it: no program of one file or from elsewhere."""
    return simple.name in BUILDS_AND_RUNS and not any(
        posixpath.splitext(read)[1] or "@" in read for read in simple.reads
    )
