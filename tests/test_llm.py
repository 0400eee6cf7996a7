"""LLM's databases: messages that conversations share, clocks, what is printed of fragments."""

import json
import sqlite3
from pathlib import Path

from forsy_retrace import read, sessions
from forsy_retrace.events import Fact, Message, ToolResult

FIXTURES = Path(__file__).parents[1] / "fixtures" / "llm"


def words(path: Path) -> list[str]:
    """What the user said."""
    told = read(path, "llm")
    return [one.text for one in told if isinstance(one, Message) and one.role == "user"]


def changed(case: str, path: Path, script: str) -> Path:
    """A copy of a case's database, changed."""
    path.write_bytes((FIXTURES / case / "input.db").read_bytes())
    database = sqlite3.connect(path)
    database.executescript(script)
    database.close()
    return path


def test_the_same_words_of_two_conversations_are_told_in_both_at_their_own_times() -> None:
    """The message is one row; each turn that points to it has its own time."""
    told = read(FIXTURES / "forked-and-given" / "input.db", "llm")
    same = [one for one in told if isinstance(one, Message) and "Greet" in one.text]
    assert len({one.origin.evidence for one in same}) == 1
    assert len({one.origin.at for one in same}) == 2


def test_what_a_thread_goes_on_from_is_told_once() -> None:
    """A conversation of an older version is copied into the tree when it goes on."""
    path = FIXTURES / "continued-as-turns" / "input.db"
    said = words(path)
    assert len(said) == len(set(said)) == 5


def test_times_without_a_zone_are_in_utc() -> None:
    (first, *_) = sessions(read(FIXTURES / "times-without-a-zone" / "input.db", "llm"))
    times = [one.origin.at for one in first.events if isinstance(one, Message)]
    assert times[0] == "2026-03-02T09:00:00Z"


def test_a_duration_that_is_none_gives_no_end(tmp_path: Path) -> None:
    for lasted in ("NULL", "-5", "'soon'", "9e30", "1e15", str(2**62)):
        script = f"UPDATE responses SET duration_ms = {lasted}"
        path = changed("times-without-a-zone", tmp_path / "input.db", script)
        told = [one for one in read(path, "llm") if isinstance(one, Message)]
        assert {one.origin.at is None for one in told if one.role == "agent"} == {True}


def test_a_tree_that_goes_round_ends(tmp_path: Path) -> None:
    script = "UPDATE messages SET parent_hash = (SELECT tip_message_hash FROM turns LIMIT 1)"
    path = changed("turns-with-tools", tmp_path / "input.db", script)
    assert list(read(path, "llm"))


def test_words_whose_turn_is_lost_are_still_the_users(tmp_path: Path) -> None:
    script = "UPDATE turns SET parent_message_hash = NULL"
    path = changed("turns-with-tools", tmp_path / "input.db", script)
    assert words(path) == words(FIXTURES / "turns-with-tools" / "input.db")


def test_a_response_of_no_conversation_stands_alone(tmp_path: Path) -> None:
    script = "UPDATE responses SET conversation_id = NULL; DELETE FROM conversations"
    path = changed("times-without-a-zone", tmp_path / "input.db", script)
    found = list(sessions(read(path, "llm")))
    assert len(found) == 5
    assert all(one.id for one in found)


def test_before_exceptions_were_logged_nothing_is_said_of_how_calls_ended() -> None:
    told = list(read(FIXTURES / "before-exceptions" / "input.db", "llm"))
    assert {one.outcome for one in told if isinstance(one, ToolResult)} == {"unknown"}


def test_fragments_that_are_printed_cut_stay_with_the_words(tmp_path: Path) -> None:
    """Where a fragment is printed whole, the words behind it are told alone."""
    rows = json.loads((FIXTURES / "printed" / "input.json").read_text())
    row = next(one for one in rows if one["prompt_fragments"])
    path = tmp_path / "input.json"
    path.write_text(json.dumps([row]))
    assert words(path) == ["What is this about?"]
    row["prompt_fragments"][0]["content"] = "def ad..."
    path.write_text(json.dumps([row]))
    assert words(path) == [row["prompt"]]


def test_each_tool_on_offer_is_told_once_a_conversation() -> None:
    for one in sessions(read(FIXTURES / "turns-with-tools" / "input.db", "llm")):
        named = [str(fact.value) for fact in one.facts("tools")]
        assert len(named) == len(set(named)) == 4
        assert all(isinstance(fact, Fact) for fact in one.facts("tools"))
