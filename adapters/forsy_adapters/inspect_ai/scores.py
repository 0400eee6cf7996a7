"""What the scorers gave, where it says whether the sample was solved."""

from typing import Any

from forsy_retrace.sdk import pointer

GRADES: dict[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's own letters: correct, partially, incorrect, no answer."""


def reward(scores: Any) -> tuple[str, float] | None:
    """Where the grade stands below the scores, and the reward; None where they don't agree.

    A number may be of any scale, so that only letters and truth values count.
    """
    found: list[tuple[str, float]] = []
    for name, score in scores.items() if isinstance(scores, dict) else ():
        match score:
            case {"value": str(value)} if value in GRADES:
                found.append((pointer(name, "value"), GRADES[value]))
            case {"value": bool(value)}:
                found.append((pointer(name, "value"), float(value)))
    return found[0] if found and len({value for _, value in found}) == 1 else None
