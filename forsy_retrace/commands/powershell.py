"""Splits lines of PowerShell into their simple commands; expressions run none."""

from __future__ import annotations

from collections.abc import Iterable

from forsy_retrace.commands.model import Part
from forsy_retrace.patterns import later

_JOINTS = frozenset(["\n", ";", "&&", "||", "|", "&"])
_REDIRECTS = frozenset([">", ">>", "<", "2>", "2>>", "1>", "1>>"])
_QUOTED = later(r"'[^']*'?|\"(?:[^\"`]|`.)*\"?")
_ASSIGNS = later(r"\$[\w:]+[+*/-]?=(.*)")
_CONDITIONS = frozenset(["if", "elseif", "else", "while", "-not", "!"])
"""Words before a condition, in which a command may stand, or before a block."""
_VALUE = later(r"['\"\d@-]|\$(?![\w:.]+\()|\[(?![\w.]+\]::)")
"""How an expression begins: a literal, a variable, a cast. A method's call may act."""


def parts(tokens: Iterable[str]) -> list[Part]:
    """The simple commands of a line in order; those of a block stand behind what it is given to."""
    splitter = _Splitter()
    for token in tokens:
        splitter.take(token)
    splitter.close("")
    return splitter.parts


class _Splitter:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.part = Part([], [], [])
        self.is_value = False
        """An expression stands here."""
        self.brackets = 0
        """Round ones that are open around the command: what stands behind them is none of it."""
        self.is_called = False
        """The call operator stood before: what is quoted is a program."""
        self.nested = 0
        """Brackets of a table or an array that are open."""
        self.is_closed = False
        self.redirect = ""

    def take(self, token: str) -> None:
        if token[0] == "#" or self._nests(token):
            return
        if token in _JOINTS:
            if token == "&" and not self.part.words:
                self.is_called = True
            else:
                self.close(";" if token == "\n" else token)
        elif token in _REDIRECTS:
            self.redirect = token.removeprefix("1")
        elif self.redirect:
            self.part.redirects.append((self.redirect, token.strip("\"'")))
            self.redirect = ""
        elif token[0] == "}":
            self.close(";")
        elif token[:2] in ("%{", "?{"):
            self._word(token[0])
            self.close(";")
            self._word(token[2:].rstrip("}") or ".")
        elif token[-1] == "{" and token[-2:] != "${":
            if token != "{":
                self._word(token[:-1])
            self.close(";")
        else:
            self._word(token)

    def _nests(self, token: str) -> bool:
        """Whether a token is part of a table, an array or an argument that is worked out first."""
        bare = _QUOTED.sub("", token)
        begins = "@{" in bare or "@(" in bare or (bare[:1] == "(" and bool(self.part.words))
        if not self.nested and not begins:
            return False
        opened = bare.count("{") + bare.count("(")
        self.nested = max(0, self.nested + opened - bare.count("}") - bare.count(")"))
        self.is_value = self.is_value or not self.part.words
        return True

    def _word(self, token: str) -> None:
        bare = token.strip("\"'")
        if self.part.words:
            self._argument(token)
        elif token.lower().lstrip("(") in _CONDITIONS:
            return
        elif self.is_called:
            self.part.words.append(bare)
            self.is_called = False
        elif token[-1] == "=" and (self.is_value or token[0] == "$"):
            self.is_value = False  # what is assigned may be a command
        elif assigned := _ASSIGNS.match(token):
            self._head(assigned[1])
        elif not self.is_value:
            self._head(token)

    def _head(self, token: str) -> None:
        bare = token.lstrip("(")
        self.is_value = not bare or _VALUE.match(bare) is not None
        if not self.is_value:
            self.brackets = 0 if "::" in bare else len(token) - len(bare)
            word, closed, _ = bare.partition(")") if self.brackets else (bare, "", "")
            self.part.words.append(word)
            self.is_closed = bool(closed)

    def _argument(self, token: str) -> None:
        if self.is_closed:
            return
        if self.brackets and token[0] not in "'\"":
            self.brackets += token.count("(") - token.count(")")
            if self.brackets <= 0:
                token, self.is_closed = token.partition(")")[0], True
        if token:
            self.part.words.append(token.strip("\"'"))

    def close(self, joint: str) -> None:
        """The command ends here."""
        if self.part.words or self.part.redirects or self.is_value:
            self.part.after = joint
            self.parts.append(self.part)
        self.part, self.brackets = Part([], [], []), 0
        self.is_value = self.is_called = self.is_closed = False
