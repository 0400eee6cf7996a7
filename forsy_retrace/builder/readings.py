"""How texts are read out of a terminal's stream or of other words, where they are a part of them.

`verify` reads the named bytes again, as their form says, and the text must stand in what they show.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from forsy_retrace.dialects import any_value, text_of_bytes
from forsy_retrace.evidence import Evidence, Grade, Ground
from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed


def _as_it_is(value: Any) -> Any:
    return value


def _pressed(value: Any) -> Any:
    return "".join(KEY.findall(value)) if isinstance(value, str) else value


KEY = later(r"\bChar\('(?:\\(?=[\\']))?(.)'\)")
"""A key that was pressed, as crossterm prints it."""


def _unquoted(value: Any) -> Any:
    return parsed(value) if isinstance(value, str) else None


def _without_sources(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: held for key, held in value.items() if key != "sources"}


class Reading(NamedTuple):
    """A way to read a text, one sentence, and how sure it is; derived without a figure."""

    name: str
    sentence: str
    confidence: float | None = None
    within: bool = True
    """The text is a part of what its places show, not all of it."""
    of: Callable[[Any], Any] = _as_it_is
    """What is read of the value at a place."""

    def ground(self, *places: Evidence) -> Ground:
        """Why a text that was read so may stand in the trace."""
        grade: Grade = "derived" if self.confidence is None else "inferred"
        return Ground(grade, self.name, places, self.confidence, within=self.within)


ROWS = (
    Reading(
        "printed",
        "What was printed, without control sequences, each line as it was left.",
        within=False,
    ),
    Reading("recorded-program", "The program that the recorder says it ran, as its header gives it."),
    Reading("nothing-told", "The recording does not say what was run: the text is empty."),
    Reading("mark-names-command", "The shell's own mark gives the command's text."),
    Reading(
        "between-marks",
        "The command line on the screen, from the mark behind the prompt to that before the output.",
        0.95,
    ),
    Reading(
        "indicator-behind-mark",
        "The same, without the sign with which every command line of the recording begins.",
        0.9,
    ),
    Reading(
        "bracketed-paste",
        "The line that was on the screen when the shell left its line editor, without the prompt.",
        0.9,
    ),
    Reading(
        "fenced-action",
        "The fenced code in the agent's words that its harness ran, or what stands around it.",
        0.97,
    ),
    Reading(
        "keys-pressed",
        "The keys that were pressed up to Enter, without those that were taken back, where a turn begins behind them.",
        0.9,
        within=False,
        of=_pressed,
    ),
    Reading(
        "bytes-streamed",
        "All that a command printed, as its client told it piece by piece, where the record of its end is cut.",
        within=False,
        of=text_of_bytes,
    ),
    Reading(
        "text-in-json",
        "A text that its client keeps as JSON, with quotes around it.",
        within=False,
        of=_unquoted,
    ),
    Reading(
        "without-sources",
        "What a search of the API was asked for, without the pages found, which stand in one object with it.",
        within=False,
        of=_without_sources,
    ),
    Reading(
        "values-in-a-tree",
        "A value that OpenTelemetry keeps as a tree, which names the type of each value in it.",
        within=False,
        of=any_value,
    ),
    Reading(
        "without-a-mark",
        "A text without the client's mark behind it: of what the user has to allow, of thoughts left out.",
    ),
    Reading("typed-in-a-field", "The texts of an editor's field, each paragraph of it a line."),
    Reading(
        "learnt-prompt", "What stands behind a prompt of a shape that returns in the recording.", 0.7
    ),
)  # fmt: skip
READINGS: Mapping[str, Reading] = {row.name: row for row in ROWS}
