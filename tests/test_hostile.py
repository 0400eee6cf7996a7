"""Logs made to do harm: each ends in a trace or in one line, and no secret leaves.

Every log here is put together when the test runs; the canary token was never issued.
"""

import gzip
import json
import os
import re
import resource
import secrets
import string
import subprocess
import sys
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from asked import run
from forsy_adapters._terminus import TASK
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forsy_retrace.batch.neighbours import Near
from forsy_retrace.batch.work import File
from forsy_retrace.builder.checks.tasks import Tasks
from forsy_retrace.builder.judging.goal import accepts
from forsy_retrace.builder.touched.edits import Standing
from forsy_retrace.builder.touched.rewriters import Rewriter, Rewriters
from forsy_retrace.builder.words.cues import SENTENCE
from forsy_retrace.builder.words.message_rules import DOES_THE_REST
from forsy_retrace.calls import Calls
from forsy_retrace.commands import Simple, classify
from forsy_retrace.commands.lexer import split
from forsy_retrace.show import found_problems
from forsy_retrace.trace import Step, Touch
from forsy_retrace.verify import verify

pytestmark = pytest.mark.slow


ARCHIVE = Path(__file__).parents[2] / "shared" / "hostile" / "files.tar.gz"
FIXTURES = Path(__file__).parents[1] / "fixtures"
ALNUM = string.ascii_letters + string.digits

Row = dict[str, Any]


def token() -> str:
    return "gh" + "p_" + "".join(secrets.choice(ALNUM) for _ in range(36))


CANARY = token()
SESSION = "f5476776-e43b-4d36-b10d-5bbaca6a6a56"


