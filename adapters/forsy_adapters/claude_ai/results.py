"""What a call brought back: its text, and whether it worked."""

from itertools import chain
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import attachments
from forsy_retrace.events import Origin, ToolResult
from forsy_retrace.sdk import number, parsed, pointer, text_of, words

from .tree import Json

SHELL = "bash_tool"


class Piece(NamedTuple):
    """A text of a result, and where it stands below the block."""

    text: str
    path: str


def result(block: Json, here: Origin, call: str, tool: str) -> ToolResult:
    """The answer to a call; its texts are joined by blank lines."""
    run = _run(block) if tool == SHELL else None
    pieces = _printed(run) if run else _pieces(block)
    told = [one for one in pieces if one.text.strip()] or pieces[:1]
    media = attachments(block.get("content"), here.below("/content").evidence.pointer)
    verdict = _verdict(block, run, tool)
    return ToolResult(
        here.joining([one.path for one in told]),
        call,
        "\n\n".join(one.text for one in told) if told else None,
        verdict.outcome,
        verdict.rule,
        here.evidence.pointer + verdict.basis,
        verdict.exit_code,
        attachments=media,
    )


def _run(block: Json) -> Json | None:
    """How a command of the sandbox ended: an object in the text of the result."""
    match block.get("content"):
        case [{"type": "text", "text": str(text)}]:
            run = parsed(text)
            match run:
                case {"returncode": int(), "stdout": str(), "stderr": str()}:
                    return dict(run)
    return None


RUN = "/content/0/text"


def _printed(run: Json) -> list[Piece]:
    return [Piece(run[name], f"{RUN}/{name}") for name in ("stdout", "stderr")]


def _pieces(block: Json) -> list[Piece]:
    """The texts of what came back; with pictures or unknown parts in it, all of it as one."""
    content = block.get("content")
    listed = content if isinstance(content, list) else []
    if content is None:
        return []
    found = [_parts(at, part) for at, part in enumerate(listed)]
    if found and all(found):
        return list(chain.from_iterable(found))
    return [Piece(text_of(content), "/content")]


def _parts(at: int, part: Any) -> list[Piece]:
    """The texts of a part; of a page that was found, its title and address too."""
    match part:
        case {"type": "text", "text": str(text)}:
            return [Piece(text, pointer("content", at, "text"))]
        case {"type": "knowledge"}:
            keys = [key for key in ("title", "url", "text") if words(part.get(key))]
            return [Piece(part[key], pointer("content", at, key)) for key in keys]
    return []


def _verdict(block: Json, run: Json | None, tool: str) -> Verdict:
    """A command's own exit code before the flag, which says of it only that it ran."""
    if run is not None:
        code = number(run["returncode"])
        if code is not None:
            return Verdict("failed" if code else "ok", "exit-code", f"{RUN}/returncode", code)
    match block.get("is_error"):
        case True:
            return Verdict("failed", "error-flag", "/is_error")
        case False if tool != SHELL:
            return Verdict("ok", "error-flag", "/is_error")
    return Verdict()
