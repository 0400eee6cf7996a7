"""What the alignment looks at: a claimed step and a logged one, each read once."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed
from forsy_retrace.trace import Step

from .arguments import Sent, compared, named, principal, unwrapped
from .claimed import ClaimedStep, Moment, moment
from .fold import Places, fold, homeless, versions
from .likeness import Way, is_part, likeness, stands_in

TOKEN = later(r"[^\W_]{3,}")
FIRST = 3000
MOST_TOKENS = 160
SHORT = 12
"""Characters of an output that many steps may share by chance."""
Key = tuple[str, str]


class Claim:
    """A claimed step, made ready."""

    def __init__(self, step: ClaimedStep, places: Places) -> None:
        self.step, self.places = step, places
        self.started = moment(step.started_at)
        self.ended = moment(step.ended_at)

    @cached_property
    def keys(self) -> list[Key]:
        """What a logged step that is the same must share."""
        said = self.step.input or ""
        inputs = [*unwrapped(said), principal(named(_object(said)))]
        return _keys(inputs, self.step, self.started, self.places)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Words by which a step that is alike can be found."""
        return tokens(f"{(self.step.input or '')[:FIRST]} {(self.step.output or '')[:FIRST]}")

    @cached_property
    def input_tokens(self) -> frozenset[str]:
        return tokens(self.step.input or "")


class Logged:
    """A logged step, made ready."""

    def __init__(self, step: Step, places: Places) -> None:
        self.step, self.places = step, places
        self.started = moment(step.started_at)
        self.ended = moment(step.ended_at)
        self.sent = step.call.input if step.call is not None else None

    @cached_property
    def keys(self) -> list[Key]:
        """What a claimed step that is the same must share."""
        inputs = [self.step.input or "", principal(named(self.sent))]
        return _keys(inputs, self.step, self.started, self.places)

    @cached_property
    def tokens(self) -> frozenset[str]:
        step = self.step
        words = (step.input or "", step.output or "", step.reasoning or "")
        return tokens(" ".join(text[:FIRST] for text in words))

    @cached_property
    def input_tokens(self) -> frozenset[str]:
        return tokens(self.step.input or "")

    def input_as(self, claim: ClaimedStep) -> Sent:
        """How a claimed input stands to this step's."""
        if claim.input is None:
            return Sent("silent")
        shown = self.step.input or ""
        found = compared(claim.input, self.sent, shown, self.places)
        if found.way != "other" or len(self.places) < 2:
            return found
        # Below one folder a path may be told from the other that holds it.
        others = (compared(claim.input, self.sent, shown, (place,)) for place in self.places)
        return next((one for one in others if one.way != "other"), found)

    def output_as(self, claim: str | None, parts: bool = True) -> Way:
        """How a claimed output stands to this step's; `parts`: also as a part without a mark."""
        if not claim:
            return "silent"
        shown_ways = versions(self.step.output or "")
        # A frame that the log has, too, must be the log's: it may hold an exit code.
        for told in versions(claim) if len(shown_ways) == 1 else [claim]:
            for shown in shown_ways:
                way = likeness(told, shown, self.places)
                if way != "other":
                    return way
        if parts and is_part(claim, self.step.output or "", self.places):
            return "part"
        return "other"

    def said_as(self, claim: ClaimedStep) -> Way:
        """How claimed words of the agent stand to what this step said, or asked by a tool."""
        said = claim.output or claim.input
        if self.step.call is None or not said:
            return self.output_as(said)
        asked = " ".join(texts_in(self.sent))
        return "excerpt" if stands_in(said, fold(asked, self.places), self.places) else "other"


def _object(text: str) -> object:
    return parsed(text) if text.lstrip()[:1] == "{" else None


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a call's arguments."""
    held = [value]
    while held:
        match held.pop():
            case str() as text:
                yield text
            case dict() as inner:
                held += reversed(inner.values())
            case list() as inner:
                held += reversed(inner)


def tokens(text: str) -> frozenset[str]:
    """The words of a text's beginning, the first of them."""
    found: dict[str, None] = {}
    for word in TOKEN.findall(text[: 2 * FIRST].lower()):
        found[word] = None
        if len(found) == MOST_TOKENS:
            break
    return frozenset(found)


def _keys(
    inputs: Sequence[str], step: ClaimedStep | Step, started: Moment | None, places: Places
) -> list[Key]:
    found = [("in", fold(text, places)) for text in inputs if text]
    found += [("out", fold(text, places)) for text in versions(step.output or "")]
    if started and step.tool:
        found.append(("at", str(round(started[0]))))
    return [key for key in dict.fromkeys(found) if key[1]]


def places_of(steps: Sequence[Step]) -> Places:
    """The working directories of a session, the deepest first; a home is `~`."""
    found = dict.fromkeys(homeless(step.cwd).rstrip("/\\") for step in steps if step.cwd)
    return tuple(sorted((one for one in found if one), key=len, reverse=True))
