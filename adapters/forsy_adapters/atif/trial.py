"""What Harbor says of a trial as a whole."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Notice, Skipped
from forsy_retrace.sdk import pointer, words
from forsy_retrace.source import Source

from .files import REWARD, Doc, Json, docs


def graded(trial: Doc, source: Source) -> Iterator[Event]:
    """How a trial ended, and what its verifier gave."""
    value: Json = trial.value
    here = trial.here("")
    match value.get("exception_info"):
        case {"exception_type": str(kind), **rest} if kind.strip():
            key = "exception_message" if words(rest.get("exception_message")) else "exception_type"
            where = here.below(pointer("exception_info", key))
            text = value["exception_info"][key]
            yield Notice(where, "limit" if "Timeout" in kind else "model error", text)
    told = False
    match value.get("verifier_result"):
        case {"rewards": {"reward": int() | float() as reward}}:
            told = True
            yield Fact(here.below("/verifier_result/rewards/reward"), "reward", reward)
        case {"reward": int() | float() as reward}:
            told = True
            yield Fact(here.below("/verifier_result/reward"), "reward", reward)
    for file in source.beside(REWARD):
        for doc in docs(file):
            if not told and isinstance(doc.value, int | float):
                told = True
                yield Fact(doc.here(""), "reward", doc.value)
            else:
                yield Skipped(doc.here(""), doc.record.problem or "the reward, told again")
    yield Skipped(here, "result of the trial")
