"""Each stage of a conversion, on a made-up session of 2 MB: `just bench`, never in the suite."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from sessions import session

from forsy_retrace.builder import build
from forsy_retrace.document import draft
from forsy_retrace.events import Session, sessions
from forsy_retrace.redact import Redacted, redact
from forsy_retrace.registry import load
from forsy_retrace.source import Source
from forsy_retrace.trace import Trace
from forsy_retrace.validate import problems
from forsy_retrace.writers.atomic import whole
from forsy_retrace.writers.folder import contents

ADAPTER = load("claude-code")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    path = tmp_path_factory.mktemp("log") / "session.jsonl"
    path.write_bytes(b"".join(session(2)))
    return Source(path)


@pytest.fixture(scope="module")
def events(source: Source) -> Session:
    (one,) = sessions(ADAPTER.read(source))
    return one


@pytest.fixture(scope="module")
def trace(events: Session) -> Trace:
    return build(events, "claude-code", ADAPTER.SHOWS)


def test_records(benchmark: BenchmarkFixture, source: Source) -> None:
    assert benchmark(lambda: list(source.records()))


def test_read(benchmark: BenchmarkFixture, source: Source) -> None:
    assert benchmark(lambda: list(ADAPTER.read(source)))


def test_build(benchmark: BenchmarkFixture, events: Session) -> None:
    assert benchmark(build, events, "claude-code", ADAPTER.SHOWS).steps


def test_draft(benchmark: BenchmarkFixture, trace: Trace) -> None:
    assert benchmark(draft, trace).evidence


def test_redact(benchmark: BenchmarkFixture, trace: Trace) -> None:
    assert benchmark(lambda: redact(draft(trace))).evidence


def test_problems(benchmark: BenchmarkFixture, trace: Trace) -> None:
    redacted = redact(draft(trace))
    assert benchmark(lambda: problems(redacted.trace, evidence=redacted.evidence)) == []


def test_contents(benchmark: BenchmarkFixture, trace: Trace) -> None:
    def fresh() -> tuple[tuple[object, ...], dict[str, object]]:  # it lets the steps go
        return (redact(draft(trace)),), {}

    def files(redacted: Redacted) -> dict[str, bytes]:
        made, _ = contents(redacted, [], ADAPTER.SHOWS)
        return {name: whole(data) for name, data in made.items()}

    assert benchmark.pedantic(files, setup=fresh, rounds=10)["trace.json"]
