"""What code that a model sent calls: read only where the code leaves nothing open."""

import json
from typing import Any

import pytest
from forsy_adapters.codex.code import MOST, calls, joined, status_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forsy_retrace.events import Meant

RUN = "exec_command"
READ = [
    ('text(await tools.exec_command({cmd:"ls"}))', (RUN, {"cmd": "ls"})),
    (
        "await tools.exec_command({'cmd': 'a \\'b\\'\\n\\x41\\u{1F600}'})",
        (RUN, {"cmd": "a 'b'\nA😀"}),
    ),
    ('await tools.exec_command({cmd:"\\ud83d\\ude00"})', (RUN, {"cmd": "😀"})),
    ("await tools.exec_command({cmd:`a\nb`, tty:false})", (RUN, {"cmd": "a\nb", "tty": False})),
    ('const p = "x"; await tools.apply_patch(p)', ("apply_patch", "x")),
    ('const cmd = "x"; await tools.exec_command({cmd})', (RUN, {"cmd": "x"})),
    ('await tools.apply_patch("a" + "b")', ("apply_patch", "ab")),
    ('await tools.apply_patch(["a", "b"].join("\\n"))', ("apply_patch", "a\nb")),
    ("await tools.apply_patch(String.raw`a\\n`)", ("apply_patch", "a\\n")),
    ("await tools.list_agents()", ("list_agents", {})),
    (
        'let s = await tools.exec_command({cmd:"ls"});'
        "while (s.session_id) s = await tools.write_stdin({session_id:s.session_id, chars:''});",
        (RUN, {"cmd": "ls"}),
    ),
    ("await tools.write_stdin({session_id:4})", ("write_stdin", {"session_id": 4})),
    ('const l = ["a"]; await tools.exec_command({cmd: l.join(" ") + "b"})', (RUN, {"cmd": "ab"})),
    ("const f = () => { return 1 }; await tools.wait({n: 1})", ("wait", {"n": 1})),
    ('try { await tools.exec_command({cmd:"ls"}) } finally { done() }', (RUN, {"cmd": "ls"})),
]
UNREAD = [
    "for (const f of files) await tools.exec_command({cmd:'ls'})",
    "if (late) await tools.exec_command({cmd:'ls'})",
    "const run = () => tools.exec_command({cmd:'ls'})",
    "try { go() } catch (e) { await tools.exec_command({cmd:'ls'}) }",
    "await tools.exec_command({cmd:`ls ${folder}`})",
    "await tools.exec_command({cmd: folder})",
    "let p = 'a'; p = 'b'; await tools.apply_patch(p)",
    "const run = () => { const p = 'a' }; await tools.apply_patch(p)",
    "await tools[name]({cmd:'ls'})",
    "const o = {cmd:'ls'}; o.cmd = 'pwd'; await tools.exec_command(o)",
    "const o = {cmd:'ls'}; const p = o; p.cmd = 'pwd'; await tools.exec_command(o)",
    "const o = {cmd:'ls'}; Object.assign(o, more); await tools.exec_command(o)",
    "const l = ['a']; l.push('b'); await tools.exec_command({cmd: l.join(' ')})",
    "let p = 'a'; [p] = ['b']; await tools.apply_patch(p)",
    "let n = 1; n++; await tools.wait({n})",
    "const p = 'a'; { const p = 'b' } await tools.apply_patch(p)",
    "await tools.exec_command({cmd:'ls'}); await tools['exec_command']({cmd:'pwd'})",
    "const {exec_command} = tools; await tools.exec_command({cmd:'ls'})",
    "if (late) exit(); await tools.exec_command({cmd:'ls'})",
    "if (late) return; await tools.exec_command({cmd:'ls'})",
    "late && await tools.exec_command({cmd:'ls'})",
    "late ??= await tools.exec_command({cmd:'ls'})",
    "await tools.wait({n: 1.5e999})",
    "await tools.exec_command({[key]:'ls'})",
    "await tools.exec_command({cmd:'ls'",
    '// tools.exec_command({cmd:"ls"})\ntext("tools.exec_command({})")',
    "text('hello')",
    "await tools.exec_command({cmd:'\\u{110000}'})",
    "const s = await tools.exec_command({cmd:'python'});"
    "await tools.write_stdin({session_id:s.session_id, chars:'exit()'});",
    "while (late) await tools.write_stdin({session_id:4, chars:''})",
    "await tools.write_stdin({session_id:s.session_id, chars:typed})",
    "await tools.list(" + "[" * 90 + "]" * 90 + ")",
    "await tools.list(" + "[" * 50_000,
    "tools.list();" + "{a:" * 30_000,
    "tools.list();" + "/*x=" * 20_000,
    "await tools.list('" + "x" * MOST + "')",
]


