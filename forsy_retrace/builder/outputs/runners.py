"""What a tool's output says of its own run: the summaries of the common runners, as a table.

Each row names a runner's closing words for failure and for success, and how sure they are.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.trace import shortened


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
        _words(r"^[ \t]*(?:Tests|Test Suites|Test Files):?\s+(?:.*\b)?[1-9]\d* failed"),
        _words(r"^[ \t]*(?:Tests|Test Files):?\s+.*\b\d+ passed"),
        0.97,
    ),
    Row(
        "bun-summary", (" fail",), _words(r"^[ \t]*[1-9]\d* fail$"), _words(r"^[ \t]*0 fail$"), 0.95
    ),
    Row(
        "mocha-summary",
        ("failing", "passing"),
        _words(r"^[ \t]+[1-9]\d* failing$"),
        _words(r"^[ \t]+\d+ passing\b"),
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
        _words(r"^test result: ok\.|^[ \t]+Finished "),
        0.97,
    ),
    Row(
        "forge-summary",
        ("Suite result",),
        _words(r"^Suite result: FAILED\."),
        _words(r"^Suite result: ok\."),
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
        ("Found ", "Checked ", " ━"),
        _words(
            r"^Found [1-9]\d* errors?\."
            r"|^ ?(?:at )?(\S+ (?:(?:assist|lint)/\S+|format|organizeImports|parse))(?: +FIXABLE)? +━+\n\n +[×✖] "
            r"|^[$>] biome .*--error-on-warnings.*\n+ ?(?:at )?(\S+ lint/\S+)(?: +FIXABLE)? +━+\n\n +! "
        ),
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
        "counts-summary",  # no runner's own: what scripts of a project's tests print
        (" failed",),
        _words(r"^[ \t]*(?:[\w ]{1,20}: ?)?\d+ (?:tests? )?passed[,;/] ?[1-9]\d* failed[.!]?$"),
        _words(r"^[ \t]*(?:[\w ]{1,20}: ?)?[1-9]\d* (?:tests? )?passed[,;/] ?0 failed[.!]?$"),
        0.9,
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
        "python-crash-cut",  # `| tail -2` leaves of it the mark below the place, and the error
        ("^\n", "~\n"),
        _words(r"^[ \t]{4,200}~*\^+~*\n([\w.]+(?:Error|Exception|Interrupt)\b.*)\s*\Z"),
        None,
        0.9,
    ),
    Row(
        "ipython-crash",
        ("Traceback ",),
        _words(
            r"^\w+(?:Error|Exception|Interrupt) +Traceback \(most recent call last\):?\n"
            r"(?:.*\n){1,200}([\w.]+(?:Error|Exception|Interrupt)\b.*)(?:\n.*){0,2}\Z"
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
    Row(
        "git-refused",
        ("failed to push", "Automatic merge failed", "ould not ", "unresolved conflict"),
        _words(
            r"^(?:error: failed to push some refs to|Automatic merge failed;"
            r"|(?:error: c|C)ould not (?:apply|revert) [0-9a-f]{7,40}\.\.\. "
            r"|fatal: Exiting because of an unresolved conflict\.).*(?:\n(?:hint:|U\t).*)*\Z"
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
CRASHES = frozenset(
    [
        "python-crash",
        "python-crash-cut",
        "ipython-crash",
        "node-crash",
        "go-panic",
        "jvm-crash",
        "hook-failed",
        "git-refused",
    ]
)
"""Rows that tell of any program that was run, not only of a check."""
ERROR_LAST = frozenset(["python-crash", "python-crash-cut", "ipython-crash"])
"""Those of which the last line says what was wrong, whatever was printed before."""
TESTED = frozenset(
    f"{runner}-summary"
    for runner in (
        *("pytest", "go-test", "jest", "bun", "mocha", "forge", "rspec", "node-test", "phpunit"),
        *("unittest", "exunit", "minitest", "xctest", "playwright", "counts", "deno", "ctest"),
        *("flutter", "sbt"),
    )
)
"""Rows of runners that run tests and nothing else."""


def kinds_of(verdict: Verdict) -> tuple[str, ...]:
    """The kinds of check of which a verdict may be: types are found wrong by a build, too."""
    if verdict.rule in TESTED:
        return ("tests",)
    kind = KINDS.get(verdict.rule)
    return (kind, "build") if kind == "types" else (kind,) if kind else ()


OWN: Mapping[str, tuple[str, ...]] = {
    "make-error": ("make", "gmake"),
    "npm-error": ("npm", "bun"),
    "mise-error": ("mise",),
    "docker-error": ("docker",),
}
"""Rows with which these programs tell that they failed, whatever they were to do."""
CRASHED = tuple(row for row in RUNNERS if row.rule in CRASHES)
CHECKED = tuple(row for row in RUNNERS if row.rule not in CRASHES)
ERROR = (
    r"(?:fatal|error|usage error|error \d+ \(\w+\)(?: at line \d+)?): .+"
    r"|npm (?:ERR!|error)(?: .*)?|error connecting to \S+"
    r"|.*: (?:command not found|no such file or directory|permission denied(?: \(\S+\))?\.?)"
)
ERROR_ONLY = later(
    rf"(?i)^(?:{ERROR}"
    r"|(?:(?!\[?\{|\[(?:image|document): )\S{1,80}(?::? line \d+|:\d+)?: )"
    r"(?!.*\b(?:no|0|zero|without(?: any)?) (?:errors?|fail(?:ed|ures?))\b)"
    r"(?:.*\b(?:errors?|cannot|can't|could not|not found|no such"
    r"|invalid|unknown|unrecogni[sz]ed|illegal|denied|failed|unable|missing|unexpected)\b.*))$"
)
"""A line that is nothing but a program's error message."""
CALLED_ERROR = later(rf"(?i)^(?:{ERROR}|(?:[\w.]*(?:Error|Exception)|(?-i:E[A-Z]{{3,14}})): .+)$")
"""The same of any tool: one that answers in words may speak of errors, and so it must say so."""
TAIL = 4000
"""How many characters from the end of an output are read: a summary stands there."""


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
        line = text[first : end if end >= 0 else len(text)].strip()
        lines.append(shortened(line, 200, ""))
    return next(filter(COUNTS.search, lines), lines[0] if lines else "")
