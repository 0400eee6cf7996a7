"""Which failures were the point, by the agent's own words?

A test that is to fail before the code is there, told before it runs; a check that is to find
nothing, since what it would find is left out, told so too. And, before any file was
changed that stood there already: a bug that was to be seen, told right behind the run that showed
it, tests known to fail whose error was to be seen, told before the runs that showed it, and a script
written to show the bug, told by its words or name, and left as it was until the work began. Beyond
words, a run then that shows the error which the user had told, and a look whether files are gone that
an earlier step had removed.
"""

import posixpath
import re
from collections.abc import Iterator
from itertools import takewhile

from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step, Trace

from ..again.attempts import attempt
from ..outputs.begun import says_it_never_began
from ..outputs.failures import first_error
from ..touched.edits import edits_of
from ..touched.paths import absolute, base_of
from ..touched.scratch import EDITS, GONE

TO_FAIL = later(
    r"(?i)\b(?:should|must|will|expect(?:ed|s)?(?: it)?(?: to)?|verify|confirm|check|see|watch)\b"
    r"(?:(?!\b(?:if|whether|not?|never|why|what|which|where|how|without|any)\b|n['’]t\b)[^.\n]){0,60}"
    r"\b(?:fails?|(?:it|them|tests?|is|are|be) failing)\b"
    r"|\bfail(?:s|ing)? first\b|\bred (?:phase|test)\b"
    r"|\brun(?:ning)? (?:the |this |my )?(?:new(?:ly written)? )?failing tests?\b(?!.{0,40}\b(?:again|still)\b)"
    r"|\b(?:vérifi|confirm|assur|voi[rs])\w*\b[^.\n]{0,20}\bqu(?:['’](?:il|elle)s?|e l[ea]s? (?:nouveaux? )?tests?)"
    r" échou(?:e|ent)\b(?! (?:pas|plus|encore|toujours)\b)"
    r"|\b(?:verifi|confirm|compr[ou]e?b|asegur|certifi)\w*\b[^.\n]{0,20}\bque (?:(?:el|la|los|las|o|a|os|as) )?"
    r"(?:(?:nuevos?|novos?) )?(?:tests?|pruebas?|testes?) fal(?:l|h)[ae][nm]?\b"
    r"|\b(?:prüf|bestätig|überprüf|seh)\w*,? dass (?:er|sie|der (?:neue )?test|die (?:neuen )?tests)\b"
    r"(?:(?!\b(?:nicht|nie|noch)\b)[^.\n]){0,40}\b(?:fehlschl[aä]g\w*|scheiter\w*)"
)
"""How an agent says that a test is to fail before the code is there."""

FAILS_FIRST = later(
    r"(?i)\btests?\b(?:(?!\b(?:not?|never)\b|n['’]t\b)[^.\n]){0,40}\b(?:should|must|will|(?:is|are|supposed|meant) to) fail\b"
    r"(?! (?:if|unless|without)\b)|\b(?:should|must|will|to) fail first\b"
    r"|\b(?:writ(?:e|ing)|add(?:ing)?|start(?:ing)? with) (?:an?|the|some)(?: new)? failing tests?\b"
)
"""How it says so of a test that it is writing, which it then runs without a word."""

LEFT_OUT = later(
    r"(?i)\b(?:verify|confirm|check|ensure|make sure)\b(?:"
    r"(?:(?!\b(?:if|whether|not?|never)\b|n['’]t\b)[^.\n]){0,60}\b(?:excluded|left out|ignored)\b"
    r"|(?:(?!\b(?:if|whether)\b)[^.\n]){0,60}(?:\bnot|n['’]t) (?:\w{1,20}ly )?(?:be )?"
    r"(?:pick(?:ed)? up|included?)\b)"
    r"|\b(?:test|verify|confirm|check|see) (?:if|whether|that) "
    r"(?:(?!\b(?:not?|never|still|why)\b|n['’]t\b)[^.\n]){1,60}\b(?:ignores|excludes|skips|leaves out)\b"
)
"""How an agent says that a check is to leave something out."""
NONE_LEFT = later(
    r"(?m)matched no packages|no files were processed|^no test(?:s| files) found", re.I
)
"""How a runner says that nothing was left to check."""
NO_TEST = later(r"(?i)\[setup failed\]|collected 0 items|no tests (?:ran|found|to run)|\bcd: ")
"""How a runner, or the shell before it, says that it came to no test."""
MOST_OF_A_FAILURE = 2000
"""Characters at the end of an output in which it says why nothing ran."""

