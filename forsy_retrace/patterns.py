"""Regular expressions compiled at their first use: most of a long table never are."""

import re
from typing import Any, AnyStr, cast

METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern, compiled at its first use."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


class _Later:
    """Stands for a pattern; once that is compiled, its methods are the pattern's own."""

    __slots__ = ("flags", "pattern", *METHODS)

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self.flags)
        for method in METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
