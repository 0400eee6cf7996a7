"""JSON whose long texts stand once, in a table of the record, and elsewhere by their names."""

from typing import Any

TABLE = "attachments"
NAMES = ("attachment://", "tc://")
"""How Inspect AI names a text of the table by its hash, and did in its first years."""


def filled(value: Any, table: dict[str, Any] | None = None) -> Any:
    """The value itself, each name in it replaced by the text it stands for, in place.

    Of tables inside one another the nearest above counts; a name without a text stays.
    """
    match value:
        case str() if table and value.startswith(NAMES):
            found = table.get(value.partition("://")[2])
            return found if isinstance(found, str) else value
        case list():
            for index, item in enumerate(value):
                value[index] = filled(item, table)
        case dict():
            own = value.get(TABLE)
            near = own if isinstance(own, dict) else table
            for key, item in value.items():
                if item is not own:
                    value[key] = filled(item, near)
    return value
