"""Splits the shell lines that need no grammar into their simple commands, or says that it can't.

Nine lines in ten hold only words, quotes, pipes, lists, here-documents, plain loops and shallow
substitutions; for those one regular expression is several times faster than a syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forsy_retrace.commands.model import Part
from forsy_retrace.patterns import later

_INNER = (
    r"(?:[^()'\"\\`$]++|'[^']*+'|\"(?:[^\"\\`$]++|\\.|\$(?!\())*+\"|\\.|\$(?!\()"
    r"|\$\([^()'\"\\`$]*+\))*+"
)
_SUBSTITUTION = rf"\$\((?!\(){_INNER}\)|`[^`\\]*+`"
_DOUBLE = rf'"(?:[^"\\`$]++|\\.|\$(?!\()|{_SUBSTITUTION})*+"'
_PIECE = (
    rf"'[^']*+'|{_DOUBLE}|\\.|\$'(?:[^'\\]|\\.)*+'|\$\{{[^}}'\"`$\\(]*+\}}"
    rf"|\$(?![({{'\"])|{_SUBSTITUTION}"
)
_WORD = (
    rf"(?:[^\s;&|<>()'\"\\`$#][^\s;&|<>()'\"\\`$]*+|{_PIECE})"
    rf"(?:{_PIECE}|[^\s;&|<>()'\"\\`$]++)*+"
)
_TOKEN = later(
    # Words first, since most tokens are; the digit of `2>&1` is none.
    rf"[ \t\r\f\v]*+((?![0-9][<>]){_WORD}"
    r"|\n|&&|\|\||\|&|&>>?|;;|[;|&]|[0-9]?(?:<<<|<<-?|<\(|>\(|>>|>&|<&|<>|>\||[<>])|\(\(|[()]"
    r"|\#[^\n]*|[^ \t\r\f\v])",
    re.DOTALL,
)
_BLANKS = " \t\r\f\v"
"""What the expression passes over before each token; at the end it would again at every place."""
_QUOTED = later(
    rf"'([^']*+)'|\$'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\`$]++|\\.|\$(?!\()|{_SUBSTITUTION})*+)\""
    rf"|\\(.)|({_SUBSTITUTION})",
    re.DOTALL,
)
_SUBSTITUTED = later(_SUBSTITUTION, re.DOTALL)
_HEREDOC = later(r"(?<!<)<<(-?)[ \t]*(['\"\\]?)([\w.-]+)['\"]?([^\n]*)\n")
EXPANDED = frozenset("$`\\")
"""Marks of a text that the shell, or `echo -e`, changes before it hands it on."""
_MOST_HEREDOCS = 40
_ASSIGN = later(r"[A-Za-z_]\w*\+?=")

_JOINTS = {
    "\n": ";", ";": ";", "&&": "&&", "||": "||", "|": "|", "|&": "|", "&": "&",
}  # fmt: skip
_REDIRECTS = frozenset(
    digit + mark
    for digit in ("", *"0123456789")
    for mark in ("<<<", "<<", "<<-", ">>", ">&", "<&", "<>", ">|", ">", "<")
) | {"&>", "&>>"}
_HEREDOCS = frozenset(digit + mark for digit in ("", *"0123456789") for mark in ("<<", "<<-"))
_KEYWORDS = frozenset(
    {"if", "elif", "while", "until", "then", "else", "do", "done", "fi", "for", "{", "}", "!"}
    | {"case", "esac", "function", "select", "[[", "coproc"}
)
_GRAMMAR = frozenset(
    {"(", ")", "((", "<(", ">(", ";;"} | {f"{n}{m}(" for n in range(10) for m in "<>"}
)
_BROKEN = frozenset("'\"`$\\")
"""Alone, these begin something that the expression could not take as a whole."""
_MARKS = _REDIRECTS | _JOINTS.keys() | _GRAMMAR | _BROKEN


Body = tuple[str, bool]
"""The text of a here-document, and whether the shell leaves it as it is."""


class _TooHard(Exception):
    """The line needs the grammar."""


def split(line: str) -> list[Part] | None:
    """The simple commands of a line in order, or None where only the grammar can tell them."""
    bodies: list[Body] = []
    if "<<" in line:
        line = _cut_heredocs(line, bodies)
        if line == "\0":
            return None
    try:
        return _Line(iter(bodies), 0).parts_of(line)
    except _TooHard:
        return None


def _cut_heredocs(line: str, bodies: list[Body]) -> str:
    """The line without the bodies of its here-documents; a lone NUL where they are entangled."""
    if line.count("<<") > _MOST_HEREDOCS:
        return "\0"
    kept: list[str] = []
    at = 0
    while found := _HEREDOC.search(line, at):
        dash, quote, name, rest = found.groups()
        start = found.end()
        end = _terminator(line, name, start)
        ends = end >= 0
        if not ends and not quote:  # `1<<n` is none
            break
        end = end if ends else len(line)
        body = line[start:end]
        # A body that the shell expands may run commands; a second heredoc on the line swaps bodies.
        if "<<" in rest or (not quote and ("$(" in body or "`" in body)):
            return "\0"
        bodies.append((body, ends and not dash and (quote != "" or EXPANDED.isdisjoint(body))))
        kept.append(line[at : start - 1])
        at = line.index(name, end) + len(name) if ends else len(line)
    return "".join([*kept, line[at:]])


def _terminator(line: str, name: str, start: int) -> int:
    """Where the line begins that holds nothing but the name; -1 without one."""
    at = line.find(name, start)
    while at >= 0:
        begin = line.rfind("\n", 0, at) + 1
        after = line[at + len(name) : at + len(name) + 9].lstrip(" \t")[:1]
        if not line[begin:at].strip(" \t") and after in ("", "\n", ")"):
            return begin
        at = line.find(name, at + 1)
    return -1


class _Line:
    """Takes a line apart, token by token, into its simple commands."""

    __slots__ = (
        "assigns", "blocks", "bodies", "body", "closed", "depth", "literal", "loop_head",
        "negated", "open_parens", "parts", "pending", "redirects", "words",
    )  # fmt: skip

    def __init__(self, bodies: Iterator[Body], depth: int) -> None:
        self.bodies = bodies
        self.depth = depth
        self.parts: list[Part] = []
        self.blocks: list[str] = []
        self.pending = ""
        """A redirect that waits for its target."""
        self.loop_head = False
        """Inside `for x in …`."""
        self.closed = False
        """Behind `done`, `fi`, `}` or `)`."""
        self.open_parens = 0
        self._begin()

    def _begin(self) -> None:
        """A simple command of which nothing is known yet."""
        self.words: list[str] = []
        self.redirects: list[tuple[str, str]] = []
        self.assigns: list[str] = []
        self.body: str | None = None
        self.literal = False
        self.negated = False

    def parts_of(self, line: str) -> list[Part]:
        line = line.replace("\\\n", " ")
        line = line.rstrip(_BLANKS) + " "  # one stays, a backslash may stand before it
        nested = "$(" in line or "`" in line
        for token in _TOKEN.findall(line):
            if token in _MARKS:
                self._mark(token)
                continue
            if nested and ("$(" in token or "`" in token):
                for inner in substitutions(token):
                    self.parts.extend(_Line(self.bodies, self.depth + 1).parts_of(inner))
            if token[0] != "#":
                self._word(token)
        if self.pending or self.loop_head or self.open_parens or self.blocks:
            raise _TooHard
        self._end("")
        return self.parts

    def _word(self, token: str) -> None:
        if self.pending:
            self._redirected(token)
        elif self.words:
            self.words.append(unquote(token))
        elif token in _KEYWORDS and not self.assigns:
            self._keyword(token)
        elif self.closed:
            raise _TooHard
        elif "=" in token and _ASSIGN.match(token):
            self.assigns.append(unquote(token))
        else:
            self.words.append(unquote(token))

    def _redirected(self, target: str) -> None:
        mark, self.pending = self.pending, ""
        if mark not in _HEREDOCS:
            self.redirects.append((mark[1:] if mark[0] == "1" else mark, unquote(target)))
            return
        held = next(self.bodies, None)
        if held is None:
            raise _TooHard
        self.body, self.literal = held

    def _keyword(self, token: str) -> None:
        if token == "for":
            self.blocks.append("loop")
            self.loop_head = True
            self.words = ["for"]
        elif token == "!":
            self.negated = True
        else:
            self.closed = _turn(token, self.blocks)

    def _mark(self, token: str) -> None:
        if self.pending:
            raise _TooHard
        joint = _JOINTS.get(token)
        if joint is None and token in _REDIRECTS:
            self.pending = token
        elif joint is None:
            self._parenthesis(token)
        elif self.loop_head:
            if tells_rounds(self.words[3:]):
                raise _TooHard
            self.loop_head = False
            self.words = []
        else:
            self._end(joint)
            self.closed = False

    def _parenthesis(self, token: str) -> None:
        """A subshell opens where a command may begin, and closes anywhere."""
        if token == "(" and not (self.words or self.assigns or self.closed):
            self.blocks.append(self.blocks[-1] if self.blocks else "")
            self.open_parens += 1
            return
        if token != ")" or not self.open_parens or not self.blocks:
            raise _TooHard
        self._end("")
        self.closed = True
        self.open_parens -= 1
        self.blocks.pop()

    def _end(self, joint: str) -> None:
        """What stood before the joint, if anything did, is a command, or redirects of a block."""
        if self.words or self.redirects or self.assigns:
            if self.closed and not self.words and self.parts:
                self.parts[-1].redirects.extend(self.redirects)
                self.parts[-1].shared = True
                self.parts[-1].after = joint
            else:
                block = "not" if self.negated else self.blocks[-1] if self.blocks else ""
                self.parts.append(
                    Part(
                        self.words, self.redirects, self.assigns, joint, self.depth, block,
                        self.body, self.literal,
                    )
                )  # fmt: skip
            self._begin()
        elif joint and self.parts and (self.parts[-1].after == "" or joint != ";"):
            self.parts[-1].after = joint


_ROUNDS = 8
"""Past so many words a loop is one command for all of them."""
_OTHERS = EXPANDED | frozenset("*?[{~")
"""Marks of a word that stands for others."""


def tells_rounds(words: list[str]) -> bool:
    """Whether a line tells the few words that its `for` goes through."""
    return 0 < len(words) <= _ROUNDS and all(word and _OTHERS.isdisjoint(word) for word in words)


def _turn(keyword: str, blocks: list[str]) -> bool:
    """Follows a control word into or out of its block; true where the block ends."""
    match keyword:
        case "{":
            blocks.append(blocks[-1] if blocks else "")
        case "if" | "while" | "until":
            blocks.append("condition")
        case "elif" if blocks:
            blocks[-1] = "condition"
        case "then" | "else" if blocks:
            blocks[-1] = "branch"
        case "do" if blocks:
            blocks[-1] = "loop"
        case "done" | "fi" | "}" if blocks:
            blocks.pop()
            return True
        case _:
            raise _TooHard
    return False


def substitutions(word: str) -> list[str]:
    """The commands inside `$(…)` and backticks of a raw word, single-quoted text left alone."""
    found: list[str] = []
    for piece in _QUOTED.finditer(word):
        text = piece.group(5) or piece.group(3)
        if text:
            found.extend(
                inner[1:-1] if inner[0] == "`" else inner[2:-1]
                for inner in _SUBSTITUTED.findall(text)
            )
    return found


def unquote(word: str) -> str:
    """A raw word as the command would receive it, expansions left as written."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    quote = word[0]
    if (
        quote in "'\""
        and word[-1] == quote
        and word.count(quote) == 2
        and (quote == "'" or "\\" not in word)
    ):
        return word[1:-1]
    return _QUOTED.sub(_bare, word)


def _bare(piece: re.Match[str]) -> str:
    single, ansi, double, escaped, substitution = piece.groups()
    if double is not None:
        return re.sub(r"\\([\"\\$`])", r"\1", double) if "\\" in double else double
    if ansi is not None:
        return re.sub(r"\\(.)", lambda e: {"n": "\n", "t": "\t"}.get(e[1], e[1]), ansi)
    return single if single is not None else escaped or substitution or ""
