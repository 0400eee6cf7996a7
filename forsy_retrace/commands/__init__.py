"""Tells what a shell command does: read, search, edit, check, install …, and on which targets."""

from forsy_retrace.commands.compound import APPLIES, classify
from forsy_retrace.commands.model import MOVES, REMOVES, REWRITES, Command, Excuse, Limits, Simple
from forsy_retrace.commands.options import method
from forsy_retrace.commands.queries import asks

__all__ = [
    "APPLIES",
    "MOVES",
    "REMOVES",
    "REWRITES",
    "Command",
    "Excuse",
    "Limits",
    "Simple",
    "asks",
    "classify",
    "method",
]
