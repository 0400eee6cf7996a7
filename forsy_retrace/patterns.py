"""Regular expressions compiled at their first use: most of a long table never are."""

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")

Compile = Callable[[Any, int], "re.Pattern[Any]"]


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern, compiled at its first use.

    It is one of this package's own, never made of a log's text: a program may keep what it was
    compiled to.
    """
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


class _Later:
    """Stands for a pattern; once that is compiled, its methods are the pattern's own."""

    __slots__ = ("flags", "pattern", *METHODS)

    compile: Compile = re.compile

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = _Later.compile(self.pattern, self.flags)
        for method in METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def compile_by(compile: Compile) -> None:
    """From now on patterns are compiled in this way; for a program that keeps them."""
    _Later.compile = compile
