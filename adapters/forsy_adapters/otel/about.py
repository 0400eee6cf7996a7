"""What spans tell beside what was done: tokens, tools on offer, how answers ended."""

from collections.abc import Iterator

from forsy_retrace.sdk import number

from . import langfuse
from .names import CUT_SHORT, FINISH, OFFERED, OFFERED_ONE_BY_ONE, USAGE
from .spans import Leaf, Span, each, listed_in, tree


def usage(span: Span) -> dict[str, int]:
    """The tokens of one answer."""
    found = {}
    for ours, names in USAGE:
        leaf = span.first(names)
        if leaf and number(leaf.value):
            found[ours] = leaf.value
    return found or langfuse.usage(span.attributes)


def offered(span: Span) -> list[str]:
    """The names of the tools on offer."""
    one_by_one = [
        leaf
        for name, leaf in span.attributes.items()
        if any(name.startswith(lead) and name.endswith(end) for lead, end in OFFERED_ONE_BY_ONE)
    ]
    held = (*each(span.first(OFFERED)), *one_by_one)
    return [name for leaf in held for name in _names(leaf)]


def _names(leaf: Leaf) -> Iterator[str]:
    """The names of tools in a definition, a list of them, or a list of names; or the one name."""
    held = tree(leaf) or leaf.value
    for one in held if isinstance(held, list) else [held]:
        match one:
            case str():
                yield one
            case {"name": str(name)} | {"function": {"name": str(name)}}:
                yield name


def cut_short(span: Span) -> Iterator[Leaf]:
    """Why an answer ended, where the model did not end it itself."""
    for leaf in each(span.first(FINISH)):
        for one in listed_in(leaf):
            if isinstance(one.value, str) and one.value in CUT_SHORT:
                yield one
