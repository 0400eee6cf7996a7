"""Several words at once that a command is given, or a search looks for: what an error said, a title."""

from collections.abc import Iterator

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from .distinctive import SHORTEST, is_anybodys, values

PHRASE = later(r"(?=[\w<{\[(-])\S+(?: \S+)+(?<=[\w>}\]).!?:])")
"""Words with one blank between each; what stands around them belongs to no word."""
ODD = later(r"(?=\S*[{}\\])(?=\S*\w)[^\s$*]+")
"""One word with braces, which nobody types by chance."""
LONGEST = 200
"""Characters of a phrase."""
MOST = 2000
"""Characters of a word in which phrases are looked for: a longer one is a program."""
OR = later(r"\\?\|")
"""What stands between the alternatives of a pattern."""
WORD = later(r"[^\W\d_]\w+")
OF_CODE = frozenset(
    [
        "abstract", "and", "async", "await", "bool", "boolean", "break", "case", "catch",
        "class", "const", "continue", "data", "def", "default", "describe", "do", "echo",
        "elif", "else", "enum", "expect", "export", "extends", "extern", "false", "final",
        "fn", "for", "from", "func", "function", "git", "go", "if", "impl", "implements",
        "import", "in", "init", "int", "interface", "is", "it", "let", "local", "main",
        "mod", "module", "mut", "namespace", "new", "nil", "none", "not", "null", "of",
        "or", "package", "print", "private", "protected", "proto", "pub", "public",
        "readonly", "return", "self", "static", "string", "struct", "super", "switch",
        "test", "the", "this", "throw", "to", "trait", "true", "try", "type", "typedef",
        "undefined", "use", "using", "var", "void", "when", "where", "while", "with",
        "yield",
    ]
)  # fmt: skip
"""Words that any program or sentence has."""
LEAST = 2
"""So many other words make a phrase: a single one may be a name, known from elsewhere."""


def phrases_of(step: Step) -> Iterator[str]:
    """Those among the words of a call's commands, or in what it looks for."""
    for word in filter(lambda word: SHORTEST <= len(word) <= MOST, _words(step)):
        yield from filter(_tells, dict.fromkeys((word, *OR.split(word))))


def _tells(text: str) -> bool:
    if not SHORTEST <= len(text) <= LONGEST:
        return False
    if ODD.fullmatch(text):
        return True
    if not PHRASE.fullmatch(text) or any(map(is_anybodys, values(text))):
        return False
    return len({word.lower() for word in WORD.findall(text)} - OF_CODE) >= LEAST


def _words(step: Step) -> Iterator[str]:
    if step.run is not None:
        for one in step.run.simples:
            yield from one.words[1:]
    match step.call.input if step.call and step.operation == "search" else None:
        case {"pattern": str(words)} | {"query": str(words)}:
            yield words