class Log:
    """A Claude Code session, record by record."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, **fields: Any) -> None:
        number = len(self.rows) + 1
        self.rows.append(
            {
                "parentUuid": f"u{number - 1}" if number > 1 else None,
                "uuid": f"u{number}",
                "sessionId": SESSION,
                "cwd": "/srv/shop",
                "version": "2.1.58",
                "gitBranch": "main",
                "timestamp": f"2026-02-26T09:{number // 60:02}:{number % 60:02}.000Z",
                **fields,
            }
        )

    def says(self, text: Any, **fields: Any) -> None:
        self.add(type="user", message={"role": "user", "content": text}, **fields)

    def answers(self, *blocks: Any, **fields: Any) -> None:
        message = {"role": "assistant", "id": f"msg_{len(self.rows)}", "content": list(blocks)}
        self.add(type="assistant", message=message, **fields)

    def calls(self, tool: Any, given: Any, output: Any = "done", **result: Any) -> None:
        name = f"toolu_{len(self.rows):012}"
        self.answers({"type": "tool_use", "id": name, "name": tool, "input": given})
        answer = {"type": "tool_result", "tool_use_id": name, "content": output}
        self.add(type="user", message={"role": "user", "content": [answer]}, **result)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(row).encode() + b"\n" for row in self.rows)


def small() -> Log:
    log = Log()
    log.says("list the files")
    log.calls("Bash", {"command": "ls"}, "a.py")
    log.answers({"type": "text", "text": "There is a.py."})
    return log


def written(folder: Path, data: bytes, name: str = "session.jsonl") -> Path:
    path = folder / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def everything(folder: Path, data: bytes, name: str = "session.jsonl") -> bytes:
    """All that comes of a log: files and their names, and what every command prints."""
    path = written(folder, data, name)
    seen = [run("auto", path, "-o", folder / "out").output]
    if (folder / "out").exists():
        seen.append(run("auto", path, "-o", folder / "out", "--json").output)
        seen.append(run("show", folder / "out").output)
        seen.append(run("validate", folder / "out").output)
        seen.append(run("verify", folder / "out", "--source", path).output)
        steps = json.loads((folder / "out" / "trace.json").read_bytes())["steps"]
        for step in steps[:6]:
            seen.append(run("show", folder / "out", "--step", step["step"]).output)
            for field in ("input", "output", "observation", "tool", "started_at"):
                why = ("--step", step["step"], "--why", field, "--source", path)
                seen.append(run("show", folder / "out", *why).output)
    seen.append(run("events", "auto", path).output)
    parts = [text.encode("utf-8", "replace") for text in seen]
    for found in sorted((folder / "out").rglob("*")):
        parts.append(os.fsencode(found.relative_to(folder)))
        parts.append(found.read_bytes() if found.is_file() else b"")
    return b"\n".join(parts)


def holds(folder: Path, data: bytes) -> Row:
    """The trace of a log, which is valid and borne out by it."""
    path = written(folder, data)
    done = run("claude-code", path, "-o", folder / "out", "-q")
    assert done.exit_code == 0, done.stderr
    assert found_problems(folder / "out") == []
    assert verify(folder / "out", path) == []
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())["records"]
    left = sum(manifest["omitted"].values())
    assert manifest["read"] == manifest["used"] + left + manifest["unreadable"]
    trace: Row = json.loads((folder / "out" / "trace.json").read_bytes())
    return trace


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    )


# names that act


NAMES = [
    "../../escape.txt",
    "/tmp/forsy-escape.txt",
    "..\\..\\escape.txt",
    "C:\\Windows\\System32\\x.txt",
    "\\\\server\\share\\x.txt",
    "\\\\?\\C:\\x.txt",
    "file.txt:stream",
    "CON",
    "aux.txt",
    "trailing. ",
    "a/b/../../../c",
    "trace.json",
    "../manifest.json",
    "README.md",
    ".git/hooks/post-checkout",
    ".github/workflows/x.yml",
    "dataset.py",
    "index.html",
    "K.txt",
    "k.txt",
    "caf\u00e9.txt",
    "cafe\u0301.txt",
    "new\nline.txt",
    "nul\0byte.txt",
    "x" * 300,
    "",
    ".",
    "..",
    "~/.bashrc",
    "$(touch escaped).txt",
]


def test_no_name_from_a_log_becomes_a_path(tmp_path: Path) -> None:
    log = Log()
    log.says("write the files")
    for number, name in enumerate(NAMES):
        body = f"body of file {number}\n"
        changed = {"type": "create", "filePath": name, "content": body, "structuredPatch": []}
        log.calls(
            "Write", {"file_path": name, "content": body}, "File created", toolUseResult=changed
        )
    trace = holds(tmp_path, log.bytes())
    for name in files(tmp_path / "out"):
        assert name in ("README.md", "evidence.jsonl", "manifest.json", "trace.json") or (
            len(name) == len("artifacts/0123456789abcdef.txt")
            and set(name[10:26]) <= set("0123456789abcdef")
        )
    assert files(tmp_path)[0] == "in/session.jsonl"
    bodies = {one["content"] for one in trace["static_output"]["artifacts"]}
    assert {f"body of file {n}\n" for n in (11, 12, 18, 19, 20, 21)} <= bodies
    assert not Path("/tmp/forsy-escape.txt").exists()


@pytest.mark.parametrize("name", ["../../../escape", "/tmp/forsy-escape", "CON", "a" * 400, ".."])
def test_no_id_from_a_log_becomes_a_path(name: str, tmp_path: Path) -> None:
    log = small()
    for row in log.rows:
        row.update(sessionId=name, uuid=name, agentId=name, slug=name)
    written(tmp_path, log.bytes() + log.bytes().replace(b'"version"', b'"v"'))
    done = run("claude-code", tmp_path / "in", "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0
    (one,) = (tmp_path / "out").iterdir()
    assert one.name.startswith("2026-02-26-list-the-files-")
    assert {path.split("/")[0] for path in files(tmp_path)} == {"in", "out"}


# shapes that break readers


def nested(depth: int, opening: str) -> str:
    closing = "]" if opening == "[" else "}"
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize("opening", ["[", '{"k":'])
@pytest.mark.parametrize("depth", [400, 1200, 20_000])
def test_deep_nesting_costs_its_own_record_at_most(
    depth: int, opening: str, tmp_path: Path
) -> None:
    log = small()
    log.calls("Bash", {"command": "DEEP"})
    log.says("go on")
    data = log.bytes().replace(b'"DEEP"', nested(depth, opening).encode())
    trace = holds(tmp_path, data)
    assert [step["input"] for step in trace["steps"] if step["actor"] == "user"] == [
        "list the files",
        "go on",
    ]


@pytest.mark.parametrize(
    "links",
    [
        {0: "u1"},
        {0: "u4", 1: "u3", 2: "u2"},
        {1: "nobody", 3: None},
        {number: "u2" for number in range(4)},
    ],
    ids=["itself", "cycle", "missing", "many children"],
)
def test_parents_may_be_anything(links: dict[int, str | None], tmp_path: Path) -> None:
    log = small()
    for number, parent in links.items():
        log.rows[number]["parentUuid"] = parent
        log.rows[number]["logicalParentUuid"] = parent
    trace = holds(tmp_path, log.bytes())
    assert [step["tool"] for step in trace["steps"]].count("Bash") == 1


def test_one_id_for_every_record_loses_none(tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {"command": "pwd"}, "/srv/shop")
    for row in log.rows:
        row["uuid"] = row["parentUuid"] = "u"
    trace = holds(tmp_path, log.bytes())
    assert [step["tool"] for step in trace["steps"]].count("Bash") == 2


STAMP = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z")
CALL = re.compile(rb"(?:toolu|call)_[A-Za-z0-9]+")
NAME = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def in_turn(pattern: re.Pattern[bytes], data: bytes, names: list[bytes]) -> bytes:
    """The data with the names in place of what the pattern finds, one after the other."""
    turn = cycle(names or [b""])
    return pattern.sub(lambda match: next(turn), data)


def results_first(data: bytes) -> bytes:
    rows = data.splitlines(keepends=True)
    return b"".join(
        sorted(rows, key=lambda row: not re.search(rb"_result|_output|toolResult", row))
    )


DISORDERS: dict[str, Callable[[bytes], bytes]] = {
    "records out of order": lambda data: b"".join(data.splitlines(keepends=True)[::-1]),
    "every record twice": lambda data: b"".join(r + r for r in data.splitlines(keepends=True)),
    "results before calls": results_first,
    "one id for all calls": lambda data: in_turn(CALL, data, CALL.findall(data)[:1]),
    "three ids for all records": lambda data: in_turn(NAME, data, NAME.findall(data)[-3:]),
    "times that run backwards": lambda data: in_turn(STAMP, data, STAMP.findall(data)[::-1]),
    "line ends of every kind": lambda data: in_turn(
        re.compile(rb"\n"), data, [b"\n", b"\r\n", b"\n\n", b"\r"]
    ),
    "marks of the byte order": lambda data: (
        b"\xef\xbb\xbf" + data.replace(b"\n", b"\n\xef\xbb\xbf")
    ),
    "nul bytes": lambda data: b"\0" * 9 + data.replace(b"\n", b"\0\0\n") + b"\0" * 999,
    "a hole of nul bytes": lambda data: (
        data[: len(data) // 2] + b"\0" * 999 + data[len(data) // 2 :]
    ),
}


@pytest.mark.parametrize("disorder", DISORDERS)
@pytest.mark.parametrize(
    "case",
    [
        "claude-code/async-agent",
        "claude-code/asked-on-an-old-line",
        "codex/two-streams",
        "openai-chat/message-lines",
        "pi/subagent-session",
    ],
)
def test_a_log_in_disorder_is_borne_out_by_it(case: str, disorder: str, tmp_path: Path) -> None:
    data = DISORDERS[disorder](FIXTURES.joinpath(case, "input.jsonl").read_bytes())
    path = written(tmp_path, data)
    done = run(case.partition("/")[0], path, "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0, done.stderr
    traces = [found.parent for found in (tmp_path / "out").rglob("trace.json")]
    assert traces
    for trace in traces:
        assert found_problems(trace) == []
        assert verify(trace, path) == []


@pytest.mark.parametrize("ident", [None, 7, [], {}, ["item"]])
def test_a_cut_stream_whose_items_have_no_name(ident: object, tmp_path: Path) -> None:
    item = {"id": ident, "type": "message", "role": "assistant", "content": []}
    events = [
        {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}},
        {"type": "response.output_text.delta", "item_id": ident, "delta": "On Tuesday"},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.output_text.delta", "item_id": "b", "delta": " it is bread."},
    ]
    data = b"".join(json.dumps(one).encode() + b"\n" for one in events)
    done = run("openai-chat", written(tmp_path, data), "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0, done.stderr


@pytest.mark.slow
def test_a_chain_of_3000_parents_is_followed_without_recursion(tmp_path: Path) -> None:
    log = Log()
    for number in range(3000):
        log.says(f"word {number}", isMeta=number > 2)
    holds(tmp_path, log.bytes())


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    "",
    "x",
    [],
    [[]],
    {},
    {"a": [None]},
    [{"type": 1}],
]


def spoilt(value: Any, odd: Any) -> Iterator[Any]:
    """Copies of a value, in each of which one value within is another's type."""
    yield odd
    if isinstance(value, dict):
        for key, item in value.items():
            for one in spoilt(item, odd):
                yield {**value, key: one}
    elif isinstance(value, list):
        for place, item in enumerate(value):
            for one in spoilt(item, odd):
                yield [*value[:place], one, *value[place + 1 :]]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: json.dumps(odd)[:12])
