"""How fast is a conversion, against decoding the same lines with orjson?

CPU time, since wall clocks swing with the neighbours; each round times the yardstick right before
and after the stages, and what is printed is the median of the rounds' ratios: only ratios carry
over to another machine. `benchmarks/speed.py [LOG ...]`, or `--mb 50` for a session made up by
`sessions.py`. `--process` adds whole processes: their CPU, peak memory and start-up.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

import orjson
from sessions import session

from forsy_retrace import memory
from forsy_retrace.adapter import files_of
from forsy_retrace.builder import build
from forsy_retrace.convert import Options, origins_of, unwritten
from forsy_retrace.document import draft
from forsy_retrace.events import sessions
from forsy_retrace.redact import redact
from forsy_retrace.registry import identify, load
from forsy_retrace.source import Source
from forsy_retrace.writers.folder import write_folder

STRUCTURE = ("read", "build", "draft")
"""Without redaction, validation and writing."""
WHOLE = (*STRUCTURE, "redact", "write")
SMALL = 1.0
"""Megabytes of the session whose whole process is timed."""

Lap = Callable[[str], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--mb", type=float, nargs="+", default=[50.0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--process", action="store_true")
    wanted = parser.parse_args()
    memory.look_rarely()
    with tempfile.TemporaryDirectory() as folder:
        logs = wanted.logs or [_made(Path(folder), size) for size in wanted.mb]
        for log in logs:
            _stages(log, Path(folder) / "traces", wanted.rounds)
        if wanted.process:
            _processes([*logs, _made(Path(folder), SMALL)], Path(folder), wanted.rounds)


def _made(folder: Path, size: float) -> Path:
    path = folder / f"{size:g}-mb.jsonl"
    with path.open("wb") as log:
        log.writelines(session(size))
    return path


# One process, stage by stage.


def _stages(log: Path, target: Path, rounds: int) -> None:
    found: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for number in range(rounds):
        before = _yardstick(log)
        spent = _spent(log, target / f"{log.stem}-{number}")
        yardstick = fmean((before, _yardstick(log)))
        spent["structure only"] = sum(spent[name] for name in STRUCTURE)
        spent["everything"] = sum(spent[name] for name in WHOLE)
        for name, cpu in spent.items():
            seconds.setdefault(name, []).append(cpu)
            found.setdefault(name, []).append(yardstick / cpu)
        seconds.setdefault("orjson", []).append(yardstick)
    size = log.stat().st_size / 1e6
    print(f"{log.name}: {size:.1f} MB, {rounds} rounds, orjson {median(seconds['orjson']):.3f} s")
    for name, ratios in found.items():
        cpu, ratio = median(seconds[name]), median(ratios)
        print(f"  {name:15} {cpu:8.3f} s {1000 * cpu / size:8.2f} ms/MB  ratio {ratio:.4f}")


def _yardstick(log: Path) -> float:
    start = time.process_time()
    with log.open("rb") as lines:
        for line in lines:
            orjson.loads(line)
    return time.process_time() - start


def _spent(log: Path, target: Path) -> dict[str, float]:
    """CPU seconds of each stage of one conversion."""
    found: dict[str, float] = {}
    last = time.process_time()

    def lap(name: str) -> None:
        nonlocal last
        now = time.process_time()
        found[name] = found.get(name, 0.0) + now - last
        last = time.process_time()

    for number, _ in enumerate(_converted(Source(log), target, lap)):
        assert number < 1, "one log, one session"
    return found


def _converted(source: Source, target: Path, lap: Lap) -> Iterator[Any]:
    """What `convert` does, with a lap after each stage."""
    (name,) = identify(source)
    adapter = load(name)
    for _ in source.records():
        pass
    lap("(records alone)")
    for one in sessions(adapter.read(source)):
        lap("read")
        trace = build(one, name, adapter.SHOWS)
        lap("build")
        content = draft(trace)
        lap("draft")
        logs = files_of(adapter, source)
        redacted = redact(content, also=unwritten(content, logs))
        lap("redact")
        origins = origins_of(content, logs, Options())
        yield write_folder(redacted, target, origins, adapter.SHOWS)
        lap("write")


# Whole processes.


def _processes(logs: list[Path], folder: Path, rounds: int) -> None:
    print("whole processes: CPU, peak memory")
    command = [sys.executable, "-m", "forsy_retrace"]
    runs = {"--help": [*command, "--help"], "python alone": [sys.executable, "-c", "pass"]}
    for log in logs:
        runs[log.name] = [*command, "auto", str(log), "-q", "-o", str(folder / f"out-{log.stem}")]
    for name, run in runs.items():
        _cost(run)  # the first writes byte code
        costs = [_cost(run) for _ in range(rounds)]
        cpu, peak = (median(values) for values in zip(*costs, strict=True))
        print(f"  {name:15} {cpu:8.3f} s {peak:8.0f} MB")


STARTER = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
"""Linux counts the size of the process that starts another as the other's own: a small one does."""


def _cost(run: list[str]) -> tuple[float, float]:
    """CPU seconds and peak megabytes of one process."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    starter = [sys.executable, "-c", STARTER, *run]
    done = subprocess.run(starter, env=environment, capture_output=True, check=True)
    status, cpu, peak = orjson.loads(done.stdout)
    assert status == 0, run
    return cpu, peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    main()
