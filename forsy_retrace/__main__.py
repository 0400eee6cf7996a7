"""`forsy-retrace`, and `python -m forsy_retrace`: Ctrl-C while it is imported ends it silently."""

import signal
from typing import NoReturn


def run() -> NoReturn:
    """Imports the command line, and runs it."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from forsy_retrace.cli import run as run_the_command

    signal.signal(signal.SIGINT, before)
    run_the_command()


if __name__ == "__main__":
    run()
