"""What stood in a file after each of its edits, replayed from what the log shows of them."""

from forsy_retrace.trace import Touch, Trace

from ..files import after_edit, keeps_end
from .replaced import before_of
from .wholes import Held, shown_whole

CHANGES = ("edit", "write", "delete", "changed", "generated", "removed", "put back", "committed")


def replay(touched: list[Touch], trace: Trace) -> Held | None:
    """The file's content after all that the log shows, where each link of the chain holds."""
    held: Held | None = None
    told = [at for at, touch in enumerate(touched) if tells_before(touch)]
    for touch in touched[told[-1] if told else 0 :]:
        if touch.kind == "write":
            held = None if touch.new is None else Held(touch.new)
        elif touch.kind == "edit":
            before = before_of(touch.change)
            held = _edited(held if before is None else Held(before), touch)
        elif touch.kind in CHANGES and touch.kind != "committed" and not touch.source:
            held = None
        elif touch.kind == "read" and (seen := shown_whole(trace, touch)) is not None:
            held = _more_of(seen, held)
        elif touch.kind == "read" and held is not None and _shows_otherwise(held.text, touch):
            held = None
    return held


def shown_otherwise(touched: list[Touch], trace: Trace) -> int | None:
    """The step that showed a part of a file otherwise than its last change had left it."""
    last = max(at for at, touch in enumerate(touched) if touch.kind in CHANGES)
    held = replay(touched[: last + 1], trace)
    reads = (touch for touch in touched[last + 1 :] if touch.kind == "read")
    return next((t.step for t in reads if held and _shows_otherwise(held.text, t)), None)


def _shows_otherwise(text: str, read: Touch) -> bool:
    """Whether a part of a file, read since, is not what it is held to be: something changed it."""
    shown = read.change.text if read.change is not None else None
    if shown is None or not read.first:
        return False
    seen, place = shown.split("\n"), read.first - 1
    return _bare(seen) != _bare(text.split("\n")[place : place + len(seen)])


def _bare(lines: list[str]) -> str:
    """Lines without the blanks at their ends, and no blank lines behind the last."""
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def _more_of(seen: Held, held: Held | None) -> Held:
    """What was seen, unless it is what the file held, of which more is told."""
    same = held is not None and seen.text.strip() == held.text.strip()
    return held if held is not None and same and not seen.edges else seen


def _edited(held: Held | None, touch: Touch) -> Held | None:
    """What a file holds after an edit; what is put at an end that is not told stands nowhere."""
    if touch.change is not None and touch.change.after is not None:
        return Held(touch.change.after)
    if held is None or (touch.old == "" and not held.edges):
        return None
    after = after_edit(held.text, touch)
    return None if after is None else Held(after, held.edges and keeps_end(held.text, touch, after))


def tells_before(touch: Touch) -> bool:
    """Whether an edit was recorded with the file before it: what led there counts no more."""
    return touch.kind == "edit" and touch.change is not None and touch.change.before is not None
