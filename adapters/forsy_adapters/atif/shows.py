"""What trajectories can show."""

from forsy_retrace.sdk import Shows

WORKED = "whether a call worked: the form has no flag, only some outputs tell an exit code"
PLACE = "where the agent worked"
SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="rarely",
    time="sometimes",
    cwd="no",
    reasoning="sometimes",
    edits="sometimes",
    subagents="mostly",
    harness="ATIF",
    stores=("trajectory.json", "jobs/*/*/result.json of Harbor"),
    cannot=(
        WORKED,
        "whether a person or a program wrote the user's turns",
        PLACE,
    ),
    marks_people=False,
    tools={
        "bash_command": "bash",
        "execute_bash": "bash",
        "execute_ipython_cell": "bash",
        "shell_exec": "bash",
        "read_file": "Read",
        "read": "Read",
        "write_file": "Write",
        "write": "Write",
        "edit": "Edit",
        "replace": "Edit",
        "str_replace_editor": "Edit",
        "glob": "Glob",
        "list_directory": "LS",
        "ls": "LS",
        "search_file_content": "Grep",
        "grep": "Grep",
        "google_web_search": "WebSearch",
        "web_fetch": "WebFetch",
        "task": "Task",
        "task_tracker": "TodoWrite",
        "mark_task_complete": "finish",
        "task_complete": "finish",
        "submit": "finish",
        "attempt_completion": "finish",
    },
)
