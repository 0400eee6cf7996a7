"""What the events of a session before the SDK show together."""

from collections.abc import Iterator

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import number, words

from . import results
from .files import Item
from .old_results import ended
from .shapes import Json


class Survey:
    """What the events show together."""

    def __init__(self, held: Iterator[Item]) -> None:
        self.folders: set[int] = set()
        """Looks at a folder, by their ids."""
        self.ends: dict[int, ToolResult] = {}
        """What a later call told of the end of a command that ran on, by its id."""
        self.totals: list[Item] = []
        """The events that tell all tokens up to them, the last of each count."""
        running, inputs, last = -1, set[int](), -1
        for one in held:
            value, ident = one.value, number(one.value.get("id"))
            if ident is not None and value.get("action") == "run" and _is_input(value):
                inputs.add(ident)
            if (total := _total(value)) is not None:
                if self.totals and total >= last:
                    self.totals.pop()
                self.totals.append(one)
                last = total
            cause = number(value.get("cause"))
            if cause is None or "observation" not in value:
                continue
            if results.FOLDER.match(words(value.get("content"))):
                self.folders.add(cause)
            if value["observation"] == "run":
                told = ended(value, one.at(""))
                if cause in inputs and told.exit_code is not None and running >= 0:
                    text = value.get("content") if isinstance(value.get("content"), str) else None
                    self.ends[running] = ToolResult(
                        one.here("/content" if text is not None else ""), "", text, *told
                    )
                    running = -1
                elif cause not in inputs:
                    running = cause if told.outcome == "launched" else running


def _is_input(value: Json) -> bool:
    held = value.get("args")
    return isinstance(held, dict) and held.get("is_input") is True


def _total(value: Json) -> int | None:
    match value.get("llm_metrics"):
        case {"accumulated_token_usage": {"prompt_tokens": int(total)}} if total:
            return total
    return None
