"""Every rule by which a trace judges, pass by pass, with its sentence and its confidence."""

from typing import NamedTuple

from forsy_retrace.endings import ENDINGS

from .again.attempts import WINDOW
from .again.histories import UNTOLD
from .again.rules import RULES as AGAIN
from .alternatives import ROWS as OPTIONS
from .causes.flow import RULES as FLOW
from .causes.position import BEHIND_WORDS
from .check import RULES as CHECKS
from .checks.unchecked import NAMED
from .classify import RULES as OPERATIONS
from .confide import FACTS, HIGHEST
from .copied import RULES as COPIED
from .feedback import PASSAGE
from .files import LOGGED
from .judging.ending import RULES as ENDING
from .judging.worth import BAD, GOOD
from .link import RULES as LINKS
from .outcome import RULES as OUTCOMES
from .outcome import SAYS_SO
from .outputs.found import NO_FAILURE
from .outputs.runners import RUNNERS
from .outputs.runners import Row as Runner
from .outputs.verdicts import COMPLAINTS, OPENS
from .pair import RULES as PAIR
from .readings import ROWS as READINGS
from .rule import SURE, Rule
from .segment import RULES as OF_SEGMENTS
from .tools import RULES as TOOLS
from .touched.changes import RULES as CHANGES
from .variants import RULES as VARIANTS
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


def _inferred(name: str, sentence: str, low: float, high: float | None = None) -> Listed:
    """A row of a table; `high` where its confidence depends on what it found."""
    return Listed(name, sentence, (low, low if high is None else high))


def _rules(*rules: Rule, low: float = SURE) -> tuple[Listed, ...]:
    """Rules as they stand beside their code; `low` where a weaker cause beside it gives the figure."""
    return tuple(
        _inferred(one.name, one.sentence, min(low, one.confidence), one.most or one.confidence)
        for one in rules
    )


def _sentence(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((text or "").split("\n\n")[0].split())


SEGMENT = (
    *_rules(*COPIED, *OF_SEGMENTS),
    *(_inferred(row.name, row.sentence, row.confidence or SURE) for row in READINGS),
)
CLASSIFY = (
    *_rules(*TOOLS),
    *(_inferred(row.name, row.sentence, row.confidence) for row in CLOSINGS),
    *_rules(*OPERATIONS),
)


def _runner(row: Runner) -> Listed:
    """A row of the runners; where it has no words for success, only a failure is read."""
    name = " ".join(row.rule.split("-")[:-1])
    ends = "a failed and of a good run" if row.passed is not None else "a failure"
    return _inferred(row.rule, f"The words with which `{name}` speaks of {ends}.", row.confidence)


OUTCOME = (
    *(_runner(row) for row in RUNNERS),
    *_rules(OPENS),
    *(
        _inferred(rule, _sentence(test.__doc__), confidence)
        for rule, confidence, test in (*COMPLAINTS, *NO_FAILURE, *SAYS_SO)
    ),
    *_rules(*OUTCOMES),
)
FILES = (*_rules(LOGGED), *(_inferred(rule.name, rule.sentence, SURE) for rule in CHANGES))
LINK = (
    *(
        _inferred(name, _sentence(test.__doc__), confidence)
        for name, confidence, test, *_ in (*AGAIN, *UNTOLD)
    ),
    *_rules(*VARIANTS, *LINKS),
    *_rules(*FLOW, low=BEHIND_WORDS),
)


def _reads(rule: MessageRule) -> str:
    """What a rule votes for: the role, and the feedback if it reads one."""
    kinds = rule.role if rule.feedback is None else f"{rule.role}, {rule.feedback}"
    return f"`{kinds}`:"


FEEDBACK = (
    *(
        _inferred(rule.name, f"{_reads(rule)} {rule.sentence}", rule.confidence)
        for rule in MESSAGES
    ),
    *_rules(PASSAGE),
)


def _hindsight(name: str) -> Listed:
    """A rule that may speak for a step and against it."""
    rules = [rule for rule in (*BAD, *GOOD) if rule.name == name]
    sure = [rule.confidence or SURE for rule in rules]
    return _inferred(name, " ".join(rule.sentence for rule in rules), min(sure), max(sure))


JUDGE = tuple(_hindsight(name) for name in dict.fromkeys(rule.name for rule in (*BAD, *GOOD)))

SECTIONS: tuple[Section, ...] = (
    Section(
        "segment",
        "Which events make one step?",
        "",
        SEGMENT,
        ("input", "input_source", "tool", "output", "reasoning", "started_at", "ended_at"),
    ),
    Section(
        "pair",
        "Which result answers which call?",
        "By the call's id, never by place.",
        _rules(*PAIR),
        ("parallel_group",),
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
        "result",
        "What does the log say of how a call ended?",
        "The harness's own word, whose rule the adapter names, and the place in the log that says so"
        " (`derived`). `verify` decides it again from that place.",
        tuple(Listed(one.name, one.sentence, None) for one in ENDINGS),
        ("success",),
        figures="",
    ),
    Section(
        "outcome",
        "Did it work?",
        "By the harness's own word, where there is one. The rows below look"
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
        _rules(*CHECKS),
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
        " bug it was after, or the error that the user had told, before any file was changed that stood"
        " there already.",
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
        " evidence, or what is missing. The first row that holds decides.",
        tuple(Listed(row.name, row.sentence, None) for row in ENDING),
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
