"""How often Python looks for cycles of objects: what a log is made into holds none."""

import gc

THRESHOLDS = (200_000, 20, 100)
"""At Python's own, a tenth of a conversion went into the search, and more the longer the log."""


def look_rarely() -> None:
    """For a process of ours; a program that uses the package keeps its own thresholds."""
    gc.set_threshold(*THRESHOLDS)
