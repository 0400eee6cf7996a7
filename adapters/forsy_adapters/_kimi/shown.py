"""The lines of a file that a call showed: each stands behind its number."""

import re
from collections.abc import Iterator

from forsy_retrace.events import Change
from forsy_retrace.sdk import later, packed

LINE = later(r" {0,5}(\d{1,9})\t(.*)", re.S)
TOTAL = later(r"Total lines in file: (\d{1,9})\.")
WHOLE = later(r"End of file reached\.")
CUT = later(r"were truncated\.")


def shown(path: str, text: str, told: str, place: str) -> Iterator[Change]:
    """What stood in the file; nothing where the client says that it cut some of the lines.

    `told` is what the client says beside the lines, `place` where these stand.
    """
    lines = [LINE.fullmatch(line) for line in text.removesuffix("\n").split("\n")]
    numbers = [int(line[1]) for line in lines if line]
    if len(numbers) != len(lines) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return
    if CUT.search(told):
        return
    total = TOTAL.search(told)
    last = numbers[-1] if WHOLE.search(told) else None
    yield Change(
        path,
        "shown",
        shown=packed("\n".join(line[2] for line in lines if line)),
        start=numbers[0],
        total=int(total[1]) if total else last,
        pointer=place,
        trimmed=True,
    )
