"""Every rule by which a trace judges, pass by pass, with its sentence and its confidence."""

from typing import NamedTuple

from .again.attempts import WINDOW
from .again.rules import RULES as AGAIN
from .again.untold import UNTOLD
from .alternatives import ROWS as OPTIONS
from .checks.unchecked import NAMED
from .confide import FACTS, HIGHEST
from .judging.worth import BAD, GOOD
from .outcome import SAYS_SO
from .outputs.found import NO_FAILURE
from .outputs.runners import RUNNERS
from .outputs.runners import Row as Runner
from .outputs.verdicts import COMPLAINTS
from .readings import ROWS as READINGS
from .tools import TAKES_IN, VERBS
from .touched.changes import RULES as CHANGES
from .words.closing import CLOSINGS
from .words.message_rules import RULES as MESSAGES
from .words.message_rules import Rule as MessageRule
from .words.messages import FLOOR


class Listed(NamedTuple):
    """A rule as the page lists it. What is derived counts as 1; a price has no confidence."""

    name: str
    sentence: str
    between: tuple[float, float] | None
    """The lowest and the highest confidence that it can have."""


class Section(NamedTuple):
    """A pass: what it asks, how its rules work together, and the rules."""

    name: str
    asks: str
    words: str
    rows: tuple[Listed, ...]
    gives: tuple[str, ...] = ()
    """The fields of a step whose values its rules give."""
    figures: str = "confidence"


def _derived(name: str, sentence: str) -> Listed:
    """A rule that can't be wrong if the log is right."""
    return Listed(name, sentence, (1.0, 1.0))


def _inferred(name: str, sentence: str, low: float, high: float | None = None) -> Listed:
    """A heuristic; `high` where its confidence depends on what it found."""
    return Listed(name, sentence, (low, low if high is None else high))


