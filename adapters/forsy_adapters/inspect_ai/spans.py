"""Who acts: the spans of a sample's events, which stand in one another."""

from typing import Any

from forsy_retrace.sdk import subagent

ACTORS = ("agent", "tool")
"""Kinds of spans within which somebody acts: the agent's own, and a tool's that asks a model."""
SCORERS = ("scorer", "scorers")
MAIN = "agent"


class Span:
    """A span that has begun; a tool's knows the call that it runs, a subagent's its name."""

    def __init__(self, value: dict[str, Any], above: "Span | None") -> None:
        self.kind, self.name = str(value.get("type")), str(value.get("name"))
        self.above = above
        self.call = ""
        self.actor = ""

    def within(self, kinds: tuple[str, ...]) -> "Span | None":
        """The nearest span of these kinds, itself or around it."""
        one: Span | None = self
        while one is not None and one.kind not in kinds:
            one = one.above
        return one


class Spans:
    """The spans by id; logs from before them have steps, one inside the other."""

    def __init__(self) -> None:
        self.known: dict[str, Span] = {}
        self.steps: list[Span] = []
        self.waiting: list[Span] = []
        """Tools' spans whose call is not known yet."""
        self.agents = 0

    def begin(self, value: dict[str, Any]) -> None:
        """A span or step that begins."""
        match value:
            case {"event": "step"}:
                self.steps.append(Span(value, self.steps[-1] if self.steps else None))
            case {"id": str(name)}:
                self.known[name] = span = Span(value, self._called(value.get("parent_id")))
                if span.kind == "tool":
                    self.waiting.append(span)

    def end(self, value: dict[str, Any]) -> Span | None:
        """The span that ends."""
        if value.get("event") == "step":
            return self.steps.pop() if self.steps else None
        span = self._called(value.get("id"))
        if span in self.waiting:
            self.waiting.remove(span)
        return span

    def of(self, value: dict[str, Any]) -> Span | None:
        """The span in which an event happened."""
        return self._called(value.get("span_id")) or (self.steps[-1] if self.steps else None)

    def _called(self, name: Any) -> Span | None:
        return self.known.get(name) if isinstance(name, str) else None

    def runs(self, function: str, call: str) -> Span | None:
        """The span of a tool that began just before a call was told; it is that call's."""
        for span in reversed(self.waiting):
            if span.name == function:
                self.waiting.remove(span)
                span.call = call
                return span
        return None

    def actor(self, span: Span | None) -> str:
        """Who acts in a span: the agent or a subagent; empty for a scorer, who is none of them."""
        if span is None:
            return MAIN
        if span.within(SCORERS):
            return ""
        own = span.within(ACTORS)
        if own is None or (own.kind == "agent" and not (own.above and own.above.within(ACTORS))):
            return MAIN
        own.actor = own.actor or self.named(own.name)
        return own.actor

    def named(self, name: str) -> str:
        """A name for one more subagent."""
        self.agents += 1
        return subagent(name, self.agents)
