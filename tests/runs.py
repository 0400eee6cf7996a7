"""Runs of `batch` in this process, and what they left."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from folders import contents

from forsy_retrace.batch import Batch, Report, batch, work

FIXTURES = Path(__file__).parents[1] / "fixtures"
LOGS = {
    "claude/one.jsonl": "claude-code/push-pull-push/input.jsonl",
    "claude/deep/two.jsonl": "claude-code/plan-accepted/input.jsonl",
    "claude/3a.jsonl": "claude-code/rejected-with-words/input.jsonl",
    "claude/3b.jsonl": "claude-code/rejected-with-words/input.jsonl",  # a copy under another name
    "streams.jsonl": "claude-code/stream-json-two-runs/input.jsonl",
    "exports/conversations.json": "chatgpt/pictures-and-voice/input.json",
}


class Here:
    """An engine of this process, which remembers what it was given and can be stopped."""

    def __init__(self, stop_after: int = -1) -> None:
        self.converted: list[str] = []
        self.stop_after = stop_after

    def map(self, work_on: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for task in tasks:
            if work_on is work.convert_one:
                if len(self.converted) == self.stop_after:
                    raise KeyboardInterrupt
                self.converted.append(task.log.file.name)
            yield task, work_on(task)

    def close(self) -> None: ...


def lay(folder: Path) -> Path:
    """A folder of logs, with files that are none."""
    root = folder / "logs"
    for name, fixture in LOGS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(FIXTURES / fixture, root / name)
    (root / "notes.txt").write_text("nothing to see here\n")
    (root / "claude" / "package.json").write_text('{"name": "shop"}')
    return root


def run(logs: Path, target: Path, engine: Here | None = None, **wishes: Any) -> Report:
    wish = Batch(target=str(target), roots=(str(logs),), **wishes)
    return batch(wish, engine=engine or Here())


def published(target: Path) -> dict[str, bytes]:
    """Everything below a target but the ledger, whose salt is its own."""
    return {name: data for name, data in contents(target).items() if "ledger" not in name}


def folders(target: Path) -> list[str]:
    return sorted(path.name for path in target.iterdir() if path.is_dir())


def rows(target: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (target / name).read_bytes().splitlines()]


def refuses(monkeypatch: pytest.MonkeyPatch, name: str, function: str) -> None:
    """The system says no to whatever has that name."""
    honest = getattr(os, function)

    def careful(path: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(path, (str, Path)) and Path(path).name == name:
            raise PermissionError(13, "Permission denied", path)
        return honest(path, *rest, **more)

    monkeypatch.setattr(os, function, careful)
