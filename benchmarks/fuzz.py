"""Coverage-guided fuzzing of what meets hostile bytes first: `fuzz.py source|redactor SECONDS`.

A crash is written to the working directory as `crash-*`; cut it down and make it a fixture.
"""

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports():
    from forsy_retrace.builder import build
    from forsy_retrace.errors import RetraceError
    from forsy_retrace.events import sessions
    from forsy_retrace.redact import mask
    from forsy_retrace.registry import bundled, load
    from forsy_retrace.source import Source

SEED = Path(__file__).parents[1] / "fixtures"


def fuzz_source(data: bytes) -> None:
    """Any bytes are read, sniffed and, where claimed, retraced, or refused in one line."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(RetraceError):  # one line that says why it can't be read
            _retrace(Source(Path(file.name)))


def _retrace(source: Source) -> None:
    list(source.records())
    for name in bundled():
        adapter = load(name)
        if adapter.sniff(source):
            for session in sessions(adapter.read(source)):
                build(session, name, adapter.SHOWS)


def fuzz_redactor(data: bytes) -> None:
    """Any text is masked without an exception, and masking it again changes nothing."""
    text = data.decode("utf-8", "surrogateescape")
    masked = mask(text)
    if mask(masked) != masked:
        raise AssertionError("masked again, it is another text")


TARGETS = {"source": fuzz_source, "redactor": fuzz_redactor}


def main() -> None:
    target, seconds = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as corpus:
        for number, path in enumerate(sorted(SEED.glob("*/*/input.*"))):
            data = path.read_bytes()
            if len(data) < 40_000:
                (Path(corpus) / str(number)).write_bytes(data)
        arguments = [sys.argv[0], f"-max_total_time={seconds}", "-max_len=65536", corpus]
        atheris.Setup(arguments, TARGETS[target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
