"""`forsy-retrace`, and `python -m forsy_retrace`: Ctrl-C while it is imported ends it silently."""

import signal
from typing import NoReturn


def run() -> NoReturn:
    """Imports the command line, and runs it."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:  # a caller may have it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from forsy_retrace.cli import run as run_the_command

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_the_command()


if __name__ == "__main__":
    run()
