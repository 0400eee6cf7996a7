"""What a terminal's stream left on its lines, and on the line of a command."""

import pytest

from forsy_retrace.evidence import Evidence
from forsy_retrace.source import plain, reread, screen


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("10%\r50%\r100%\r\ndone\r\n", 0, "100%\ndone"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;a title\x07text", 0, "red text"),
        ("$ echo abc\b\x1b[K\b\x1b[KXY", 0, "$ echo aXY"),
        ("abc\x1b[3D\x1b[1Px", 0, "xc"),
        ("abc\x1b[2D\x1b[1@-", 0, "a-bc"),
        ("one\ttwo\r\n", 0, "one\ttwo"),
        ("before\x1b[?1049hall\r\nof vim\x1b[?1049l\r\nafter", 0, "before\nafter"),
        ("$ 4567890 \r1234\r\n", 9, "$ 45678901234"),
        ("123456789\rabc\r\n", 9, "abc456789"),
        ("a\x1b[2Jb", 0, "b"),
        ("%        \r \r\x1b[Jnext", 9, "next"),
        ("kept  \r\n50%\r   \r\nend", 0, "kept  \n\nend"),
        ("kept  \r\n", 0, "kept  "),
        ("kept  \r", 0, "kept  "),
        ("50%\r   \r", 0, ""),
        ("\x1b[?2004l\rkept  \n", 0, "kept  "),
        ("50%\r\x1b[Kkept  \n", 0, "kept  "),
        ("\x1b]0;never ended\nnext", 0, ""),
        ("a\0b\x9bc", 0, "abc"),
    ],
)
def test_plain_text_is_what_each_line_was_left_as(text: str, width: int, shown: str) -> None:
    assert plain(text, width) == shown
    assert plain(text.removesuffix("\n"), width) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("$ ls -l\r\n", 80, "$ ls -l"),
        ("$ ecoh\b\b\b\becho hi\x1b[K", 80, "$ echo hi"),
        ("$ git status\x1b[20;60H12:30\x1b[1;13H", 80, "$ git status"),
        ("$ git status\x1b[1;60H12:30\x1b[1;13H", 80, "$ git status"),
        ("$ git status\b\b\b\b\b\b", 80, "$ git status"),
        ("$ 4567890 \r1234\r\n", 9, "$ 45678901234"),
        ("$ a\r\n> b", 80, "$ a\n> b"),
        ("日本語 e\u0301", 80, "日本語 é"),
        ("$ abc 日本語", 9, "$ abc 日本語"),
        ("$ 45678 abc", 9, "$ 45678 abc"),
        ("$ 456789\x1b[1D\x1b[Kb\r\n> c", 9, "$ 45678b\n> c"),
        ("x" * 70_000, 80, ""),
        ("\n" * 120, 80, ""),
    ],
)
def test_the_screen_shows_a_command_line_up_to_the_cursor(
    text: str, width: int, shown: str
) -> None:
    assert screen(text, width) == shown


def test_the_screen_leaves_out_the_prompt_that_leads() -> None:
    assert screen("~/shop $ ls", 80, len("~/shop $ ")) == "ls"


@pytest.mark.parametrize("final", "ABCDGHJKLMPX@df`")
@pytest.mark.parametrize(
    "figures", ["", ";", "1;1", "1;1;1", "123456789;", "999999999999999999999"]
)
def test_a_sequence_may_come_with_any_figures(final: str, figures: str) -> None:
    assert isinstance(screen(f"echo one\x1b[{figures}{final} two"), str)


def test_a_terminal_ignores_figures_that_a_sequence_does_not_take() -> None:
    assert screen("make\x1b[2;7D") == screen("make\x1b[2D") == "make"
    assert screen("make\x1b[2;7Dx") == "maxe"


LINES = b'[0.1,"o","one"]\n[0.2,"i","secret"]\n[0.3,"r","80x24"]\n[0.4,"o","\\u001b[1mtwo"]'


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("cast", "one\x1b[1mtwo"),
        ("cast|chars:2:8", "e\x1b[1mt"),
        ("cast|chars:2:99|plain:0", "etwo"),
        ("cast|screen:80:3", "two"),
        ("json", None),
    ],
)
def test_a_form_and_its_views_read_bytes_again(form: str, value: str | None) -> None:
    record = reread(LINES, Evidence("log", 1, 0, len(LINES), form=form))
    assert (record.value, record.problem) == (value, "")


@pytest.mark.parametrize(
    "form",
    ["cask", "cast|", "cast|chars:-1:2", "cast|chars:a:b", "cast|chars:1", "cast|unquoted:1",
     "cast|plain:1:2", "json|plain", "cast" + "|plain" * 9],
)  # fmt: skip
def test_a_form_that_is_none_reads_nothing(form: str) -> None:
    record = reread(LINES, Evidence("log", 1, 0, len(LINES), form=form))
    assert record.problem == "unreadable: unknown form"
