"""The public names, with their signatures, are those of docs/sdk.md; a change is made on purpose.

FORSY_UPDATE_GOLDENS=1 writes them anew.
"""

import ast
import inspect
import os
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args, get_origin

import pytest

import forsy_retrace
from forsy_retrace import calls, choose, dialects, events, redact, registry, sdk, source, testing

PAGE = Path(__file__).resolve().parents[1] / "docs" / "sdk.md"
LISTING = re.compile(r"(?<=^```text\n).*?(?=^```)", re.M | re.S)


MODULES: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (forsy_retrace, tuple(name for name in forsy_retrace.__all__ if name != "__version__")),
    (redact, ("Rules",)),
    (choose, ("Choice",)),
    (registry, ("load",)),
    (events, ("Hunk", "Outcome", "Packed", "Via")),
    (source, ("Evidence", "Line", "Record", "discover", "entry")),
    (sdk, tuple(sdk.__all__)),
    (calls, ("Calls", "Verdict")),
    (dialects, ("Call", "Media", "attachments", "call_of", "calls", "content_text", "media")),
    (
        testing,
        (
            *("Case", "BrokenLaw", "LAWS", "broken", "cases", "conformance", "write_goldens"),
            *(law.__name__ for law in testing.LAWS),
        ),
    ),
)


def listing() -> str:
    """Every public name in a line or a few, by module."""
    parts = []
    for module, names in MODULES:
        shown = [line for name in sorted(names) for line in told(module, name)]
        parts.append("\n".join([module.__name__, *(f"  {line}" for line in shown)]))
    return "\n\n".join(parts) + "\n"


def told(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    if get_origin(value) is Literal:
        words = ", ".join(map(repr, get_args(value)))
        yield from textwrap.wrap(f"{name}: {words}", 96, subsequent_indent="    ")
        yield from wrapped(said_of(module, name), "    ")
        return
    if not (inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value))):
        yield name
        return
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    if isinstance(node, ast.FunctionDef):
        yield signature(node)
        yield from wrapped(inspect.getdoc(value), "    ")
    elif isinstance(node, ast.ClassDef):
        head, *rest = members(node)
        yield from (head, *wrapped(inspect.getdoc(value), "    "), *rest)


def said_of(module: ModuleType, name: str) -> str | None:
    """The text below a name's assignment."""
    for one, behind in pairwise(ast.parse(inspect.getsource(module)).body):
        match one, behind:
            case ast.Assign(targets=[ast.Name(found)]), ast.Expr(ast.Constant(str(words))):
                if found == name:
                    return words
    return None


def wrapped(doc: str | None, indent: str) -> list[str]:
    words = " ".join((doc or "").split())
    return textwrap.wrap(words, 96, initial_indent=indent, subsequent_indent=indent)


def members(node: ast.ClassDef) -> Iterator[str]:
    """A class: its fields in one line, its public properties and methods below."""
    fields = [ast.unparse(one) for one in node.body if isinstance(one, ast.AnnAssign)]
    yield f"{node.name}({', '.join(fields)})" if fields else f"class {node.name}"
    for one, behind in pairwise(node.body):
        match one, behind:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                told = f"{name}: {' '.join(words.split())}"
                yield from textwrap.wrap(told, 96, initial_indent="    ", subsequent_indent=" " * 6)
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and (one.name[0] != "_" or one.name == "__init__"):
            is_value = any(ast.unparse(way) in PROPERTIES for way in one.decorator_list)
            kind = f": {ast.unparse(one.returns)}" if is_value and one.returns else ""
            yield f"  .{one.name}{kind}" if is_value else f"  .{signature(one)}"
            yield from wrapped(ast.get_docstring(one), "      ")


PROPERTIES = ("property", "cached_property")


def signature(node: ast.FunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){result}"


def test_the_page_lists_every_public_name_with_its_signature() -> None:
    text = PAGE.read_text("utf-8")
    if os.environ.get("FORSY_UPDATE_GOLDENS") == "1":
        PAGE.write_text(LISTING.sub(lambda _: listing(), text, count=1), "utf-8")
        text = PAGE.read_text("utf-8")
    (shown,) = LISTING.findall(text)
    assert shown == listing()


def test_adapters_take_of_the_sdk_what_is_public() -> None:
    used = set[str]()
    for path in (PAGE.parents[1] / "adapters").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "forsy_retrace.sdk":
                used.update(one.name for one in node.names)
    assert used <= set(sdk.__all__)


NAMES = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module, names in MODULES
    for name in names
}


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_says_what_it_promises(name: str) -> None:
    value = NAMES[name]
    if inspect.isclass(value) or inspect.isroutine(value):
        assert (inspect.getdoc(value) or "").strip().endswith((".", ":", "…", "`", ")"))


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    from forsy_retrace.convert import convert

    assert forsy_retrace.convert is convert


def test_every_public_name_can_be_had_from_the_package() -> None:
    assert sorted(forsy_retrace.__all__) == forsy_retrace.__all__
    for name in forsy_retrace.__all__:
        assert getattr(forsy_retrace, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        forsy_retrace.nothing  # noqa: B018 (the access is what is tested)
