"""What a user answered to the questions of the agent: the labels of what was chosen, and words."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.sdk import pointer, strings, words

from .held import Node, opened
from .results import result_of


def answers_in(call: Node) -> tuple[str, str]:
    """What was answered, and where it stands below the call: of several texts, all of it."""
    asked, result = opened(call.value.get("params")), result_of(call.value)
    match asked, result:
        case {"questions": [*questions]}, {"answers": [*answers]}:
            found = list(_answers(questions, answers))
            text = "\n".join(text for text, _ in found)
            return text, found[0][1] if len(found) == 1 else ""
    return "", ""


def _answers(questions: list[Any], answers: list[Any]) -> Iterator[tuple[str, str]]:
    """The texts of the answers, with their places in the call."""
    labels = dict(_labels(questions))
    for at, answer in enumerate(answers):
        if not isinstance(answer, dict):
            continue
        chosen = strings(answer.get("selectedOptionIds"))
        question = str(answer.get("questionId"))
        yield from (labels[question, one] for one in chosen if (question, one) in labels)
        if text := words(answer.get("freeformText")):
            yield text, pointer("result", "answers", at, "freeformText")


def _labels(questions: list[Any]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """The labels of options by the names of their question and their own."""
    for at, question in enumerate(questions):
        options = question.get("options") if isinstance(question, dict) else None
        for index, option in enumerate(options if isinstance(options, list) else ()):
            match option:
                case {"id": str(name), "label": str(label)} if label.strip():
                    place = pointer("params", "questions", at, "options", index, "label")
                    yield (str(question.get("id")), name), (label, place)
