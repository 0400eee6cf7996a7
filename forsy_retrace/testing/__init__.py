"""The laws that every adapter keeps, for ours and for strangers'.

Four lines in a test file run them all over a folder of cases:

    from pathlib import Path
    from forsy_retrace.testing import conformance

    test_law = conformance("my-adapter", Path(__file__).parent / "fixtures")

A case is a folder `<adapter>/<case>/` with the log `input.*`, the files that belong to it, and the
goldens `events.jsonl` and `trace/`. FORSY_UPDATE_GOLDENS=1 writes the goldens; read them before
you keep them. A log that must be refused has the reason in `refused.txt` instead of a trace.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from forsy_retrace.adapter import Adapter
from forsy_retrace.errors import RetraceError
from forsy_retrace.testing.case import BrokenLaw, Case, cases
from forsy_retrace.testing.faithful import (
    says_what_its_records_say,
    tells_each_thing_once_and_in_order,
)
from forsy_retrace.testing.goldens import (
    digest,
    matches_golden_events,
    matches_golden_trace,
    write_goldens,
)
from forsy_retrace.testing.hardship import survives_a_cut_anywhere, survives_strangers
from forsy_retrace.testing.laws import (
    accounts_for_every_record,
    answers_follow_calls,
    every_value_has_a_ground_that_the_source_bears_out,
    is_claimed_by_one_adapter,
    reads_the_same_twice,
)

__all__ = [
    "HARDSHIPS",
    "LAWS",
    "BrokenLaw",
    "Case",
    "Law",
    "accounts_for_every_record",
    "answers_follow_calls",
    "broken",
    "cases",
    "conformance",
    "digest",
    "every_value_has_a_ground_that_the_source_bears_out",
    "is_claimed_by_one_adapter",
    "matches_golden_events",
    "matches_golden_trace",
    "reads_the_same_twice",
    "says_what_its_records_say",
    "survives_a_cut_anywhere",
    "survives_strangers",
    "tells_each_thing_once_and_in_order",
    "write_goldens",
]

Law = Callable[[Adapter | str, Case], None]
"""Takes an adapter (its name, or the module) and a case; raises BrokenLaw."""

HARDSHIPS: tuple[Law, ...] = (
    survives_a_cut_anywhere,  # what if the log was copied while it was written?
    survives_strangers,  # what if any value is missing or of another type?
)
LAWS: tuple[Law, ...] = (
    is_claimed_by_one_adapter,  # does it know its own logs, and no others?
    accounts_for_every_record,  # is nothing lost in silence?
    reads_the_same_twice,  # does only the log decide what comes out?
    answers_follow_calls,  # is each call there once, and each result behind its call?
    tells_each_thing_once_and_in_order,  # is nothing doubled, and nothing read backwards?
    *HARDSHIPS,
    says_what_its_records_say,  # are facts and exit codes the log's own?
    every_value_has_a_ground_that_the_source_bears_out,  # is it true?
    matches_golden_events,  # are the events those that somebody has read?
    matches_golden_trace,  # is the folder the one that somebody has read?
)


def broken(adapter: Adapter | str, case: Case, laws: Sequence[Law] = LAWS) -> list[str]:
    """Every law that the adapter breaks in this case, a sentence each.

    What breaks several, such as a `read` that raises, is told once, by the first of them.
    """
    found: dict[str, str] = {}
    for law in laws:
        try:
            law(adapter, case)
        except BrokenLaw as error:
            why = str(error)
            found.setdefault(why, f"{law.__name__.replace('_', ' ')}: {why}")
    return list(found.values())


def conformance(adapter: Adapter | str, root: Path, name: str = "") -> Callable[..., None]:
    """A pytest test of every law over every case below `root`.

    `name` is needed only where the adapter comes as a module.
    """
    import pytest

    name = name or (adapter if isinstance(adapter, str) else "")
    found = cases(root, name)
    if not found:
        raise RetraceError(f"no case of {name or 'the adapter'} in {root.name}; add one")

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
    @pytest.mark.parametrize("case", found, ids=lambda case: case.folder.name)
    def test_law(case: Case, law: Law) -> None:
        try:
            law(adapter, case)
        except (
            BrokenLaw
        ) as error:  # its sentence says it all; of our own code there is nothing to see
            broke = str(error)
        else:
            return
        pytest.fail(broke, pytrace=False)

    return test_law
