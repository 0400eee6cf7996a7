"""Which edits has no check of a kind passed over yet, as far as names tell?"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import structs

from forsy_retrace.commands import Command, Limits, Simple, classify
from forsy_retrace.patterns import later

from .chosen import CHOOSES, chooses_as_much
from .places import GO_TEST, Looks, Takes, base_of, between_slashes, looks_at, with_parents
from .scripts import script_of
from .suites import told_of

PROSE = (
    *(".md", ".mdx", ".txt", ".rst", ".adoc", ".log", ".csv", ".example", "license"),
    *(".gitignore", ".gitattributes", ".gitkeep", ".editorconfig"),
)
"""Files that no test, type-check or build can be broken by, as far as a name tells."""

SETTINGS = (
    *(".claude", ".claude-plugin", ".cursor", ".vscode", "hooks/hooks.json", ".mcp.json"),
    *("biome.json", "knip.json", ".eslintrc.json", ".prettierrc.json", "renovate.json"),
    *(".golangci.yaml", ".golangci.yml", ".rubocop.yml"),
)
"""Files of one tool's settings, and folders of a client's: no other tool can be broken by them."""
TAKES_OTHERS = later(r"-c|--config(?:-path)?(?:=.*)?")
"""An option that names a file of settings, in place of the project's own."""
HOSTED = (".github", ".circleci", ".husky", ".gitlab-ci.yml", ".travis.yml")
"""What CI or Git runs: no check on the spot runs it, though a linter may look at it."""
SETS_UP = later(
    r"(?:^|[/\\])(?:(\.claude|\.claude-plugin|\.cursor|\.vscode)[/\\].*\.json"
    r"|(\.github|\.circleci)[/\\].*\.ya?ml|(\.husky)[/\\][\w-]+"
    r"|(\.gitlab-ci\.yml|\.travis\.yml|\.golangci\.ya?ml|\.rubocop\.yml|hooks/hooks\.json|\.mcp\.json"
    r"|(?:biome|knip|\.eslintrc|\.prettierrc|renovate)\.json))$"
)

SCRIPTS = (
    *(".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"),
    *(".json", ".vue", ".svelte"),
)
"""What tools of JavaScript look at; those that build or format look at styles and pages too."""

OF_GO = (".go", ".mod", ".sum", ".tmpl")
OF_RUBY = (".rb", ".rake", ".ru", ".gemspec", "gemfile", "rakefile")
OF_C = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".m", ".mm", ".s")
DATA = (".json", ".yaml", ".yml")

LANGUAGES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    # A formatter looks at the code alone, not at what is kept beside it.
    (later(r"^(?:go fmt|gofmt|gofumpt|goimports|golangci-lint fmt)\b"), (".go",)),
    (later(r"^(?:ruff format|black|isort|autopep8|yapf)\b"), (".py", ".pyi", ".ipynb")),
    (later(r"^(?:cargo fmt|rustfmt)\b"), (".rs",)),
    # A tool of one language says nothing of files of another.
    (later(r"^golangci-lint\b"), (*OF_GO, ".golangci.yaml", ".golangci.yml")),
    (
        later(r"^(?:go|gofmt|staticcheck|revive|golint|errcheck|gosec|govulncheck|gotestsum)\b"),
        OF_GO,
    ),
    (
        later(r"^(?:pytest|mypy|pyright|ruff|flake8|pylint|black|tox|nox)\b"),
        (".py", ".pyi", ".toml", ".cfg", ".ini", ".json", ".yaml", ".yml"),
    ),
    (
        later(r"^(?:basedpyright|ty|pyrefly|dmypy|pyflakes|pycodestyle|pydocstyle)\b"),
        (".py", ".pyi"),
    ),
    (later(r"^(?:tsc|vue-tsc|svelte-check|tsgo|oxlint|tslint|jshint|xo|standard)\b"), SCRIPTS),
    (later(r"^eslint\b"), (*SCRIPTS, ".eslintrc.json")),
    (later(r"^knip\b"), (*SCRIPTS, "knip.json")),
    (
        later(r"^(?:@?tailwindcss|postcss|sass|lessc)\b"),
        (".css", ".scss", ".sass", ".less", ".pcss"),
    ),
    (later(r"^(?:biome|prettier)\b"), (*SCRIPTS, *SETTINGS, ".css", ".scss", ".html")),
    (later(r"^(?:jest|vitest|bun test)\b"), (*SCRIPTS, ".html")),  # these leave styles out
    (later(r"^(?:next|vite|bun build)\b"), (*SCRIPTS, ".css", ".scss", ".html")),
    (later(r"^(?:cargo|rustc|clippy)\b"), (".rs", ".toml")),
    (later(r"^mix (?:format|credo)\b"), (".ex", ".exs", ".heex")),
    (later(r"^mix test\b"), (".ex", ".exs", ".heex", ".eex", ".leex", ".json", ".sql")),
    (later(r"^mix\b"), (".ex", ".exs", ".heex", ".eex", ".leex", ".sql")),
    (later(r"^(?:shellcheck|bash|shfmt)\b"), (".sh", ".bash")),
    (later(r"^(?:rubocop|standardrb|reek|srb|steep)\b"), (*OF_RUBY, ".rubocop.yml")),
    (later(r"^(?:rspec|minitest|(?:bin/)?rails test|rake test)\b"), (*OF_RUBY, *DATA, ".erb")),
    (later(r"^(?:phpcs|php-cs-fixer|pint|phpmd)\b"), (".php",)),
    (later(r"^(?:phpstan|psalm|phan|phpunit|pest|paratest)\b"), (".php", ".neon", ".xml", *DATA)),
    (later(r"^(?:swiftlint|swiftformat|swift-format)\b"), (".swift",)),
    (later(r"^(?:dart|flutter) (?:analyze|test|format|fix)\b"), (".dart", ".arb", *DATA)),
    (
        later(r"^(?:gcc|g\+\+|clang|clang\+\+|clang-tidy|clang-format|cppcheck|cpplint)(?= |$)"),
        OF_C,
    ),
    (later(r"^(?:ktlint|detekt)\b"), (".kt", ".kts")),
    (later(r"^(?:luacheck|selene|stylua)\b"), (".lua",)),
    (later(r"^(?:terraform|tofu|terragrunt|tflint|tfsec)\b"), (".tf", ".tfvars", ".hcl")),
    (later(r"^(?:prisma validate|sqlfluff)\b"), (".prisma", ".sql")),
    (later(r"^hadolint\b"), ("dockerfile", "containerfile", ".dockerfile")),
    (later(r"^(?:actionlint|zizmor)\b"), (".github",)),
    (later(r"^yamllint\b"), (".yaml", ".yml", *HOSTED, ".golangci.yaml", ".golangci.yml")),
    (later(r"^markdownlint"), (".md", ".mdx", ".markdown")),
    (
        later(r"^stylelint\b"),
        (".css", ".scss", ".sass", ".less", ".pcss", ".vue", ".svelte", ".html"),
    ),
)

