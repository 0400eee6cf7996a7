"""Whether a check began at all: no program, no test, nothing that it could run."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from forsy_retrace.frames import below_header
from forsy_retrace.patterns import later

from .runners import TAIL

NONE_RAN: Mapping[str, re.Pattern[str]] = {
    "go": later(r"(?m)\[no (?:tests to run|test files)\]|: no tests to run$|^ *--- SKIP: "),
    "cargo": later(r"(?m)^test result: ok\. 0 passed"),
    "pytest": later(
        r"(?m)^=* ?(?:no tests ran|\d+ (?:skipped|deselected)"
        r"(?:, \d+ (?:skipped|deselected|warnings?))*) in [\d.]+s"
    ),
    "unittest": later(r"(?m)^Ran (\d+) tests? in .*\n\nOK \(skipped=\1\)$|^Ran 0 tests in "),
    "jest": later(
        r"(?m)^No tests found, exiting with code 0"
        r"|^ *Tests:?\s+(?:no tests|\d+ (?:skipped|todo|total))(?!.*\b(?:passed|failed)\b)"
    ),
    "bun": later(r"(?m)^ *0 pass$"),
    "mocha": later(r"(?m)^ +0 passing\b"),
    "node": later(r"(?m)^[#ℹ] pass 0$"),
    "rspec": later(r"(?m)^(\d+) examples?, 0 failures, \1 pending|^0 examples, "),
    "exunit": later(r"(?m)^(\d+) tests?, 0 failures, \1 (?:excluded|skipped)|^0 tests, "),
    "minitest": later(r"(?m)^(\d+) runs, \d+ assertions, 0 failures, 0 errors, \1 skips"),
    "phpunit": later(r"(?m)^No tests executed!"),
    "dotnet": later(r"(?m)^(?:Passed|Skipped)!\s+- Failed:\s+0, Passed:\s+0,"),
    "playwright": later(r"(?m)^ {2}[1-9]\d* skipped$"),
    "deno": later(r"(?m)^ok \| 0 passed"),
}
"""How a runner closes where every test was skipped or none was chosen."""
SOME_RAN = later(
    # Jest counts a file among those that passed though each of its tests is yet to be written.
    r"(?m)^(?! *Test (?:Suites|Files)\b).*\b[1-9]\d* (?:pass(?:ed|ing)?|xfailed|xpassed)\b"
    r"|^ *--- PASS: |^[#ℹ] pass [1-9]|^Passed!.* Passed:\s+[1-9]"
    r"|^([1-9]\d*) (?:examples?|tests?|runs), (?:\d+ assertions, )?0 failures"
    r"(?!.*\b\1 (?:pending|excluded|skip))"
    r"|^Ran ([1-9]\d*) tests? in .*\n\nOK(?! \(skipped=\2\)$)"
)
"""How one tells of a test that passed, whatever else was skipped."""
GO_PASSED = later(r"(?m)^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests to run\])")
"""How Go closes a package: it says so too where all tests named above were skipped."""


def no_test_ran(text: str) -> bool:
    """Whether a runner says that no test ran, and none that one passed."""
    if SOME_RAN.search(text) or not any(words.search(text) for words in NONE_RAN.values()):
        return False
    *packages, _ = GO_PASSED.split(text)
    return all("--- SKIP: " in named for named in packages)


NO_PROGRAM = later(
    r"(?m): command not found$|command not found: \S+$|\bis not recognized as (?:an internal|the name|a name)"
    r"|^\S*sh(?:\.exe)?: (?:line )?(?:\d+: )?\S+: not found$"
)
"""How a shell says that there is no such program."""
NO_SYNTAX = later(
    r"\A\s*(?:Exit code \d+\s+)?(?:\(eval\)|(?:/\S{0,80}/)?\w{0,8}sh): ?(?:-c: )?(?:line )?(?:\d+: )?"
    r"(?:parse error\b|[Ss]yntax error\b|unmatched [\"'`]|unexpected EOF )"
)
"""How a shell says that it can't read a line: then it ran none of it, and nothing stands before."""


