"""Mistral Vibe's sessions: `~/.vibe/logs/session/session_<time>_<id>/messages.jsonl`, or one JSON.

From 2.0 on a session is a folder: the messages, what the client knows of it (`meta.json`), and in
`agents/` a folder like it for each subagent; in 1.x all stands in `session_<time>_<id>.json`.
Their messages have no times. From 2.26 on a session is a store, `unified/<id>/` with `CURRENT`.
Learnt from 1.3.5, 2.18.4, 2.24.5 (interaction_logger, session_logger) and 3.0.2.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._vibe import META, is_vibes
from .messages import Reader
from .shapes import logs
from .unified import Store, files, is_store

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="sometimes",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="Mistral Vibe",
    stores=(
        "~/.vibe/logs/session/session_*/messages.jsonl",
        "~/.vibe/logs/session/session_*.json",
        "~/.vibe/logs/session/unified/*/CURRENT",
    ),
    cannot=(
        "when a call was made or words were said, before 2.26",
        "an error of the API before 2.26, and where the agent was stopped amid its words",
        "from 2.26 on, what the user went back from, calls that the client could not read, code by "
        "which the agent makes calls, and the work of subagents",
        "a summary before 2.18 that lacks the headings it was asked for",
        "which model answered before the last change of it",
        "which session one goes on from that repeats its messages, but for the last clients",
    ),
    tools={
        "read": "Read",
        "read_file": "Read",
        "write_file": "Write",
        "search_replace": "Edit",
        "edit": "Edit",
        "grep": "Grep",
        "git_bash": "bash",
        "bash_stdin": "write_stdin",
        "todo": "TodoWrite",
        "task": "Task",
        "skill": "Skill",
        "ask_user_question": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
        "webfetch": "WebFetch",
        "web_fetch": "WebFetch",
        "websearch": "WebSearch",
        "web_search": "WebSearch",
        "file_system.read_file": "Read",
        "file_system.write_file": "Write",
        "file_system.search_replace": "Edit",
        "file_system.grep": "Grep",
        "file_system.bash": "bash",
        "agents.spawn": "Task",
        "vibe.todo": "TodoWrite",
        "ui.ask_user_question": "AskUserQuestion",
        "vibe.skill": "Skill",
    },
)


def sniff(source: Source) -> bool:
    """A session as this client writes it, or the pointer to one's store."""
    return is_vibes(source) or _is_store(source)


def companions(source: Source) -> Iterator[Source]:
    """What the client knows of the session, and its subagents' folders; a store's other files."""
    if _is_store(source):
        yield from files(source)
    elif is_vibes(source):
        yield from source.called([META])
        yield from source.beside("agents/*/messages.jsonl")
        yield from source.beside("agents/*/meta.json")


def read(source: Source) -> Iterator[Event]:
    """The session's messages in order; a subagent's stand behind the call that started it."""
    beside = list(companions(source))
    if _is_store(source):
        yield from Store(source, beside).events()
        return
    main, *others = logs(source, beside)
    yield from Reader(main, others).events()


def _is_store(source: Source) -> bool:
    return any(is_store(one.value) for one in source.head)
