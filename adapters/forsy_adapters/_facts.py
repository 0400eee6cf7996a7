"""Facts that a log tells again and again, such as the model of each answer."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Fact, Origin


class Facts:
    """What was told of a session last, by the names of facts."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}

    def told(self, here: Origin, name: str, value: Any) -> Iterator[Fact]:
        """A fact, where it says something, and something else than was told last."""
        if value and self._last.get(name) != value:
            self._last[name] = value
            yield Fact(here, name, value)
