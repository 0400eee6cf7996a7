"""What the SDK offers to adapters, seen from the steps that come of it."""

import json
from pathlib import Path
from typing import get_args

import pytest

from forsy_retrace.builder import build
from forsy_retrace.builder.shells import SHELLS, command_of
from forsy_retrace.builder.tools import TOOLS
from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments, call_of, content_text
from forsy_retrace.events import (
    Attachment,
    Change,
    Event,
    Fact,
    Message,
    Origin,
    Session,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.evidence import Evidence
from forsy_retrace.sdk import (
    Known,
    Shows,
    base64_size,
    counts,
    in_time,
    lines_of,
    packed,
    resolve,
    tells_a_limit,
    text_of,
)
from forsy_retrace.testing import Case
from forsy_retrace.trace import Trace
from forsy_retrace.writers.events import event_lines

HERE = Origin(Evidence("log", 1, 0, 1))


def traced(shows: Shows, *calls: tuple[str, dict[str, object]]) -> Trace:
    events: list[Event] = []
    for number, (tool, sent) in enumerate(calls):
        here = Origin(Evidence("log", number + 1, number, number + 1, "/input"))
        events.append(ToolCall(here, f"c{number}", tool, sent))
        events.append(ToolResult(here, f"c{number}", "fine", "ok"))
    return build(Session("s", None, tuple(events)), "my-tool", shows)


@pytest.mark.parametrize("tool", get_args(Known))
def test_every_known_tool_is_in_the_tables(tool: str) -> None:
    assert tool in TOOLS or tool in SHELLS


def test_a_tool_is_read_like_the_known_one_that_its_adapter_names() -> None:
    shows = Shows(tools={"peek": "Read", "run": "bash", "swap": "Edit"})
    swapped: dict[str, object] = {"path": "/a.py", "oldText": "one", "newText": "two"}
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("peek", {"path": "/a.py"}),
        ("swap", swapped),
        ("run", {"command": "pytest -q"}),
        ("hum", {}),
    )
    steps = traced(shows, *calls).steps
    assert [step.tool for step in steps] == ["peek", "swap", "run", "hum"]
    assert [step.operation for step in steps] == ["read", "edit", "verify", "other"]
    assert steps[1].state_change == "/a.py: 1 line added, 1 removed."
    assert steps[2].caused_by == (2,)


@pytest.mark.parametrize(("marks_cuts", "content"), [(True, "one\n"), (False, None)])
def test_a_print_is_a_whole_file_where_the_harness_would_mark_a_cut(
    marks_cuts: bool, content: str | None
) -> None:
    lines = ("sed -i s/two/one/ /a.py", "cat /a.py")
    events: list[Event] = []
    for number, line in enumerate(lines):
        events.append(ToolCall(HERE, f"c{number}", "run", {"command": line}))
        events.append(ToolResult(HERE, f"c{number}", "one\n" if number else "", "ok", "flag"))
    shows = Shows(tools={"run": "bash"}, marks_cuts=marks_cuts)
    (artifact,) = build(Session("s", None, tuple(events)), "my-tool", shows).artifacts
    assert artifact.content == content


@pytest.mark.parametrize("marks_people", [True, False])
def test_a_user_who_goes_on_tells_something_where_it_is_a_person(marks_people: bool) -> None:
    said: list[Event] = []
    for asked, answered in (("What is 3 + 4?", "7"), ("And 5 + 6?", "11")):
        said += [Message(HERE, "user", asked), Message(HERE, "agent", answered)]
    session = Session("s", None, tuple(said))
    trace = build(session, "my-tool", Shows(words="yes", marks_people=marks_people))
    assert trace.goal_achieved is marks_people


def test_a_picture_that_a_result_alone_brings_is_named() -> None:
    seen = Attachment("image/png", 2048, "/image/b64")
    results = (
        ToolResult(HERE, "c0", None, attachments=(seen,)),
        ToolResult(HERE, "c1", "Taken.", attachments=(seen,)),
        ToolResult(HERE, "c2", "[image: image/png 2 kB]", attachments=(seen,)),
    )
    calls = (ToolCall(HERE, f"c{number}", "look", {}) for number in range(3))
    trace = build(Session("s", None, (*calls, *results)), "my-tool", Shows())
    mark = "[image: image/png 2 kB]"
    assert [step.output for step in trace.steps] == [mark, f"Taken.\n{mark}", mark]
    rules = [step.grounds["output"].rule for step in trace.steps]
    assert rules == ["words-and-pictures", "words-and-pictures", ""]