BUILDS_WITHOUT_TESTS = later(r"^(?:go|mix|npm|pnpm|yarn|bun)\b")
"""A script of any other name may compile the tests too."""
UNBUILT = (GO_TEST, "_test.exs")
"""Tests that no build of Go or Elixir compiles."""
PLANS = later(r"[/\\]\.claude[/\\](?:plans|projects)[/\\]")


SPARED: dict[str, tuple[str, ...]] = {"lint": (), "ci": (*PROSE, *SETTINGS)}
"""By the kind of a check, what it does not look at where its tool has no language."""


class File(NamedTuple):
    """A path, and its ending, or its name where it has none, in small letters.

    Of settings, which of them they are.
    """

    path: str
    ending: str


class Reach(NamedTuple):
    """The files that a tool looks at, as far as its name tells."""

    endings: frozenset[str] | None
    """Those of the tool's language; None where it has none."""
    spared: tuple[str, ...]
    """Those that a tool of no language does not look at."""
    tests: bool
    """Whether it looks at tests that no `go build` or `mix compile` compiles."""

    def holds(self, file: File) -> bool:
        """Whether a check of this tool could be broken by an edit of this file."""
        if not self.tests and file.path.endswith(UNBUILT):
            return False
        if self.endings is not None:
            return file.ending in self.endings
        return file.ending not in self.spared

    def of(self, files: Iterable[File]) -> tuple[str, ...]:
        return tuple(file.path for file in files if self.holds(file))


Breadth = tuple[Limits, ...]
"""What each check of a kind on a line is limited to; empty where one checks everything."""

NAMED = 100
"""Edits that a check names which may come again: one that fails, or looks at some files alone."""
PASSED_BY = 1_000
"""Edits that a check may have nothing to do with, before it is asked about no earlier ones."""


