"""What a tool's output says of its own run: the summaries of the common runners, as a table.

Each row names a runner's closing words for failure and for success, and how sure they are.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forsy_retrace.commands import MOVES, REMOVES, Command, Simple
from forsy_retrace.frames import below_header
from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed


class Verdict(NamedTuple):
    """Whether a run passed, by which row, how surely, and its summary in the tool's own words."""

    passed: bool
    rule: str
    confidence: float
    summary: str


class Row(NamedTuple):
    """A runner, the words with which it ends a bad and a good run, and how sure they are."""

    rule: str
    words: tuple[str, ...]
    """One of them stands in whatever the patterns find: the rest need not be searched."""
    failed: re.Pattern[str] | None
    passed: re.Pattern[str] | None
    confidence: float


def _words(pattern: str) -> re.Pattern[str]:
    return later(pattern, re.M)


RUNNERS: tuple[Row, ...] = (
    Row(
        "pytest-summary",
        ("passed", "failed", "error", "FAILED ", "ERROR "),
        _words(
            r"^=+ .*\b\d+ (?:failed|errors?)\b.* =+$|^\d+ (?:failed|errors?)\b.* in [\d.]+s|^FAILED \S+::|^ERROR \S+\.py\b"
        ),
        _words(r"^=+ .*\b\d+ passed\b.* =+$|^\d+ passed\b.* in [\d.]+s"),
        0.97,
    ),
    Row(
        "go-test-summary",
        ("FAIL", "PASS", "ok", ".go:"),
        _words(
            r"^(?:--- FAIL: .*|FAIL(?:\s+\S+.*)?)$"
            r"|^(?:vet(?:\.exe)?: |# \S+.*\n)(\S+\.go:\d+:\d+: .*)$"
        ),
        _words(
            r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests to run\]).*$"
            r"|(?<!no tests to run\n)^PASS$"
        ),
        0.97,
    ),
    Row(
        "jest-summary",
        ("Test",),
        _words(r"^\s*(?:Tests|Test Suites|Test Files):?\s+(?:.*\b)?[1-9]\d* failed"),
        _words(r"^\s*(?:Tests|Test Files):?\s+.*\b\d+ passed"),
        0.97,
    ),
    Row("bun-summary", (" fail",), _words(r"^\s*[1-9]\d* fail$"), _words(r"^\s*0 fail$"), 0.95),
    Row(
        "mocha-summary",
        ("failing", "passing"),
        _words(r"^\s+[1-9]\d* failing$"),
        _words(r"^\s+\d+ passing\b"),
        0.93,
    ),
    Row(
        "gh-checks",
        ("\tfail\t", " (ID "),
        _words(r"^[^\t\n]+\tfail\t|^X .{1,100} in [\dhms]+ \(ID \d+"),
        None,  # a list says nothing of what a filter behind it left out
        0.95,
    ),
    Row(
        "rustc-errors",
        ("error",),
        _words(r"^error: could not compile|^error\[E\d+\]: "),
        None,
        0.97,
    ),
    Row(
        "cargo-summary",
        ("test result", "Finished "),
        _words(r"^test result: FAILED\."),
        _words(r"^test result: ok\.|^\s+Finished "),
        0.97,
    ),
    Row(
        "maven-summary",
        ("BUILD ",),
        _words(r"^\[INFO\] BUILD FAILURE|^\[ERROR\] .*BUILD FAILURE"),
        _words(r"^\[INFO\] BUILD SUCCESS"),
        0.98,
    ),
    Row(
        "gradle-summary",
        ("BUILD ",),
        _words(r"^BUILD FAILED\b"),
        _words(r"^BUILD SUCCESSFUL\b"),
        0.98,
    ),
    Row(
        "dotnet-summary",
        ("Failed!", "Build ", "Passed!"),
        _words(r"^(?:Failed!|Build FAILED\.)"),
        _words(r"^(?:Passed!|Build succeeded\.)"),
        0.97,
    ),
    Row(
        "rspec-summary",
        ("example",),
        _words(r"^\d+ examples?, [1-9]\d* failures?"),
        _words(r"^\d+ examples?, 0 failures"),
        0.97,
    ),
    Row("node-test-summary", ("# fail ",), _words(r"^# fail [1-9]"), _words(r"^# fail 0$"), 0.95),
    Row(
        "tsc-errors",
        ("error TS",),
        _words(r"^\S+\(\d+,\d+\): error TS\d+|^\S+:\d+:\d+ - error TS\d+"),
        None,
        0.95,
    ),
    Row(
        "eslint-summary",
        ("✖ ", "ESLint found "),
        _words(r"✖ \d+ problems? \([1-9]\d* errors?|^ESLint found too many warnings "),
        _words(r"✖ \d+ problems? \(0 errors,"),
        0.95,
    ),
    Row(
        "markdownlint-summary",
        ("MD", "Summary: "),
        _words(
            r"^.{1,200}\.(?:md|mdx|markdown):\d+(?::\d+)? (?:error )?MD\d{3}/"
            r"|^Summary: [1-9]\d* error\(s\)$"
        ),
        _words(r"^Summary: 0 error\(s\)$"),
        0.95,
    ),
    Row(
        "biome-summary",
        ("Found ", "Checked "),
        _words(r"^Found [1-9]\d* errors?\."),
        _words(r"^Checked \d+ files? in .*(?:No fixes|Fixed)"),
        0.93,
    ),
    Row(
        "ruff-summary",
        ("Found ", "All checks passed!"),
        _words(r"^Found [1-9]\d* errors?(?:\.| \()"),
        _words(r"^All checks passed!"),
        0.96,
    ),
    Row(
        "mypy-summary",
        ("Found ", "Success: "),
        _words(r"^Found [1-9]\d* errors? in \d+ files?"),
        _words(r"^Success: no issues found"),
        0.98,
    ),
    Row(
        "golangci-summary",
        ("issue", "The command is "),
        _words(r"^[1-9]\d* issues?[:.]?$|^The command is terminated due to an error: "),
        _words(r"^0 issues\.$"),
        0.96,
    ),
    Row(
        "credo-summary",
        (" mods/funs, found ",),
        _words(r"^\d+ mods/funs, found [1-9]\d* \w.*\.$"),
        _words(r"^\d+ mods/funs, found no issues\.$"),
        0.96,
    ),
    Row(
        "phpunit-summary",
        ("FAILURES!", "ERRORS!", "OK ("),
        _words(r"^(?:FAILURES|ERRORS)!$"),
        _words(r"^OK \(\d+ tests?, \d+ assertions?\)$"),
        0.97,
    ),
    Row(
        "unittest-summary",
        ("FAILED (", "OK"),
        _words(r"^FAILED \((?:failures|errors|unexpected successes)=\d+.*\)$"),
        _words(r"^Ran \d+ tests? in [\d.]+s\n\nOK(?: \(.*\))?$"),
        0.97,
    ),
    Row(
        "exunit-summary",
        (" failure",),
        _words(r"^(?:\d+ doctests?, )?\d+ tests?, [1-9]\d* failures?\b"),
        _words(r"^(?:\d+ doctests?, )?\d+ tests?, 0 failures\b"),
        0.96,
    ),
    Row(
        "minitest-summary",
        (" runs, ",),
        _words(r"^\d+ runs, .*\b(?:[1-9]\d* failures|[1-9]\d* errors)\b"),
        _words(r"^\d+ runs, .*\b0 failures, 0 errors\b"),
        0.97,
    ),
    Row(
        "xctest-summary",
        ("Executed ",),
        _words(r"Executed \d+ tests?, with [1-9]\d* failures?"),
        _words(r"Executed \d+ tests?, with 0 failures"),
        0.96,
    ),
    Row(
        "playwright-summary",
        (" failed", " passed"),
        _words(r"^ {2}[1-9]\d* failed$"),
        _words(r"^ {2}\d+ passed \([\d.]+m?s\)$"),
        0.95,
    ),
    Row(
        "deno-summary",
        ("FAILED |", "ok |"),
        _words(r"^FAILED \| \d+ passed"),
        _words(r"^ok \| \d+ passed"),
        0.97,
    ),
    Row(
        "ctest-summary",
        ("tests passed,",),
        _words(r"^\d+% tests passed, [1-9]\d* tests? failed out of \d+"),
        _words(r"^100% tests passed, 0 tests failed out of \d+"),
        0.97,
    ),
    Row(
        "flutter-summary",
        ("tests",),
        _words(r"Some tests failed\.$"),
        _words(r"All tests passed!$"),
        0.93,
    ),
    Row(
        "sbt-summary",
        ("[error]", "[info]"),
        _words(r"^\[error\] Failed: Total \d+"),
        _words(r"^\[info\] Passed: Total \d+"),
        0.96,
    ),
    Row(
        "formatter-summary",
        ("would be reformatted", "Code style issues", "left unchanged", "Prettier code style"),
        _words(r"^\d+ files? would be reformatted|^\[warn\] Code style issues (?:found )?in "),
        _words(
            r"^\d+ files? would be left unchanged\.$|^All matched files use Prettier code style!"
        ),
        0.95,
    ),
    Row(
        "docusaurus-summary",
        ("[ERROR] ", "[SUCCESS] "),
        # Maven and loggers write `[ERROR] ` too.
        _words(
            r"^\[ERROR\] (?:Error: )?(?:Unable to build website|Docusaurus "
            r"|Client bundle compiled with errors)"
        ),
        _words(r"^\[SUCCESS\] Generated static files in "),
        0.96,
    ),
    Row(
        "webpack-error",
        ("ompile",),
        _words(r"^(?:Failed to compile\.|webpack .*compiled with [1-9]\d* errors?)"),
        None,
        0.93,
    ),
    Row(
        "hook-error",
        ("husky - ",),
        _words(r"husky - \S+ (?:hook exited|script failed) (?:with )?\(?code [1-9]"),
        None,
        0.95,
    ),
    Row("make-error", ("*** ",), _words(r"^make(?:\[\d+\])?: \*\*\* .*Error \d+"), None, 0.95),
    Row(
        "npm-error",
        ("npm ", "error: script"),
        _words(
            r"^npm (?:ERR!|error) (?:code|Lifecycle script|A complete log of this run)|^error: script \"[^\"]+\" exited with code [1-9]"
        ),
        None,
        0.9,
    ),
    Row("mise-error", ("ERROR ",), _words(r"^\[\S+\] ERROR task failed|^mise ERROR "), None, 0.95),
    Row(
        "docker-error", ("ERROR: failed",), _words(r"^ERROR: failed to (?:solve|build)"), None, 0.95
    ),
    Row(
        "python-traceback",
        ("Traceback ",),
        _words(
            r"^Traceback \(most recent call last\):"
            r"(?:(?:\n(?:[ \t].*)?){1,200}?\n([\w.]+(?:Error|Exception|Interrupt)\b.*))?"
        ),
        None,
        0.8,
    ),
    Row(
        "python-crash",
        ("Traceback ",),
        _words(
            r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n){1,200}([\w.]+(?:Error|Exception|Interrupt)\b.*)(?:\n.*){0,2}\Z"
        ),
        None,
        0.9,
    ),
    Row(
        "node-crash",
        ("\nNode.js v",),
        _words(r"^\w*(?:Error|Exception)\b.*(?:\n(?!Node\.js v).*){1,60}\nNode\.js v[\d.]+$"),
        None,
        0.9,
    ),
    Row(
        "go-panic",
        ("panic: ",),
        _words(r"^panic: .*(?:\n.*){0,4}\ngoroutine \d+ \["),
        None,
        0.9,
    ),
    Row("jvm-crash", ("Exception in ",), _words(r'^Exception in thread ".*" \S+'), None, 0.9),
    Row(
        "hook-failed",
        ("husky - ",),
        _words(
            r"^husky - \S+ (?:script failed \(|hook exited with )code [1-9]\d*.*+"
            r"(?![\s\S]*^(?:\[[^\]\n]+ |ok )[0-9a-f]{7,40}\b)"  # no commit came behind
        ),
        None,
        0.9,
    ),
)
"""The closing words of the common runners, read off their public documentation."""