@pytest.mark.parametrize(
    ("message", "models"), [("m1", {"z-1": 1}), (None, {"z-1": 1}), ("m2", None)]
)
def test_steps_are_counted_by_model_only_where_the_log_ties_them(
    message: str | None, models: dict[str, int] | None
) -> None:
    here = Origin(HERE.evidence, message="m1" if message else None)
    events = (
        Fact(Origin(HERE.evidence, message=message), "model", "z-1"),
        ToolCall(here, "c0", "look", {}),
    )
    config = build(Session("s", None, events), "my-tool", Shows()).agent_config
    assert (config["model"], config.get("models")) == ("z-1", models)


MODE = Fact(HERE, "permission_mode", "plan")
ASK = Message(HERE, "user", "Round the total.")
ACT = ToolCall(HERE, "c0", "look", {})


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((MODE, ASK, ACT), ("plan", None)),
        ((ASK, MODE, ACT), ("plan", None)),
        ((ASK, ACT, MODE, ASK, ACT), (None, ["plan"])),
        ((Fact(HERE, "permission_mode", "default"), ASK, ACT, MODE), ("default", ["plan"])),
    ],
)
def test_a_setting_told_first_after_an_act_is_not_said_of_the_whole_session(
    events: tuple[Event, ...], told: tuple[str | None, list[str] | None]
) -> None:
    config = build(Session("s", None, events), "my-tool", Shows()).agent_config
    assert (config.get("permission_mode"), config.get("permission_mode_later")) == told


def test_a_tool_that_no_adapter_explains_is_other() -> None:
    (step,) = traced(Shows(), ("run", {"command": "pytest -q"})).steps
    assert (step.operation, step.surface) == ("other", "other_tool")


def test_a_call_id_that_the_log_uses_twice_names_two_calls() -> None:
    calls = Calls()
    assert [calls.issue("call_0", "ls"), calls.issue("call_0", "pwd")] == ["call_0", "call_0#2"]
    assert calls.issue("call_0", "ls") is None
    assert [calls.answer("call_0"), calls.answer("call_0")] == ["call_0", "call_0#2"]
    assert calls.answer("call_0") is None
    assert calls.answer("unasked") == "unasked"


def test_a_picture_in_the_form_of_mcp_is_named_by_type_and_size() -> None:
    part = {"type": "image", "data": "QUJDRA==", "mimeType": "image/png"}
    assert text_of([part]) == content_text([part]) == "[image: image/png 4 B]"
    (found,) = attachments([part], "/content")
    assert found == Attachment("image/png", 4, "/content/0/data")


def test_what_is_typed_into_a_terminal_is_a_command() -> None:
    assert command_of("bash", {"keystrokes": "ls -l\n", "duration": 0.1}) == ("ls -l", "bash")


def test_a_log_may_name_another_harness_than_the_one_of_its_form() -> None:
    events: tuple[Event, ...] = (Fact(HERE, "harness", "Nimbus"), Message(HERE, "user", "Hello"))
    shows = Shows(harness="My tool")
    assert build(Session("s", None, events), "my-tool", shows).agent_config["harness"] == "Nimbus"
    assert build(Session("s", None, events[1:]), "my-tool", shows).agent_config["harness"] == (
        "My tool"
    )


def test_the_log_of_a_case_is_the_shortest_of_its_inputs(tmp_path: Path) -> None:
    for name in ("input.checkpoint.1.jsonl", "input.jsonl"):
        (tmp_path / name).write_text("{}\n")
    case = Case("my-tool", tmp_path)
    assert (case.path.name, case.companions()) == ("input.jsonl", ["input.checkpoint.1.jsonl"])


