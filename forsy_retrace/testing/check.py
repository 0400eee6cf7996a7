"""The laws on any logs, without pytest: each broken one in a sentence, with its case."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from forsy_retrace.adapter import Adapter, companions
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.logs import named
from forsy_retrace.registry import load
from forsy_retrace.source import Source, discover
from forsy_retrace.testing import broken
from forsy_retrace.testing.case import BrokenLaw, Case, cases
from forsy_retrace.testing.reading import care


class Checked(msgspec.Struct, frozen=True):
    """A case and the laws that the adapter breaks in it; `passed_over` logs are others'."""

    name: str
    broken: tuple[str, ...] = ()
    passed_over: bool = False


def check(adapter: str, paths: Sequence[Path] = ()) -> Iterator[Checked]:
    """Every law on these logs, and on those below these folders; else on the cases of `fixtures/`.

    A log that is given has no goldens; of a folder's logs those count that the adapter claims.
    """
    load(adapter)
    if not paths:
        yield from _fixtures(adapter)
    for path in paths:
        if path.is_dir():
            yield from _below(adapter, path)
        else:
            log = named(path).path
            yield _checked(path.name, Case(adapter, log.parent, log))


def _fixtures(adapter: str) -> Iterator[Checked]:
    """The cases of a checkout, or of a package with tests."""
    for root in (
        Path("fixtures") / adapter,
        Path("tests/fixtures") / adapter,
        Path("tests/fixtures"),
    ):
        if found := cases(root, adapter) if root.is_dir() else []:
            yield from (_checked(case.folder.name, case) for case in found)
            return
    raise RetraceError("no logs to check; name some, or go where the folder fixtures/ lies")


def _below(adapter: str, folder: Path) -> Iterator[Checked]:
    module = load(adapter)
    logs: list[Source] = []
    beside: set[Path] = set()
    for source in discover(folder):
        try:
            if not _claims(module, source):
                yield Checked(source.name, passed_over=True)
                continue
            with care("companions"):
                beside.update(one.path for one in companions(module, source))
        except BrokenLaw as error:
            yield Checked(source.name, (str(error),))
        else:
            logs.append(source)
    for source in logs:
        if source.path not in beside:
            path = source.path
            yield _checked(source.name, Case(adapter, path.parent, path))


def _claims(adapter: Adapter, source: Source) -> bool:
    with care("sniff"):
        try:
            return adapter.sniff(source) is True
        except UnreadableInput:
            return False


def _checked(name: str, case: Case) -> Checked:
    return Checked(name, tuple(broken(case.adapter, case)))