@pytest.mark.parametrize(("code", "told"), READ)
def test_a_call_that_is_spelled_out_is_read(code: str, told: tuple[str, Any]) -> None:
    assert joined(calls(code)) == Meant(*told)


@pytest.mark.parametrize("code", UNREAD, ids=range(len(UNREAD)))
def test_a_call_that_may_be_another_is_not_read(code: str) -> None:
    assert joined(calls(code)) is None


@pytest.mark.parametrize("code", [None, 7, {"cmd": "ls"}, "tools.\ud800"])
def test_what_is_no_code_calls_nothing(code: Any) -> None:
    assert calls(code) == []


def test_commands_in_one_place_are_lines_of_one_script() -> None:
    both = "await Promise.all([tools.exec_command({cmd:'a',workdir:'/x'}),tools.exec_command(%s)])"
    assert joined(calls(both % "{cmd:'b',workdir:'/x'}")) == Meant(
        RUN, {"cmd": "a\nb", "workdir": "/x"}
    )
    assert joined(calls(both % "{cmd:'b',workdir:'/y'}")) is None
    assert joined(calls(both % "{cmd:7,workdir:'/x'}")) is None
    assert joined(calls("tools.exec_command({cmd:'a'}); tools.view_image({path:'b'})")) is None


STATUS = [
    ("text(`exit code: ${r.exit_code}`)", "exit code: 2", 2),
    ("text(`\\n[${r.exit_code}]`)", "\n[-1]", -1),
    ("text(`exit=${r.exit_code}\\n${r.output}`)", "exit=0\nfine", 0),
    ("text('exit ' + r.exit_code)", "exit 127", 127),
    ("text(`exit code: ${r.exit_code}`)", "exit code: 2 of 3", None),
    ("text('exit ' + r.exit_code)", "exits 2", None),
    ("text(`exit ${code}`)", "exit 2", None),
    ("`" * 100_000 + ".exit_code", "exit 2", None),
]


@pytest.mark.parametrize(("code", "part", "status"), STATUS, ids=range(len(STATUS)))
def test_an_exit_status_is_read_where_the_code_shows_it(
    code: str, part: str, status: int | None
) -> None:
    assert status_in(code, part) == status


def test_names_that_double_fill_no_memory() -> None:
    """Forty doublings of a text of ten letters would fill any memory."""
    texts = "".join(f"const t{at + 1} = t{at} + t{at};" for at in range(40))
    lists = "".join(f"const l{at + 1} = [t{at}, t{at}];" for at in range(40))
    code = f"const t0 = '0123456789';{texts}{lists}await tools.list(%s)"
    assert joined(calls(code % "t40")) is None
    assert joined(calls(code % "l40")) is None
    assert joined(calls("const a = 'b', c = a + a; await tools.list(c)")) == Meant("list", "bb")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(), VALUES, max_size=5), st.booleans())
def test_any_json_is_read_as_it_stands(sent: dict[str, Any], plain: bool) -> None:
    code = f"const r = await tools.list({json.dumps(sent, ensure_ascii=plain)}); text(r);"
    assert joined(calls(code)) == Meant("list", sent)
