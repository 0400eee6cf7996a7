"""Why a text or a time that was copied from the log may stand in the trace."""

from forsy_retrace.events import Origin
from forsy_retrace.evidence import Ground, verbatim

from .readings import READINGS
from .rule import Rule

JOINED = Rule("pieces-joined", "The pieces of a stream, one behind the other.")
PICTURES = Rule(
    "words-and-pictures", "A message's words, each picture or document named behind them."
)
OF_A_SHELL = Rule("shell-line", "A line that the user ran in the client's shell.")
TYPED = {
    "command": Rule("command", "What the user typed, where a command of the client came of it."),
    "shell line": OF_A_SHELL,
    "answer": Rule("answer", "What the user chose or wrote in a question dialog."),
}
"""What stands in a record in another form than it was typed in, by the way it came."""
BY_RECORD = Rule(
    "record-time",
    "The time of the record; a call ends at that of its result, unless that lies before it.",
)
BY_RUN = Rule("run-ended", "The time at which the code interpreter says that the run ended.")
BY_CLOCK = Rule(
    "recording-clock",
    "A moment as exact as it is written, and the time since: a recording's start.",
)
RULES = (PICTURES, *TYPED.values(), BY_RECORD, BY_RUN, JOINED, BY_CLOCK)


def copied(*origins: Origin) -> Ground:
    """Copied from these places; joined, where a stream spreads a value over several."""
    places = [place for one in origins for place in one.pieces or (one.evidence,)]
    row = next((READINGS[one.reading] for one in origins if one.reading in READINGS), None)
    if row is not None:
        return row.ground(*places)
    if any(one.pieces for one in origins):
        return JOINED.ground(*places)
    return verbatim(*places)


def times(start: Origin, end: Origin | None) -> dict[str, Ground]:
    found = {}
    if start.at:
        found["started_at"] = moment(start)
    if end is not None and end.at:
        found["ended_at"] = moment(end)
    return found


def moment(here: Origin) -> Ground:
    """Why an event happened when it says."""
    if here.clock:
        return BY_CLOCK.ground(*here.clock)
    return BY_RECORD.ground((here.dated or here.evidence).at(""))
