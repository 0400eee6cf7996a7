"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from . import converting, extending, looking, masking
from .group import main
from .program import run

__all__ = ["converting", "extending", "looking", "main", "masking", "run"]
