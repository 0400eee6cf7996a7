"""Logs in the shape of OpenAI's API: chat messages, responses, streams, recorded exchanges.

They lie wherever a program dumped them: message lists bare or in one of many wrappers, JSON lines
of requests that repeat the whole history, batch files, rows for tuning (ShareGPT's too), SWE-agent
trajectories, Assistants threads, Agents SDK traces. Call ids repeat, results lack flags, and times
are rare. Learnt from logs of 2023 to 2026 by OpenAI, vLLM, Groq, OpenRouter, DeepSeek, SWE-agent,
ToolBench, Hermes Agent.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._vibe import is_vibes
from . import log
from .sessions import WHEN
from .shapes import is_foreign, is_ours
from .swe_agent.tools import FILES, PLACE

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="rarely",
    time="sometimes",
    cwd="no",
    reasoning="sometimes",
    edits="no",
    subagents="no",
    harness="OpenAI-style API",
    cannot=(
        "whether a call worked, unless its result says so",
        WHEN,
        PLACE,
        FILES,
        "which messages in the user's role a person typed and which a program wrote",
        "reasoning that the provider keeps encrypted",
    ),
    tools={
        # What programs that call the API mostly name their tools for commands, code and files.
        "execute_bash": "bash",
        "run_bash": "bash",
        "run_command": "bash",
        "run_shell": "bash",
        "execute_shell": "bash",
        "shell_exec": "bash",
        "code": "python",
        "execute_code": "python",
        "execute_python": "python",
        "python_interpreter": "python",
        "run_code": "python",
        "run_python": "python",
        "read_file": "Read",
        "write_file": "Write",
        "create_file": "Write",
        "edit_file": "Edit",
        "list_directory": "LS",
        "list_dir": "LS",
        "list_files": "LS",
    },
    stores=("wherever the program that called the API wrote it",),
)


def sniff(source: Source) -> bool:
    """Messages, replies, streams or spans of this API, and no other harness's records."""
    records = [record for record in source.head if not record.problem]
    if any(is_foreign(one.value) for one in records) or is_vibes(source):
        return False
    return any(map(is_ours, records))


def read(source: Source) -> Iterator[Event]:
    """The log's conversations one after the other, each in its own order."""
    yield from log.read(source)