class Unchecked:
    """The edits that still wait for a check, by its kind and the files that its tool looks at.

    What a check of everything has passed over waits no more for any of its kind; what a narrower
    run has passed over does not wait for one as narrow, nor for the same part of another.
    """

    def __init__(self, takes: Takes) -> None:
        self.takes = takes
        self.made: dict[int, tuple[File, ...]] = {}
        self.edited: set[str] = set()
        """The files of all edits and the folders that they lie in, between slashes."""
        self.waiting: dict[tuple[str, Reach], dict[int, tuple[str, ...]]] = {}
        """By kind and reach, the edits and their files that the tool looks at."""
        self.passed: dict[str, set[int]] = {}
        self.narrow: dict[tuple[str, str, str], dict[Breadth, set[int]]] = {}
        """Kind and one thing to which narrower runs were limited to the breadth of each, and the
        edits that these passed over."""

    def enter(self, edit: int, paths: Iterable[str]) -> None:
        """An edit of these files; it waits for every kind of check."""
        self.made[edit] = tuple(_file(path) for path in paths if not is_plan(path))
        for file in self.made[edit]:
            self.edited.update(map(between_slashes, with_parents(file.path)))
        for (_, reach), waiting in self.waiting.items():
            if paths := reach.of(self.made[edit]):
                waiting[edit] = paths

    def drop(self, edit: int) -> None:
        """An edit of which nothing is left; it waits for no check."""
        del self.made[edit]
        for waiting in self.waiting.values():
            waiting.pop(edit, None)

    def by(
        self,
        kind: str,
        run: Command,
        lines: Iterable[str] = (),
        place: str = "",
        start: str = "",
        since: int = 0,
    ) -> Iterator[int]:
        """The edits after step `since` that this run checks, the latest first.

        `lines` are what the scripts stand for that it runs, where it shows them; `place` is the
        folder where it ran, where the log keeps track of it, and `start` that of the session.
        """
        parts = [
            (self._covered(kind, ways[-1]), self._looks(kind, ways, place, start))
            for ways in _parts(kind, run, lines)
        ]
        others = 0
        for edit, paths in reversed(self._waiting(kind, _reach(kind, run, lines)).items()):
            if edit <= since or others == PASSED_BY:
                return
            if any(_waits(edit, paths, *part) for part in parts):
                yield edit
            else:
                others += 1

    def clear(self, kind: str, edits: Iterable[int], run: Command) -> None:
        """The checks of this kind on a line passed over these edits."""
        whole = breadth(kind, run)
        for flag, value in dict.fromkeys(
            (f, _key(f, one)) for (f, held), *_ in whole for one in held
        ):
            narrow = self.narrow.setdefault((kind, flag, value), {})
            narrow.setdefault(whole, set()).update(edits)
            if len(narrow) > NAMED:
                del narrow[next(iter(narrow))]
        if whole:
            return
        self.passed.setdefault(kind, set()).update(edits)
        for (of, _), waiting in self.waiting.items():
            if of == kind:
                for edit in edits:
                    waiting.pop(edit, None)

    def _looks(self, kind: str, ways: tuple[Command, ...], place: str, start: str) -> list[Looks]:
        """What tells the files at which a check looks, by each way to write it."""
        held = [looks_at(kind, way, place, start, self.takes, self.edited) for way in ways]
        if kind in ("tests", "build"):
            ran = ((base_of(way, place), one) for way in ways for one in way.simples)
            held += (told_of(one, here, start) for here, one in ran)
        return [_or_own_settings(one, kind, ways) for one in held if one is not None]

    def _waiting(self, kind: str, reach: Reach) -> dict[int, tuple[str, ...]]:
        if (kind, reach) not in self.waiting:
            self.waiting[kind, reach] = {
                edit: paths
                for edit, files in self.made.items()
                if edit not in self.passed.get(kind, ()) and (paths := reach.of(files))
            }
        return self.waiting[kind, reach]

    def _covered(self, kind: str, run: Command) -> list[set[int]]:
        """What runs at least as wide as this narrow one have passed over."""
        asked = breadth(kind, run)
        return [
            edits
            for flag, values in (asked[0] if asked else ())
            for whole, edits in self.narrow.get((kind, flag, _key(flag, values[0])), {}).items()
            if all(any(_is_as_wide(one, limits) for one in whole) for limits in asked)
        ]


def _or_own_settings(look: Looks, kind: str, ways: tuple[Command, ...]) -> Looks:
    """Beside what a check is given to look at, the settings of its tool, which bear its name."""
    checks = (one.name for way in ways for one in way.simples if one.check == kind)
    tools = [tool for name in checks if (tool := re.split("[ -]", name)[0])]
    own = [one for one in SETTINGS if any(tool in one for tool in tools)]
    return (lambda path: look(path) or _file(path).ending in own) if own else look


def _waits(edit: int, paths: tuple[str, ...], covered: list[set[int]], looks: list[Looks]) -> bool:
    """Whether no run as wide passed over an edit, and this one looks at a file of it."""
    for passed in covered:
        if edit in passed:
            return False
    return not looks or any(all(look(path) for look in looks) for path in paths)


def _parts(kind: str, run: Command, lines: Iterable[str]) -> list[tuple[Command, ...]]:
    """A line as so many as its checks of a kind have operands: each looks at something else.

    Each is told by its command, and by what this runs where it is a script that shows it.
    """
    found = list[tuple[Simple, ...]]()
    for one in run.simples:
        if one.check == kind:
            shown = _shown(kind, one, lines)
            found += [(one, held) for held in shown] or [(held,) for held in _by_operand(one)]
    parts = [tuple(structs.replace(run, simples=(way,)) for way in ways) for ways in found]
    return parts or [(run,)]