def test_any_value_of_a_record_may_be_of_any_type(odd: Any, tmp_path: Path) -> None:
    """All spoilt records of a session one after another, around a sound session."""
    log = small()
    log.rows[2]["toolUseResult"] = {"stdout": "a.py", "stderr": "", "interrupted": False}
    sound = log.bytes()
    rows = [one for row in log.rows for one in spoilt(row, odd)]
    data = sound + b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    holds(tmp_path, data)


@pytest.mark.parametrize("odd", [[], {}])
def test_an_id_may_be_of_any_type_where_the_time_is_missing(odd: Any, tmp_path: Path) -> None:
    log = small()
    log.says("go on", uuid=odd, timestamp=None)
    holds(tmp_path, log.bytes())


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(small().rows).flatmap(
            lambda row: st.fixed_dictionaries(
                {
                    key: st.just(value) | st.sampled_from(ODD)
                    for key, value in row.items()
                    if key not in ("sessionId", "uuid")
                }
            )
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_mixture_of_odd_records_converts(tmp_path: Path, rows: list[Row]) -> None:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    holds(tmp_path, small().bytes() + data)


def test_an_answer_may_be_a_bare_text(tmp_path: Path) -> None:
    log = small()
    log.add(type="assistant", message={"role": "assistant", "content": "Anything else?"})
    holds(tmp_path, log.bytes())


@pytest.mark.parametrize(
    ("case", "there", "odd"),
    [
        ("chatgpt/code-interpreter/input.json", b'"content_type":"code"', b'"content_type":"odd"'),
        ("chatgpt/code-interpreter/input.json", b'"content":{', b'"lost":{'),
        ("pi/openclaw-chat/input.jsonl", b'"content":', b'"lost":'),
    ],
)
def test_what_a_log_lacks_is_sought_nowhere(
    case: str, there: bytes, odd: bytes, tmp_path: Path
) -> None:
    """Of a call or result whose content is not there, no text is claimed, nor a place of it."""
    log = Path(__file__).parents[1] / "fixtures" / case
    data = re.sub(rb'": +', b'":', log.read_bytes())
    spots = [at.start() for at in re.finditer(re.escape(there), data)]
    assert spots
    for at in spots:
        path = written(tmp_path, data[:at] + odd + data[at + len(there) :], log.name)
        assert run(log.parent.parent.name, path, "-o", tmp_path / "out", "-q").exit_code == 0
        assert verify(tmp_path / "out", path) == []


TIMES: list[Any] = [
    None,
    0,
    -1,
    1e300,
    2**70,
    10**400,
    "",
    "yesterday",
    "2026-13-45T99:99:99Z",
    "0000-00-00",
    "9999-12-31T23:59:59.999999999999Z",
    "2026-02-26T09:12:03+99:99",
    "2026-02-26",
    [],
    {},
    "9" * 5000,
]


def test_odd_times_are_null_and_change_no_order(tmp_path: Path) -> None:
    log = Log()
    for number, when in enumerate(TIMES):
        log.says(f"task {number}", timestamp=when)
    trace = holds(tmp_path, log.bytes())
    said = [step["input"] for step in trace["steps"]]
    assert said == [f"task {number}" for number in range(len(TIMES))]
    assert trace["steps"][6]["started_at"] is None


def test_a_figure_that_no_counter_holds_is_not_counted(tmp_path: Path) -> None:
    log = small()
    usage = {"input_tokens": 10**400, "output_tokens": 7}
    log.rows[-1]["message"] |= {"model": "claude-opus-4-8", "usage": usage}
    assert holds(tmp_path, log.bytes())["agent_config"]["token_usage"] == {"output_tokens": 7}


def test_a_reward_that_no_grader_gives_is_none(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    data = json.dumps({"messages": said, "reward": 10**400}).encode()
    path = written(tmp_path, data, "run.json")
    assert run("openai-chat", path, "-o", tmp_path / "out", "-q").exit_code == 0
    trace = json.loads((tmp_path / "out" / "trace.json").read_bytes())
    assert "reward" not in (trace["summary"].get("goal_notes") or "")


def test_a_recording_that_ends_before_it_began_has_no_end(tmp_path: Path) -> None:
    began, ended = "2026-03-02 08:45:00+00:00", "2026-03-02 08:40:00+00:00"
    lines = (f'Script started on {began} [TERM="xterm"]', "$ ls", "a.py", "$ exit", "exit", "")
    text = "\r\n".join(lines) + f'\nScript done on {ended} [COMMAND_EXIT_CODE="0"]\n'
    path = written(tmp_path, text.encode(), "typescript")
    assert run("typescript", path, "-o", tmp_path / "out", "-q").exit_code == 0
    trace = json.loads((tmp_path / "out" / "trace.json").read_bytes())
    assert (trace["started_at"], trace["ended_at"]) == ("2026-03-02T08:45:00Z", None)


def test_a_file_without_a_name_in_a_zip_is_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, b"", "export.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), "{}")
        archive.write(FIXTURES / "chatgpt" / "blank-output" / "input.json", "conversations.json")
    assert run("auto", path, "-o", tmp_path / "out", "-q").exit_code == 0


def test_an_export_that_was_packed_anew_with_its_folder_is_read(tmp_path: Path) -> None:
    path, out = written(tmp_path, b"", "again.zip"), tmp_path / "out"
    held = (FIXTURES / "chatgpt" / "blank-output" / "input.json").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("My export/conversations.json", held)
        archive.writestr("My export/user.json", "{}")
        archive.writestr("__MACOSX/My export/._conversations.json", b"\0\5\x16\7")
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("conversations.json", held)
    sources = json.loads((out / "manifest.json").read_bytes())["sources"]
    assert [one["name"] for one in sources] == [
        "again.zip",
        "again.zip#My export/conversations.json",
    ]
    assert run("auto", path, "-o", tmp_path / "top", "-q").exit_code == 0
    sources = json.loads((tmp_path / "top" / "manifest.json").read_bytes())["sources"]
    assert [one["name"] for one in sources] == ["again.zip", "again.zip#conversations.json"]


@pytest.mark.parametrize(
    "name", ["../conversations.json", "/conversations.json", "a/b/conversations.json"]
)
def test_a_zip_is_read_at_its_top_and_in_one_folder_only(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, b"", "export.zip")
    held = (FIXTURES / "chatgpt" / "blank-output" / "input.json").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), held)
    assert run("auto", path, "-o", tmp_path / "out", "-q").exit_code == 65


