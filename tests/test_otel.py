"""OpenTelemetry's spans: in any case and order, of one session or of many."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import run
from forsy_adapters import otel

from forsy_retrace import Session, Trace, build, read, sessions
from forsy_retrace.events import Delegation, Message, ToolCall, ToolResult
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "otel"
TALK = FIXTURES / "genai-messages" / "input.jsonl"
Json = dict[str, Any]


def documents(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def written(path: Path, held: list[Json]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in held), "utf-8")
    return path


def spans_of(held: list[Json]) -> list[Json]:
    return [
        span
        for one in held
        for resource in one["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def document(*spans: Json, service: str = "shop") -> Json:
    resource = {"attributes": attributes({"service.name": service})}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}]
    }


def attributes(held: dict[str, str]) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in held.items()]


def span(name: str, parent: str = "", at: int = 1, trace: str = "t1", **held: str) -> Json:
    return {
        "traceId": trace,
        "spanId": name,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(1772409600000000000 + at),
        "endTimeUnixNano": str(1772409600000000500 + at),
        "attributes": attributes({key.replace("__", "."): value for key, value in held.items()}),
    }


def asks(name: str, words: str, parent: str = "", at: int = 1, **more: Any) -> Json:
    said = [{"role": "user", "parts": [{"type": "text", "content": words}]}]
    held = {"gen_ai__operation__name": "chat", "gen_ai__input__messages": json.dumps(said)}
    return span(name, parent, at, **(held | more))


def found(path: Path) -> list[Session]:
    return list(sessions(read(path, "otel")))


def traces(path: Path) -> list[Trace]:
    return [build(one, "otel", otel.SHOWS) for one in found(path)]


def told(path: Path) -> list[tuple[Any, ...]]:
    """What the steps say, without where it stands."""
    return [
        (step.actor, step.tool, step.input, step.output, step.success, step.started_at)
        for trace in traces(path)
        for step in trace.steps
    ]


def snake(value: Any) -> Any:
    """The same document in snake case, with ids in base64."""
    match value:
        case dict():
            keys = {key: re.sub("[A-Z]", lambda big: "_" + big[0].lower(), key) for key in value}
            ids = ("traceId", "spanId", "parentSpanId")
            return {
                keys[key]: base64.b64encode(bytes.fromhex(one)).decode()
                if key in ids
                else snake(one)
                for key, one in value.items()
            }
        case list():
            return [snake(one) for one in value]
    return value


def backwards(held: list[Json]) -> list[Json]:
    return held[::-1]


def at_once(held: list[Json]) -> list[Json]:
    return [{"resourceSpans": [one for each in held for one in each["resourceSpans"]]}]


@pytest.mark.parametrize("change", [snake, backwards, at_once])
def test_spans_say_the_same_however_they_are_written(
    change: Callable[[list[Json]], list[Json]], tmp_path: Path
) -> None:
    path = written(tmp_path / "spans.jsonl", change(documents(TALK)))
    assert told(path) == told(TALK)


def test_traces_of_one_conversation_are_one_session(tmp_path: Path) -> None:
    held = documents(TALK)
    assert len({one["traceId"] for one in spans_of(held)}) == 3
    assert len(found(TALK)) == 1
    for one in spans_of(held):
        one["attributes"] = [
            each for each in one["attributes"] if "conversation" not in each["key"]
        ]
    assert len(found(written(tmp_path / "spans.jsonl", held))) == 3


PICTURE = base64.b64encode(b"\x89PNG").decode()
FILES = [
    {"type": "blob", "mime_type": "image/png", "content": PICTURE},
    {"type": "file", "mediaType": "image/png", "data": PICTURE},
]


@pytest.mark.parametrize("file", FILES)
def test_a_message_in_parts_is_one_message_with_its_pictures(file: Json, tmp_path: Path) -> None:
    texts = [{"type": "text", "content": "Look at"}, {"type": "text", "content": "this."}]
    log = asks("a", "")
    log["attributes"][1]["value"]["stringValue"] = json.dumps(
        [{"role": "user", "parts": [*texts, file]}]
    )
    path, out = written(tmp_path / "spans.jsonl", [document(log)]), tmp_path / "out"
    (step,) = traces(path)[0].steps
    assert step.input == "Look at\n\nthis.\n[image: image/png 4 B]"
    assert run("otel", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0


def test_a_subagent_that_is_run_again_tells_its_history_once(tmp_path: Path) -> None:
    """Each run is a subagent; the second is given what the first was told and said."""
    ran: Json = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "ask"}
    agent: Json = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "clerk"}
    call = {"type": "tool_call", "id": "c1", "name": "count", "arguments": {"of": "lamps"}}
    said = json.dumps([{"role": "assistant", "parts": [call]}])
    first = asks("c", "Count.", "b", 2, gen_ai__output__messages=said)
    again = asks("f", "", "e", 2000)
    again["attributes"][1]["value"]["stringValue"] = said
    runs = [span("a", at=1, **ran), span("b", "a", 1, **agent), first]
    more = [span("d", at=1999, **ran), span("e", "d", 1999, **agent), again]
    path = written(tmp_path / "spans.jsonl", [document(*runs, *more)])
    assert [step.tool for step in traces(path)[0].steps] == ["ask", "count", "ask"]


def test_calls_that_only_their_runs_tell_are_of_the_answer_before(tmp_path: Path) -> None:
    """Without content, what ran between two answers was asked for by the first."""
    chat: Json = {"gen_ai__operation__name": "chat"}
    ran: Json = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "count"}
    held = [span("a", at=1, **chat), span("b", at=1000, **ran), span("c", at=2000, **ran)]
    held += [span("d", at=3000, **chat), span("e", at=4000, **ran)]
    steps = traces(written(tmp_path / "spans.jsonl", [document(*held)]))[0].steps
    assert [step.parallel_group is not None for step in steps] == [True, True, False]
    assert steps[2].caused_by == (1, 2)


def test_the_history_is_told_once() -> None:
    (session,) = found(TALK)
    said = [event.text for event in session.events if isinstance(event, Message)]
    assert len(said) == len(set(said))
    calls = [event for event in session.events if isinstance(event, ToolCall)]
    results = [event for event in session.events if isinstance(event, ToolResult)]
    assert len(calls) == len(results) == len({event.call for event in results})


def test_an_agent_that_a_tool_runs_is_a_subagent() -> None:
    (session,) = found(TALK)
    (started,) = [event for event in session.events if isinstance(event, Delegation)]
    assert started.actor == "subagent:reviewer_1"
    asked = next(one for one in session.events if isinstance(one, ToolCall) and "ask" in one.tool)
    assert started.call == asked.call


def test_without_content_the_calls_are_told_and_the_rest_is_owned_up_to() -> None:
    (trace,) = traces(FIXTURES / "content-left-out" / "input.jsonl")
    assert any("is not told" in limit for limit in trace.session.limits)
    assert {step.tool for step in trace.steps if step.tool} >= {"read_file", "edit_file"}
    assert not any(step.input or step.output for step in trace.steps)
    assert [step.success for step in trace.steps if step.tool == "edit_file"] == [False, True]


@pytest.mark.parametrize(
    ("service", "name"),
    [
        ("claude-code", "chat"),
        ("gemini-cli", "chat"),
        ("codex_cli_rs", "chat"),
        ("x", "codex.turn"),
    ],
)
def test_telemetry_of_a_client_is_not_claimed(service: str, name: str, tmp_path: Path) -> None:
    log = document(span(name, gen_ai__operation__name="chat"), service=service)
    path = written(tmp_path / "spans.jsonl", [log])
    assert not otel.sniff(Source(path))
    assert [type(event).__name__ for event in read(path, "otel")] == ["Skipped"]


def test_spans_of_a_web_server_are_not_claimed(tmp_path: Path) -> None:
    log = document(span("GET /", http__request__method="GET"))
    assert not otel.sniff(Source(written(tmp_path / "spans.jsonl", [log])))


def test_a_handover_between_agents_is_no_call_of_its_own(tmp_path: Path) -> None:
    held = {"openinference.span.kind": "TOOL", "input.value": "triage", "output.value": "writer"}
    over = {**span("handoff to writer"), "attributes": attributes(held)}
    path = written(tmp_path / "spans.jsonl", [document(asks("a", "Write."), over)])
    (session,) = found(path)
    assert not any(isinstance(event, ToolCall) for event in session.events)


def test_spans_around_each_other_are_read(tmp_path: Path) -> None:
    held: Json = {"gen_ai__operation__name": "invoke_agent"}
    around = (span("a", "b", **held), span("b", "a", **held), span("c", "c", **held))
    log = document(*around, asks("d", "Hi.", parent="b"))
    (trace,) = traces(written(tmp_path / "spans.jsonl", [log]))
    assert [step.input for step in trace.steps] == ["Hi."]


def test_of_spans_that_tell_the_same_one_counts(tmp_path: Path) -> None:
    """A library's span lies in its framework's, which may leave the content out."""
    silent = span("a", gen_ai__operation__name="chat")
    for outer in (silent, asks("a", "Hi.")):
        path = written(tmp_path / "spans.jsonl", [document(outer, asks("b", "Hi.", parent="a"))])
        assert [step.input for step in traces(path)[0].steps] == ["Hi."]


def test_spans_may_lie_in_one_another_however_deep(tmp_path: Path) -> None:
    agents = [
        span(f"s{n}", f"s{n - 1}", n, gen_ai__operation__name="invoke_agent") for n in range(5000)
    ]
    path = written(tmp_path / "spans.jsonl", [document(*agents, asks("a", "Hi.", parent="s4999"))])
    assert [step.input for step in traces(path)[0].steps] == ["Hi."]


def test_a_span_sent_before_its_end_counts_once_it_is_whole(tmp_path: Path) -> None:
    whole = asks("a", "Hi.")
    begun = {key: value for key, value in whole.items() if key != "endTimeUnixNano"}
    path = written(tmp_path / "spans.jsonl", [document(begun), document(whole)])
    (session,) = found(path)
    said = [event for event in session.events if isinstance(event, Message)]
    assert [event.origin.evidence.line for event in said] == [2]


def test_an_error_of_a_span_holds_where_only_a_message_has_its_words(tmp_path: Path) -> None:
    failed = span("b", at=2, gen_ai__operation__name="execute_tool", gen_ai__tool__name="count")
    failed["status"] = {"code": 2}
    failed["attributes"] += attributes({"gen_ai.tool.call.id": "c1"})
    call = {"type": "tool_call", "id": "c1", "name": "count", "arguments": {"of": "lamps"}}
    back = {"type": "tool_call_response", "id": "c1", "response": "No such article."}
    history = [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [back]}]
    after = asks("c", "", at=1000)
    after["attributes"][1]["value"]["stringValue"] = json.dumps(history)
    path = written(tmp_path / "spans.jsonl", [document(failed), document(after)])
    (step,) = [one for one in traces(path)[0].steps if one.tool]
    assert (step.output, step.success) == ("No such article.", False)
    out = tmp_path / "out"
    assert run("otel", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0


def test_a_tool_that_runs_commands_and_returned_is_not_said_to_have_worked(tmp_path: Path) -> None:
    held: Json = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__call__result": "done"}
    log = document(
        span("a", at=1, gen_ai__tool__name="run_shell", **held),
        span("b", at=2, gen_ai__tool__name="count_stock", **held),
    )
    (trace,) = traces(written(tmp_path / "spans.jsonl", [log]))
    assert [step.success for step in trace.steps] == [None, True]