def _shown(kind: str, script: Simple, lines: Iterable[str]) -> list[Simple]:
    """The checks of a kind that a package's script runs in its folder; none where they go away."""
    if not script_of(script):
        return []
    ran = [classify(line) for line in lines]
    found = [one for run in ran for one in run.simples if one.check == kind]
    found = [one for one in found if not one.rule.startswith("script")]
    if any(run.cwd for run in ran):
        return []
    return [part for one in found for part in _by_operand(one)]


def _by_operand(check: Simple) -> Iterator[Simple]:
    named = next((values for flag, values in check.limits if not flag), ())
    if len(named) < 2 or check.looks_at not in (None, named):
        yield check
        return
    for name in named:
        limits = tuple((flag, values if flag else (name,)) for flag, values in check.limits)
        looks = (name,) if check.looks_at else None
        yield structs.replace(check, limits=limits, looks_at=looks)


def _is_as_wide(limits: Limits, asked: Limits) -> bool:
    """Whether a run with these limits covers all that one with those does."""
    held = dict(asked)
    return all(flag in held and _takes(flag, values, held[flag]) for flag, values in limits)


def _takes(flag: str, values: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """Whether a limit lets by all that another does."""
    if flag in CHOOSES:
        return all(any(chooses_as_much(value, one) for value in values) for one in asked)
    return set(values).issuperset(asked)


def _key(flag: str, value: str) -> str:
    """By what narrower runs are looked up: a choice by names may hold another."""
    return "" if flag in CHOOSES else value


def _file(path: str) -> File:
    if found := SETS_UP.search(path):
        return File(path, next(filter(None, found.groups())))
    name = posixpath.basename(path)
    return File(path, (posixpath.splitext(name)[1] or name).lower())


def _reach(kind: str, run: Command, lines: Iterable[str]) -> Reach:
    builds = [one.name for one in run.simples if one.check == "build"] or [run.main]
    checks = [one for one in run.simples if one.check == kind]
    endings = _of_all([one.name for one in checks] or builds)
    if endings:
        endings |= frozenset(_named_alone(checks))
    if endings and any(TAKES_OTHERS.fullmatch(word) for one in checks for word in one.words):
        endings -= frozenset(SETTINGS)
    if endings is None and (held := _tools(kind, lines)):
        builds, endings = held, _of_all(held)
    bare = kind in ("build", "run") and all(map(BUILDS_WITHOUT_TESTS.match, builds))
    # A program on the line itself looks at no other files than those that it loads or parses.
    parses = kind == "run" and bool(run.inline)
    spared = PROSE if parses else SPARED.get(kind, (*PROSE, *SETTINGS, *HOSTED))
    return Reach(endings, spared, not bare)


def _named_alone(checks: list[Simple]) -> Iterator[str]:
    """The files without an ending that a check of shell scripts names: only so does it take them."""
    for one in checks if any(OF_SHELLS.match(one.name) for one in checks) else ():
        names = (posixpath.basename(word).lower() for word in one.words[1:])
        yield from (name for name in names if "." not in name and name[:1] != "-")


OF_SHELLS = later(r"(?:shellcheck|shfmt)\b")
"""Checks of shell scripts."""


def _of_all(tools: list[str]) -> frozenset[str] | None:
    """The files of the languages of some tools; None where one has none."""
    known = [endings_of(tool) for tool in tools]
    return None if None in known else frozenset().union(*(one or () for one in known))


def endings_of(tool: str) -> tuple[str, ...] | None:
    """The files of a tool's language; None where it has none, or is not known."""
    return next((endings for known, endings in LANGUAGES if known.match(tool)), None)


def _tools(kind: str, lines: Iterable[str]) -> list[str]:
    """The checks of a kind that scripts run, or all of theirs; none where they run a program."""
    ran = [one for line in lines for one in classify(line).simples]
    if any(one.rule == "run-program" for one in ran):
        return []
    found = [one for one in ran if one.check and not one.rule.startswith("script")]
    return [one.name for one in found if one.check == kind] or [one.name for one in found]


def breadth(kind: str, run: Command) -> Breadth:
    """How much the checks of one kind on a line look at.

    A line may hold several: `ruff check src && pytest` lints one folder and tests all.
    """
    found = [one.limits for one in run.simples if one.check == kind]
    return () if () in found else tuple(dict.fromkeys(found))


def is_prose(path: str) -> bool:
    """Whether a file is one that no program is run from."""
    return _file(path).ending in PROSE


def is_plan(path: str) -> bool:
    """Whether a file is the client's own plan or notes."""
    return PLANS.search(path) is not None


def is_log(path: str) -> bool:
    """Whether a file is one in which a command's output was kept."""
    return _file(path).ending == ".log"
