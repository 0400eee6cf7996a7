"""How a call failed or was stopped, in one line of the log's."""

from itertools import pairwise

from forsy_retrace.commands import Command
from forsy_retrace.events import SHELL
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, shortened

from .printed import bare_output, error_within
from .runners import CRASHED, ERROR_LAST, read_summary

TELLS = later(
    r"(?i)^(?:\S+: )?(?:fatal|panic|exception)\b|\w(?:Error|Exception)\b:|\[rejected\]"
    r"|(?<!\b0 )(?<!\bno )(?<![-\w])errors?\b(?!-)|no such file|not found|no matches found|denied|cannot |can't |could not|(?<!\b0 )failed|invalid|unknown|\*\*\* |nothing to commit"
    r"|timed out|missing|not allowed|already exists|does not (?:contain|match)|undefined"
)
"""What a line that names an error looks like."""


TRACEBACK = later(r"(?m)^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(?=\S)")
"""What Python prints before the error itself."""
RAISED = later(r"[A-Z]\w*(?:Error|Exception|Interrupt)")
"""An error that says no more than its name."""
PLACED = later(
    r"(?:\[[\w:.-]{1,40}\] )?\S{1,200}:\d+:(?:\d+: (?!.{0,20}\b(?:warning|note|info)\b)"
    r"| (?=.{0,2000}\b(?i:want(?:ed)?|expected|should)\b))"
)
"""A complaint behind its place: a compiler's or linter's, or a test's of what it had wanted."""
MARKED = later(
    r"(?:at )?(\S{1,300} (?:(?:assist|lint)/\S{1,100}|format|organizeImports|parse))(?: +FIXABLE)? +━"
)
"""How Biome heads what it has to say of a file: with the place, and the rule."""
TEST_OF_GO = "--- FAIL: "
"""How Go heads what a test complains of; with `-v` it stands below."""
AN_ERROR = "× "
"""How the line behind it begins where that is an error."""
LATE = later(r"(?i)\btim(?:ed|e) ?out\b")
"""Words for a limit of time."""
BANNER = later(r"[$>#] |=== RUN|Checking \d|[\u2500-\u257f]")
"""How a runner announces what it is about to do."""
FINE = later(
    r"(?i)(?:npm )?warn(?:ing)?\b|\(node:\d+\)|node:[\w/]+:\d+|% Total\b|[✓✔√]|(?:--- )?pass\b"
    r"|ok\b|hint:|Auto-merging |Error Trace:|(?:> ?)?\d+(?: +\d+)? *[\u2502|]"
    r"|File \"[^\"\n]{1,300}\", line \d+|throw \w+;|\[[\w:.-]{1,40}\] ERROR task failed$|Your proposed edit has introduced |Failed with error\. Fix the error and try again"
    r"|InputValidationError: \w{1,80} failed due to the following issues?:$"
    r"|The tool execution failed with the following error:$"
)
"""A line that names no error: of what is only warned, of what passed, of where Node or Python was, of the
code that a linter or compiler shows, and where mise, SWE-agent's editor, ChatGPT's canvas, Claude Code and
Cline only announce one."""
ALSO_FINE = later(r"(?i)\.\.\. ok$|\tpass(?:ed)?\t|\bno fixes applied\b")
"""What such a line may hold further on."""
FEW = 3
"""So few lines of an agent's command are the message, whatever they say, unless it shows things."""
FRAME = later(
    r"(?i)\A\s*(?:<tool_use_error>)?"
    r"(?:(?:exit|return)[ _-]?(?:code|status):? ?-?\d{1,10}(?: \(execution \w{1,20}\))?\s*\n)?"
    r"(?:code output: ?)?"
    r"(?:(?:Error executing tool \w{1,80}: |Bash command failed: )?Error \(exit code \d{1,10}\): )?"
    r"(?:Command failed with exit code \d{1,10}\.\s*\nOutput:\n)?"
)
"""What a harness writes above what was printed."""
WORD = later(r"[A-Za-z]")
"""A figure alone, such as the status that curl was asked for, names no error."""
WORDS = later(r"\w\W+\w")
"""More than one word: a bare `ERROR:` says nothing yet."""


CONCISE = later(
    r"(?m)^[\w.-]{1,80}:[ \t]*\r?\nLine \|\r?\n(?:[ \t]*\d{1,9} \|.*\n)+[ \t]*\|[ \t]*~+.*\n[ \t]*\|[ \t]*"
)
"""What PowerShell 7 prints before the error itself: its command, the line, and a mark below it."""
SCHEMA = later(r"(?s)\n\nThis tool's input schema was not in your prompt when you called it\. .*\Z")
"""What Claude Code (2.1.332) adds to the error of a tool that had not been loaded."""
LONGEST = 300
"""Characters of a line that says what went wrong; a longer one ends in a mark that it goes on."""


