"""From a session to a trace: a tuple of passes, each a function from Trace to Trace.

Each pass is a file here; what it is made of lies in a room: `words` (what people and agents say),
`outputs` (what a call printed), `touched` (files and their lines), `reached` (services, pages and
tables), `checks` (what a check looks at), `causes` (where values came from), `again` (what attempts
what again), `judging` (what came of it).
"""

from collections.abc import Callable

import msgspec

from forsy_retrace.events import Session
from forsy_retrace.sdk import Shows
from forsy_retrace.trace import Tokens, Trace

from .alternatives import alternatives
from .artifacts import artifacts
from .check import check
from .classify import classify
from .confide import confide
from .feedback import feedback
from .files import files
from .judge import judge
from .link import link
from .outcome import outcome
from .pair import pair
from .segment import segment
from .summarise import summarise

Pass = Callable[[Trace], Trace]

PASSES: tuple[Pass, ...] = (
    segment,  # which events make one step?
    pair,  # which result answers which call?
    classify,  # what kind of step is it, on which surface?
    outcome,  # did it work, by the harness's word?
    files,  # what did it change or show?
    alternatives,  # which options did the agent say that it did not take?
    check,  # which edits does it check, and did they pass?
    feedback,  # what is each human message to the work so far?
    link,  # what caused it, what does it retry?
    judge,  # what was it worth in hindsight?
    artifacts,  # which files came of it, rebuilt from the log?
)


def build(session: Session, adapter: str, shows: Shows) -> Trace:
    """One session, retraced. `shows` is what this kind of log can show."""
    trace = Trace(
        adapter,
        session,
        tools=shows.tools,
        marks_people=shows.marks_people,
        marks_cuts=shows.marks_cuts,
    )
    for step in PASSES:
        trace = step(trace)
    trace = confide(trace, shows)  # how sure can a reader be?
    trace = summarise(trace, shows)  # what does the whole come to?
    return msgspec.structs.replace(trace, tokens=Tokens())  # they served the passes alone
