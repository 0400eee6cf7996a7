"""Aider's histories: whose words are whose, and which edits it took."""

from pathlib import Path

import pytest
from asked import run

from forsy_retrace import read, sessions
from forsy_retrace.events import Event, Message, Notice, Skipped, ToolCall, ToolResult

FIXTURES = Path(__file__).parents[1] / "fixtures" / "aider"
HEADER = "\n# aider chat started at 2026-02-03 10:00:00\n\n> Aider v0.86.2  \n\n"
EDIT = "shop.py\n```\n<<<<<<< SEARCH\nMUG = 8\n=======\nMUG = 9\n>>>>>>> REPLACE\n```\n\n"
APPLIED = "> Applied edit to shop.py  \n\n"


def told(tmp_path: Path, text: str) -> list[Event]:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(text)
    return list(read(path, "aider"))


def words(events: list[Event], role: str) -> list[str]:
    return [one.text for one in events if isinstance(one, Message) and one.role == role]


def test_a_heading_in_an_answer_is_no_prompt(tmp_path: Path) -> None:
    events = told(tmp_path, HEADER + "#### Explain.  \n\nYes.\n\n#### Why\n\n> Because.\n")
    assert words(events, "user") == ["Explain."]
    assert words(events, "agent") == ["Yes.\n\n#### Why\n\n> Because."]


def test_an_edit_that_aider_says_nothing_of_is_mere_words(tmp_path: Path) -> None:
    events = told(tmp_path, HEADER + "#### /ask How?  \n\n" + EDIT + "> Tokens: 9 sent.  \n")
    assert not any(isinstance(one, ToolCall) for one in events)
    assert words(events, "agent") == [EDIT.strip()]


def test_an_edit_is_not_applied_by_what_aider_says_behind_a_later_answer(tmp_path: Path) -> None:
    asked = "> shop.py  \n> Add file to the chat? (Y)es/(N)o [Yes]: y  \n\n"
    events = told(tmp_path, HEADER + "#### Nine.  \n\n" + EDIT + asked + EDIT + APPLIED)
    assert sum(isinstance(one, ToolCall) for one in events) == 1
    assert words(events, "agent") == [EDIT.strip()]


def test_a_file_of_the_same_name_in_another_folder_keeps_its_own_edit(tmp_path: Path) -> None:
    both = "".join(EDIT.replace("shop.py", f"{one}/shop.py") for one in "ab")
    said = "".join(APPLIED.strip().replace("shop.py", f"{one}/shop.py  \n") for one in "ba")
    events = told(tmp_path, HEADER + "#### Nine.  \n\n" + both + said)
    paths = [one.changes[0].path for one in events if isinstance(one, ToolResult)]
    assert paths == ["b/shop.py", "a/shop.py"]


def test_words_that_repeat_an_answer_are_a_human_s_where_no_architect_speaks(
    tmp_path: Path,
) -> None:
    events = told(tmp_path, HEADER + "#### Well?  \n\nYes.\n\n#### Yes.  \n\nFine.\n")
    assert words(events, "user") == ["Well?", "Yes."]


@pytest.mark.parametrize("line", ["> Error: no such file.  ", "> ValueError: a script's.  "])
def test_an_error_that_no_model_was_asked_for_is_no_step(line: str, tmp_path: Path) -> None:
    events = told(tmp_path, HEADER + f"#### /run ./check  \n{line}\n\n#### Hi.  \n\nHi.\n")
    assert not any(isinstance(one, Notice) for one in events)


def test_two_runs_of_one_second_are_two_traces(tmp_path: Path) -> None:
    run_of = HEADER + "#### Hi.  \n\nHi.\n"
    path, out = tmp_path / ".aider.chat.history.md", tmp_path / "out"
    path.write_text(run_of + run_of.replace("Hi", "Hello"))
    assert len(list(sessions(read(path)))) == 2
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert len(list(out.rglob("trace.json"))) == 2


def test_a_run_whose_line_ends_a_formatter_took_away_is_left_out(tmp_path: Path) -> None:
    text = (FIXTURES / "unified-diffs" / "input.md").read_text()
    events = told(tmp_path, "\n".join(line.rstrip() for line in text.split("\n")))
    assert all(isinstance(one, Skipped) for one in events)


@pytest.mark.parametrize(
    "text",
    [
        "# Aider chat started at 2023-05-12 15:23:26\n\n_Creating app.py_  \n",
        "Read this:\n" + HEADER,
    ],
)
def test_what_only_quotes_a_history_or_is_older_is_not_claimed(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(text)
    assert run("auto", path, "-o", tmp_path / "out", "-q").exit_code != 0