KINDS: Mapping[str, str] = {
    "tsc-errors": "types",
    "mypy-summary": "types",
    "rustc-errors": "build",
    "eslint-summary": "lint",
    "biome-summary": "lint",
    "ruff-summary": "lint",
    "golangci-summary": "lint",
    "credo-summary": "lint",
    "gh-checks": "ci",
}
"""Rows that tell which kind of check failed on a line of several."""

CRASHES = frozenset(["python-crash", "node-crash", "go-panic", "jvm-crash", "hook-failed"])
"""Rows that tell of any program that was run, not only of a check."""
CRASHED = tuple(row for row in RUNNERS if row.rule in CRASHES)

LONGEST = 60
"""Lines of an output that may be nothing but a complaint."""
TAIL = 4000
"""How many characters from the end of an output are read: a summary stands there."""

ERROR_ONLY = later(
    r"(?i)^(?:(?:fatal|error|usage error|error \d+ \(\w+\)(?: at line \d+)?): .+"
    r"|npm (?:ERR!|error)(?: .*)?|.*: command not found|.*: no such file or directory"
    r"|(?:\S{1,80}(?::? line \d+|:\d+)?: )(?:.*\b(?:errors?|cannot|can't|could not|not found|no such"
    r"|invalid|unknown|unrecogni[sz]ed|illegal|denied|failed|unable|missing|unexpected)\b.*))$"
)
"""A line that is nothing but a tool's error message."""

