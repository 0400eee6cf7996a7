"""How logs tell that a call ended well or not: the rules of adapters, each with what it says.

Adapters of others may name rules of their own; one that bears a name of these is held to it.
"""

from typing import NamedTuple


class Ending(NamedTuple):
    """A rule by its name, what it says, and the one thing that it can say; None: either."""

    name: str
    sentence: str
    worked: bool | None = None


ENDINGS = (
    Ending("exit-status", "The exit status that a shell's history holds: 0 is a success."),
    Ending("exit-code", "The exit code in a field of its own: 0 is a success."),
    Ending("exit-code-told", "The exit code in the harness's words around the output."),
    Ending("exit-code-in-output", "The exit code in a line that the client adds to the output."),
    Ending(
        "background-exit-code",
        "The exit code in the notice that a command in the background has ended.",
    ),
    Ending("exit-mark", "The exit code in the shell's own mark behind the output."),
    Ending("status-shown", "The exit status that the next command printed."),
    Ending("status", "The harness's word for how the call ended."),
    Ending("browser-status", "The browser's word for how the call ended."),
    Ending("aggregate-result", "What the code interpreter says of its run."),
    Ending("http-status", "The HTTP status: 200 to 399 is a success."),
    Ending("error-flag", "The flag that says whether the result is an error."),
    Ending("no-error-flag", "The result has no flag, which this harness sets on errors alone."),
    Ending("no-error", "The result names no error, which this harness names where there is one."),
    Ending("server-says-error", "The MCP server's own flag in its answer."),
    Ending("wait-ended", "The flag that says whether a wait ran out of time."),
    Ending("success-flag", "The flag that says whether the call worked."),
    Ending("success-field", "The field of the answer that says whether the call worked."),
    Ending("error-field", "The field of the answer that holds an error, or none."),
    Ending("result-kind", "Whether the record holds a result or an error."),
    # What only ever tells of a success.
    Ending("agent-reached", "The subagent got the words.", True),
    Ending("answered", "The user answered.", True),
    Ending("canvas-says-done", "The canvas says that it did what was asked.", True),
    Ending("code-ended", "The code that made the call ran to its end.", True),
    Ending("edit-applied", "The harness says that it applied the edit.", True),
    Ending("file-updated", "The editor says that it updated the file.", True),
    Ending("goal-told", "The client told the goal.", True),
    Ending("handed-in", "The work was handed in.", True),
    Ending("matches-told", "The search tells how many matches it found.", True),
    Ending("message-taken", "The message was taken.", True),
    Ending("no-error-text", "No error came back, which this tool brings where it fails.", True),
    Ending("no-exit-code", "No exit code is shown; this client shows every other than 0.", True),
    Ending("no-output", "The harness says that the command ran and printed nothing.", True),
    Ending("picture-shown", "A picture came back.", True),
    Ending("plan-updated", "The client says that it took the plan.", True),
    Ending("process-read", "The output of a command that runs on was read.", True),
    Ending("said-done", "The harness says that it was done.", True),
    Ending("server-tool-result", "The provider's own tool brought its result.", True),
    Ending("slept", "The client says that the wait is over.", True),
    Ending("submitted", "The run ended by handing in its work.", True),
    Ending("terminal-read", "The screen of a terminal was read.", True),
    Ending("window-shown", "The editor shows its window on the file.", True),
    Ending("words-delivered", "The words were delivered.", True),
    # What only ever tells that it did not work, or never ran.
    Ending("aborted", "The harness says that the call was aborted.", False),
    Ending("aborted-by-user", "The user aborted the call.", False),
    Ending("approval-policy", "The policy on approvals let nobody allow the call.", False),
    Ending("background-status", "The notice of its end says that the command failed.", False),
    Ending("canvas-says-failed", "The canvas says that it failed.", False),
    Ending("check-failed", "The client tells what its linter or test found.", False),
    Ending("denial-kind", "The log names how the call was denied.", False),
    Ending("denied", "The call was denied.", False),
    Ending("edit-failed", "The editor says that it failed.", False),
    Ending("edit-refused", "The edit did not fit, and was refused.", False),
    Ending("editor-error", "The editor says that there is an error.", False),
    Ending("error-code", "The client's code for an error.", False),
    Ending("error-step", "The step is an error.", False),
    Ending("error-text", "The result is an error in the harness's own words.", False),
    Ending("exited-with-error", "The client says that the command ended with an error.", False),
    Ending("file-not-shown", "The reader says that it did not show the file.", False),
    Ending("hook-blocked", "A hook blocked the call.", False),
    Ending("input-refused", "The arguments were refused.", False),
    Ending("interrupted", "The call was interrupted.", False),
    Ending("interrupted-by-user", "The user interrupted the call.", False),
    Ending("interrupted-flag", "The flag that says that it was interrupted.", False),
    Ending("never-started", "The harness says that the call never started.", False),
    Ending("no-such-tool", "There is no tool of that name.", False),
    Ending("nobody-answered", "Nobody answered the question in time.", False),
    Ending("not-applied", "The edit was not applied.", False),
    Ending("not-permitted", "The permissions do not allow the call.", False),
    Ending("not-supported", "The environment does not support the command.", False),
    Ending("patch-refused", "The patch did not fit, and was refused.", False),
    Ending("plan-not-approved", "The user did not approve the plan.", False),
    Ending("prompt-aborted", "The question whether to allow the call was aborted.", False),
    Ending("refused", "The environment refused the command.", False),
    Ending("rejected-by-user", "The user turned the call down.", False),
    Ending("sandbox-denied", "The sandbox did not let the command do it.", False),
    Ending("script-failed", "The script that made the calls failed.", False),
    Ending("sent-back", "The work was sent back.", False),
    Ending("sibling-failed", "Another call of the message failed, and this one was left.", False),
    Ending("signal", "A signal ended the command.", False),
    Ending("stayed-in-plan-mode", "The user chose to stay in plan mode.", False),
    Ending("system-error", "The message is an error of the system.", False),
    Ending("terminate-reason", "The reason for which the subagent ended.", False),
    Ending("timed-out", "The time for the call ran out.", False),
    Ending("timeout-triggered", "The code interpreter says that the time ran out.", False),
    Ending("wrong-flag", "A flag of the command was wrong, as the environment says.", False),
)
"""Every rule of the bundled adapters that tells an outcome."""
