"""Which edited files does a program take in, as far as the log shows?

Those that it loads by name (`from shop import cart`, `require("./cart")`) or names in full
(`open("prices.json")`), in any text of it that the log shows, and those that these take in; and
those that the traceback of a run names. A program that stands on the line itself is for what it
loads, and for the files that it parses.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator

from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

QUOTED = later(
    r"(?:\b(?:from|import|require|require_relative|include)\b\s?\(?\s?|#include )['\"<]([^'\"<>\n]{1,200})['\">]"
)
"""What JavaScript, Ruby, C and their like load: the end of the path counts."""
NAMED = later(r"(?m)^[ \t]*(?:pub )?(?:from|import|mod|use|source|\.)[ \t]+([^'\"\n]{1,300})$")
"""What Python, Rust, Java or a shell loads."""
WORD = later(r"[\w-]+")
COMMENT = later(r"(?m)^[ \t]*(?:#|//|\*|/\*|--).*$")
FILE = later(r"(?<![\w-])[\w-]{1,80}(?:\.[\w-]{1,80}){1,5}")
"""A file by its name in full."""
PARSED = later(
    r"\b(?:json|yaml|tomllib|tomli|toml|plistlib|ast|ElementTree|ET|minidom|YAML|JSON)\.(?:safe_)?(?:load|parse)s?\(\s*"
    r"(?:(?:open|(?:pathlib\.)?Path|(?:fs|require\(['\"](?:node:)?fs['\"]\))\.readFileSync)\(\s*)?['\"]([^'\"\n]{1,300})['\"]"
)
"""A file in the hands of a reader that fails on any other form than its own."""
PUTS = later(r"\.write|\bdump\(|writeFile|['\"][wax]b?\+?['\"]|\bunlink|\brename")
"""What makes or changes files."""
PYTHON = (".py", ".pyi")
SCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
ENDINGS = {
    "python": PYTHON,
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "ts-node"), SCRIPT),
}
"""How the names end of what a program of a language loads."""
TRACED = later(
    r"File \"([^\"\n]{1,300})\", line \d|\bat (?:[^\n(]{1,120}\()?(/[^\n():]{1,300}):\d+:\d+\b"
    r"|(?m:^)\t(/[^\n:]{1,300}\.go):\d+ \+0x"
)
"""How the traceback of Python, Node or Go names the files that a run went through."""
END = 20_000
"""Characters at the end of an output in which a traceback is looked for."""
MOST = 10_000
"""Characters of a program on the line in which it says what it takes in."""
DATA = (".json", ".jsonc", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv", ".xml", ".plist")
"""How the names end of files that are read as data: they take in nothing."""
STYLES = (".css", ".scss", ".sass", ".less", ".svg")
"""How the names end of what is loaded beside code, and by that name alone."""
INDEX = frozenset(["__init__", "__main__", "index", "mod"])
"""Names of files that are loaded by the name of their folder."""


class Loads:
    """What the log has shown so far of each file."""

    def __init__(self) -> None:
        self.shown: dict[str, list[Touch]] = {}
        self.called: dict[str, list[str]] = {}
        """The files by the names under which a program may take them in."""
        self.named: dict[str, tuple[int, frozenset[str]]] = {}
        """A file to the names in it, and how many touches these came from."""
        self.traced: dict[str, set[str]] = {}
        """A program to the files that tracebacks of its runs named, by their last two parts."""

    def see(self, touch: Touch) -> None:
        """What a step put into a file, or saw of it."""
        if touch.path not in self.shown:
            for name in _called(touch.path):
                self.called.setdefault(name, []).append(touch.path)
        self.shown.setdefault(touch.path, []).append(touch)

    def of(self, programs: Iterable[str], edited: Collection[str]) -> frozenset[str]:
        """Those of the edited files that the programs are, or take in."""
        found = list(dict.fromkeys(programs))
        known, followed = set(found), set[str]()
        for path in found:
            ways = (self._names(path) & self.called.keys()) | self.traced.get(path, set())
            for way in ways - followed:
                taken = [one for one in self._by(way) if one in edited and one not in known]
                known.update(taken)
                found += taken
            followed |= ways
        return frozenset(found)

    def _by(self, way: str) -> Iterator[str]:
        """The files that a name stands for, or the end of a path."""
        if way[0] != "/":
            return iter(self.called[way])
        named = self.called.get(posixpath.basename(way), ())
        return (path for path in named if path.endswith(way))

    def ran(self, programs: Iterable[str], printed: str) -> None:
        """What a run of programs printed."""
        if "line " not in printed and "at " not in printed and ".go:" not in printed:
            return
        places = {"".join(found) for found in TRACED.findall(printed[-END:])}
        ends = {"/" + "/".join(place.split("/")[-2:]) for place in places if "/" in place}
        for path in programs if ends else ():
            self.traced.setdefault(path, set()).update(ends)

    def by_text(self, runner: str, text: str) -> Iterator[str]:
        """The files that a program on the line itself loads or parses."""
        text = text[:MOST]
        endings = ENDINGS.get(posixpath.basename(runner).rstrip("0123456789."), ())
        for name in dict.fromkeys(_loaded(text.replace(";", "\n"))):
            yield from (path for path in self.called.get(name, ()) if path.endswith(endings))
        for named in dict.fromkeys(PARSED.findall(text) if not PUTS.search(text) else ()):
            yield from self._by(named if named[0] == "/" else "/" + named.removeprefix("./"))

    def _names(self, path: str) -> frozenset[str]:
        touches = self.shown.get(path, []) if not path.endswith(DATA) else []
        known, names = self.named.get(path, (0, frozenset[str]()))
        if known < len(touches):
            names = names.union(*(_mentions(text) for t in touches[known:] for text in _texts(t)))
            self.named[path] = (len(touches), names)
        return names


def _texts(touch: Touch) -> Iterator[str]:
    yield touch.new or "\n".join(touch.added)
    if touch.change is not None:
        yield touch.change.text or ""


def _mentions(text: str) -> Iterator[str]:
    """The names of files in full, and of what is loaded."""
    yield from FILE.findall(COMMENT.sub("", text))
    yield from _loaded(text)


def _loaded(text: str) -> Iterator[str]:
    """What stands for files where something is loaded."""
    for path in QUOTED.findall(text):
        name = posixpath.basename(path)
        stem, ending = posixpath.splitext(name)
        yield name
        if ending not in (*DATA, *STYLES):
            yield stem
    for words in NAMED.findall(text):
        yield from WORD.findall(words)


def _called(path: str) -> frozenset[str]:
    """By which names a program may take in a file."""
    name = posixpath.basename(path)
    stem = posixpath.splitext(name)[0]
    if stem in INDEX:
        folder = posixpath.basename(posixpath.dirname(path))
        return frozenset([folder])
    return frozenset([name, stem])
