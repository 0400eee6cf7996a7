"""What a tool's output says of its own run: the summaries of the common runners, as a table.

Each row names a runner's closing words for failure and for success, and how sure they are.
"""

import re
from typing import NamedTuple

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later


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
        ("FAIL", "PASS", "ok"),
        _words(r"^(?:--- FAIL: .*|FAIL(?:\s+\S+.*)?)$"),
        _words(r"^(?:ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*|PASS)$"),
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
        "cargo-summary",
        ("test result", "error", "Finished "),
        _words(r"^test result: FAILED\.|^error: could not compile|^error\[E\d+\]: "),
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
    Row("eslint-summary", ("✖ ",), _words(r"✖ \d+ problems? \([1-9]\d* errors?"), None, 0.95),
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
        ("issue",),
        _words(r"^[1-9]\d* issues?[:.]?$"),
        _words(r"^0 issues\.$"),
        0.96,
    ),
    Row("make-error", ("*** ",), _words(r"^make(?:\[\d+\])?: \*\*\* .*Error \d+"), None, 0.95),
    Row(
        "npm-error",
        ("npm ", "error: script"),
        _words(
            r"^npm (?:ERR!|error) (?:code|Lifecycle script)|^error: script \"[^\"]+\" exited with code [1-9]"
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
        _words(r"^Traceback \(most recent call last\):"),
        None,
        0.8,
    ),
)
"""The closing words of the common runners, read off their public documentation."""

TAIL = 4000
"""How many characters from the end of an output are read: a summary stands there."""

ERROR_ONLY = re.compile(
    r"(?i)^(?:(?:fatal|error|usage error): .+|.*: command not found|.*: no such file or directory"
    r"|(?:\S{1,80}(?::? line \d+|:\d+)?: )(?:.*\b(?:errors?|cannot|can't|could not|not found|no such"
    r"|invalid|unknown|unrecogni[sz]ed|illegal|denied|failed|unable|missing|unexpected)\b.*))$"
)
"""A line that is nothing but a tool's error message."""

USAGE_ERROR = re.compile(
    r"(?i)^(?:\S+: )?(?:error: )?(?:unexpected|unknown|unrecogni[sz]ed|invalid|illegal)"
    r" (?:argument|option|flag|(?:sub)?command|parameter)"
)
"""How a program complains about its arguments before it prints its usage."""

LOOKUPS = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "ack",
        "which",
        "type",
        "pgrep",
        "diff",
        "cmp",
        "test",
        "[",
        "lsof",
    ]
)
"""Commands whose exit status 1 only says that there was nothing to find."""


def read_summary(text: str) -> Verdict | None:
    """What a runner's closing words say; a failure anywhere in the tail wins."""
    tail = text[-TAIL:]
    good: Verdict | None = None
    for row in RUNNERS:
        if not any(word in tail for word in row.words):
            continue
        if row.failed is not None and (found := row.failed.search(tail)):
            return Verdict(False, row.rule, row.confidence, found[0].strip()[:200])
        if good is None and row.passed is not None and (found := row.passed.search(tail)):
            good = Verdict(True, row.rule, row.confidence, found[0].strip()[:200])
    return good


MCP_ERROR = re.compile(r"\s*(?:### Error\b|Error: |MCP error -?\d+)")
"""How an MCP server's answer begins that is nothing but its error."""


def failed_by_its_own_words(text: str, run: Command | None, tool: str = "") -> Verdict | None:
    """A failure that the exit status did not tell, since something else's status was seen."""
    if tool.startswith("mcp__") and MCP_ERROR.match(text[:80]):
        return Verdict(False, "mcp-error-text", 0.9, text.strip().splitlines()[0][:200])
    if run is None or not run.masked or not text.strip():
        return None
    if run.check is not None:
        verdict = read_summary(text)
        if verdict is not None and not verdict.passed:
            return verdict
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) <= 12 and USAGE_ERROR.match(lines[0].strip()) and "sage:" in text:
        return Verdict(False, "nothing-but-a-usage-error", 0.9, lines[0].strip()[:200])
    if len(lines) <= 3 and all(ERROR_ONLY.match(line.strip()) for line in lines):
        return Verdict(False, "nothing-but-an-error", 0.85, lines[0].strip()[:200])
    return None


HEADER = re.compile(
    r"\A(?:Chunk ID: .*\n)?(?:Exit code: -?\d+\n)?(?:Wall time:? .*\n)?(?:Process .*\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n"
)
"""What Codex writes above the output of a command."""
NOTHING = re.compile(
    r"\s*(?:\(no output\))?\s*(?:Exit code 1|(?:Command|Process) exited with code 1\.?)?\s*"
)
"""What harnesses write where a command printed nothing and exited 1."""


def found_nothing(text: str, exit_code: int | None, run: Command | None) -> bool:
    """A search without a match, which exits 1 and prints nothing."""
    if run is None or exit_code != 1 or not NOTHING.fullmatch(HEADER.sub("", text)):
        return False
    last = run.simples[-1] if run.simples else None
    if last is None:
        return False
    return (
        last.operation == "search"
        or (last.words[:1] and last.words[0] in LOOKUPS)
        or (last.name in ("git config", "git grep", "git diff", "git check-ignore"))
    )
