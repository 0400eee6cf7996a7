"""Are the artifacts and the final output that a trace claims those that the log shows?"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forsy_retrace.patterns import later
from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Artifact, Step

from .finding import Finding, Verdict
from .fold import fold
from .judge import Bench
from .likeness import likeness, stands_in
from .profile import texts_in

CHANGES = ("created", "modified", "generated", "deleted")
LOOKS = ("read", "search")
MOST_LINES = 2000
MOST_ARTIFACTS = 2000
SHORT = 4
"""Characters of a line that says nothing by itself."""
HASH = later(r"(?:sha256:)?([0-9a-f]{64})\Z")


def final_output(bench: Bench) -> Iterator[Finding]:
    """The deliverable: an answer, a file, or pieces of both, each line of it in the log."""
    said, name = bench.claimed.final_output, "final_output"
    if not said.strip():
        if bench.trace.final_output:
            yield Finding(name, "not shown", "The claim has none.", None, bench.trace.final_output)
        return
    for text in (bench.trace.final_output, *_answers(bench), *_contents(bench)):
        if likeness(said, text, bench.places) != "other":
            yield Finding(name, "confirmed", "The agent said or wrote it.")
            return
    lacks = _lines_without(said, _Corpus(bench, _all_own(bench)))
    if lacks:
        says = f"{len(lacks)} of its lines stand nowhere in what the agent said, wrote or saw."
        yield Finding(name, "altered", says, "\n".join(lacks), bench.trace.final_output)
    else:
        yield Finding(name, "confirmed", "Each of its lines stands in the log.")


def artifacts(bench: Bench) -> Iterator[Finding]:
    """One finding an artifact; what is wrong with it weighs more than what is right."""
    if not bench.claimed.artifacts:
        return
    known = {fold(one.path, bench.places): one for one in bench.trace.artifacts}
    acts = _Corpus(bench, _texts(s for s in bench.trace.steps if s.operation not in LOOKS))
    everything = _Corpus(bench, _all_own(bench))
    for at, claimed in enumerate(bench.claimed.artifacts[:MOST_ARTIFACTS]):
        path = claimed.get("path")
        path = path if isinstance(path, str) else ""
        held = _held(fold(path, bench.places), known)
        verdict, says = _judged(claimed, path, held, acts, everything)
        yield Finding(f"artifacts[{at}]", verdict, says, path, held.path if held else None)


def _held(path: str, known: Mapping[str, Artifact]) -> Artifact | None:
    if path in known:
        return known[path]
    ends = [one for name, one in known.items() if _is_end(path, name) or _is_end(name, path)]
    return ends[0] if len(ends) == 1 and path else None


def _is_end(path: str, of: str) -> bool:
    return of.endswith(f"/{path}") and path.count("/") > 0


def _judged(
    claimed: Mapping[str, Any], path: str, held: Artifact | None, acts: "_Corpus", all_: "_Corpus"
) -> tuple[Verdict, str]:
    kind, content = claimed.get("type"), claimed.get("content")
    named = bool(path) and acts.holds(path)
    if held is None:
        if isinstance(content, str) and len(content) >= SHORT and not _lines_without(content, all_):
            return "confirmed", "The log shows its content."
        if named or (kind not in CHANGES and path and all_.holds(path)):
            return "not shown", "The log names it, and does not show what became of it."
        return "unsupported", "The log names no such thing."
    if kind in CHANGES and held.type == "observed" and not named:
        return "altered", "The log shows it read, and never changed."
    if kind == "deleted" and held.type != "deleted" and not named:
        return "altered", "The log does not show it deleted."
    return _told(claimed, held, all_)


def _told(claimed: Mapping[str, Any], held: Artifact, all_: "_Corpus") -> tuple[Verdict, str]:
    content, diff = claimed.get("content"), claimed.get("diff")
    if isinstance(content, str) and content.strip():
        whole = held.content is not None and all_.is_like(content, held.content)
        if not whole and _lines_without(content, all_):
            return "altered", "Its content is not what the log shows."
    if isinstance(diff, str):
        rows = lines_of(diff)
        added = [row[1:] for row in rows if row[:1] == "+" and row[:3] != "+++"]
        if _lines_without("\n".join(added), all_):
            return "altered", "Its diff adds lines that the log does not show."
    if held.content is not None and not _is_hash(claimed.get("hash"), content, held.content):
        return "altered", "Its hash is of another content than the log shows."
    return "confirmed", f"The log shows it: {held.type}."


def _is_hash(said: Any, content: Any, shown: str) -> bool:
    found = HASH.match(said) if isinstance(said, str) else None
    if found is None:
        return True
    texts = [shown, shown.rstrip("\n"), shown.rstrip("\n") + "\n"]
    texts += [content] if isinstance(content, str) else []
    digests = (hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts)
    return found[1] in digests


class _Corpus:
    """Texts of the log, folded into one, in which lines are looked for."""

    def __init__(self, bench: Bench, texts: Iterable[str]) -> None:
        self.places = bench.places
        self.text = " \n ".join(fold(text, bench.places) for text in texts)

    def holds(self, line: str) -> bool:
        """Whether a line stands somewhere, no word or number of it cut."""
        return stands_in(line, self.text, self.places)

    def is_like(self, claim: str, shown: str) -> bool:
        return likeness(claim, shown, self.places) != "other"


def _lines_without(text: str, corpus: _Corpus) -> list[str]:
    """The lines of a text that stand nowhere in the corpus."""
    lines = [line.strip() for line in lines_of(text)[:MOST_LINES]]
    told = [line for line in dict.fromkeys(lines) if len(fold(line)) >= SHORT]
    return [line for line in told if not corpus.holds(line)]


def _answers(bench: Bench) -> Iterator[str]:
    return (step.output for step in bench.trace.steps if step.action == "output" and step.output)


def _contents(bench: Bench) -> Iterator[str]:
    for one in bench.trace.artifacts:
        yield from (text for text in (one.content, one.diff) if text)


def _all_own(bench: Bench) -> Iterator[str]:
    """Everything but what people said."""
    yield from _texts(step for step in bench.trace.steps if step.action != "user_message")
    yield from _contents(bench)


def _texts(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield from (text for text in (step.reasoning, step.output) if text)
        if step.call is not None:
            yield from texts_in(step.call.input)