USAGE_ERROR = later(
    r"(?i)^(?:\S+: )?(?:error: )?(?:unexpected|unknown|unrecogni[sz]ed|invalid|illegal)"
    r" (?:argument|option|flag|(?:sub)?command|parameter|json field)|^failed to parse \w+ expression\b"
)
"""How a program complains about its arguments before it prints its usage, what it knows, or a mark
below the place that it can't read."""

LOOKUPS = frozenset(
    ["grep", "egrep", "fgrep", "rg", "ag", "ack", "which", "type", "pgrep", "diff", "cmp", "test", "[",
     "lsof", "git config", "git grep", "git diff", "git check-ignore"]
)  # fmt: skip
"""Commands whose exit status 1 only says that there was nothing to find, or no likeness."""

SEARCHES = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep"])
"""Those that search, and exit 2 where something is wrong."""

LISTS = frozenset(
    ["ls", "cat", "sed", "head", "tail", "nl", "wc", "find", "tree", "pwd", "cd", "date", "echo",
     "printf", "git status", "git log", "git branch", "git show"]
)  # fmt: skip
"""Commands that print what there is, and complain where they fail."""

COMPARES = frozenset(["diff", "cmp", "git diff"])
"""Commands that exit 1 and print what differs."""


def read_summary(text: str, rows: Sequence[Row] = RUNNERS) -> Verdict | None:
    """What a runner's closing words say; a failure anywhere in the tail wins."""
    tail = text.rstrip()[-TAIL:]
    good: Verdict | None = None
    for row in rows:
        if not any(word in tail for word in row.words):
            continue
        if row.failed is not None and (line := _line(row.failed, tail)):
            return Verdict(False, row.rule, row.confidence, line)
        if good is None and row.passed is not None and (line := _line(row.passed, tail)):
            good = Verdict(True, row.rule, row.confidence, line)
    return good


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


