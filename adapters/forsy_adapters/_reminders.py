"""What clients say to a model in the user's place: their reminders."""

from forsy_retrace.sdk import later

ALONE = later(r"\s*<system-reminder>(?:[^<]|<(?!/system-reminder>))*+</system-reminder>\s*")


def is_reminder(text: str) -> bool:
    """Whether a text is one reminder, and no word besides."""
    return ALONE.fullmatch(text) is not None
