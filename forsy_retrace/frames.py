"""What harnesses write around the output of a call, which is none of it."""

from typing import Any, Literal

import msgspec

from forsy_retrace.patterns import later

HEADER = later(
    r"\A(?:Script \w+(?: with cell ID \w+)?\nWall time .*\nOutput:\n\n?(?:Script error:\n)?"
    r"|(?:Chunk ID: .*\n)?(?:Exit code: -?\d+\n)?(?:Wall time:? .*\n)?(?:Process .*\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n)"
)
"""What Codex writes above the output of a command."""
PROMPT = later(r"(?:\A|\n)(?:\([A-Z][a-z ]{2,40}: .*\)\n){1,6}bash-\$\s*\Z")
"""What SWE-agent writes behind each output: the open file, where it stands, and a prompt.

Later versions write `OBSERVATION:` above it instead.
"""
MOST_PROMPT = 4000
RESET = later(r"(?:\A|\n)Shell cwd was reset to [^\n]{1,1000}\s*\Z")
"""What Claude Code writes behind an output where the command had left the folders of the work."""
MOST_RESET = 1100
USAGE = later(r"(?:\A|\n)<usage>total_tokens: [^<]{1,300}</usage>\s*\Z")
"""What Claude Code writes behind the report of a subagent: how many tokens and tools it used."""
MOST_USAGE = 400
ENDED = later(
    r"(?:\A|\n)(?:\[(?:(?:The )?[Cc]ommand |Current working directory: |Python interpreter: )"
    r"[^\n]*\]\s*){1,6}\Z"
)
"""What OpenHands writes behind the output of a command: how it ended, and where."""
MOST_ENDED = 2000
FOLDER = later(r"(?:(?:\A|\n)Exit code -?\d{1,10})?\n\n<cwd>[^<\n]{0,4000}</cwd>\s*\Z")
"""What Crush writes behind the output of a command: its status where it failed, and where it is."""
MOST_FOLDER = 4200
EXITED = later(r"(?:\A|\n\n?)\(?Command exited with code -?\d{1,10}\)?\s*\Z")
"""What Pi and OpenClaw write behind the output of a command that failed."""
PROCESS = later(r"(?:\A|\n\n?)\[Process exited with code -?\d{1,10}\]\s*\Z")
BROKE = later(r"Error: Command failed \(exit code: -?\d{1,10}\)(?:\n|\Z)")
DONE = "Command completed successfully"
"""What Droid writes behind the output of a command, above that of one that failed, and for none."""
SHORT = 200
"""Characters that hold the whole of nearly any last line."""
STATUS = later(r"<returncode>-?\d{1,10}</returncode>\s*<output>\n?")
"""What mini-swe-agent writes above each output."""
UNTRUSTED = ("<untrusted_context>\n", "</untrusted_context>")
"""What Gemini CLI writes around all that comes from without."""
ABOVE = later(r"(?:Command: [\s\S]{0,20000}?\nDirectory: .*\n)?Output: ")
GROUP = later(
    r"(?:\nError: .*)?(?:\nExit Code: \S{1,20})?(?:\nSignal: \S{1,20})?"
    r"(?:\nBackground PIDs: .*)?\nProcess Group PGID: \S{1,20}\s*\Z"
)
"""What it writes above and below the output of a command; some of it only where there is any."""
MOST_GROUP = 2000
FIELDS = later(r"(?:command: [\s\S]{0,20000}?\n(?:shell: .*\n)?(?:exit_code: .*\n)?)?stdout: ")
CODE = later(r"\nreturncode: -?\d{1,10}\s*\Z")
"""What Mistral Vibe writes above and below the output of a command that worked."""
FAILED = later(
    r"<tool_error>\w{1,80} failed: Command failed: .*\nReturn code: -?\d{1,10}\n?(?:Stderr: )?"
)
"""And above that of one that failed: what it printed as errors comes first."""

ANSWERS = ('"stdout"', '"output"', '"content_returned": false')
"""Names without one of which an answer in JSON holds nothing that was printed."""
BEHIND_JSON = "}\n\n["
"""Where Hermes Agent begins a note of its own behind a tool's answer in JSON."""


class _Text(msgspec.Struct):
    """A text part, as a server of tools sends it and Codex writes it out."""

    type: Literal["text"]
    text: str


_PARTS = msgspec.json.Decoder(list[_Text])