LISTERS = frozenset(["gofmt", "gofumpt", "goimports"])
"""Formatters that exit with 0 whatever they find."""
UNFORMATTED = later(r"(?m)^(?:diff .*|\S.*\.go)$")
"""How they name a file that is not as they would have it, or show how they would change one."""


def lists_unformatted(text: str, run: Command) -> bool:
    """Whether a formatter that only looks found something to change."""
    looks = any(one.check and one.name in LISTERS for one in run.simples)
    return looks and UNFORMATTED.search(text) is not None


FAILURE_TOLD = later(
    r"(?im)\berror: |\b(?:success|succeeded|passed|ok)[\"']?\s*[:=]\s*false\b"
    r"|^Traceback \(most recent call last\):|^[^\w\n]{0,8}(?:failed|failure)\b|^panic: "
)
"""How a program tells of a failure, its own or that of what it ran."""


def speaks_of_failure(text: str) -> bool:
    """Whether a run tells of a failure: then it passed only by an exit status of its own."""
    return FAILURE_TOLD.search(text) is not None


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
NOT_BEGUN: Mapping[str, re.Pattern[str]] = {
    "shell": NO_PROGRAM,
    "syntax": NO_SYNTAX,
    "python": later(r"(?m)^\S*python[\d.]*(?:\.exe)?: No module named \S+$"),
    "pytest": later(
        r"(?m)^ERROR: file or directory not found: |^=* ?(?:no tests ran|\d+ deselected\b.*) in "
    ),
    "go": later(
        r"(?m)directory prefix \S+ does not contain |^go: cannot find main module"
        r"|go\.mod file not found in current directory|^no Go files in |matched no packages"
    ),
    "golangci-lint": later(
        r"(?m)^(?:Error: |level=error msg=\"|The command is .{1,40}: )can't load config"
    ),
    "eslint": later(
        r"(?m)ESLint couldn't find (?:a configuration|an eslint\.config)|No ESLint configuration found"
    ),
    "biome": later(r"(?m)^ *× No files were processed in the specified paths\.$"),
    "tsc": later(r"(?m)^error TS(?:5058|5083|18003): "),
    "cargo": later(r"(?m)^error: (?:could not find `Cargo\.toml`|no such (?:sub)?command)"),
    "node": later(
        r"(?m)^npm (?:ERR!|error) [Mm]issing script: |^error: Script not found \""
        r"|^ ?ERR_PNPM_NO_(?:IMPORTER_MANIFEST|SCRIPT)|^error Command \"\S+\" not found"
        r"|^No test(?:s| files) found, exiting with code 1"
    ),
    "make": later(r"(?m)^make(?:\[\d+\])?: \*\*\* No rule to make target ['`][^'`\n]+'\.\s+Stop"),
    "just": later(r"[Jj]ustfile does not contain recipe|\bno task \S+ found"),
    "maven": later(r"there is no POM in this directory"),
    "gradle": later(r"(?m)^\s*Task '[^'\n]+' not found in "),
    "dotnet": later(r"error MSB1003:"),
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
    found = [words for words in NOT_BEGUN.values() if words.search(bare)]
    rest = (line for line in bare.splitlines() if not any(words.search(line) for words in found))
    return bool(found) and not any(map(DID_BEGIN.search, rest))


COUNTS = later(r"\b\d+ (?:failed|failures?|errors?|passed|passing)\b")


def _line(words: re.Pattern[str], text: str) -> str:
    """The first line that the words find, or their group; one that counts goes first.

    Empty where there is none.
    """
    lines = []
    for found in words.finditer(text):
        told = found.lastindex or 0
        first = text.rfind("\n", 0, found.end(told) - len(found[told].lstrip())) + 1
        end = text.find("\n", first)
        lines.append(text[first : end if end >= 0 else len(text)].strip()[:200])
    return next(filter(COUNTS.search, lines), lines[0] if lines else "")


OPENS_WITH_ERROR: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        later(r"mcp__|[A-Za-z0-9][\w-]*__[A-Za-z]"),
        later(r"\s*(?=### Error\b|Error: |MCP error -?\d+)"),
    ),
    (
        later(r"WebSearch$"),
        later(r"(?:Web search results for query: [^\n]{0,1000}\n\s*)?(?=Web search error: )"),
    ),
)
"""Tools that flag no error, and how an answer of theirs begins that is nothing but one."""


