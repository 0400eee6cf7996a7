"""A command that a recording shows: where it was typed, what it is, where its output stands."""

import msgspec


class Run(msgspec.Struct, frozen=True):
    """Places count characters of the tape; the command's own are read by `view`."""

    prompt: int
    """Where its prompt begins."""
    start: int
    end: int
    """Between these the command stands."""
    view: str
    command: str
    """Empty where none is told, but an output stands there."""
    reading: str
    entered: int
    """Where its output begins."""
    until: int
    """Where its output ends."""
    closed: int
    """Where the sign stands behind that ended it; the output's end where there was none."""
    is_done: bool
    exit: int | None = None
    cwd: tuple[int, int, str] | None = None
    """Where the shell named the working directory, and its path."""
