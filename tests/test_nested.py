"""What a text holds between the tags of open models, and where pointers into it lead."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsy_retrace.sdk import opened, resolve, tagged

CALL = '<tool_call>\n{"name": "look", "arguments": {"path": "till.py"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Only words, and a < b.", []),
        (
            f"<think>\nI look.\n</think>\n\nI look at it.\n{CALL}",
            [
                {"think": "I look."},
                {"text": "I look at it."},
                {"tool_call": {"name": "look", "arguments": {"path": "till.py"}}},
            ],
        ),
        (
            "began in the prompt\n</think>\nDone.",
            [{"think": "began in the prompt"}, {"text": "Done."}],
        ),
        (
            "It ends in </think> twice </think>",
            [{"think": "It ends in"}, {"text": "twice </think>"}],
        ),
        ("<think>a <tool_call> b</think>", [{"think": "a <tool_call> b"}]),
        (
            "<think> never ends <tool_call>1</tool_call>",
            [{"text": "<think> never ends"}, {"tool_call": 1}],
        ),
        ("Write <think> around it.", [{"text": "Write <think> around it."}]),
        ('<tool_call>{"name": "a"}', [{"tool_call": {"name": "a"}}]),
        ("<tool_call> of nothing", [{"text": "<tool_call> of nothing"}]),
        (
            "<tool_call>{'name': 'a', 'of': None}</tool_call>",
            [{"tool_call": {"name": "a", "of": None}}],
        ),
        ("<tool_call>{'name': {1, 2}}</tool_call>", [{"tool_call": "{'name': {1, 2}}"}]),
        ("<tool_call>{'name': open}</tool_call>", [{"tool_call": "{'name': open}"}]),
        (
            "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
            [{"tool_call": {"name": "bash", "arguments": {"command": "ls"}}}],
        ),
        (
            "I list.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>",
            [{"text": "I list."}, {"tool_call": {"name": "bash", "arguments": {"command": "ls"}}}],
        ),
        ("<function=a> b </function>", [{"tool_call": "<function=a> b </function>"}]),
        ("a </function> and <function>", [{"text": "a </function> and <function>"}]),
        ("<tool_response>\n7\n</tool_response>", [{"tool_response": 7}]),
    ],
)
def test_parts_of_a_text(text: str, parts: list[object]) -> None:
    assert tagged(text) == parts


def test_a_pointer_goes_on_into_the_parts() -> None:
    record = {"content": f"I look.\n{CALL}"}
    assert resolve(record, "/content/1/tool_call/arguments/path") == "till.py"
    assert resolve(record, "/content/0/text") == "I look."
    with pytest.raises(LookupError):
        resolve(record, "/content/2/text")


def test_a_text_of_json_is_json_whatever_tags_are_in_it() -> None:
    assert opened('{"said": "<think>a</think>"}') == {"said": "<think>a</think>"}


PIECES = [
    "<",
    "x ",
    "{}",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<function=a>",
    "</function>",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_nothing_of_a_text_is_lost(text: str) -> None:
    shown = "".join(str(value) for part in tagged(text) for value in part.values())
    assert not tagged(text) or shown.count("x") == text.count("x")


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "<tool_call>{", "<function=a>", "<tool_call>{'a': "]
)
def test_many_tags_take_time_by_their_number(piece: str) -> None:
    def seconds(count: int) -> float:
        begun = time.process_time()
        tagged(piece * count)
        return time.process_time() - begun

    assert seconds(40_000) < 0.2 + 12 * seconds(10_000)
