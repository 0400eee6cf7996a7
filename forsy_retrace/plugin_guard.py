"""An adapter of another package, held to what an adapter gives: all else is a fault of it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import msgspec

from forsy_retrace.errors import StrangersFault
from forsy_retrace.events import Event, Packed
from forsy_retrace.patterns import later
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

ACTOR = later(r"user|agent(?::\S+)?|system|subagent:[^\r\n]+_[1-9][0-9]*")
MOMENT = later(r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}(?:\.[0-9]{1,9})?Z")
"""Who may have acted, and when, as the format writes both."""


class Stranger:
    """The adapter under its name; what it gives is looked at before anything is made of it."""

    def __init__(self, name: str, adapter: Any) -> None:
        self.name = name
        self.adapter = adapter
        self.SHOWS: Shows = adapter.SHOWS
        if field := _odd_field(self.SHOWS):
            raise self._fault(f"SHOWS.{field} is not of the type that docs/sdk.md names")
        self.__doc__ = adapter.__doc__

    def sniff(self, source: Source) -> bool:
        """What the adapter says of a log."""
        with self._blame(), aside():
            told = self.adapter.sniff(source)
        if not isinstance(told, bool):
            raise self._fault(f"sniff says a {type(told).__name__}, and not True or False")
        return told

    def accepts(self, source: Source) -> bool:
        """The same, of a log that the user named it for."""
        with self._blame(), aside():
            return bool(getattr(self.adapter, "accepts", self.adapter.sniff)(source))

    def companions(self, source: Source) -> list[Source]:
        """The files beside a log that the adapter says belong to it."""
        if not hasattr(self.adapter, "companions"):
            return []
        with self._blame(), aside():
            found = self.adapter.companions(source)
            if not isinstance(found, Iterable):
                raise self._fault(f"companions gives a {type(found).__name__}, and no Sources")
            found = list(found)
        for one in found:
            if not isinstance(one, Source):
                raise self._fault(f"companions gives a {type(one).__name__}, which is no Source")
        return found

    def read(self, source: Source) -> Iterator[Event]:
        """The adapter's events, each of them one."""
        with self._blame():
            events = self.adapter.read(source)
            if not isinstance(events, Iterable):
                raise self._fault(f"read gives a {type(events).__name__}, and no events")
            for event in _quietly(iter(events)):
                if why := odd(event):
                    raise self._fault(f"read yields {why}")
                yield event

    def _fault(self, why: str) -> StrangersFault:
        return StrangersFault(f"the adapter {self.name} fails: {why}")

    @contextmanager
    def _blame(self) -> Iterator[None]:
        """An end of the program that the adapter asks for is a fault of it, and not quoted."""
        try:
            yield
        except SystemExit:
            raise self._fault("it raises SystemExit") from None


@contextmanager
def aside() -> Iterator[None]:
    """What code of another package prints goes to stderr: stdout is for what was asked."""
    with redirect_stdout(sys.stderr):
        yield


def _quietly(events: Iterator[Any]) -> Iterator[Any]:
    """The same events; stdout is the caller's while it has one of them."""
    end = object()
    while True:
        with aside():
            event = next(events, end)
        if event is end:
            return
        yield event


def odd(event: Any) -> str:
    """What makes a value no event; empty where it is one. Never quotes it."""
    kind = type(event).__name__
    if not isinstance(event, Event):
        return f"a {kind}, which is no event"
    try:
        msgspec.json.encode(event, enc_hook=_unpacked)
    except (TypeError, UnicodeEncodeError):
        return f"a {kind} with what no JSON holds, such as half a surrogate pair"
    for one, path in ((event, ""), (event.origin, "origin.")):
        if field := _odd_field(one):
            return f"a {kind} whose {path}{field} is not of the type that docs/sdk.md names"
    if not ACTOR.fullmatch(event.origin.actor):
        return f"a {kind} whose origin.actor is none of user, agent, system and subagent:<type>_<n>"
    if event.origin.at is not None and not MOMENT.fullmatch(event.origin.at):
        return f"a {kind} whose origin.at is no UTC time such as sdk.when gives"
    return ""


def _unpacked(value: Any) -> str:
    if isinstance(value, Packed):
        return str(value)
    raise TypeError


def _odd_field(one: msgspec.Struct) -> str:
    if not isinstance(one, msgspec.Struct):
        return "evidence"
    try:
        msgspec.convert(msgspec.structs.asdict(one), type(one), dec_hook=lambda _, value: value)
    except msgspec.ValidationError as error:
        return str(error).rpartition("$.")[2].split("[")[0].split(".")[0].rstrip("`")
    return ""
