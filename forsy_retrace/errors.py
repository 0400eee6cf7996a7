"""What a user can act on; everything else that is raised is our own bug."""

from pathlib import Path


def where(error: BaseException) -> str:
    """The kind of an error and the line that raised it; never what it says."""
    import traceback

    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__} in {Path(error.filename).name}, line {error.lineno}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


class RetraceError(Exception):
    """One line that says what to do. It never holds text from a log."""

    exit_code = 2


class Terminated(BaseException):
    """A scheduler wants the program to end; what is half done is put away first."""


class UnreadableInput(RetraceError):
    """The input can't be read as what it was called."""

    exit_code = 65


class Unreachable(UnreadableInput):
    """The input can't be read now, whatever it is: no permission, a disk or a store that fails, or
    packed bytes that are not what they were."""


class DiskTrouble(RetraceError):
    """The target can't be written: no space, no permission, an input-output error."""

    exit_code = 74


class StrangersFault(RetraceError):
    """An adapter of another package does what no adapter may."""

    exit_code = 70


class Locked(RetraceError):
    """Another run is writing the same target."""

    exit_code = 75


class Occupied(RetraceError):
    """The target holds what this tool did not write."""
