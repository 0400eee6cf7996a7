"""Logs of Anthropic's Messages API: requests, replies, both together, and lists of messages.

They lie wherever a program wrote them: message lists bare or within a request, replies, batches and
their results, one a line or one a file. A request repeats the whole conversation: what it holds of
one that was told before is told once. Replies may be streams, as claude-trace keeps them. Learnt
from the types of the SDK for Python 2.14 (`types`, `types/beta`) and claude-trace 1.0.9.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .found import is_ours
from .log import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="sometimes",
    time="rarely",
    cwd="no",
    reasoning="mostly",
    edits="no",
    subagents="no",
    harness="Anthropic's API",
    stores=("wherever the program that called the API wrote it", ".claude-trace/*.jsonl"),
    cannot=(
        "whether a call worked, unless its result says so",
        "when each message was sent, unless the program noted it",
        "where the agent worked, and which files its tools changed",
        "which messages in the user's role a person typed and which a program wrote",
        "reasoning that the provider keeps encrypted",
    ),
    marks_people=False,
    tools={
        "bash_code_execution": "bash",
        "code_execution": "python",
        "execute_bash": "bash",
        "execute_command": "bash",
        "run_bash": "bash",
        "run_command": "bash",
        "execute_python": "python",
        "python_interpreter": "python",
        "run_python": "python",
        "read_file": "Read",
        "write_file": "Write",
        "create_file": "Write",
        "edit_file": "Edit",
        "list_directory": "LS",
        "list_files": "LS",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
    },
)


def sniff(source: Source) -> bool:
    """Messages with this API's own blocks, its requests or its replies."""
    return any(is_ours(record.value) for record in source.head if not record.problem)


def read(source: Source) -> Iterator[Event]:
    """Conversation by conversation, in the order in which they began."""
    yield from told(source)
