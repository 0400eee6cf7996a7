"""A session and its subagents: one lane of events each, and the settings beside them."""

from collections.abc import Iterator

from forsy_retrace.calls import Calls
from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import counts, in_time, subagent, words
from forsy_retrace.source import Source

from .log import Log, Started, sniffed, subagents
from .log import settings as beside
from .reader import Reader

USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheCreationTokens": "cache_creation_input_tokens",
    "thinkingTokens": "thought_tokens",
}


class Session:
    """What a log and its companions tell, as one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.calls = Calls()

    def events(self) -> Iterator[Event]:
        """Everything in the order in which it happened."""
        others = [one for one in subagents(self.source) if sniffed(one)]
        logs = [Log(self.source), *map(Log, others)]
        kinds: dict[str, Started] = {}
        for log in logs:
            for one in log.started:
                kinds.setdefault(one.session, one)  # a later call may go on with it
        actors: dict[str, str] = {}
        for log in logs[1:]:
            told = kinds.get(log.session)
            actors.setdefault(
                log.session, subagent(told.kind if told else "agent", len(actors) + 1)
            )
        sent = {one.call: actors[one.session] for one in kinds.values() if one.session in actors}
        yield from in_time(*(self._lane(log, actors.get(log.session, ""), sent) for log in logs))

    def _lane(self, log: Log, actor: str, sent: dict[str, str]) -> list[Event]:
        """The events of a log; the settings are told once its start is."""
        reader = Reader(log, self.calls, actor, sent)
        events: list[Event] = []
        state = list(_settings(log, bool(actor)))
        for place, record in log.records():
            events += reader.read(place, record)
            if reader.is_begun and state:
                events += state
                state = []
        return events + state


def _settings(log: Log, is_aside: bool) -> Iterator[Event]:
    """What the client last wrote: the model, where no message tells it, and the tokens."""
    for source in beside(log.source):
        for record in source.records():
            here = Origin(record.here, None, "system")
            if not isinstance(record.value, dict):
                yield Skipped(here, record.problem or "no settings of a session")
                continue
            model = words(record.value.get("model"))
            if model and not log.names_models and not is_aside:
                yield Fact(here.below("/model"), "model", model)
            if used := counts(record.value.get("tokenUsage"), USAGE):
                yield Fact(here.below("/tokenUsage"), "usage", used)
            yield Skipped(here, "settings of the session")
