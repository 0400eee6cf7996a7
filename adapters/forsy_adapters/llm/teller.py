"""Tells a conversation: what each model was given, and what it answered."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import counts, pointer, resolve, words
from forsy_retrace.source import Evidence

from .._facts import Facts
from .shapes import Clock, Node, pictures, sent_in, verdict

USAGE = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
STOPS = (
    # Where providers say in their own answers why a model stopped.
    ("finish_reason",),
    ("choices", 0, "finish_reason"),
    ("stop_reason",),
)
STOPPED = ("length", "max_tokens", "content_filter")
"""Reasons that are not the model's own."""


class Result(NamedTuple):
    """What came of a call, and what it shows beside."""

    node: Node
    shown: Sequence[Node] = ()
    names_exceptions: bool = False
    """Whether it would name an exception, and has no place for none."""


class Response(NamedTuple):
    """A prompt and its response, as versions before 0.32 kept them and all print them."""

    node: Node
    tools: Sequence[Node] = ()
    calls: Sequence[Node] = ()
    results: Sequence[Result] = ()
    attachments: Sequence[Node] = ()
    fragments: Sequence[Node] = ()
    is_joined: bool = False
    """Whether the prompt begins with the fragments."""
    system: Sequence[tuple[str, Evidence]] = ()
    """The pieces of the system prompt, and where each stands."""


class Teller:
    """Tells one conversation."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.facts = Facts()
        """Facts, as they were told last."""
        self.once = set[tuple[str, str]]()
        """Facts that were told, of which several hold."""

    def response(self, one: Response) -> Iterator[Event]:
        """A prompt and its response."""
        node, clock = one.node, Clock(one.node, one.node.word("id"))
        yield from self.given(node, one.tools)
        for text, place in one.system:
            yield from self.offered(clock, "system_prompt", text.strip(), place)
        for result in one.results:
            yield self.result(clock, result)
        yield from self._prompt(one, clock)
        if node.word("reasoning"):
            yield Thinking(clock.answered(node.at("reasoning")), node.word("reasoning"))
        if node.word("response"):
            yield Message(clock.answered(node.at("response")), "agent", node.word("response"))
        for call in one.calls:
            yield self.call(clock, call)
        yield from ended(node)

    def given(self, node: Node, tools: Sequence[Node]) -> Iterator[Event]:
        """What a model had at hand, and which it was."""
        clock = Clock(node)
        model = "resolved_model" if node.word("resolved_model") else "model"
        place = clock.asked(node.at(model), "system")
        yield from self.facts.told(place, "model", node.word(model))
        for tool in tools:
            yield from self.offered(clock, "tools", tool.word("name"), tool.at("name"))

    def offered(self, clock: Clock, name: str, text: str, place: Evidence) -> Iterator[Event]:
        """A tool, or a piece of a system prompt, where it is new."""
        if text and (name, text) not in self.once:
            self.once.add((name, text))
            value = [text] if name == "tools" else text
            yield Fact(clock.asked(place, "system"), name, value)

    def _prompt(self, one: Response, clock: Clock) -> Iterator[Event]:
        said = one.node.word("prompt")
        text = typed(said, [node.word("content") for node in one.fragments if one.is_joined])
        place = one.node.at("prompt")
        if text or one.attachments:
            shown = pictures(one.attachments, place)
            here = clock.asked(place if said else one.node.here, "user")
            yield Message(here, "user", text, attachments=shown, within=text != said)
            yield from brought(clock, one.fragments)
        else:
            yield from self.fragments(clock, one.fragments)

    def fragments(self, clock: Clock, held: Sequence[Node]) -> Iterator[Event]:
        """Fragments without words beside them: the first is what the user said."""
        for node in held[:1]:
            here = clock.asked(node.at("content"), "user")
            yield Message(here, "user", node.word("content"), within=True)
        yield from brought(clock, held[1:])

    def call(self, clock: Clock, node: Node) -> Event:
        """A call."""
        here = clock.answered(node.at("arguments") if "arguments" in node.value else node.here)
        place = node.here.record, node.here.pointer
        name = self.calls.issue(node.word("tool_call_id"), place)
        if name is None or not node.word("name"):
            return Skipped(here, "a call without a tool" if name else "repeated call")
        named = node.at("name").pointer
        return ToolCall(here, name, node.word("name"), sent_in(node), named=named)

    def result(self, clock: Clock, result: Result) -> Event:
        """What came of a call."""
        node = result.node
        place = node.at("output") if "output" in node.value else node.here
        here = clock.asked(place, "agent")
        name = self.calls.answer(node.word("tool_call_id"))
        if name is None:
            return Skipped(here, "a result of no call, or a repeated one")
        output = node.get("output")
        found = verdict(node, result.names_exceptions)
        return ToolResult(
            here,
            name,
            output if isinstance(output, str) else None,
            found.outcome,
            found.rule,
            found.basis,
            attachments=pictures(result.shown, place),
        )


def shown_by(results: list[Result], shown: Sequence[Node]) -> list[Result]:
    """Results, with what is logged to have been shown by one of them; of several, no one knows
    by which.
    """
    if len(results) != 1 or results[0].shown:
        return results
    return [results[0]._replace(shown=shown)]


def ended(node: Node) -> Iterator[Event]:
    """Why a model stopped, where it was not done, and the tokens that it took."""
    for keys in STOPS:
        place = node.at("response_json", *keys)
        try:
            why = resolve(node.value, pointer("response_json", *keys))
        except LookupError:
            continue
        if why in STOPPED:
            yield Notice(Clock(node).answered(place).by("system"), "limit", why)
    if spent := counts(node.value, USAGE):
        yield Fact(Clock(node, node.word("id")).answered(node.here), "usage", spent)


def brought(clock: Clock, fragments: Sequence[Node]) -> Iterator[Event]:
    """Fragments that stand before the words."""
    for node in fragments:
        if words(node.get("content")):
            here = clock.asked(node.at("content"), "system")
            yield Fact(here, "brought", {"text": node.word("content")})


def typed(said: str, fragments: Sequence[str]) -> str:
    """A prompt without the fragments that it begins with, each on lines of its own."""
    rest = said
    for text in fragments:
        if rest == text:
            rest = ""
        elif rest.startswith(f"{text}\n"):
            rest = rest[len(text) + 1 :]
        else:
            return said
    return rest