SAYS_DONE = later(
    r"(?i)\s*(?:file (?:created|written|saved|updated|edited) successfully|the file \S+ has been (?:edited|updated|created|written)"
    r"|successfully (?:wrote|created|edited|replaced|updated|applied))"
)
"""How an editing tool begins that says it did what it was asked."""


SHOWS_IT = later(
    r"(?i)\s*Here(?:'|’)s the (?:result of running `cat -n` on |files and directories up to )"
)
"""How a reading tool begins that shows what it was asked for."""


def failed_by_its_own_words(
    text: str, run: Command | None, tool: str = "", *, untold: bool = False
) -> Verdict | None:
    """A failure that the exit status did not tell: something else's was seen, or none (`untold`)."""
    for of, opening in OPENS_WITH_ERROR:
        if of.match(tool) and (found := opening.match(text)):
            error = text[found.end() :].split("\n", 1)[0].strip()
            return Verdict(False, "opens-with-error", 0.9, error[:200])
    bare = below_header(text)
    if not (untold or (run is not None and run.masked)) or not bare.strip():
        return None
    if run is not None and (run.check is not None or run.operation in ("execute", "verify")):
        verdict = read_summary(bare, RUNNERS if run.check is not None else CRASHED)
        if verdict is not None and not verdict.passed:
            return verdict
        if run.check is not None and verdict is None and says_it_never_began(bare):
            return Verdict(False, "says-it-never-began", 0.9, bare.strip().splitlines()[0][:200])
    if run is not None and run.surface == "api" and (answer := _refused(bare)):
        return Verdict(False, "nothing-but-an-error", 0.85, answer)
    if run is not None and (words := _own_excuse(bare, run)):
        return Verdict(False, "says-it-failed", 0.9, words)
    if bare.count("\n") > LONGEST:
        return None
    lines = [line.strip() for line in bare.splitlines() if line.strip() and line[:2] != "> "]
    own = _own_words(run)
    lines = [line for line in lines if line not in own or ERROR_ONLY.match(line)]
    if not lines:
        return None
    points = any(line[0] == "^" for line in lines[1:])
    helps = len(lines) <= 12 and ("sage:" in bare or points)
    helps = helps or lines[1:2] == ["Available fields:"]
    if run is not None and helps and USAGE_ERROR.match(lines[0]):
        return Verdict(False, "nothing-but-a-usage-error", 0.9, lines[0][:200])
    if len(lines) <= 3 and _is_error(lines, run):
        return Verdict(False, "nothing-but-an-error", 0.85, lines[0][:200])
    return None


