"""What the adapters of terminal recordings share: a stream, the commands in it, their events."""

from forsy_retrace.sdk import Shows

from .look import has_prompts, is_stream
from .steps import Program, steps
from .tape import NOWHERE, TYPED, UNSEEN, Places, Tape

__all__ = [
    "NOWHERE",
    "SHOWN",
    "TYPED",
    "Places",
    "Program",
    "Tape",
    "has_prompts",
    "is_stream",
    "steps",
]

CANNOT = (
    "who typed: a person, a script or an agent",
    UNSEEN,
    "whether a command worked, unless the shell marked its exit or the next command printed it",
    "whether a line that printed nothing was run or given up with ^C, where zsh shows no sign",
    "what full-screen programs drew, or what scripts and programs ran by themselves",
    "a request, a reason or an answer in words",
)
"""What no recording of a terminal tells."""
SHOWN = Shows(
    calls="mostly",
    results="yes",
    exit_status="sometimes",
    time="yes",
    cwd="sometimes",
    cannot=CANNOT,
)
"""What a recording with times can show; an adapter adds its name and its places."""