SHOWED_THE_BUG = later(
    r"(?i)\b(?:successfully|i|we|i['’]ve|we['’]ve|have|has|this|that|which|it|script|test|bug|issue|error|problem"
    r"|failure|can now) (?:(?:is|was|has been|successfully|now) )?(?:reproduced|reproduces|reproducible)\b"
    r"|\breproduced (?:the|it)\b"
)
"""How an agent says that a run showed the bug that it was after."""
TO_SEE_THE_ERROR = later(
    r"(?i)\bto (?:see|get|view|show|capture|reveal) (?:the|its|their|actual|exact|real|full) "
    r"(?:(?!(?:if|any|no|without)\b)[\w-]{1,30} ){0,3}(?:errors?|failures?)\b"
)
"""How an agent says that a run is to show an error which it knows of."""
TO_SHOW_THE_BUG = later(
    r"(?i)\b(?:reproduc(?:e|es|ing)|demonstrat(?:e|es|ing)|trigger(?:s|ing)?|show(?:s|ing)?) "
    r"(?:the |this |that )?(?:[a-z]{1,20} )?(?:bug|issue|problem|error|failure|behaviou?r|crash)\b"
)
"""How an agent says what a script is for."""
OF_THE_SCRIPT = later(
    r"\b(?:ModuleNotFound|Import|Syntax|Indentation|Name)Error\b|(?i:no such file|not found|cannot find|can't open)"
)
"""How an error reads that the script itself may have."""
STILL = later(r"(?i)\b(?:still|again|not|never|cannot|yet|unable|fail(?:ed|s)? to)\b|n['’]t\b")
"""What makes other words of them."""
BEGINNING = 400
"""Characters of what the agent says next in which it speaks of the run."""


AS_EXPECTED = later(
    r"(?i)(?<!not )(?<!n['’]t )\bfail(?:s|ed|ing|ures?)?\b[^.\n]{0,30}"
    r"\b(?:as (?:expected|planned|intended)|for the (?:right|expected) reasons?)\b"
    r"|\bfalla\w* como (?:se )?esperaba|\bfalha\w* como (?:o )?esperado|\béchou\w* comme (?:prévu|attendu)"
    r"|\b(?:schl(?:ägt|agen)|scheiter[nt]) (?:\w+ )?wie (?:erwartet|geplant)"
    r"|(?:期待|予想|想定)(?:どお|通)り[^。\n]{0,8}失敗し(?:た|ました)|(?<!不)(?:如|按|符合)预期[^。\n]{0,6}失败"
    r"|как и ожидалось,? [^.\n]{0,20}\bпада[ею]т"
)
"""How an agent says of a failure that it was to come."""


TO_SHOW_A_FAILURE = later(
    r"(?i)\b(?:check|see|test|verify|confirm|view) (?:that )?(?:the |its )?"
    r"(?:readable |clean |clear |new )?(?:failure|error) (?:output|path)\b"
)
"""How an agent says that a run is to show how the program tells of a failure."""
CRASHED = later(
    r"(?m)^Traceback |^panic: |Segmentation fault|^\w+(?:Error|Exception): |^\s+at \S+ \("
)
"""How a program ends that tells of no failure itself."""
LOOKS_GOOD = later(
    r"(?i)\A\W*(?:this|that|it|(?:the |this )?(?:new )?(?:output|error(?: message)?|message|usage))"
    r"(?: now)? (?:looks|reads|is|works) (?:good|great|right|correct|fine|perfect|as (?:expected|intended))\b"
    r"(?![^\n]{0,200}\b(?:but|however|except|though|until|only|unless|apart|fails?|crash\w*|fix\w*)\b)"
)
"""How an agent says of what a run printed, an error too, that it is as it should be."""


def meant(trace: Trace) -> frozenset[int]:
    """The steps whose failure was the point."""
    worked = _first_work(trace)
    said: dict[str, str] = {}
    found = set[int]()
    for step in reversed(trace.steps):
        if step.call is not None and step.success is False:
            is_run = step.step < worked and step.operation in ("execute", "verify")
            words = said.get(step.actor, "")
            is_bug = is_run and _shows_the_bug(words)
            check = trace.checks.get(step.step)
            is_meant = check is not None and (
                _is_to_fail(step)
                or (check.kind == "tests" and _was_to_fail(trace, step))
                or _failed_as_expected(check, words)
                or (check.kind == "run" and _shows_a_failure(step, words))
            )
            if is_bug or is_meant:
                found.add(step.step)
        said[step.actor] = step.reasoning or (step.output or "" if step.action == "output" else "")
    showed = (*_showed_the_error(trace, worked), *_reproduced(trace, worked), *_told(trace, worked))
    return frozenset(found.union(showed, _found_gone(trace)))


def _reproduced(trace: Trace, worked: int) -> Iterator[int]:
    """Failed runs of scripts that were written to show the bug, and not mended before the work."""
    scripts: dict[str, int] = {}
    for touch in trace.touches:
        if touch.kind in ("write", *EDITS) and touch.step < worked:
            words = _said_before(trace.steps[touch.step - 1])
            named = "repro" in posixpath.basename(touch.path).lower()
            if touch.path in scripts or named or TO_SHOW_THE_BUG.search(words):
                scripts[touch.path] = touch.step
    for step in trace.steps[: worked - 1] if scripts and worked <= len(trace.steps) else ():
        run, base = step.run if step.success is False else None, base_of(step)
        programs = [one for one in run.simples if one.rule == "run-program"] if run else ()
        ran = (absolute(path, base) for one in programs for path in one.reads[:1])
        if any(scripts.get(path, worked) <= step.step for path in ran):
            error = first_error(step)
            if error and not OF_THE_SCRIPT.search(error):
                yield step.step