def _refused(text: str) -> str:
    """What a server's refusal says, where that is the whole output; empty for any other."""
    match parsed(text) if text.lstrip()[:1] == "{" and len(text) < TAIL else None:
        case {"message": str(said), "status": str() | int() as status}:
            return f"{said[:160]} ({status})" if REFUSED.fullmatch(str(status)) else ""
    return ""


REFUSED = later(r"[45][0-9]{2}")
"""A status with which a server says no."""


FAILS = later(r"(?i)\b(?:fail(?:s|ed|ure)?|errors?|could not|couldn't|cannot|can't|unable)\b")
"""How a line speaks of its own failure; of a mere probe it says what there is not."""


def _own_excuse(text: str, run: Command) -> str:
    """What `… || echo WORDS` printed of the command that the line is for, if it speaks of failure.

    A lookup before it may have come to nothing in its place.
    """
    said = {line.strip() for line in text.splitlines()}
    for one in run.excuses:
        before = run.simples[one.first : run.place]
        if one.first <= run.place < one.end and not any(map(_looks_up, before)):
            words = one.words.strip()
            if words in said and FAILS.search(words):
                return words[:200]
    return ""


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
HELP = later(r"(?i)^(?:try|see|run|use) .{0,60}(?:--help|-h\b|\bhelp\b|\bman )")
"""Where a complaint says that more is told."""


def _is_error(lines: Sequence[str], run: Command | None) -> bool:
    """Whether a few lines are nothing but error messages, and where to read more."""
    said = [line for line in lines if not HELP.match(line)]
    return bool(said) and all(_complains(line, run) for line in said)


def _complains(line: str, run: Command | None) -> bool:
    """An error message; of what shows data, only one that names its program or shell in front."""
    if not ERROR_ONLY.match(line) or (run is not None and _says_gone(line, run)):
        return False
    if run is None or run.operation not in SHOWS:
        return True
    programs = run.programs - ECHOES
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
    "git": ("fatal", "error"),
    "gh": ("graphql",),
    "mysql": ("error",),
    "mysqldump": ("error",),
    "mariadb": ("error",),
}
"""What programs write in front of an error message in place of their names."""
CODE = later(r" \d+ \(\w+\)(?: at line \d+)?$")
"""The number of an error, its SQL state and its place, behind the word."""
ECHOES = frozenset(["echo", "printf", "print"])
"""Programs that print the words that they are given."""


NOTHING = later(
    r"\s*(?:\(no output\))?\s*(?:Exit code 1|(?:Command|Process) exited with code 1\.?"
    r"|failed in sandbox .{1,80}, exit code: 1, stdout: , stderr:)?\s*"
)
"""What harnesses write where a command printed nothing and exited 1."""


def found_nothing(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A search without a match, which exits 1 and prints nothing.

    Where the log shows no output, the status must be the lookup's own.
    """
    if run is None or exit_code != 1 or not run.simples:
        return False
    if text is None:
        return len(run.simples) == 1 and _looks_up(run.simples[0])
    if not NOTHING.fullmatch(below_header(text)):
        return False
    if run.simples[-1].operation == "search" or _looks_up(run.simples[-1]):
        return True
    quiet = all(_looks_up(one) or one.role == "view" for one in run.simples)
    return quiet and any(map(_looks_up, run.simples))


def found_no_more(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A search without a match behind commands that only list, none of which complains."""
    if run is None or exit_code != 1 or text is None or len(run.simples) < 2:
        return False
    *before, last = run.simples
    if _names(last).isdisjoint(SEARCHES) or any(_names(one).isdisjoint(LISTS) for one in before):
        return False
    return not any(ERROR_ONLY.match(line.strip()) for line in below_header(text).splitlines())


def showed_differences(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A comparison alone on its line but for what feeds it, which exits 1 and prints what differs."""
    if run is None or exit_code != 1 or not run.simples or not (text or "").strip():
        return False
    *before, last = run.simples
    fed = [word for word in last.words if word.startswith("<(")]
    if not all(any(" ".join(one.words) in word for word in fed) for one in before):
        return False
    return not _names(last).isdisjoint(COMPARES)


def _looks_up(simple: Simple) -> bool:
    return not _names(simple).isdisjoint(LOOKUPS)


def _names(simple: Simple) -> frozenset[str]:
    """A command's row, and its first word."""
    return frozenset((simple.name, *simple.words[:1]))
