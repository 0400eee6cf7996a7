"""Tasks that kill the process which does them; it imports this module, and nothing beside."""

import os
import signal
from pathlib import Path


def double(number: int) -> int:
    """Kills its worker for one number."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def kill_once(path: Path) -> str:
    """Kills its worker at its first task, and not again."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return path.name
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def hears_ctrl_c(number: int) -> bool:
    """Whether Ctrl-C reaches the worker."""
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