@pytest.mark.parametrize("name", ["exit", "private", "rule"])
def test_a_user_may_be_called_by_a_word_of_the_dataset_card(name: str, tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {"command": f"ls /home/{name}/shop"}, "b.py")
    trace = holds(tmp_path, log.bytes())
    assert "/home/[USER_1]/shop" in trace["steps"][-1]["input"]
    assert name not in (tmp_path / "out" / "README.md").read_text().split()


# sizes


def quickly(limit: float, work: Callable[[], Any]) -> Any:
    began = time.process_time()
    found = work()
    assert time.process_time() - began < limit
    return found


def is_linear(log: Callable[[int], bytes], adapter: str, folder: Path, size: int) -> bool:
    """Whether three times the log takes far less than nine times as long, on a machine as busy."""

    def seconds(size: int) -> float:
        path = written(folder, log(size))
        began = time.process_time()
        assert run(adapter, path, "-o", folder / str(size), "-q").exit_code == 0
        return time.process_time() - began

    return any(seconds(3 * size) < 6 * seconds(size) for _ in range(3))


@pytest.mark.slow
def test_a_line_of_5_mb_is_cut_in_the_trace_and_whole_in_an_artifact(tmp_path: Path) -> None:
    log = small()
    big = "lorem ipsum dolor\n" * (5 * 2**20 // 18)
    log.calls("Bash", {"command": "cat big"}, big)
    trace = quickly(4, lambda: holds(tmp_path, log.bytes()))
    output = trace["steps"][-1]["output"]
    assert len(output) < 2**17
    (kept,) = (tmp_path / "out" / "artifacts").iterdir()
    assert kept.read_text("utf-8") == big
    assert kept.name in output


def test_an_output_may_be_cut_below_the_head_of_a_key(tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {"command": "grep -rh KEY"}, "-----BEGIN PRIVATE KEY-----\n" * 1500)
    trace = holds(tmp_path, log.bytes())
    assert "tokens omitted" in trace["steps"][-1]["output"]


def edited(log: Log, number: int, path: str = "") -> None:
    words = {"old_string": f"value_{number} = 1", "new_string": f"value_{number} = {number} + 2"}
    log.calls("Edit", {"file_path": path or f"/srv/shop/m{number}.py", **words})


def checked(log: Log, command: str, passes: bool) -> None:
    log.calls("Bash", {"command": command}, f"=== 1 {'passed' if passes else 'failed'} in 0.1s ===")
    log.rows[-1]["message"]["content"][0]["is_error"] = not passes


@pytest.mark.slow
def test_a_check_that_may_come_again_names_the_nearest_edits(tmp_path: Path) -> None:
    log = small()
    for number in range(120):
        edited(log, number)
    for command, passes in (
        ("pytest", False),
        ("pytest tests/test_m.py", True),
        ("pytest", True),
        ("pytest", False),
    ):
        checked(log, command, passes)
    steps = holds(tmp_path, log.bytes())["steps"]
    edits = [step["step"] for step in steps if step["tool"] == "Edit"]
    failed, narrow, wide, again = steps[-4:]
    assert failed["caused_by"] == narrow["caused_by"] == edits[-100:]
    assert failed["causal_note"].endswith(f" and {edits[-1]}, and earlier ones (tests).")
    assert wide["caused_by"] == edits
    assert wide["causal_note"].endswith(f" and {edits[-1]} (tests).")
    assert again["causal_type"] != "verification_of_prior_step"
    assert {steps[edit - 1]["eval"] for edit in edits} == {1}


LOADS_MANY = f"python -c 'import {', '.join(f'm{number}' for number in range(60))}'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "passes", "path"),
    [
        ("pytest", False, ""),
        ("pytest tests/test_m.py", True, ""),
        (LOADS_MANY, False, ""),
        ("cat a.py", True, "a.py"),
    ],
)
def test_many_edits_and_checks_take_linear_time(
    command: str, passes: bool, path: str, tmp_path: Path
) -> None:
    def log(size: int) -> bytes:
        log = small()
        for number in range(size):
            edited(log, number, path)
        for _ in range(size):
            checked(log, command, passes)
        return log.bytes()

    assert is_linear(log, "claude-code", tmp_path, 400)


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- other{}.py",
        "sed -i s/a/b/ ./$X/other{}.py",
        "python3 - <<'EOF'\nopen('other{}.txt', 'w').write('')\nEOF",
    ],
)
def test_what_names_other_files_is_asked_of_none(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    held: list[Rewriter] = []
    add = Rewriters.add

    def counted(self: Rewriters, one: Rewriter) -> None:
        def may(path: str) -> bool:
            asked.append(path)
            return one.may(path)

        held.append(one)
        add(self, one._replace(may=may))

    monkeypatch.setattr(Rewriters, "add", counted)
    log = small()
    for number in range(20):
        log.calls("Write", {"file_path": f"/srv/shop/m{number}.py", "content": "x = 1\n"})
    for number in range(20):
        log.calls("Bash", {"command": command.format(number)}, "")
    holds(tmp_path, log.bytes())
    assert len(held) >= 20
    assert asked == []


@pytest.mark.slow
@pytest.mark.parametrize("words", ["!?", "word ", "v1.2 ", "no, ", "'.' "])
def test_a_long_message_takes_linear_time_and_little_memory(words: str) -> None:
    text = words * (500_000 // len(words))
    tracemalloc.start()
    quickly(2, lambda: sum(len(one[0]) for one in SENTENCE.finditer(text)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * len(text)


def test_praise_behind_which_very_many_blank_lines_stand_takes_little_time() -> None:
    quickly(1, lambda: DOES_THE_REST.search("\n" * 30_000 + "x"))


def test_a_long_edit_of_which_other_lines_were_recorded_takes_little_time(tmp_path: Path) -> None:
    def log(count: int) -> bytes:
        old = "\n".join(f"piece number {at} of it" for at in range(count))
        gone = [
            {"type": "removed", "content": f"another line {at}", "lineNumber": {"old": at + 1}}
            for at in range(count)
        ]
        told = {"success": True, "file_path": "/w/a.py", "diffLines": gone}
        rows: list[Row] = [{"type": "session_start", "id": "s1", "title": "", "owner": "a"}]
        for call in "abc":
            sent = {"file_path": "/w/a.py", "old_str": old, "new_str": old.replace("piece", call)}
            asked = {"type": "tool_use", "id": call, "name": "Edit", "input": sent}
            back = {"type": "tool_result", "tool_use_id": call, "content": json.dumps(told)}
            no = {"type": "text", "text": "No, that's wrong."}
            for at, block in enumerate((asked, back, no)):
                said = {"role": "user" if at else "assistant", "content": [block]}
                rows.append({"type": "message", "id": f"{call}{at}", "message": said})
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    path = written(tmp_path, log(12_000))
    quickly(4, lambda: run("droid", path, "-o", tmp_path / "out", "-q"))


def test_a_task_that_is_headed_very_many_times_takes_little_time() -> None:
    prompt = "You are an AI assistant tasked with solving command-line tasks"
    quickly(1, lambda: TASK.match(prompt + "\nTask Description:\n" * 10_000))


@pytest.mark.slow
def test_very_many_streams_of_one_talk_take_linear_time(tmp_path: Path) -> None:
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    rows = [{"role": "user", "content": "Hi"}, start, {"type": "message_stop"}]

    def log(count: int) -> bytes:
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows * count)

    assert is_linear(log, "anthropic", tmp_path, 1_500)


@pytest.mark.slow
def test_outputs_of_very_many_blank_lines_take_linear_time(tmp_path: Path) -> None:
    log = small()
    edited(log, 1)
    for command in ("go test ./...", "pytest", "npm test", "bun test", "gradle test", "cat a.go"):
        log.calls("Bash", {"command": command}, "\n" * 30_000 + " ok")
    quickly(6, lambda: run("claude-code", written(tmp_path, log.bytes()), "-o", tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("npm install", "start" + "\n" * 150_000 + "x"),
        ("npm version patch", "v1.1." + "1" * 150_000 + " x"),
        ("git clone https://example.com/a", "Cloning into 'a'...\n" * 10_000),
        ("gh run view 1 --json conclusion", "{" + '"conclusion": "a",' * 10_000),
    ],
)
def test_a_long_output_of_a_tool_that_tells_what_it_did_takes_little_time(
    command: str, output: str, tmp_path: Path
) -> None:
    log = small()
    log.calls("Bash", {"command": command}, output)
    quickly(3, lambda: run("claude-code", written(tmp_path, log.bytes()), "-o", tmp_path / "out"))


@pytest.mark.parametrize("end", [" ", "\\ "])
def test_a_command_that_ends_in_very_many_blanks_takes_linear_time(end: str) -> None:
    (part,) = quickly(1, lambda: split(f"rm a{end}" + " " * 60_000) or [])
    assert part.words == ["rm", "a " if "\\" in end else "a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["<", "<a>", "<td>a</td>", "<system-reminder>", "  File 'a, (in f\n"]
)
def test_a_long_line_that_is_no_shell_takes_little_time(words: str) -> None:
    quickly(2, lambda: classify(words * (60_000 // len(words))))


@pytest.mark.slow
def test_very_many_goodbyes_end_one_talk(tmp_path: Path) -> None:
    log = small()
    log.answers({"type": "text", "text": "Is there anything else I can help you with?"})
    for _ in range(1500):
        log.says("No, that is all. Thank you!")
    trace = holds(tmp_path, log.bytes())
    assert trace["termination_reason"] == "task_complete"


@pytest.mark.slow
def test_very_many_corrections_take_linear_time(tmp_path: Path) -> None:
    def log(size: int) -> bytes:
        log = small()
        edited(log, 1)
        for number in range(size):
            log.answers({"type": "text", "text": f"Done {number}."})
            log.says(f"No, that is wrong, do it again {number}.")
        return log.bytes()

    assert is_linear(log, "claude-code", tmp_path, 1000)


@pytest.mark.slow
def test_very_many_calls_of_one_id_take_linear_time() -> None:
    calls = Calls()
    names = quickly(1, lambda: [calls.issue("c", number) for number in range(10_000)])
    assert (names[0], names[-1]) == ("c", "c#10000")


@pytest.mark.slow
def test_a_file_among_very_many_is_found_beside_a_log_in_no_time() -> None:
    names = [f"/srv/{number:06d}.jsonl" for number in range(40_000)]
    files = [File(name, name[5:], "srv", 1, "1") for name in names]
    near = Near(files)
    quickly(2, lambda: [near.of(file, (f"{file.name[:6]}/**/*.jsonl",)) for file in files])


@pytest.mark.slow
def test_a_path_of_very_many_folders_takes_linear_time(tmp_path: Path) -> None:
    """In the user's words, as a file, as a folder of work and in an output."""
    path = "/a" * 40_000
    log = small()
    log.says(f"Fix {path}/b.py")
    edited(log, 1, f"{path}/b.py")
    log.calls("Bash", {"command": f"cd {path} && git diff"}, f"+++ b{path}/c.py\n+x = 1\n")
    log.calls("Bash", {"command": f"git add {path}; git commit"}, f" create mode 100644 {path}\n")
    log.calls("Bash", {"command": f"rm -r {path}; pytest {path}"}, "1 passed")
    for row in log.rows:
        row["cwd"] = path
    quickly(6, lambda: holds(tmp_path, log.bytes()))


@pytest.mark.slow
def test_many_edits_of_one_file_take_linear_time() -> None:
    standing = Standing()

    def edit(number: int) -> list[int]:
        old, new = (f"line {number}",), (f"line {number + 1}",)
        done = Touch(number, "agent", "a.py", "edit", removed=old, added=new)
        return standing.take(Step(step=number), [done])

    quickly(1, lambda: [edit(number) for number in range(1, 10_001)])
    assert list(standing.in_effect) == [10_000]
    assert standing.replaced[9_999] == 10_000


@pytest.mark.slow
def test_many_equal_lines_of_one_file_take_linear_time() -> None:
    standing = Standing()

    def edit(number: int, old: tuple[str, ...], new: tuple[str, ...]) -> list[int]:
        done = Touch(number, "agent", "a.py", "edit", removed=old, added=new)
        return standing.take(Step(step=number), [done])

    same = "return None"
    quickly(1, lambda: [edit(number, (), (same, f"line {number}")) for number in range(1, 5001)])
    quickly(1, lambda: [edit(number, (same,), ()) for number in range(5001, 10_001)])
    assert not standing.replaced
    assert sum(map(len, standing.reworked.values())) == 5000


@pytest.mark.slow
def test_many_approvals_take_linear_time() -> None:
    steps = [
        Step(step=2 * turn + at, turn=turn, action=action, feedback_type="approval")
        for turn in range(1, 5001)
        for at, action in enumerate(("user_message", "output"))
    ]
    quickly(1, lambda: [accepts(step, steps) for step in steps[::2]])


@pytest.mark.slow
def test_many_patches_of_many_edits_take_linear_time(tmp_path: Path) -> None:
    log = small()
    for number in range(900):
        edited(log, number)
    patch = "".join(f"+++ b/lib/f{number}.py\n+x = {number}\n" for number in range(900))
    for _ in range(60):
        log.calls("Bash", {"command": "git diff"}, patch)
    quickly(3, lambda: run("claude-code", written(tmp_path, log.bytes()), "-o", tmp_path / "out"))


def test_many_tasks_take_linear_time() -> None:
    tasks = Tasks()

    def run(number: int) -> list[int]:
        lines = (f'"t{number}": "vite"',)
        tasks.see(Touch(number, "agent", "/srv/package.json", "edit", added=lines))
        simple = Simple(("npm", "run", "t1"), "npm run t1", "execute", "script")
        return [found.step for found in tasks.run_by(simple, "/srv/shop")]

    assert quickly(1, lambda: [run(number) for number in range(1, 5001)])[-1] == [1]


@pytest.mark.slow
def test_many_keys_take_linear_time(tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {f"key{number}": number for number in range(20_000)})
    quickly(3, lambda: holds(tmp_path, log.bytes()))


@pytest.mark.slow
def test_code_that_never_ends_takes_linear_time(tmp_path: Path) -> None:
    """Records of calls, each of which may be of any code that has not ended yet."""

    def log(size: int) -> bytes:
        rows: list[Row] = [{"type": "session_meta", "payload": {"id": SESSION, "cwd": "/srv/shop"}}]
        for number in range(size):
            code = f"await tools.exec_command({{cmd:'ls {number % 7}'}})"
            sent = {"type": "custom_tool_call", "name": "exec", "input": code}
            rows.append({"type": "response_item", "payload": {**sent, "call_id": f"c{number}"}})
        for number in range(size):
            ran = {"type": "CommandExecution", "id": f"e{number}", "command": ["sh", "-c", "pwd"]}
            rows.append({"type": "event_msg", "payload": {"type": "item_completed", "item": ran}})
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    assert is_linear(log, "codex", tmp_path, 1000)


@pytest.mark.slow
def test_many_records_of_one_call_take_linear_time(tmp_path: Path) -> None:
    log = small()
    answer = log.rows[2]
    log.rows.extend({**answer, "uuid": f"v{number}"} for number in range(1500))
    trace = quickly(3, lambda: holds(tmp_path, log.bytes()))
    assert [step["tool"] for step in trace["steps"]].count("Bash") == 1


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(small().bytes() + b"x" * (12 << 20)))
    done = quickly(1, lambda: run("auto", path, "-o", tmp_path / "out"))
    assert done.exit_code == 65
    assert not (tmp_path / "out").exists()


def test_no_more_of_an_archive_is_read_than_its_first_layer(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(gzip.compress(small().bytes())))
    assert run("auto", path, "-o", tmp_path / "out").exit_code == 65


# links


def test_links_and_pipes_below_a_folder_are_passed_over(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    log = Log()
    log.says(f"my token is {CANARY}")
    secret.write_bytes(log.bytes())
    path = written(tmp_path, small().bytes())
    (path.parent / "link.jsonl").symlink_to(secret)
    (path.parent / "loop").symlink_to(path.parent)
    (path.parent / "session").mkdir()
    (path.parent / "session" / "subagents").symlink_to(tmp_path)
    (path.parent / "agent-1.jsonl").symlink_to(secret)
    os.mkfifo(path.parent / "pipe.jsonl")
    (path.parent / "zero.jsonl").symlink_to("/dev/zero")
    done = run("claude-code", path.parent, "-o", tmp_path / "out", "--json")
    assert done.exit_code == 0
    assert [one["total_steps"] for one in json.loads(done.stdout)["traces"]] == [3]
    assert len(list((tmp_path / "out").iterdir())) == 1


# secrets


def in_a_key(log: Log) -> None:
    log.calls("Bash", {CANARY: 1, "deep": {f"x-{CANARY}": [CANARY]}})


def in_odd_fields(log: Log) -> None:
    log.says("x", timestamp=CANARY, cwd=f"/srv/{CANARY}", gitBranch=f"fix/{CANARY}", slug=CANARY)
    log.says("y", version=CANARY, sessionId=CANARY, permissionMode=CANARY, userType=CANARY)


def in_ids(log: Log) -> None:
    log.answers({"type": "tool_use", "id": CANARY, "name": "Bash", "input": {"command": "ls"}})
    answer = {"type": "tool_result", "tool_use_id": CANARY, "content": "x"}
    log.add(type="user", message={"role": "user", "content": [answer]}, uuid=CANARY)


def in_a_tool_name(log: Log) -> None:
    log.calls(CANARY, {"x": 1})
    log.calls(f"mcp__{CANARY}__read", {"x": 1})


def in_unknown_types(log: Log) -> None:
    log.add(type=CANARY, text="x")
    log.add(type="system", subtype=CANARY, content=CANARY)
    log.add(type="attachment", attachment={"type": CANARY, "text": CANARY})
    log.answers({"type": CANARY, "text": CANARY}, {"type": "text", "text": "y"})


def in_file_names(log: Log) -> None:
    for tool in ("Write", "Edit", "Read"):
        given = {"file_path": f"/srv/{CANARY}/{CANARY}.txt", "content": "x", "old_string": "x"}
        log.calls(tool, {**given, "new_string": "y"})


def in_results(log: Log) -> None:
    log.calls("Bash", {"command": f"curl -H 'Authorization: token {CANARY}' x"}, f"T={CANARY}")
    log.calls("Bash", {"command": "env"}, [{"type": "text", "text": f'{{"t":"{CANARY}"}}'}])
    log.calls("Bash", {"command": "x"}, "x", toolUseResult={"stdout": CANARY, CANARY: CANARY})


def in_other_words(log: Log) -> None:
    log.says(f"use {CANARY}")
    log.says(json.dumps(json.dumps(json.dumps({"t": CANARY}))))
    log.says("".join(f"%{ord(letter):02x}" for letter in CANARY))
    log.says("\u200b".join(CANARY))
    log.says(f"\x1b[1m{CANARY}\x1b[0m and \0{CANARY}\0")
    log.answers({"type": "thinking", "thinking": f"the token {CANARY}", "signature": CANARY})


def in_summaries(log: Log) -> None:
    log.rows.append({"type": "summary", "summary": CANARY, "leafUuid": CANARY})
    log.rows.append({"type": "custom-title", "customTitle": CANARY, "sessionId": SESSION})
    log.rows.append({"type": "file-history-snapshot", "messageId": CANARY, "snapshot": CANARY})


def in_todos_and_agents(log: Log) -> None:
    log.calls("TodoWrite", {"todos": [{"content": CANARY, "status": CANARY}]})
    log.calls("Task", {"subagent_type": CANARY, "description": CANARY, "prompt": CANARY})
    log.calls("Skill", {"skill": CANARY})


PLACES = [
    in_a_key,
    in_odd_fields,
    in_ids,
    in_a_tool_name,
    in_unknown_types,
    in_file_names,
    in_results,
    in_other_words,
    in_summaries,
    in_todos_and_agents,
]


def is_clean(seen: bytes) -> bool:
    """No part of the canary that is long enough to be of use."""
    return not any(CANARY[at : at + 12].encode() in seen for at in range(0, len(CANARY) - 12))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_secret_leaves_by_no_way(place: Callable[[Log], None], tmp_path: Path) -> None:
    log = small()
    place(log)
    assert is_clean(everything(tmp_path, log.bytes()))
    assert (tmp_path / "out" / "trace.json").exists()


def test_a_secret_in_the_name_of_a_log_is_masked(tmp_path: Path) -> None:
    assert is_clean(everything(tmp_path, small().bytes(), f"{CANARY}.jsonl"))
    for data in (b"", b"not json", b'{"a":1}'):
        path = written(tmp_path, data, f"{CANARY}.jsonl")
        done = run("auto", path, "-o", tmp_path / "none")
        assert done.exit_code == 65
        assert is_clean(done.output.encode())
    written(tmp_path, small().bytes())
    for words in ((), ("--json",)):
        done = run("auto", tmp_path / "in", "-o", tmp_path / "several", *words)
        assert done.exit_code == 0
        assert "no adapter" in done.output
        assert is_clean(done.output.encode())


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"user","message":{"content":"%b" oops}',
        b'{"type":"user","type2":%b}',
        b'{"cut":"%b',
        b"%b",
    ],
)
def test_a_secret_beside_a_mistake_is_not_quoted(data: bytes, tmp_path: Path) -> None:
    line = data % CANARY.encode()
    assert is_clean(everything(tmp_path, small().bytes() + line))
    assert is_clean(everything(tmp_path, line))


def test_a_shadowed_value_of_a_doubled_key_is_nowhere(tmp_path: Path) -> None:
    line = small().bytes().replace(b'"content": "list', b'"content": "%b", "content": "list')
    assert CANARY.encode() not in line
    assert is_clean(everything(tmp_path, line.replace(b"%b", CANARY.encode())))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_secret_is_masked_whatever_the_encoding(encoding: str, tmp_path: Path) -> None:
    log = small()
    in_results(log)
    seen = everything(tmp_path, log.bytes().decode().encode(encoding))
    assert is_clean(seen)
    assert b"[CREDENTIAL" in seen


def test_a_log_cannot_switch_masking_off(tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {"command": "x"}, f"T={CANARY} # gitleaks:allow nosecret [CREDENTIAL_7]")
    assert is_clean(everything(tmp_path, log.bytes()))


def test_halves_of_a_secret_are_masked_where_the_whole_is_known(tmp_path: Path) -> None:
    log = small()
    log.answers({"type": "text", "text": f"first half {CANARY[:20]}"})
    log.answers({"type": "text", "text": f"second half {CANARY[20:]}"})
    log.calls("Bash", {"command": "cat token"}, f"whole: {CANARY}")
    path = written(tmp_path, log.bytes())
    assert run("auto", path, "-o", tmp_path / "out", "-q").exit_code == 0
    found = [tmp_path / "out" / name for name in files(tmp_path / "out")]
    assert is_clean(b"".join(one.read_bytes() for one in found))
    assert is_clean(run("events", "auto", path).output.encode())


def test_halves_are_masked_where_the_whole_stands_in_a_record_left_out(tmp_path: Path) -> None:
    log = small()
    log.answers({"type": "text", "text": f"first half {CANARY[:20]}"})
    orphan = {"type": "tool_result", "tool_use_id": "none", "content": f"whole: {CANARY}"}
    log.add(type="user", message={"role": "user", "content": [orphan]})
    path = written(tmp_path, log.bytes())
    run("auto", path, "-o", tmp_path / "out")
    assert is_clean((tmp_path / "out" / "trace.json").read_bytes())


def test_why_masks_what_the_trace_masks(tmp_path: Path) -> None:
    word = "Wq7-" + secrets.token_hex(3) + "-zebra"
    log = small()
    log.calls("Bash", {"command": f"mysql -u root --password={word} shop"}, "ok")
    log.calls("Bash", {"command": "cat note"}, f"remember {word} well")
    path = written(tmp_path, log.bytes())
    run("auto", path, "-o", tmp_path / "out", "-q")
    whole = (tmp_path / "out" / "trace.json").read_text("utf-8")
    assert word not in whole
    last = json.loads(whole)["steps"][-1]["step"]
    said = run("show", tmp_path / "out", "--step", last, "--why", "output", "--source", path)
    assert word not in said.stdout


def test_a_placeholder_of_the_log_is_no_placeholder_of_ours(tmp_path: Path) -> None:
    log = small()
    log.says(f"[CREDENTIAL_1] and {CANARY}")
    said = holds(tmp_path, log.bytes())["steps"][-1]["input"]
    assert said.startswith("[CREDENTIAL_1] and [CREDENTIAL_")
    assert said != "[CREDENTIAL_1] and [CREDENTIAL_1]"


def test_a_number_that_json_lacks_is_no_bare_word_in_any_file(tmp_path: Path) -> None:
    log = small()
    log.calls("Bash", {"command": "ls", "wait": "INF", "size": 2**70})
    log.says("and now", odd="NAN")
    data = log.bytes().replace(b'"INF"', b"-Infinity").replace(b'"NAN"', b"NaN")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    holds(tmp_path, data)
    for name in ("trace.json", "manifest.json"):
        json.loads((tmp_path / "out" / name).read_bytes(), parse_constant=refuse)
    assert str(2**70).encode() in (tmp_path / "out" / "trace.json").read_bytes()


# the collection beside the checkout


def cells() -> list[Row]:
    """The rows of the collection's manifest."""
    if not ARCHIVE.is_file():
        return []
    with tarfile.open(ARCHIVE) as archive:
        manifest = archive.extractfile("manifest.jsonl")
        assert manifest is not None
        return [json.loads(line) for line in manifest.read().splitlines()]


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


CONVERTS = {
    "files/json/deep_array_500.jsonl": 0,
    "files/json/deep_array_1200.jsonl": 0,
    "files/json/deep_array_20000.jsonl": 0,
    "files/json/deep_object_20000.jsonl": 0,
    "files/json/truncated_last_line.jsonl": 0,
    "files/json/truncated_in_escape.jsonl": 0,
    "files/json/truncated_in_utf8.jsonl": 0,
    "files/json/garbage_lines.jsonl": 0,
    "files/json/array_named_jsonl.jsonl": 0,
    "files/json/line_separators.jsonl": 0,
    "files/json/crlf_and_cr.jsonl": 0,
    "files/enc/utf8_bom.jsonl": 0,
    "files/enc/utf16le_bom.jsonl": 0,
    "files/enc/latin1.jsonl": 0,
    "files/enc/invalid_utf8.jsonl": 0,
    "files/enc/nul_hole.jsonl": 0,
    "files/graph/cycles.jsonl": 0,
    "files/graph/chain_5000.jsonl": 0,
    "files/graph/times.jsonl": 0,
    "files/paths/artifact_names.jsonl": 0,
    "files/paths/ids_as_names.jsonl": 0,
    "files/terminal/ansi.jsonl": 0,
    "files/json/empty.jsonl": 65,
    "files/json/only_bom.jsonl": 65,
    "files/zip/concat.jsonl.gz": 0,
    "files/zip/truncated.jsonl.gz": 0,
    "files/zip/bomb.jsonl.gz": 65,
    "files/zip/bomb_20MB.zip": 65,
    "files/zip/traversal.zip": 65,
    "files/zip/traversal.tar.gz": 65,
    "files/code/evil.pkl": 65,
    "files/code/evil.yaml": 65,
    "files/code/bomb.yaml": 65,
    "files/sqlite/view_bomb.db": 65,
    "files/sqlite/corrupt.db": 65,
    "files/sqlite/not_a_db.db": 65,
}
"""What must come of a file, where the collection's manifest leaves no choice."""

HALVES = "files/secrets/two_halves.jsonl"
"""Both halves of a token stand apart, and the whole only in a record that is left out."""


@pytest.mark.corpus
@pytest.mark.skipif(not ARCHIVE.is_file(), reason="no hostile files beside this checkout")
@pytest.mark.parametrize("cell", cells(), ids=lambda cell: Path(cell["file"]).name)
def test_a_hostile_file_ends_in_a_trace_or_one_line(
    cell: Row, collection: Path, tmp_path: Path
) -> None:
    name = cell["file"]
    before = files(collection)
    command = [sys.executable, "-m", "forsy_retrace", "auto", collection / name]
    done = subprocess.run(
        [*command, "-o", tmp_path / "out"],
        capture_output=True,
        timeout=60,
        preexec_fn=limited,
        cwd=tmp_path,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 65)
    assert done.returncode == CONVERTS.get(name, done.returncode)
    assert (tmp_path / "out").exists() is (done.returncode == 0)
    assert done.stderr.count(b"\n") == (done.returncode != 0)
    assert files(collection) == before
    seen = [done.stdout, done.stderr]
    for path in tmp_path.rglob("*"):
        seen.append(os.fsencode(path.relative_to(tmp_path)))
        seen.append(path.read_bytes() if path.is_file() else b"")
    canary = cell.get("canary", "").encode()
    assert not canary or canary not in b"\n".join(seen)
    if done.returncode == 0:
        assert found_problems(tmp_path / "out") == []
        assert verify(tmp_path / "out", collection / name) == []


@pytest.mark.corpus
@pytest.mark.skipif(not ARCHIVE.is_file(), reason="no hostile files beside this checkout")
def test_halves_of_a_token_are_masked_in_the_collection(collection: Path, tmp_path: Path) -> None:
    done = run("auto", collection / HALVES, "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0
    text = (tmp_path / "out" / "trace.json").read_text("utf-8")
    (canary,) = {cell["canary"] for cell in cells() if "canary" in cell}
    assert canary[:16] not in text


@pytest.mark.parametrize("options", ODD, ids=lambda odd: json.dumps(odd)[:12])
def test_a_question_may_offer_anything(options: Any, tmp_path: Path) -> None:
    log = small()
    name = "toolu_000000000099"
    asked = {"questions": [{"question": "Which one?", "options": options}]}
    log.answers({"type": "tool_use", "id": name, "name": "AskUserQuestion", "input": asked})
    answer = {"type": "tool_result", "tool_use_id": name, "content": "the first"}
    answers = {**asked, "answers": {"Which one?": "the first"}}
    log.add(type="user", message={"role": "user", "content": [answer]}, toolUseResult=answers)
    holds(tmp_path, log.bytes())
