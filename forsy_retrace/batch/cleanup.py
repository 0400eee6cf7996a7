"""What becomes of earlier traces: those that no log gives go, those not made anew say so."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from msgspec.structs import replace

from forsy_retrace.writers.place import Place

from .ledger import Ledger, Remembered
from .plan import Plan
from .work import Done

WAITS = "its log was left for another run"
OTHER = "made by other options or another version; its log was not among those of this run"


def drop(plan: Plan, ledger: Ledger, place: Place) -> int:
    """Takes away what came of files that are no logs of their own now; gives how many traces."""
    gone = [(key, ledger.folders_of(key)) for key in ledger.keys() & plan.apart]
    for key, folders in gone:
        for folder in folders:
            place.remove(folder)
        ledger.forget(key)
    return sum(len(folders) for _, folders in gone)


def settled(
    everything: Iterable[Remembered],
    here: Set[str],
    waiting: Set[str],
    unread: Mapping[str, str],
    made: str,
    place: Place,
) -> list[tuple[str, Done]]:
    """Every log by its masked name, and which of its traces are there and why one is `stale`.

    `here` and `waiting` are the keys of the logs of this run, and of those not converted in it,
    `unread` says why others could not be looked at. Only logs that are here have problems.
    """
    found = []
    for one in everything:
        rows, problem = one.done.rows, one.done.problem if one.key in here else ""
        if one.key not in here or one.key in waiting:
            why = WAITS if one.key in waiting else unread.get(one.key, "")
            why = why or (OTHER if one.made != made else "")
            rows = tuple(row for row in rows if place.has_trace(row.folder))
            rows = tuple(replace(row, stale=why) for row in rows) if why else rows
        found.append((one.name, replace(one.done, rows=rows, problem=problem)))
    return found


def tidied(
    everything: Sequence[Remembered],
    waiting: Set[str],
    keys: Mapping[str, str],
    place: Place,
    is_own: bool,
    elsewhere: Callable[[], Set[str]],
) -> int:
    """Takes away folders that killed runs left; gives how many are there that no log is known of.

    A folder of a log that is done, and that the ledger does not know, was placed by a run that was
    killed before it could say so, or before it could take it away. `keys` tell by what each log's
    folders end. Where the ledger is not the target's own, another one may know them; and so may
    that of another part, which gave a log that key: `elsewhere` tells what the others list.
    """
    known = {row.folder for one in everything for row in one.done.rows}
    ours = {keys[one.key] for one in everything if one.key in keys and one.key not in waiting}
    for name in place.left() if is_own else ():
        if _key(name) in ours:
            place.sweep(name)
    strange = [name for name in place.folders() if name not in known]
    gone = {name for name in strange if is_own and _key(name) in ours}
    gone -= elsewhere() if gone else set()
    return sum(
        place.has_trace(name) for name in strange if name not in gone or not place.remove(name)
    )


def _key(folder: str) -> str:
    """What tells the folders of one log from those of every other."""
    return folder.rpartition("-")[2]