def test_counts_are_whole_numbers_under_our_names() -> None:
    used = {"in": 7, "out": 0, "flag": True, "cost": 0.5, "other": 3}
    names = {"in": "input_tokens", "out": "output_tokens", "flag": "flags", "cost": "costs"}
    assert counts(used, names) == {"input_tokens": 7}
    assert counts(None, names) == {}


def test_a_call_s_name_stands_where_the_log_has_it() -> None:
    for entry, at in (({"function": "open"}, "/function"), ({"name": "open"}, "/name")):
        call = call_of(entry, "/calls/0")
        assert call is not None
        assert call.named == f"/calls/0{at}"


def test_a_file_before_an_edit_is_held_small_and_given_back_to_the_letter() -> None:
    text = "a → b \ud800\r\n" * 1000
    held = packed(text)
    assert held is not None
    assert str(held) == text
    assert held == packed(text)
    assert len(held.data) < len(text) / 20
    assert packed(None) is None
    short = packed("a → b")
    assert short is not None
    assert (str(short), Change("a.py", "shown", shown=short).text) == ("a → b", "a → b")
    assert Change("a.py", "created", after="a").text == "a"


def test_zeros_and_falses_of_the_log_stay_in_the_event_stream() -> None:
    here = Origin(Evidence("log", 1, 0, 9))
    sent = {"all": False, "old": "", "limit": 0, "kinds": [], "at": None}
    events: list[Event] = [
        ToolCall(here, "a", "Edit", sent),
        ToolResult(here, "a", "", "ok", exit_code=0),
    ]
    call, result = (json.loads(line) for line in event_lines(events))
    assert call["input"] == sent
    assert call["origin"]["evidence"] == {"file": "log", "line": 1, "start": 0, "end": 9}
    assert (result["exit_code"], result["output"]) == (0, "")
    assert "changes" not in result
    assert "clock" not in result["origin"]


@pytest.mark.parametrize(
    "path",
    [
        "status",
        "result/status",
        "/items/²",
        "/items/01",
        f"/items/{'9' * 5000}",
        "/items/2",
        "/nothing",
    ],
)
def test_what_is_no_pointer_or_names_nothing_is_told(path: str) -> None:
    with pytest.raises(LookupError):
        resolve({"status": "ok", "result": {"status": "ok"}, "items": [1, 2]}, path)


def test_lanes_are_joined_by_moments_however_exactly_they_are_written() -> None:
    def lane(*times: str | None) -> list[Event]:
        here = Evidence("log", 1, 0, 9)
        return [Skipped(Origin(here, at), str(at)) for at in times]

    one = lane("2026-01-05T09:00:01Z", None, "2026-01-05T09:00:03.500Z")
    other = lane("2026-01-05T09:00:01.200Z", "2026-01-05T09:00:03Z")
    joined = [event.origin.at for event in in_time(one, other)]
    assert joined == [
        *("2026-01-05T09:00:01Z", None, "2026-01-05T09:00:01.200Z"),
        *("2026-01-05T09:00:03Z", "2026-01-05T09:00:03.500Z"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\x0cb\u2028c\x85d\n\ne", ["a\x0cb\u2028c\x85d", "", "e"]),
    ],
)
def test_only_a_line_feed_ends_a_line(text: str, lines: list[str]) -> None:
    assert lines_of(text) == lines


@pytest.mark.parametrize(
    ("data", "size"), [("", 0), ("=", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3)]
)
def test_base64_stands_for_no_fewer_than_no_bytes(data: str, size: int) -> None:
    assert base64_size(data) == size


@pytest.mark.parametrize(
    ("text", "is_limit"),
    [
        ("429 Too Many Requests", True),
        ("exceeded retry limit, last status: 429", True),
        ('{"type":"error","error":{"type":"rate_limit_error"}}', True),
        ("insufficient_quota: You exceeded your current quota", True),
        ("Insufficient credits", True),
        ("Claude usage limit reached. Your limit will reset at 3pm", True),
        ("You've hit your limit", True),
        ("You're out of extra usage", True),
        ("API Error: 529 overloaded_error", False),
        ("prompt is too long: 4290 tokens", False),
        ("stream disconnected before completion", False),
    ],
)
def test_a_providers_limit_is_told_from_an_error_of_its(text: str, is_limit: bool) -> None:
    assert tells_a_limit(text) is is_limit
