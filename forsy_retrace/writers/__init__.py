"""What is written: trace folders, and the event stream as JSON lines."""

from forsy_retrace.writers.events import event_lines
from forsy_retrace.writers.folder import Written, write_folder

__all__ = ["Written", "event_lines", "write_folder"]
