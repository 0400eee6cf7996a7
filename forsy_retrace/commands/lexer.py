"""Splits the shell lines that need no grammar into their simple commands, or says that it can't.

Nine lines in ten hold only words, quotes, pipes, lists, here-documents, plain loops and shallow
substitutions; for those one regular expression is several times faster than a syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forsy_retrace.commands.model import Part

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
_TOKEN = re.compile(
    # Words first, since most tokens are; the digit of `2>&1` is none.
    rf"[ \t\r\f\v]*+((?![0-9][<>]){_WORD}"
    r"|\n|&&|\|\||\|&|&>>?|;;|[;|&]|[0-9]?(?:<<<|<<-?|<\(|>\(|>>|>&|<&|<>|>\||[<>])|\(\(|[()]"
    r"|\#[^\n]*|[^ \t\r\f\v])",
    re.DOTALL,
)
_QUOTED = re.compile(
    rf"'([^']*+)'|\$'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\`$]++|\\.|\$(?!\()|{_SUBSTITUTION})*+)\""
    rf"|\\(.)|({_SUBSTITUTION})",
    re.DOTALL,
)
_SUBSTITUTED = re.compile(_SUBSTITUTION, re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<(-?)[ \t]*(['\"\\]?)([\w.-]+)['\"]?([^\n]*)\n")
_EXPANDED = frozenset("$`\\")
"""Marks of a text that the shell changes before it hands it on."""
_MOST_HEREDOCS = 40
_ASSIGN = re.compile(r"[A-Za-z_]\w*\+?=")

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
        return _split(line, iter(bodies), 0)
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
        bodies.append((body, ends and not dash and (quote != "" or _EXPANDED.isdisjoint(body))))
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


def _split(line: str, bodies: Iterator[Body], depth: int) -> list[Part]:
    if "\\\n" in line:
        line = line.replace("\\\n", " ")
    quoted = "'" in line or '"' in line or "\\" in line
    nested = "$(" in line or "`" in line
    commented = "#" in line
    parts: list[Part] = []
    blocks: list[str] = []
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    assigns: list[str] = []
    body: str | None = None
    literal = False
    pending = ""  # a redirect that waits for its target
    negated = False
    loop_head = False  # inside `for x in …`
    closed = False  # behind `done`, `fi`, `}` or `)`
    open_parens = 0

    for token in _TOKEN.findall(line):
        if token not in _MARKS:
            if nested and ("$(" in token or "`" in token):
                for inner in substitutions(token):
                    parts.extend(_split(inner, bodies, depth + 1))
            if commented and token[0] == "#":
                continue
            if pending:
                if pending in _HEREDOCS:
                    held = next(bodies, None)
                    if held is None:
                        raise _TooHard
                    body, literal = held
                else:
                    redirects.append(
                        (pending[1:] if pending[0] == "1" else pending, unquote(token))
                    )
                pending = ""
                continue
            if not words:
                if token in _KEYWORDS and not assigns:
                    if token == "for":
                        blocks.append("loop")
                        loop_head = True
                        words = ["for"]
                    elif token == "!":
                        negated = True
                    else:
                        closed = _turn(token, blocks)
                    continue
                if closed:
                    raise _TooHard
                if "=" in token and _ASSIGN.match(token):
                    assigns.append(unquote(token))
                    continue
            if quoted and ("'" in token or '"' in token or "\\" in token):
                token = unquote(token)
            words.append(token)
            continue
        if pending:
            raise _TooHard
        joint = _JOINTS.get(token)
        if joint is None and token in _REDIRECTS:
            pending = token
            continue
        if joint is not None and loop_head:
            loop_head = False
            words = []
            continue
        if joint is None:
            # A parenthesis: a subshell opens where a command may begin, and closes anywhere.
            if token == "(" and not (words or assigns or closed):
                blocks.append(blocks[-1] if blocks else "")
                open_parens += 1
                continue
            if token != ")" or not open_parens or not blocks:
                raise _TooHard
        if words or redirects or assigns:
            if closed and not words and parts:
                parts[-1].redirects.extend(redirects)
                parts[-1].after = joint or ""
            else:
                block = "not" if negated else blocks[-1] if blocks else ""
                parts.append(
                    Part(words, redirects, assigns, joint or "", depth, block, body, literal)
                )
            words, redirects, assigns, body, literal, negated = [], [], [], None, False, False
        elif joint and parts and (parts[-1].after == "" or joint != ";"):
            parts[-1].after = joint
        closed = joint is None
        if closed:
            open_parens -= 1
            blocks.pop()

    if pending or loop_head or open_parens or blocks:
        raise _TooHard
    if words or redirects or assigns:
        if closed and not words and parts:
            parts[-1].redirects.extend(redirects)
        else:
            block = "not" if negated else ""
            parts.append(Part(words, redirects, assigns, "", depth, block, body, literal))
    return parts


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
