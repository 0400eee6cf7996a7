"""Tells what a shell command does: read, search, edit, check, install …, and on which targets."""

from forsy_retrace.commands.compound import classify
from forsy_retrace.commands.model import Command, Excuse, Simple

__all__ = ["Command", "Excuse", "Simple", "classify"]
