"""The conversations of a database: rows of responses, then turns in the tree of messages."""

from collections.abc import Iterator, Mapping

from forsy_retrace.events import Event, Origin, SessionStart, Skipped
from forsy_retrace.source import Source

from .rows import Key, Rows
from .shapes import Node
from .teller import Response, Result, Teller
from .threads import Thread


def stored(source: Source) -> Iterator[Event]:
    """The events of a database, conversation by conversation, as they began."""
    rows = Rows({})
    for record in source.records():
        if why := rows.take(record):
            yield Skipped(Origin(record.here, None, "system"), why)
    told = set()
    for event in _events(rows):
        told.add(event.origin.evidence.record)
        yield event
    yield from rows.left(told)


def _events(rows: Rows) -> Iterator[Event]:
    responses, turns = rows.held.get("responses", {}), rows.held.get("turns", {})
    names = dict.fromkeys([*responses, *turns])
    first = {name: _first([*responses.get(name, ()), *turns.get(name, ())]) for name in names}
    for name in sorted(names, key=lambda one: first[one]):
        yield from _session(name, rows, responses, turns)


def _first(nodes: list[Node]) -> str:
    """Ids are ULIDs, whose order is that of time."""
    return min(map(_age, nodes), default="")


def _age(node: Node) -> str:
    return node.word("id")


Held = Mapping[Key, list[Node]]


def _session(name: Key, rows: Rows, responses: Held, turns: Held) -> Iterator[Event]:
    answers = sorted(responses.get(name, ()), key=_age)
    asked = sorted(turns.get(name, ()), key=_age)
    thread = rows.one("threads", name)
    head = rows.one("conversations", name) or thread or (answers or asked)[0]
    key = "id" if head.get("id") == name else "conversation_id" if answers else "thread_id"
    forked = thread.word("forked_from") if thread else ""
    yield SessionStart(Origin(head.at(key), None, "system"), str(name), forked or None)
    teller = Teller()
    for node in answers:
        yield from teller.response(_response(node, rows))
    yield from Thread(rows, teller, asked, thread or head, is_continued=bool(answers)).events()


def _response(node: Node, rows: Rows) -> Response:
    """A response with the rows that belong to it."""
    name = node.get("id")
    results = [
        Result(
            one,
            rows.linked("tool_results_attachments", one.get("id"), "attachment_id", "attachments"),
        )
        for one in rows.of("tool_results", name)
    ]
    shown = {one.word("id") for result in results for one in result.shown}
    attached = rows.linked("prompt_attachments", name, "attachment_id", "attachments")
    above = rows.linked("system_fragments", name, "fragment_id", "fragments")
    system = [(one.word("content"), one.at("content")) for one in above]
    tools = rows.linked("tool_responses", name, "tool_id", "tools")
    return Response(
        node,
        tools,
        rows.of("tool_calls", name),
        results,
        [one for one in attached if one.word("id") not in shown],
        rows.linked("prompt_fragments", name, "fragment_id", "fragments"),
        system=[*system, (node.word("system"), node.at("system"))],
    )
