"""Splits lines of PowerShell, fish, nushell and cmd into their simple commands."""

from __future__ import annotations

import re

from forsy_retrace.commands import powershell, tree
from forsy_retrace.commands.model import Part
from forsy_retrace.patterns import later

_TOKEN = later(
    r"\n|&&|\|\||[;|&]|\d?(?:>>|>&|>|<)|'[^']*'?|\"(?:[^\"`]|`.)*\"?|\#[^\n]*"
    r"|(?:[^\s;|&<>'\"]|'[^']*'|\"(?:[^\"`]|`.)*\")+|\S",
    re.DOTALL,
)
_FISH_WORDS = {"and": "&&", "or": "||"}


def split(line: str, shell: str) -> list[Part]:
    """The simple commands of a line in order."""
    if shell == "fish":
        return _fish(line)
    if shell == "powershell":
        return powershell.parts(_TOKEN.findall(line))
    parts: list[Part] = []
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    pending = ""
    for token in _TOKEN.findall(line):
        match token:
            case "\n" | ";" | "&&" | "||" | "|" | "&":
                joint = ";" if token == "\n" or (token == "&" and shell == "cmd") else token
                if words or redirects:
                    parts.append(Part(words, redirects, [], joint))
                    words, redirects = [], []
            case ">" | ">>" | "<" | "2>" | "2>>" | "1>" | "1>>" if shell != "nu":
                pending = token.removeprefix("1")
            case _ if token[0] == "#" and shell != "cmd":
                continue
            case _:
                bare = token.strip("\"'")
                if pending:
                    redirects.append((pending, bare))
                    pending = ""
                elif not words and shell == "nu":
                    words.append(bare.lstrip("^("))
                else:
                    words.append(bare)
    if words or redirects:
        parts.append(Part(words, redirects, []))
    return parts


def _fish(line: str) -> list[Part]:
    """Fish is near enough to bash; its `and`, `or`, `not`, `begin` and `end` are words of it."""
    kept: list[Part] = []
    for part in tree.posix(line):
        if part.words[:1] and part.words[0] in _FISH_WORDS and kept:
            kept[-1].after = _FISH_WORDS[part.words[0]]
        if part.words[:1] and part.words[0] in ("and", "or", "not", "begin"):
            part.words = part.words[1:]
        if part.words and part.words[0] != "end":
            kept.append(part)
    return kept