def first_error(step: Step) -> str:
    """The first line of a failure that says what went wrong; empty where the log shows none.

    Of a check that names none, the closing words of its runner count. Another command that printed
    much, and no such line, is told by its exit code: what it printed may be anything. A failure that
    the end of a traceback tells is the error there. What the harness writes where the user stopped a
    call is no error of the work.
    """
    if step.told is not None and step.told.outcome in ("rejected", "interrupted"):
        return ""
    bare = bare_output(step)
    ground = step.grounds.get("success")
    if ground is not None and ground.rule in ERROR_LAST and (crash := read_summary(bare, CRASHED)):
        return shortened(crash.summary, LONGEST)
    text = FRAME.sub("", bare if _ran(step) else error_within(bare))
    text = SCHEMA.sub("", CONCISE.sub("", TRACEBACK.sub("", text)))
    lines = [line.replace("</tool_use_error>", "").strip() for line in text.splitlines()[:400]]
    lines = [line for line in lines if line and not BANNER.match(line)]
    lines = [line for line in lines if WORDS.search(line) or RAISED.fullmatch(line)] or lines
    lines = [line for line in lines if not (FINE.match(line) or ALSO_FINE.search(line))] or lines
    run = step.run
    programs = run.programs if run else frozenset[str]()
    if step.told and step.told.outcome == "timed_out":  # what was printed until then is no reason
        lines = [line for line in lines if LATE.search(line)] or lines
    telling = next((line for line in lines if _tells(line, programs)), "")
    if run is not None and run.check is not None:
        telling = _of_check(lines, telling, text)
    code = step.told.exit_code if step.told else None
    few = 0 if step.actor == SHELL or (run is not None and _shows_more(run)) else FEW
    said = telling or next((line for line in lines if not line.isascii() or WORD.search(line)), "")
    if not telling and code and (not said or (run is not None and len(lines) > few)):
        return f"exit code {code}"
    return shortened(said, LONGEST)


def _ran(step: Step) -> bool:
    """Whether a command ended, for all the log tells: of one that has no exit code, a harness may
    have the last word, in JSON."""
    return step.run is not None and (step.told is None or step.told.exit_code is not None)


def _shows_more(run: Command) -> bool:
    """Whether what was printed may be what a command that worked had to show."""
    main = run.simples[run.place : run.place + 1]
    before = (one for one in run.simples[: run.place] if not one.captured)
    shown = (
        one.shows or one.role == "view" or one.operation in ("read", "search") for one in before
    )
    return any(shown) or any(one.shows for one in main)


def _tells(line: str, programs: frozenset[str]) -> bool:
    """Whether a line names an error, or a program of the call speaks in it."""
    names = TELLS.search(line) is not None or RAISED.fullmatch(line) is not None
    return names or line.partition(":")[0] in programs


def _of_check(lines: list[str], telling: str, text: str) -> str:
    """What a check complains of first, or the words with which its runner says that it failed."""
    told = (_complaint(line, then, telling) for line, then in pairwise((*lines, "")))
    found = next(filter(None, told), "")
    if found.startswith(TEST_OF_GO):
        behind = lines[lines.index(found) + 1 :]
        found = next(filter(PLACED.match, behind), found)
    verdict = None if found else read_summary(text)
    if verdict is None or verdict.passed:
        return found
    said = verdict.summary
    return said if WORDS.search(said) else next((x for x in lines if x.startswith(said)), said)


def _complaint(line: str, then: str, telling: str) -> str:
    """What a line complains of, by the one behind it too; empty where it does not."""
    if then.startswith(AN_ERROR) and (marked := MARKED.match(line)):
        return marked[1]
    return line if line == telling or PLACED.match(line) else ""


STOPPED = {
    "rejected": "was rejected and never ran",
    "blocked": "was blocked and never ran",
    "interrupted": "was interrupted",
}
CANCELLED = "was cancelled when another call of its message failed"


def stopped(step: Step) -> str:
    """How a call ended that was turned down or stopped by the user or the harness."""
    if step.told is None:
        return STOPPED["interrupted"] if step.via == "interrupted" else ""
    if step.told.rule == "sibling-failed":
        return f"{CANCELLED}, and never ran"
    return STOPPED.get(step.told.outcome, "")
