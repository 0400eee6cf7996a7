"""A large export converts one conversation at a time.

Run with `pytest -m corpus tests/test_chatgpt_memory.py -s`; FORSY_EXPORT_MB sets the size.
"""

import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from forsy_retrace.source import Source

pytestmark = pytest.mark.corpus

SIZE = int(os.environ.get("FORSY_EXPORT_MB", "100")) << 20
LARGEST = 2 << 20
USUAL = 192 << 10
ROOM = 150 << 20
SHARE = 6

WORDS = ["chain", "runs", "over", "a", "worn", "sprocket", "and", "skips", "under", "load", "so"]

CONVERT = """
import sys
from pathlib import Path
from forsy_retrace.convert import convert
from forsy_retrace.writers import Written
path, target = map(Path, sys.argv[1:])
done = sum(isinstance(one, Written) for one in convert(path, "auto", target))
"""

READ = """
import sys
from pathlib import Path
from forsy_retrace.source import Source
source = Source(Path(sys.argv[1]))
logs = source.members("conversations.json") or [source]
done = sum(record.problem == "" for log in logs for record in log.records())
"""

PEAK = """
import resource
try:  # what a process needed since it was started, not what its parent had before
    lines = open("/proc/self/status").read().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(done, peak)
"""


def conversation(number: int, size: int, dice: random.Random) -> dict[str, object]:
    """An invented conversation of about that many bytes: questions, code runs and answers."""
    mapping: dict[str, dict[str, object]] = {
        "root": {"id": "root", "message": None, "parent": None, "children": []}
    }
    parent, held, turn = "root", 0, 0
    while held < size:
        turn += 1
        for kind in ("ask", "call", "result", "answer"):
            key = f"{number:08x}-{turn:04x}-4000-8000-{kind:>12}".replace(" ", "0")
            text = " ".join(dice.choices(WORDS, k=400 if kind == "answer" else 120))
            mapping[key] = node(key, parent, kind, text, 1.7e9 + number * 1e4 + turn * 60)
            parent, held = key, held + len(text) + 600
    name = f"{number:08x}-c0de-4000-8000-000000000000"
    head = {"title": f"Chain {number}", "create_time": 1.7e9, "current_node": parent}
    return {**head, "mapping": mapping, "conversation_id": name, "id": name}


def node(key: str, parent: str, kind: str, text: str, at: float) -> dict[str, object]:
    role = {"ask": "user", "result": "tool"}.get(kind, "assistant")
    content: dict[str, object] = {"content_type": "text", "parts": [text]}
    if kind in ("call", "result"):
        kinds = {"call": "code", "result": "execution_output"}
        content = {"content_type": kinds[kind], "text": text, "language": "python"}
    message = {
        "id": key,
        "author": {"role": role, "name": "python" if kind == "result" else None, "metadata": {}},
        "create_time": at,
        "content": content,
        "status": "finished_successfully",
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
        "recipient": "python" if kind == "call" else "all",
    }
    return {"id": key, "message": message, "parent": parent, "children": []}


def pieces() -> Iterator[bytes]:
    """The bytes of an export, a conversation at a time; the largest lies in the middle."""
    dice = random.Random(7)
    written, number = 0, 0
    yield b"["
    while written < SIZE:
        number += 1
        size = LARGEST if number == 40 else USUAL
        data = json.dumps(conversation(number, size, dice)).encode()
        yield (b", " if number > 1 else b"") + data
        written += len(data)
    yield b"]"


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "conversations.json"
    with path.open("wb") as file:
        for piece in pieces():
            file.write(piece)
    return path


def limits(path: Path) -> tuple[int, int]:
    """How many conversations there are, and how much memory they may take."""
    sizes = [record.here.end - record.here.start for record in Source(path).records()]
    return len(sizes), ROOM + SHARE * max(sizes)


def run(script: str, *paths: Path) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", script + PEAK, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, peak = done.stdout.split()
    print(f"\n{int(peak) >> 20} MB at most, for {count} conversations")
    return int(count), int(peak)


def test_an_export_converts_one_conversation_at_a_time(export: Path, tmp_path: Path) -> None:
    count, most = limits(export)
    done, peak = run(CONVERT, export, tmp_path / "traces")
    assert done == count
    assert peak < most


def test_a_zipped_export_is_unpacked_as_it_is_read(export: Path, tmp_path: Path) -> None:
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(export, "conversations.json")
    count, most = limits(export)
    done, peak = run(READ, packed)
    assert done == count
    assert peak < most