def below_header(output: str) -> str:
    """An output without what Codex writes above it."""
    return HEADER.sub("", output)


def shown_of(output: str) -> str:
    """An output without what its harness writes around it: the exit status, a prompt, a folder."""
    if output[:1] == "<" and (head := STATUS.match(output)):
        whole = output.rstrip()
        return whole[head.end() : -len("</output>")] if whole.endswith("</output>") else output
    if output.startswith(("command: ", "stdout: ", "<tool_error>")):
        return _told_in_fields(output)
    if output[:2] == "[{" and output[-2:] == "}]":
        return _said(output)
    if output[:1] == "{" and any(name in output for name in ANSWERS):
        return _ran(output)
    if output[:2] == "<u" and output.startswith(UNTRUSTED[0]):
        output = output[len(UNTRUSTED[0]) :].rstrip().removesuffix(UNTRUSTED[1]).rstrip("\n")
    output = output.removeprefix("OBSERVATION:\n")
    end, behind = output[-SHORT:].rstrip(), None
    last = end[-1:]  # told first: most outputs have nothing behind them
    if last == "$" and end.endswith("bash-$"):
        behind = PROMPT.search(output, max(0, len(output) - MOST_PROMPT))
    elif last == ">" and end.endswith("</usage>"):
        behind = USAGE.search(output, max(0, len(output) - MOST_USAGE))
    elif "Command exited with code " in end:
        behind = EXITED.search(output, max(0, len(output) - SHORT))
    elif last == "]" and "[Process exited with code " in end:
        behind = PROCESS.search(output, max(0, len(output) - SHORT))
        text = BROKE.sub("", output[: behind.start()] if behind else output, 1)
        return "" if text == DONE else text
    elif last == ">" and end.endswith("</cwd>"):
        behind = FOLDER.search(output, max(0, len(output) - MOST_FOLDER))
    elif "\nProcess Group PGID: " in end:
        behind = GROUP.search(output, max(0, len(output) - MOST_GROUP))
        if behind and (above := ABOVE.match(output)):
            text = output[above.end() : behind.start()]
            return "" if text == "(empty)" else text
    elif last == "]" and "[Current working directory: " in output[-MOST_ENDED:]:
        behind = ENDED.search(output, max(0, len(output) - MOST_ENDED))
    elif "Shell cwd was " in (end if "\n" in end else output[-MOST_RESET:]):
        behind = RESET.search(output, max(0, len(output) - MOST_RESET))
    return output[: behind.start()] if behind else output


def _told_in_fields(output: str) -> str:
    """What a command printed, where Mistral Vibe tells it in fields, one behind the other."""
    if head := FAILED.match(output):
        inner = output[head.end() :].rstrip().removesuffix("</tool_error>")
        return inner.removeprefix("Stdout: ").replace("\nStdout: ", "\n", 1)
    head, end = FIELDS.match(output), CODE.search(output, max(0, len(output) - SHORT))
    if head is None or end is None:
        return output
    printed, _, errors = output[head.end() : end.start()].rpartition("\nstderr: ")
    return "\n".join(filter(None, (printed, errors)))


def _said(output: str) -> str:
    """The texts of an output that is nothing but a list of text parts."""
    try:
        return "\n".join(part.text for part in _PARTS.decode(output))
    except msgspec.MsgspecError:
        return output


def _ran(output: str) -> str:
    """What commands printed, where their tool answers in JSON: an object, or one a line."""
    whole, end = output, output.find(BEHIND_JSON)
    output = output[: end + 1] if end > 0 else output
    try:
        told = [msgspec.json.decode(output)]
    except msgspec.MsgspecError:
        try:
            told = msgspec.json.Decoder().decode_lines(output)
        except msgspec.MsgspecError:
            return whole
    printed = [_printed(one) for one in told]
    return whole if None in printed else "\n".join(filter(None, printed))


def _printed(answer: Any) -> str | None:
    match answer:
        case (
            {"stdout": str(text)}
            | {"output": str(text), "exit_code": _}
            | {"output": str(text), "returncode": _}
            | {"output": str(text), "metadata": {"exit_code": _}}
        ):
            beside = (answer.get("stderr"), answer.get("error"))
            return "\n".join([text, *(one for one in beside if one and isinstance(one, str))])
        case {"content_returned": False, "message": str(text)}:
            return text
    return None
