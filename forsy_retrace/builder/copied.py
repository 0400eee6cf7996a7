"""Why a text or a time that was copied from the log may stand in the trace."""

from forsy_retrace.events import Origin
from forsy_retrace.evidence import Ground, derived, verbatim

from .readings import READINGS


def copied(*origins: Origin) -> Ground:
    """Copied from these places; joined, where a stream spreads a value over several."""
    places = [place for one in origins for place in one.pieces or (one.evidence,)]
    row = next((READINGS[one.reading] for one in origins if one.reading in READINGS), None)
    if row is not None:
        return row.ground(*places)
    if any(one.pieces for one in origins):
        return derived("pieces-joined", *places)
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
        return derived("recording-clock", *here.clock)
    return derived("record-time", here.evidence.at(""))