def _showed_the_error(trace: Trace, worked: int) -> Iterator[int]:
    """Runs of tests that showed their error since their actor said, in that turn, it is to see it."""
    sought: dict[str, int] = {}
    for step in takewhile(lambda step: step.step < worked, trace.steps):
        check = trace.checks.get(step.step)
        if check is None or check.kind != "tests":
            continue
        if TO_SEE_THE_ERROR.search(_said_before(step)):
            sought[step.actor] = step.turn
        failed = step.success is False and check.summary and not _never_began(step)
        if failed and sought.get(step.actor) == step.turn and first_error(step) != check.summary:
            yield step.step


def _told(trace: Trace, worked: int) -> Iterator[int]:
    """Failed runs that showed the very error which the user had told."""
    said = ""
    for step in takewhile(lambda step: step.step < worked, trace.steps):
        if step.action == "user_message":
            said += f"{step.input}\n"
        elif step.success is False and step.operation in ("execute", "verify"):
            error = first_error(step)
            if len(error) >= ITS_OWN and error in said:
                yield step.step


ITS_OWN = 20
"""Letters of an error by which it is known."""


def _found_gone(trace: Trace) -> Iterator[int]:
    """Failed looks at nothing but files that a step had removed, and none made since."""
    touched = edits_of(trace)
    gone = set[str]()
    for step in trace.steps if any(touch.kind in GONE for touch in trace.touches) else ():
        looked = attempt(step, 0, None) if step.success is False else None
        asks = looked and looked.run and {one.name for one in looked.run.simples} <= ASKS_IF_THERE
        if looked and asks and looked.paths and looked.paths <= gone:
            yield step.step
        for touch in touched.get(step.step, ()):
            if touch.kind in GONE:
                gone.add(touch.path)
            elif touch.kind != "read":
                gone.discard(touch.path)


ASKS_IF_THERE = frozenset(["ls", "stat", "file", "echo"])
"""Commands with which one asks whether a file is there."""


def _is_to_fail(step: Step) -> bool:
    said = _said_before(step)
    if _never_began(step):
        return bool(NONE_LEFT.search(step.printed) and LEFT_OUT.search(said))
    return TO_FAIL.search(said) is not None


def _was_to_fail(trace: Trace, step: Step) -> bool:
    """Whether the call before it, which edited, has the words, and the run of the tests none."""
    if step.step == 1:
        return False
    before = trace.steps[step.step - 2]
    writes = before.operation in ("edit", "write") and before.actor == step.actor
    silent = not _said_before(step).strip() and not _never_began(step)
    return writes and silent and FAILS_FIRST.search(_said_before(before)) is not None


def _shows_a_failure(step: Step, said: str) -> bool:
    """Whether a program was run to see what it prints where something is wrong."""
    if CRASHED.search(step.printed):
        return False
    is_told = TO_SHOW_A_FAILURE.search(_said_before(step)) is not None
    return is_told or LOOKS_GOOD.match(said) is not None


def _failed_as_expected(check: Check, said: str) -> bool:
    """Whether a runner tells of the failure, and the next words say that it was to come."""
    return bool(check.summary) and AS_EXPECTED.search(said[:BEGINNING]) is not None


def _never_began(step: Step) -> bool:
    printed = step.printed
    return says_it_never_began(printed) or NO_TEST.search(printed[-MOST_OF_A_FAILURE:]) is not None


def _said_before(step: Step) -> str:
    """What the agent says of a call before it, the end of it where it is long."""
    sent = step.call.input if step.call else None
    said = sent.get("description") if isinstance(sent, dict) else None
    return f"{step.reasoning or ''}\n{said or ''}"[-2000:]


def _shows_the_bug(said: str) -> bool:
    found = SHOWED_THE_BUG.search(said[:BEGINNING])
    if found is None:
        return False
    sentence = said[: found.start()].rpartition("\n")[2].rpartition(". ")[2] + found[0]
    return STILL.search(sentence) is None


def _first_work(trace: Trace) -> int:
    """The first step that changed a file which stood there before; behind all where none did."""
    read, made = set[str](), set[str]()
    for touch in trace.touches:
        if touch.kind == "read" and touch.path not in made:
            read.add(touch.path)
        elif touch.kind == "write" and touch.path not in read:
            made.add(touch.path)
        elif touch.kind in (*EDITS, "changed") and touch.path not in made:
            return touch.step
    return len(trace.steps) + 1
