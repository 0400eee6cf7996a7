"""Logs of plain lines: their evidence, and the laws over an adapter that reads them."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forsy_retrace.builder import build
from forsy_retrace.convert import Options, origins_of
from forsy_retrace.document import draft
from forsy_retrace.events import Event, Origin, SessionStart, Skipped, ToolCall, sessions
from forsy_retrace.redact import redact
from forsy_retrace.sdk import Shows
from forsy_retrace.source import FORMS, Line, Source, entry
from forsy_retrace.testing import (
    BrokenLaw,
    Case,
    accounts_for_every_record,
    every_value_has_a_ground_that_the_source_bears_out,
    survives_a_cut_anywhere,
    survives_strangers,
)
from forsy_retrace.verify import verify
from forsy_retrace.writers.folder import write_folder

LOG = b"$ cat a.txt\n$ []\n$ for i in 1 2\n> do echo $i\n> done\n\n$ caf\xc3\xa9 \xff\r\n"


class Prompts:
    """Commands behind `$ `, their further lines behind `> `."""

    SHOWS = Shows(calls="yes", harness="Prompts")

    def sniff(self, source: Source) -> bool:
        return any(line.data.startswith(b"$ ") for line in source.first_lines)

    def read(self, source: Source) -> Iterator[Event]:
        held: list[Line] = []
        for line in source.lines():
            if held and not line.data.startswith(b"> "):
                yield from self.call(held)
                held = []
            if line.data.startswith(b"$ " if not held else b"> "):
                held.append(line)
            elif line.value.strip():
                yield Skipped(Origin(line.here), "no command")
        yield from self.call(held) if held else ()

    def call(self, lines: list[Line]) -> Iterator[Event]:
        record = entry(lines)
        here = Origin(record.here, None, "agent")
        if lines[0].here.line == 1:
            yield SessionStart(here, "")
        yield ToolCall(here, f"line-{lines[0].here.line}", "bash", record.value, None)


class Careless(Prompts):
    """Says nothing of lines that are no commands."""

    def read(self, source: Source) -> Iterator[Event]:
        return (event for event in super().read(source) if not isinstance(event, Skipped))


class Inventive(Prompts):
    """Tidies a command up."""

    def call(self, lines: list[Line]) -> Iterator[Event]:
        for event in super().call(lines):
            if isinstance(event, ToolCall):
                event = msgspec.structs.replace(event, input=event.input.replace("[]", "[ ]"))
            yield event


class Brittle(Prompts):
    """Takes every byte for UTF-8."""

    def call(self, lines: list[Line]) -> Iterator[Event]:
        lines[0].data.rstrip(b"\xff").decode("utf-8")
        return super().call(lines)


class Greedy(Prompts):
    """Knows how the commands of this log end."""

    def call(self, lines: list[Line]) -> Iterator[Event]:
        assert lines[-1].data.endswith((b"t", b"]", b"2", b"i", b"e", b"p", b"\r"))
        return super().call(lines)


def case(folder: Path, data: bytes = LOG) -> Case:
    path = folder / "prompts.txt"
    path.write_bytes(data)
    return Case("prompts", folder, path)


LAWS = (
    accounts_for_every_record,
    survives_a_cut_anywhere,
    survives_strangers,
    every_value_has_a_ground_that_the_source_bears_out,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_an_honest_adapter_of_text_keeps_the_law(law, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # laws are called alike
    law(Prompts(), case(tmp_path))


@pytest.mark.parametrize(
    ("law", "fault"),
    [
        (accounts_for_every_record, Careless),
        (every_value_has_a_ground_that_the_source_bears_out, Inventive),
        (survives_strangers, Careless),
        (survives_strangers, Brittle),
        (survives_a_cut_anywhere, Greedy),
    ],
    ids=lambda one: one.__name__,
)
def test_a_fault_in_an_adapter_of_text_breaks_the_law(law, fault, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # laws are called alike
    data = LOG + (b"a note\n" if law is accounts_for_every_record else b"$ git stash pop\n")
    with pytest.raises(BrokenLaw):
        law(fault(), case(tmp_path, data))


def test_a_line_stands_on_its_bytes_and_is_text_whatever_it_holds(tmp_path: Path) -> None:
    lines = list(Source(case(tmp_path).path).lines())
    assert [line.value for line in lines] == [
        "$ cat a.txt",
        "$ []",
        "$ for i in 1 2",
        "> do echo $i",
        "> done",
        "",
        "$ café \ufffd\r",
    ]
    assert all(LOG[line.here.start : line.here.end] == line.data for line in lines)
    assert [line.here.line for line in lines] == list(range(1, 8))
    assert [line.repaired for line in lines] == [False] * 6 + [True]


def test_the_first_lines_of_a_log_of_one_long_line_are_not_held(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_bytes(b"[" + b"1," * 1_000_000 + b"1]")
    assert Source(log).first_lines == ()


def test_verify_holds_a_command_of_several_lines_against_its_bytes(tmp_path: Path) -> None:
    log = tmp_path / "prompts.txt"
    log.write_bytes(b"$ []\n$ for i in 1 2\n> do echo $i\n> done\n")
    source, own = Source(log), Prompts()
    [session] = sessions(own.read(source))
    trace = build(session, "prompts", own.SHOWS)
    folder = tmp_path / "trace"
    content = draft(trace)
    write_folder(redact(content), folder, origins_of(content, [source], Options()), own.SHOWS)
    assert verify(folder, log) == []
    log.write_bytes(log.read_bytes().replace(b"echo $i", b"echo $j"))
    assert [(one.step, one.field) for one in verify(folder, log)] == [(2, "input")]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=60), form=st.sampled_from(sorted(FORMS)))
def test_lines_lose_no_byte_and_no_form_fails(tmp_path: Path, data: bytes, form: str) -> None:
    data = data.removeprefix(b"\xef\xbb\xbf")
    path = tmp_path / "log.txt"
    path.write_bytes(b"text\n" + data)
    lines = list(Source(path).lines())
    joined = b"\n".join(line.data for line in lines) + (b"\n" if lines[-1].whole else b"")
    assert joined == b"text\n" + data
    record = entry(lines, form)
    assert record.here.start == 0
    assert record.here.end == len(joined) - lines[-1].whole
    assert not record.problem
