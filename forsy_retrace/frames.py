"""What harnesses write around the output of a call, which is none of it."""

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
STATUS = later(r"<returncode>-?\d{1,10}</returncode>\s*<output>\n?")
"""What mini-swe-agent writes above each output."""


def below_header(output: str) -> str:
    """An output without what Codex writes above it."""
    return HEADER.sub("", output)


def shown_of(output: str) -> str:
    """An output without what its harness writes around each: the exit status, a prompt."""
    if output[:1] == "<" and (head := STATUS.match(output)):
        whole = output.rstrip()
        return whole[head.end() : -len("</output>")] if whole.endswith("</output>") else output
    output = output.removeprefix("OBSERVATION:\n")
    if not output[-20:].rstrip().endswith("bash-$"):
        return output
    behind = PROMPT.search(output, max(0, len(output) - MOST_PROMPT))
    return output[: behind.start()] if behind else output
