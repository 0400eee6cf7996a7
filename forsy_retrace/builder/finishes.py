"""Which calls say that the work is done, and with which words?"""

from typing import Any, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from .shells import SHELLS, command_of


class Finish(NamedTuple):
    """A call that says the work is done: where its words stand, and what it says to give up.

    Without `words`, all that was sent is handed in.
    """

    words: tuple[str, ...]
    ways: str = ""
    gives_up: tuple[str, ...] = ()


FINISHES: dict[str, Finish] = {
    # In lower case; also as the whole of a shell's line, with nothing but options behind it.
    "finish": Finish(
        ("final_answer", "answer", "message", "result"),
        "return_type",
        ("give_up", "give_up_and_restart"),
    ),
    "submit": Finish(("answer", "message", "result")),
    "subagenthandback": Finish(("message",)),
    "structuredoutput": Finish(()),
    "final_answer": Finish(("answer", "final_answer", "result")),
}
HANDS_IN = later(
    r"\s*echo\s+(['\"]?)(?:COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT)\1\s*(?:[&;|\n]|\Z)"
)
"""How a line begins that hands in to mini-swe-agent what it prints next."""


def finish_of(like: str, sent: Any) -> Finish | None:
    """How a call says that the work is done; None for every other call, and where it gives up."""
    name = like
    if like in SHELLS:
        line = command_of(like, sent)
        if line and HANDS_IN.match(line[0]):
            return FINISHES["submit"]
        name, *options = line[0].split() if line and len(line[0]) < 80 and line[0].strip() else [""]
        if any(not option.startswith("-") for option in options):
            return None
    return None if _gives_up(like, sent) else FINISHES.get(name.casefold())


def _gives_up(like: str, sent: Any) -> bool:
    found = FINISHES.get(like.casefold())
    return found is not None and isinstance(sent, dict) and sent.get(found.ways) in found.gives_up


def finishes(step: Step) -> bool:
    """Whether a step is a call that says the work is done."""
    return step.call is not None and finish_of(step.like, step.call.input) is not None


def gives_up(step: Step) -> bool:
    """Whether a step is a call that ends the work because the agent gives up."""
    return step.call is not None and _gives_up(step.like, step.call.input)


def closing_words(step: Step) -> str:
    """What an agent says with the call that ends its work; empty for every other step."""
    if step.call is None or not isinstance(sent := step.call.input, dict):
        return ""
    found = finish_of(step.like, sent)
    if found is not None and not found.words:
        return step.input or ""
    said = (sent.get(key) for key in found.words) if found else ()
    return next((text for text in said if isinstance(text, str) and text.strip()), "")