class Row(NamedTuple):
    """How a program says that it came to nothing."""

    words: tuple[str, ...]
    """One of them stands in whatever the pattern finds: the rest need not be searched."""
    pattern: re.Pattern[str]


NOT_BEGUN: Mapping[str, Row] = {
    "shell": Row(("command not found", "is not recognized as", ": not found"), NO_PROGRAM),
    "syntax": Row(("parse error", "yntax error", "unmatched ", "unexpected EOF "), NO_SYNTAX),
    "python": Row(
        ("No module named ",), later(r"(?m)^\S*python[\d.]*(?:\.exe)?: No module named \S+$")
    ),
    "pytest": Row(
        ("file or directory not found", "no tests ran", " deselected"),
        later(
            r"(?m)^ERROR: file or directory not found: |^=* ?(?:no tests ran|\d+ deselected\b.*) in "
        ),
    ),
    "go": Row(
        ("directory prefix ", "main module", "go.mod file", "no Go files", "matched no packages"),
        later(
            r"(?m)directory prefix \S+ does not contain |^go: cannot find main module"
            r"|go\.mod file not found in current directory|^no Go files in |matched no packages"
        ),
    ),
    "golangci-lint": Row(
        ("can't load config",),
        later(r"(?m)^(?:Error: |level=error msg=\"|The command is .{1,40}: )can't load config"),
    ),
    "eslint": Row(
        ("ESLint ",),
        later(
            r"(?m)ESLint couldn't find (?:a configuration|an eslint\.config)|No ESLint configuration found"
        ),
    ),
    "biome": Row(
        ("No files were processed",),
        later(r"(?m)^ *× No files were processed in the specified paths\.$"),
    ),
    "tsc": Row(("error TS",), later(r"(?m)^error TS(?:5058|5083|18003): ")),
    "cargo": Row(
        ("error: ",),
        later(r"(?m)^error: (?:could not find `Cargo\.toml`|no such (?:sub)?command)"),
    ),
    "node": Row(
        ("issing script: ", "error: Script", "ERR_PNPM_", "error Command", "No test"),
        later(
            r"(?m)^npm (?:ERR!|error) [Mm]issing script: |^error: Script not found \""
            r"|^ ?ERR_PNPM_NO_(?:IMPORTER_MANIFEST|SCRIPT)|^error Command \"\S+\" not found"
            r"|^No test(?:s| files) found, exiting with code 1"
        ),
    ),
    "make": Row(
        ("No rule to make target",),
        later(r"(?m)^make(?:\[\d+\])?: \*\*\* No rule to make target ['`][^'`\n]+'\.\s+Stop"),
    ),
    "just": Row(
        ("ustfile does not contain recipe", "no task "),
        later(r"[Jj]ustfile does not contain recipe|\bno task \S+ found"),
    ),
    "maven": Row(("there is no POM",), later(r"there is no POM in this directory")),
    "gradle": Row(("Task '",), later(r"(?m)^[ \t]*Task '[^'\n]+' not found in ")),
    "dotnet": Row(("error MSB1003:",), later(r"error MSB1003:")),
}
"""How a program says that it came to nothing that it could check, read off public documentation."""
FEW = 15
"""So many lines at most stand where nothing began."""
DID_BEGIN = later(
    r"(?i)\berror:|\berror\[|(?<!\[setup )\bfail(?:ed|ures?)?\b(?!.*\[setup failed\])(?!$)"
    r"|\bTraceback\b|\d passed\b|^ok\s+\S+\s+[\d.(]"
)
"""What stands in the other lines where something did run."""


def says_it_never_began(text: str) -> bool:
    """Whether a runner, or the shell before it, says nothing but that there was nothing to run."""
    bare = below_header(text)[-TAIL:]
    if bare.count("\n") >= FEW:
        return False
    likely = (row for row in NOT_BEGUN.values() if any(word in bare for word in row.words))
    found = [row.pattern for row in likely if row.pattern.search(bare)]
    rest = (line for line in bare.splitlines() if not any(words.search(line) for words in found))
    return bool(found) and not any(map(DID_BEGIN.search, rest))
