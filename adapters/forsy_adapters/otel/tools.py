"""A tool's run as its span tells it: of which call, what it was given, what came of it."""

from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import arguments, content_text
from forsy_retrace.sdk import Known, opened, words

from .messages import CHOICE, given, placed, said
from .names import CALL, RESULT, SENT, TOOL
from .parts import Part, status, told_by
from .spans import Leaf, Span

TOOLS: dict[str, Known] = {
    # What programs mostly name their tools for commands, code and files.
    "execute_bash": "bash",
    "run_bash": "bash",
    "run_command": "bash",
    "run_shell": "bash",
    "run_shell_command": "bash",
    "execute_command": "bash",
    "execute_shell": "bash",
    "shell_exec": "bash",
    "shell": "bash",
    "execute_code": "python",
    "execute_python": "python",
    "python_interpreter": "python",
    "python_repl": "python",
    "run_code": "python",
    "run_python": "python",
    "read_file": "Read",
    "file_read": "Read",
    "write_file": "Write",
    "file_write": "Write",
    "create_file": "Write",
    "edit_file": "Edit",
    "list_directory": "LS",
    "list_dir": "LS",
    "list_files": "LS",
}
SHELLS = ("bash", "PowerShell", "python")
"""Tools that return what a command printed, whether it worked or not."""
WORD = "gen_ai.tool.status"
"""The word of Strands Agents on how a call ended."""


class Run(NamedTuple):
    """One run of a tool."""

    tool: str
    named: str | None
    call: str
    """The id of the call that it answers; empty where the span names none."""
    sent: Any
    """What it was given; None where the span does not tell."""
    sent_at: str
    output: Part | None
    error: Part | None
    """What its span says went wrong, where it does not tell what came back."""
    verdict: Verdict


def run_of(span: Span) -> Run:
    """What a tool's span tells."""
    name, call = span.told(TOOL), span.text(CALL)
    sent, back = span.first(SENT), span.first(RESULT)
    for part in given(span):  # Strands Agents tells both as messages
        sent = sent or Leaf(part.value, part.pointer)
    for one in span.happened:
        if one.name == CHOICE:
            back = back or one.attributes.get("message")
    results = (part for part in said(span) if part.kind == "result")
    output = placed(_unwrapped(back), span) if back else next(results, None)
    if output is not None and not call:
        call = output.id
    told = span.error() if span.failed else None
    return Run(
        span.text(TOOL),
        name.pointer if name else None,
        call,
        None if sent is None or sent.value is None else arguments(sent.value),
        sent.pointer if sent else span.base,
        output,
        Part("result", "tool", told.value, told.pointer) if told else None,
        verdict(span, output, span.text(TOOL)),
    )


def _unwrapped(leaf: Leaf) -> Part:
    """The result, taken out of LangChain's message or of a list of one text."""
    value = leaf.value
    inner = opened(value) if isinstance(value, str) and value[:1] in "{[" else value
    match inner:
        case {"type": "tool", "data": {"content": content, **rest}}:
            base = leaf.pointer + "/data"
        case {"type": "tool", "content": content, **rest}:
            base = leaf.pointer
        case [{"text": str(text)}]:
            return Part("result", "tool", text, leaf.pointer + "/0/text")
        case _:
            told = told_by(value, leaf.pointer)
            return Part("result", "tool", value, leaf.pointer, verdict=told)
    call, word = words(rest.get("tool_call_id")), words(rest.get("status"))
    told = status(word, base + "/status")
    return Part("result", "tool", content, base + "/content", call, verdict=told)


def is_quoted(output: Part | None) -> bool:
    """Whether a result is the JSON of a text, as the Vercel AI SDK keeps it."""
    value = output.value if output else None
    return isinstance(value, str) and value[:1] == '"' and isinstance(opened(value), str)


def verdict(span: Span, output: Part | None, tool: str) -> Verdict:
    """An error of the span; else what the result says; else that the span ended without one."""
    if span.failed:
        return Verdict("failed", "error-code", span.base + span.code_at)
    found = output.verdict if output else Verdict()
    word = span.attributes.get(WORD)
    if found.outcome == "unknown" and word is not None:
        found = status(words(word.value), word.pointer)
    if found.outcome == "unknown" and span.ended is not None:
        found = Verdict("ok", "no-error", span.base)
    return of_tool(found, tool)


def of_tool(found: Verdict, tool: str) -> Verdict:
    """The verdict, but of a tool that runs commands the bare word that it returned."""
    returned_only = found.outcome == "ok" and found.exit_code is None
    return Verdict() if returned_only and TOOLS.get(tool, tool) in SHELLS else found


def output_text(output: Part | None) -> str | None:
    """What came back, as text."""
    if output is None or output.value is None:
        return None
    return content_text(opened(output.value) if is_quoted(output) else output.value)
