"""The rows of the database, by the table and by what each belongs to."""

from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.source import Record

from .shapes import Node

KEYS = {
    # Each table that is read, and the column by which its rows are asked for.
    "conversations": "id",
    "responses": "conversation_id",
    "tool_calls": "response_id",
    "tool_results": "response_id",
    "tools": "id",
    "attachments": "id",
    "fragments": "id",
    "threads": "id",
    "turns": "thread_id",
    "messages": "hash",
    "parts": "message_hash",
}
LINKS = {
    # Tables that only say which rows belong together.
    "tool_responses": "response_id",
    "prompt_attachments": "response_id",
    "tool_results_attachments": "tool_result_id",
    "prompt_fragments": "response_id",
    "system_fragments": "response_id",
    "turn_tools": "turn_id",
    "turn_fragments": "turn_id",
}
LEFT = {
    "conversations": "a conversation that another row tells",
    "threads": "a conversation that another row tells",
    "tools": "a tool on offer",
    "attachments": "the bytes of an attachment",
    "fragments": "a fragment of no prompt, or of a system prompt",
    "turns": "an answer that its messages tell",
    "messages": "a message that its parts tell",
    "parts": "a message of no turn",
}
"""Why a row that no event stands on is left out."""
ALONE = "a row that belongs to no other"

Key = str | int


class Rows(NamedTuple):
    """Rows by table and key, in the order of the database."""

    held: dict[str, dict[Key, list[Node]]]

    def take(self, record: Record) -> str:
        """Keeps a row; why it is none to be told."""
        match record.value:
            case {"table": str(table), "row": {**row}} if table in KEYS or table in LINKS:
                key = row.get(KEYS.get(table) or LINKS[table])
                if table == "responses" and not isinstance(key, Key):
                    key = row.get("id")  # a response of no conversation stands alone
                if not isinstance(key, Key):
                    return "a row without its key"
                node = Node(
                    {str(name): value for name, value in row.items()}, record.here.at("/row")
                )
                self.held.setdefault(table, {}).setdefault(key, []).append(node)
                return "which rows belong together" if table in LINKS else ""
            case {"database": _}:
                return "the names of tables and columns"
            case {"table": str()}:
                return "a row of another table"
        return record.problem or "unknown record"

    def of(self, table: str, key: object) -> list[Node]:
        """The rows of a table that belong to something."""
        return self.held.get(table, {}).get(key, []) if isinstance(key, Key) else []

    def one(self, table: str, key: object) -> Node | None:
        """The row of a table with that key."""
        return next(iter(self.of(table, key)), None)

    def linked(self, link: str, key: object, column: str, table: str) -> list[Node]:
        """The rows of a table that another joins to something, in their order there."""
        links = sorted(self.of(link, key), key=_order)
        found = (self.one(table, one.get(column)) for one in links)
        return [one for one in found if one is not None]

    def left(self, told: set[tuple[str, int, int]]) -> Iterator[Event]:
        """Rows that no event stands on."""
        for table in KEYS:
            for nodes in self.held.get(table, {}).values():
                for node in nodes:
                    if node.here.record not in told:
                        here = Origin(node.here, None, "system")
                        yield Skipped(here, LEFT.get(table, ALONE))


def _order(link: Node) -> int:
    place = link.get("order")
    return place if isinstance(place, int) else 0