def _sentence(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((text or "").split("\n\n")[0].split())


SEGMENT = (
    _derived(
        "words-and-pictures", "A message's words, each picture or document named behind them."
    ),
    _derived("command", "What the user typed, where a command of the client came of it."),
    _derived("shell-line", "A line that the user ran in the client's shell."),
    _derived("answer", "What the user chose or wrote in a question dialog."),
    _derived("came-as-command", "The words are a command that the client expands."),
    _derived("came-as-answer", "The words answer a question of an earlier call."),
    _derived("record-time", "The time of the record."),
    _derived("run-ended", "The time at which the code interpreter says that the run ended."),
    _derived("interrupted", "The harness says that the user stopped the work here."),
    _derived(
        "recording-clock", "The recording's start, as exact as it is written, and the time since."
    ),
    *(
        Listed(row.name, row.sentence, (row.confidence or 1.0, row.confidence or 1.0))
        for row in READINGS
    ),
)

PAIR = (
    _derived("same-message", "Calls that one message issued are parallel."),
    _derived("ran-at-once", "So are calls of which one began before the record of another's end."),
    _derived("record-time", "A call ends at the time of its result, unless that lies before it."),
)

CLASSIFY = (
    _derived("tool-table", "The harness's own tool, by the table of tools."),
    _derived("plan-file", "A file that plan mode keeps its plan in is written: a step of planning."),
    _derived("looks-on", "The call sends nothing to a command that runs on: `read`."),
    _derived("sees-the-screen", "The call has the screen shown, or waits, and touches nothing on it: `read`."),
    _derived("leaves-prompt", "The input leaves a program that takes one after another, `quit`: `other`."),
    _inferred("sql-read", "All that a prompt of a database, or a tool that takes SQL, is given only asks: `read`.", 0.95),
    _inferred("runs-sql", "The name of a tool says that it takes SQL, which does more than ask: `execute`.", 0.8),
    _derived("patch-adds", "A patch that only adds files: `write`."),
    _derived("patch-deletes", "A patch that only deletes files: `execute`."),
    *(
        _inferred(f"mcp-verb-{name}", f"The name of an MCP tool says that it {name}: `{operation}`.", 0.8)
        for name, _, operation in VERBS
    ),
    _inferred("mcp-verb-acts", "An MCP tool whose name says none of these: `execute`.", 0.8),
    *(
        _inferred(f"tool-verb-{name}", f"The name of a tool in no table begins with a verb that {name}: `{operation}`.", 0.7)
        for name, _, operation in VERBS
        if name in TAKES_IN
    ),
    _inferred("unknown-tool", "A tool in no table: `other`.", 0.5),
    _inferred("unknown-command", "A shell command in no table: `execute`.", 0.5),
    *(_inferred(row.name, row.sentence, row.confidence) for row in CLOSINGS),
    _derived("notification", "A background subagent's report is an answer."),
    _derived("words-without-call", "Words that no call follows and that end no turn: `analyze`."),
)  # fmt: skip


def _runner(row: Runner) -> Listed:
    """A row of the runners; where it has no words for success, only a failure is read."""
    name = " ".join(row.rule.split("-")[:-1])
    ends = "a failed and of a good run" if row.passed is not None else "a failure"
    return _inferred(row.rule, f"The words with which `{name}` speaks of {ends}.", row.confidence)


OUTCOME = (
    *(_runner(row) for row in RUNNERS),
    _inferred("opens-with-error", "The answer of an MCP server or a web search opens with its error, though no flag says so.", 0.9),
    *(
        _inferred(rule, _sentence(test.__doc__), confidence)
        for rule, confidence, test in (*COMPLAINTS, *NO_FAILURE, *SAYS_SO)
    ),
    _inferred("folder-not-entered",
              "The line's `cd` says that it failed, and what the line is for stands behind it and `&&`: it never ran.", 0.9),
    _inferred("plan-taken-up",
              "A plan filed as rejected only since the user took it up in the next turn.", 0.9),
    _derived("error-step", "An error of the model or the harness is a failure."),
    _derived("words-delivered", "Words of the agent that were said."),
    _derived("interrupted", "A running call that the user stopped did not succeed."),
)  # fmt: skip

FILES = (
    _derived(
        "logged-state", "Where the step ran, what its actor knows of the target, the last failure."
    ),
    *(_derived(rule.name, rule.sentence) for rule in CHANGES),
)

CHECK = (
    *(
        _inferred(f"check-{kind}", f"The command is {what}, by the table of commands.", 0.85)
        for kind, what in {
            "tests": "a run of tests",
            "lint": "a linter, or a formatter that only looks",
            "types": "a type-checker",
            "build": "a build or a compiler",
            "run": "a run of what the same line built",
            "ci": "a look at how the checks of pushed work went, and edits had been pushed before",
        }.items()
    ),
    _inferred("runs-edited-program", "The command runs a file that was edited, which checks it and what its text takes in; what was built from one; or the project, which it builds. A program on the line itself runs what it loads, and checks what it parses.", 0.75),
    _inferred("runs-edited-task", "The command runs a task that an edit of its `Makefile`, `package.json` or the like defines, which checks that and the edited files it names.", 0.7),
    _inferred("read-back", "A read shows lines changed since its actor last saw them, and no later edit replaces text that it showed.", 0.7),
    _inferred("nothing-to-check", "A build, or a run of what was built, is no check where no edit is open.", 0.85),
)  # fmt: skip

LINK = (
    *(
        _inferred(name, _sentence(test.__doc__), confidence)
        for name, confidence, test, *_ in (*AGAIN, *UNTOLD)
    ),
    _derived("typed-anew", "The message that took the place of one that the user went back on."),
    _derived("regenerated", "The answer generated in place of an earlier one to the same message."),
    _inferred("edited-message",
              "A message edited in place of an earlier one, near enough to ask the same; surer within ten minutes.", 0.6, 0.9),
    _inferred("showed-the-replaced-text", "The latest step that showed the text that an edit replaces.", 0.7, 0.92),
    _inferred("listed-entry", "A path that is a listing's or a hit's folder joined with its entry, or a folder that a report names joined with a file below it.", 0.7, 0.85),
    _inferred("folder-first-shown", "A file in a folder that an earlier output brought up, for a read also by the name of its module; no output names the file.", 0.6, 0.7),
    _inferred("imported-from-there", "A file that another loads by a path from where it lies (`./tax`, `from .prices import cart`), where nothing else brought it up.", 0.7, 0.75),
    _inferred("range-holds-a-hit", "A range of lines that holds a line which a hit, an error, or a report named.", 0.7, 0.85),
    _inferred("value-first-shown",
              "A distinctive value that an earlier output showed first: the rarer, the surer; or a short id that stands alone, such as a commit's hash, a figure of eight digits, an argument named `task_id`. For the name of a skill, an output just received, or another skill's text.", 0.6, 0.9),
    _inferred("position", "What the actor had just received, or the call whose code made this one; derived behind a message or a brief.", 0.6, 1.0),
    _derived("reacts-to", "A message reacts to the call that it rejects or answers, else to the last words."),
    _derived("brief", "A subagent's first step takes its input from the call that started it, or from the brief that its log alone holds."),
    _derived("notification", "A report belongs to the call that started its subagent."),
)  # fmt: skip


def _reads(rule: MessageRule) -> str:
    """What a rule votes for: the role, and the feedback if it reads one."""
    kinds = rule.role if rule.feedback is None else f"{rule.role}, {rule.feedback}"
    return f"`{kinds}`:"


FEEDBACK = (
    *(
        _inferred(rule.name, f"{_reads(rule)} {rule.sentence}", rule.confidence)
        for rule in MESSAGES
    ),
    _inferred("shortest-passage-that-judges", "The first sentence that holds the phrase which judges.", 0.7),
)  # fmt: skip


def _hindsight(name: str) -> Listed:
    """A rule that may speak for a step and against it."""
    rules = [rule for rule in (*BAD, *GOOD) if rule.name == name]
    sure = [rule.confidence or 1.0 for rule in rules]
    return _inferred(name, " ".join(rule.sentence for rule in rules), min(sure), max(sure))


JUDGE = tuple(_hindsight(name) for name in dict.fromkeys(rule.name for rule in (*BAD, *GOOD)))

ENDING = {
    "grader-passed": "Yes: a grader outside of the session gave the full reward (Fact `reward`); it outranks every other rule.",
    "grader-failed": "No: a grader outside of the session gave less than the full reward.",
    "flag-taken": "Yes: the harness of a challenge took the last flag that the agent handed in (Fact `flag`).",
    "flag-refused": "No: it refused it.",
    "bare-commands": "No: a shell's history, whose commands do not tell what they were for.",
    "user-approved": "Yes: the user approved the result after the last edit and any correction.",
    "checks-passed": "Yes: the last check after the last edit passed, and the closing words speak of no failure.",
    "went-on": "Yes: questions alone, each answered, and the user went on without objecting.",
    "stopped": "No: an error, a timeout, a question left open or a cut ended the session.",
    "unanswered": "No: the last message has no answer.",
    "unchecked": "No: nothing is known to have checked or approved the last edit; a read-back is not enough.",
    "last-check-failed": "No: the last check after the last edit failed.",
    "no-answer": "No: the log has no closing words, or none after the last edit.",
    "trouble-told": "No: the checks passed, but the closing words speak of a failure.",
    "corrected": "No: a correction was not answered.",
    "thumb-down": "No: the user gave an answer that stands a thumbs down.",
    "unconfirmed": "No: an answer that nothing checked and nobody accepted.",
}
"""`goal_achieved`, by the first of these that holds; the rule's sentence goes into `goal_notes`."""

SECTIONS: tuple[Section, ...] = (
    Section(
        "segment",
        "Which events make one step?",
        "",
        SEGMENT,
        ("input", "input_source", "output", "reasoning", "started_at", "ended_at"),
    ),
    Section(
        "pair",
        "Which result answers which call?",
        "By the call's id, never by place.",
        PAIR,
        ("ended_at", "parallel_group"),
    ),
    Section(
        "classify",
        "What kind of step is it, on which surface?",
        "A shell command is looked up in the table of commands, whose rows are listed in"
        " `docs/commands.md` and count 0.95 each; the row's name is the rule.",
        CLASSIFY,
        ("operation",),
    ),
    Section(
        "outcome",
        "Did it work?",
        "By the harness's own word, whose rule the adapter names (`derived`). The rows below look"
        " through a masked exit: behind a pipe, `|| true` or `; echo` the status was another"
        " command's, and code that an agent sent ends well whatever its calls do. Runners count only for commands that the table of commands knows as checks,"
        " in the last 4,000 characters, a failure before a success; their words also settle"
        " whether a masked check passed.",
        OUTCOME,
        ("success",),
    ),
    Section("files", "What did it change or show?", "", FILES, ("observation", "state_change")),
    Section(
        "alternatives",
        "Which options did the agent say that it did not take?",
        "Whole sentences are copied from the step's own reasoning; the weakest row that held"
        " gives the confidence.",
        tuple(_inferred(row.rule, row.sentence, row.confidence) for row in OPTIONS),
        ("alternatives_considered",),
    ),
    Section(
        "check",
        "Which edits does it check, and did they pass?",
        "A check covers the edits in effect that have not passed one of its kind, as far as the"
        " names of files and tools tell, and the line that a script is shown to stand for. One that"
        f" may come again, since it failed or is limited to some files, names the {NAMED} nearest and"
        " says that there are earlier ones. The rule stands at `operation` where it made the step"
        " `verify`, and at `caused_by` where the step checks an edit.",
        CHECK,
        ("operation", "caused_by", "causal_type", "causal_note"),
    ),
    Section(
        "feedback",
        "What is each human message to the work so far?",
        "Every rule that holds casts its vote for a role, some for a feedback type as well"
        f" (written `role` or `role, feedback`). The surest vote counts, the earlier row among"
        f" equals; feedback needs a vote of {FLOOR} or more, and work to judge. Words are"
        " those of `forsy_retrace/data/feedback.toml`.",
        FEEDBACK,
        ("message_role", "feedback_type", "feedback_content"),
    ),
    Section(
        "link",
        "What caused it, and what does it attempt again?",
        "A failure stays open until an attempt at its target worked, for"
        f" {WINDOW} calls of the same actor; the latest open one counts, by the first row"
        " that recognises it (`retry_of`); the other rows that do are kept as votes for the steps"
        " they name. Below them stand the rules of `caused_by`, where the weakest of several causes"
        " gives the figure: no more than 0.7 where only the order of the steps speaks for one.",
        LINK,
        ("input_source", "caused_by", "causal_type", "causal_note", "retry_of"),
    ),
    Section(
        "judge",
        "What was it worth in hindsight?",
        "The first row that holds decides, those for −1 before those for +1; all that speaks for"
        " +1 is kept as votes. A step that none speaks of is 0, and so is a failure that was the point"
        " by the agent's own words: a test that is to fail before the code is there, a check that"
        " is to find nothing since what it would find is left out, or a run that showed the"
        " bug it was after before any file was changed that stood there already.",
        JUDGE,
        ("eval", "eval_reason", "directive"),
    ),
    Section(
        "artifacts",
        "Which files came of it, rebuilt from the log?",
        "No heuristic: writes, edits and patches are replayed as the log shows them. `full`: the"
        " log holds the final content; `partial`: patches only, or a link of the chain does not"
        " hold; `unseen`: only that the file changed, or was read. A patch that does not say at"
        " which lines it stands goes where its old lines stand, if that is at one place alone. A"
        " print of one file and nothing else is the whole of it where the harness marks what it"
        " leaves out.",
        (),
    ),
    Section(
        "ending",
        "How did it end, and was the goal reached?",
        "`goal_achieved` is true only with evidence, and has no figure: `goal_notes` names the"
        " evidence, or what is missing.",
        tuple(Listed(name, sentence, None) for name, sentence in ENDING.items()),
        figures="",
    ),
    Section(
        "confide",
        "How sure can a reader be?",
        f"Not a rule but a price: {HIGHEST} points, less what each row costs in proportion"
        " to the share of it that the log lacks.",
        tuple(Listed(fact.name, f"{fact.why[0].upper()}{fact.why[1:]}.", None) for fact in FACTS),
        figures="points",
    ),
)
"""The passes in their order, and with each the rules that speak for its values."""


def sentence_of(field: str, rule: str) -> str | None:
    """What a rule says that gave a field its value; None where the log's adapter named the rule."""
    sections = (section for section in SECTIONS if field in section.gives)
    rows = (row for section in sections for row in section.rows)
    return next((row.sentence for row in rows if row.name == rule), None)
