"""What `llm logs --json` prints: a list of responses, each with all that belongs to it."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, SessionStart, Skipped
from forsy_retrace.source import Source

from .shapes import Node
from .teller import Response, Result, Teller, shown_by

OURS = {"id", "model", "prompt", "response", "conversation_id", "datetime_utc", "duration_ms"}
LAST = "`llm logs` prints only the last responses, unless asked for more: earlier ones may lack."

CUT = "Without `--expand`, long fragments are printed cut: words behind one are told with it."


def is_printed(value: Any) -> bool:
    """A response."""
    return isinstance(value, dict) and set(value) >= OURS


def printed(source: Source) -> Iterator[Event]:
    """The events of what was printed, conversation by conversation."""
    sessions: dict[str, list[Node]] = {}
    for record in source.records():
        if is_printed(record.value):
            node = Node(record.value, record.here)
            name = node.word("conversation_id") or node.word("id")
            sessions.setdefault(name, []).append(node)
        else:
            yield Skipped(Origin(record.here, None, "system"), record.problem or "not a response")
    for name, nodes in sessions.items():
        yield from _session(name, nodes)


def _session(name: str, nodes: list[Node]) -> Iterator[Event]:
    key = "conversation_id" if nodes[0].word("conversation_id") else "id"
    start = Origin(nodes[0].at(key), None, "system")
    yield SessionStart(start, name, limits=(LAST, CUT))
    teller = Teller()
    for node in nodes:
        yield from teller.response(_response(node))


def _response(node: Node) -> Response:
    results = [Result(one, _listed(one, "attachments")) for one in _listed(node, "tool_results")]
    attached = _listed(node, "attachments")
    if results and not node.word("prompt"):  # what tools showed, and since 0.32 not which
        attached, results = [], shown_by(results, attached)
    shown = {one.word("id") for result in results for one in result.shown}
    said = node.word("system")
    above = [(one.word("content"), one.at("content")) for one in _listed(node, "system_fragments")]
    system = [(text, place) for text, place in above if text.strip() not in said]
    return Response(
        node,
        _listed(node, "tools"),
        _listed(node, "tool_calls"),
        results,
        [one for one in attached if one.word("id") not in shown],
        _listed(node, "prompt_fragments"),
        is_joined=True,
        system=[*system, (said, node.at("system"))],
    )


def _listed(node: Node, key: str) -> list[Node]:
    """The objects of a list below a node."""
    held = node.get(key)
    return [
        Node(value, node.at(key, place))
        for place, value in enumerate(held if isinstance(held, list) else ())
        if isinstance(value, dict)
    ]
