"""What lies beside a log where its companions may lie: once that changes, it is looked at again."""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from forsy_retrace.source.order import leading

from .work import File


class Near:
    """All files of a run in the order of their addresses."""

    def __init__(self, files: Iterable[File]) -> None:
        self._files = sorted((_address(file), file.state) for file in files)
        self._names = [name for name, _ in self._files]

    def of(self, file: File, patterns: Iterable[str]) -> bytes:
        """Differs as soon as a file does that one of the patterns matches, or there is another.

        A `*` matches folders too: rather one file more is looked at than one less.
        """
        address = _address(file)
        folder = address[: address.rfind("/") + 1]
        found = sorted({one for pattern in patterns for one in self._matches(folder, pattern)})
        told = (f"{name}\0{mark}" for name, mark in found)
        return "\0".join(told).encode("utf-8", "surrogateescape")

    def _matches(self, folder: str, pattern: str) -> Iterator[tuple[str, str]]:
        lead = folder + re.split(r"[*?[]", pattern, maxsplit=1)[0]
        wanted = pattern.replace("**/", "*")
        for at in leading(self._names, lead):
            if fnmatchcase(self._names[at][len(folder) :], wanted):
                yield self._files[at]


def _address(file: File) -> str:
    return file.uri if os.sep == "/" else file.uri.replace(os.sep, "/")
