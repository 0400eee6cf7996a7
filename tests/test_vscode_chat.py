"""VS Code's log of operations: which line a value comes from, and operations that fit nothing."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Event, Message, Skipped, ToolResult, read

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vscode-chat"
WHOLE = {"version": 3, "sessionId": "s", "responderUsername": "GitHub Copilot", "requests": []}
REQUEST = {"requestId": "r1", "message": {"text": "Fix it."}, "response": [{"value": "Which?"}]}


def told(path: Path, operations: Iterable[Any]) -> list[Event]:
    lines = [{"kind": 0, "v": WHOLE}, {"kind": 2, "k": ["requests"], "v": [REQUEST]}, *operations]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return list(read(path, "vscode-chat"))


def said(events: Iterable[Event]) -> list[tuple[str, int, str]]:
    return [
        (one.text, one.origin.evidence.line, one.origin.branch)
        for one in events
        if isinstance(one, Message)
    ]


def test_each_value_stands_at_the_line_that_set_it(tmp_path: Path) -> None:
    events = told(
        tmp_path / "log.jsonl",
        [
            {"kind": 2, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "Now"}]},
            {"kind": 1, "k": ["requests", 0, "response", 0, "value"], "v": "Done."},
            {"kind": 1, "k": ["requests", 0, "message", "text"], "v": "Fix the cart."},
        ],
    )
    assert said(events) == [("Fix the cart.", 5, ""), ("Done.", 4, "")]


def test_a_request_that_was_edited_stays_on_a_line_of_its_own(tmp_path: Path) -> None:
    again = {"requestId": "r2", "message": {"text": "Fix both."}, "response": []}
    events = told(tmp_path / "log.jsonl", [{"kind": 2, "k": ["requests"], "i": 0, "v": [again]}])
    assert said(events) == [("Fix it.", 2, "b1"), ("Which?", 2, "b1"), ("Fix both.", 3, "")]


def test_a_request_that_is_written_anew_is_told_once(tmp_path: Path) -> None:
    again = {**REQUEST, "response": [{"value": "Done."}]}
    events = told(tmp_path / "log.jsonl", [{"kind": 2, "k": ["requests"], "i": 0, "v": [again]}])
    assert said(events) == [("Fix it.", 3, ""), ("Done.", 3, "")]


@pytest.mark.parametrize(
    "operation",
    [
        {"kind": 1, "k": ["requests", 9, "message"], "v": "x"},
        {"kind": 1, "k": ["requests", True], "v": "x"},
        {"kind": 1, "k": ["requests", 0, "message", "text", "deeper"], "v": 1},
        {"kind": 2, "k": ["requests", {"no": "key"}], "v": [1]},
        {"kind": 2, "k": ["version", 3], "v": [1]},
        {"kind": 3, "k": ["requests", "0"]},
        {"kind": 9, "k": ["requests"]},
    ],
)
def test_an_operation_that_fits_nothing_is_left_out(operation: Any, tmp_path: Path) -> None:
    events = told(tmp_path / "log.jsonl", [operation])
    assert [one[0] for one in said(events)] == ["Fix it.", "Which?"]
    assert [one.origin.evidence.line for one in events if isinstance(one, Skipped)] == [3]


def test_a_deleted_value_is_gone(tmp_path: Path) -> None:
    events = told(tmp_path / "log.jsonl", [{"kind": 3, "k": ["requests", 0, "response"]}])
    assert said(events) == [("Fix it.", 2, "")]


def test_an_exit_code_of_another_line_than_the_output_is_verified(tmp_path: Path) -> None:
    log = FIXTURES / "a-test-fixed" / "input.jsonl"
    results = [one for one in read(log, "vscode-chat") if isinstance(one, ToolResult)]
    codes = [one for one in results if one.exit_code is not None]
    assert [one.exit_code for one in codes] == [1, 0]
    places = {(one.origin.evidence.line, one.origin.pieces[0].line) for one in codes}
    assert all(here != there for here, there in places)
    assert run("auto", log, "-o", tmp_path / "out", "-q").exit_code == 0
    assert run("verify", tmp_path / "out", "--source", log).exit_code == 0


def test_words_of_several_lines_are_one_text_and_each_line_is_accounted_for(
    tmp_path: Path,
) -> None:
    more = {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": " And why?"}]}
    events = told(tmp_path / "log.jsonl", [more])
    assert [one[0] for one in said(events)] == ["Fix it.", "Which? And why?"]
    assert [one.reason for one in events if isinstance(one, Skipped)] == [
        "the rest of a text that another record begins"
    ]


def test_a_request_that_the_client_handed_on_is_told_once(tmp_path: Path) -> None:
    early = {**REQUEST, "requestId": "r0", "agent": {"id": "setup.agent"}, "response": []}
    events = told(
        tmp_path / "log.jsonl",
        [
            {"kind": 2, "k": ["requests"], "v": [early]},
            {"kind": 2, "k": ["requests"], "i": 1, "v": [{**REQUEST, "requestId": "r2"}]},
        ],
    )
    assert said(events)[2:] == [("Fix it.", 4, ""), ("Which?", 4, "")]


@pytest.mark.parametrize(
    ("children", "outputs"),
    [([], []), ("text", []), ([{"text": ""}], [""]), ([{"text": "a"}, {"text": ""}], ["a"])],
)
def test_a_result_without_a_text_holds_against_the_log(
    children: Any, outputs: list[str], tmp_path: Path
) -> None:
    shown = {"content": [{"value": {"node": {"children": children}}}]}
    part = {"kind": "toolInvocationSerialized", "toolCallId": "c1", "toolId": "copilot_readFile"}
    call = {"id": "c1", "name": "read_file", "arguments": "{}"}
    held = {"toolCallRounds": [{"toolCalls": [call]}], "toolCallResults": {"c1": shown}}
    log = tmp_path / "log.jsonl"
    events = told(
        log,
        [
            {"kind": 2, "k": ["requests", 0, "response"], "v": [part]},
            {"kind": 1, "k": ["requests", 0, "result"], "v": {"metadata": held}},
        ],
    )
    assert [one.output for one in events if isinstance(one, ToolResult)] == outputs
    assert run("vscode-chat", log, "-o", tmp_path / "out", "-q").exit_code == 0
    assert run("verify", tmp_path / "out", "--source", log).exit_code == 0
