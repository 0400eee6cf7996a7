"""Cursor's editor database: `globalStorage/state.vscdb`, with all conversations of the editor.

A conversation is a row (`composerData:<id>`) that lists its messages; each message is a row of its
own (`bubbleId:<conversation>:<id>`), a call with what came of it in one. The conversations of
subagents are told within the one that sent them. The chats of before 2025 stand in a workspace's
database (`ItemTable`, `workbench.panel.aichat.view.aichat.chatdata`). The client itself was not
run: learnt from what readers of it wrote down and keep in their tests (versions 0.50 to 3.21, `_v`
3 to 18), and from the client's protobuf messages (`aiserver.v1`: RunTerminalCommandV2Result,
EditFileResult, ReadFileV2Result, MCPResult …) and handlers of calls (shellToolCallHandler,
editToolCallHandler, taskToolCallHandler, askQuestionToolCallHandler) as they were recovered from
its bundles. A field that only one of them knows is left alone.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._cursor import TOOLS
from .._history.rows import has_table
from .rows import ITEMS, STORE
from .teller import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="mostly",
    time="mostly",
    cwd="sometimes",
    reasoning="mostly",
    edits="mostly",
    subagents="mostly",
    harness="Cursor",
    stores=(
        "~/.config/Cursor/User/globalStorage/state.vscdb",
        "~/.config/Cursor/User/workspaceStorage/*/state.vscdb",
        "~/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "when a call ended",
        "who or what cancelled a call",
        "messages that the user took back, or that another answer replaced",
        "what was said before a summary that the agent no longer saw",
    ),
    tools={
        **TOOLS,
        "run_terminal_cmd": "bash",
        "run_terminal_command": "bash",
        "run_terminal_command_v2": "bash",
        "write_shell_stdin": "write_stdin",
        "read_file": "Read",
        "read_file_v2": "Read",
        "edit_file": "Edit",
        "edit_file_v2": "Edit",
        "search_replace": "Edit",
        "MultiEdit": "Edit",
        "edit_notebook": "Edit",
        "write": "Write",
        "list_dir": "LS",
        "list_dir_v2": "LS",
        "file_search": "Glob",
        "glob_file_search": "Glob",
        "grep": "Grep",
        "grep_search": "Grep",
        "ripgrep_search": "Grep",
        "ripgrep_raw_search": "Grep",
        "codebase_search": "Grep",
        "semantic_search_full": "Grep",
        "read_semsearch_files": "Grep",
        "search_symbols": "Grep",
        "web_search": "WebSearch",
        "web_fetch": "WebFetch",
        "todo_write": "TodoWrite",
        "todo_read": "TodoWrite",
        "create_plan": "TodoWrite",
        "task": "Task",
        "task_v2": "Task",
        "ask_question": "AskUserQuestion",
    },
)


def sniff(source: Source) -> bool:
    """A database with the table that only this editor has."""
    return source.is_database and has_table(source, STORE, "key", "value")


def accepts(source: Source) -> bool:
    """Also the database of a workspace of before 2025, which any editor of its kind has."""
    return sniff(source) or (source.is_database and has_table(source, ITEMS, "key", "value"))


def read(source: Source) -> Iterator[Event]:
    """Conversation by conversation, in the order in which they began."""
    yield from told(source)
