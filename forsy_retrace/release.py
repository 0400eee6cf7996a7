"""What stands against the release of a trace, beside what `validate` says of the trace itself.

Secrets that stand in the open, and files of its folder that are missing or were changed. A problem
names kinds, steps and files, and never what it found.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forsy_retrace.patterns import later
from forsy_retrace.redact import OFF, leaves, mask
from forsy_retrace.redaction import Masker
from forsy_retrace.source import discover
from forsy_retrace.trace_folder import json_lines, json_of
from forsy_retrace.validate import STEP_FIELDS, Problem, is_legacy, modern
from forsy_retrace.verify import CUT
from forsy_retrace.writers.atomic import ARTIFACT, ARTIFACTS, FILES, is_made_by_us

Json = Any
DIGEST = later(r"sha256:[0-9a-f]{64}")
KEPT = later(rf"{ARTIFACTS}/{ARTIFACT.pattern}")
READ = ("trace.json", "manifest.json", "evidence.jsonl")
"""The files that are looked at value by value."""


def unfit(path: Path) -> list[Problem]:
    """Why a trace folder, or a trace.json alone, is not fit to leave its owner."""
    trace = json_of(path if path.is_file() else path / "trace.json")
    try:
        found = list(_exposed(trace))
    except RecursionError:  # the schema's judge says so
        return []
    if path.is_file():
        return found
    folder = Folder(path, trace)
    return [*found, *folder.unmasked(), *folder.exposed(), *folder.lost(), *folder.changed()]


def _exposed(trace: Json) -> Iterator[Problem]:
    """Secrets that the gate of the writers would stop, by step and field."""
    match modern(trace) if is_legacy(trace) else trace:
        case {"steps": list(steps), **rest}:
            yield from _secrets(None, "trace", rest)
            for n, step in enumerate(steps, 1):
                for name, value in step.items() if isinstance(step, dict) else ():
                    field = name if name in STEP_FIELDS else "steps"
                    yield from _secrets(n, field, {name: value})


def _secrets(step: int | None, field: str, value: Json) -> Iterator[Problem]:
    texts = (text for text, _ in leaves(value))
    for rule in sorted({leak.rule for leak in Masker().leaks(b"", texts=texts)}):
        yield Problem(step, field, "secrets", f"It holds a secret in the open (rule {rule}).")


class Folder:
    """A trace folder as it lies there; whatever in it is not of the form that we write is empty."""

    def __init__(self, path: Path, trace: Json) -> None:
        self.path, self.trace = path, trace
        self.manifest = json_of(path / "manifest.json") if self._has("manifest.json") else None
        self.rows = json_lines(path / "evidence.jsonl") if self._has("evidence.jsonl") else []

    def _has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def unmasked(self) -> Iterator[Problem]:
        """Whether it was written so."""
        match self.manifest:
            case {"redaction": said} if said == OFF:
                text = "Redaction was off: whatever the log holds stands in the trace."
                yield Problem(None, "manifest.redaction", "masked", text)

    def exposed(self) -> Iterator[Problem]:
        """Secrets in the files beside trace.json, strangers' too: they leave with the folder."""
        yield from _secrets(None, "manifest.json", self.manifest)
        yield from _secrets(None, "evidence.jsonl", self.rows)
        for one in discover(self.path):
            is_picture = KEPT.fullmatch(one.name) and not one.name.endswith(".txt")
            if one.name not in READ and not is_picture:
                yield from _secrets(None, mask(one.name), one.path.read_text("utf-8", "replace"))

    def lost(self) -> Iterator[Problem]:
        """Files that belong to it and are not there.

        A live trace is its agent's own word, and needs no evidence; an old one has other files.
        """
        match self.trace:
            case {"trace_mode": "retraced" | "hybrid"} if not is_legacy(self.trace):
                for name in sorted(FILES):
                    if not self._has(name):
                        yield Problem(None, name, "files", "The folder lacks this file.")
        for step, field, names in self._named():
            if not any(map(self._has, names)):
                yield Problem(step, field, "files", "The artifact that it names is missing.")

    def _named(self) -> Iterator[tuple[int | None, str, list[str]]]:
        """The artifacts that values name; a text may hold marks of another trace's, too."""
        if not is_made_by_us(self.path / "manifest.json"):
            return
        match self.trace:
            case {"steps": list(steps), "static_output": {"artifacts": list(artifacts)}}:
                for n, (step, row) in enumerate(zip(steps, self.rows, strict=False), 1):
                    match step, row:
                        case {"output": str(text)}, {"fields": {"output": {"cut": True}}}:
                            yield n, "output", [mark[1] for mark in CUT.finditer(text)]
                for at, artifact in enumerate(artifacts):
                    match artifact:
                        case {"content": str(), "hash": str(digest)} if DIGEST.fullmatch(digest):
                            name = f"{ARTIFACTS}/{digest[7:23]}.txt"
                            yield None, f"static_output.artifacts[{at}]", [name]
        match self.manifest:
            case {"media": {"kept": list(kept)}}:
                for at, one in enumerate(kept):
                    match one:
                        case {"file": str(name)}:
                            names = [name] if KEPT.fullmatch(name) else []
                            yield None, f"manifest.media.kept[{at}]", names

    def changed(self) -> Iterator[Problem]:
        """Artifacts of other bytes than those that they are named by."""
        for path in self._artifacts():
            if hashlib.sha256(path.read_bytes()).hexdigest()[:16] != path.stem:
                name = f"{ARTIFACTS}/{path.name}"
                yield Problem(None, name, "files", "Its bytes are not those that it is named by.")

    def _artifacts(self) -> list[Path]:
        found = sorted((self.path / ARTIFACTS).glob("*"))
        return [path for path in found if ARTIFACT.fullmatch(path.name) and path.is_file()]
