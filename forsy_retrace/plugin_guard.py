"""An adapter of another package, held to what an adapter gives: all else is a fault of it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Literal, get_args, get_origin

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
        if why := _odd_field(self.SHOWS):
            raise self._fault(f"SHOWS.{why}")
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
        if why := _odd_field(one):
            return f"a {kind} whose {path}{why}"
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
    """The first field with a value that it may not have, and what it may; empty if none has."""
    if not isinstance(one, msgspec.Struct):
        return f"evidence {UNTYPED}"
    try:
        msgspec.convert(msgspec.structs.asdict(one), type(one), dec_hook=lambda _, value: value)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].split("[")[0].split(".")[0].rstrip("`")
        return f"{name} {_lacks(type(one), name)}"
    return ""


UNTYPED = "is not of the type that docs/sdk.md names"


def _lacks(kind: type[msgspec.Struct], name: str) -> str:
    """What a field's value is not; of words, those that it takes."""
    wanted = next((one.type for one in msgspec.structs.fields(kind) if one.name == name), None)
    is_one = get_origin(wanted) is Literal
    words = [word for one in (wanted, *get_args(wanted)) for word in _words(one)]
    says = f"{'is' if is_one else 'holds what is'} none of {', '.join(words)}"
    return says if words else UNTYPED


def _words(kind: Any) -> tuple[str, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()
