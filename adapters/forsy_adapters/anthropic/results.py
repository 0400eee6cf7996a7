"""What calls brought back: results that a program sent, and those of the API's own tools."""

from typing import Any, NamedTuple

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import attachments, texts
from forsy_retrace.events import Event, Origin, Skipped, ToolResult
from forsy_retrace.sdk import later, number, text_of, words

from .found import ANSWERS, Json

CODES = ("return_code", "exit_code", "returncode")
PRINTED = ("stdout", "stderr")
EXIT = later(r"Exit code (\d{1,3})(?:\n|\Z)")
PAGE = ("title", "url")


class Piece(NamedTuple):
    """A text of a result, and where it stands below its block."""

    text: str
    path: str


def is_result(block: Any) -> bool:
    """A block that answers a call."""
    match block:
        case {"type": str(kind), "tool_use_id": str()}:
            return kind.endswith(ANSWERS)
    return False


def result(calls: Calls, block: Json, here: Origin) -> Event:
    """The answer to a call; its texts are joined by blank lines."""
    call = calls.answer(block["tool_use_id"])
    if call is None:
        return Skipped(here, "a result, and no word of which call's")
    pieces = [one for one in _pieces(block.get("content")) if one.text.strip()]
    verdict = _verdict(block)
    base = here.evidence.pointer
    paths = [one.path for one in pieces] or ["/content" if "content" in block else ""]
    return ToolResult(
        here.joining(paths),
        call,
        "\n\n".join(one.text for one in pieces) if pieces else _nothing(block),
        verdict.outcome,
        verdict.rule,
        base + verdict.basis,
        verdict.exit_code,
        attachments=attachments(block.get("content"), base + "/content"),
    )


def _nothing(block: Json) -> str | None:
    """An empty answer is one; none is not."""
    return "" if block.get("content") in ("", []) else None


def _pieces(content: Any) -> list[Piece]:
    """The texts of a result: words, pages that were found, what was printed, what went wrong."""
    match content:
        case None | "" | []:
            return []
        case str():
            return [Piece(content, "/content")]
        case {"error_code": str(code)}:
            return [Piece(code, "/content/error_code")]
        case dict() if found := _named(content, PRINTED, "/content"):
            return found
        case {"content": str(text)}:
            return [Piece(text, "/content/content")]
        case {"text": str(text)}:
            return [Piece(text, "/content/text")]
        case dict() if found := _named(content, PAGE, "/content"):
            return found
        case list():
            words_in = [Piece(text, f"/content{path}") for path, text in texts(content)]
            pages = [
                piece
                for index, one in enumerate(content)
                if isinstance(one, dict) and one.get("type") != "text"
                for piece in _named(one, PAGE, f"/content/{index}")
            ]
            return words_in + pages
    return [Piece(text_of(content), "/content")]


def _named(held: Json, keys: tuple[str, ...], base: str) -> list[Piece]:
    return [Piece(held[key], f"{base}/{key}") for key in keys if words(held.get(key))]


def _verdict(block: Json) -> Verdict:
    """An exit code of the API's own tools, the code of an error, or the flag of a result."""
    content = block.get("content")
    held = content if isinstance(content, dict) else {}
    for key in CODES:
        if (code := number(held.get(key))) is not None:
            return Verdict("failed" if code else "ok", "exit-code", f"/content/{key}", code)
    if words(held.get("error_code")):
        return Verdict("failed", "error-field", "/content/error_code")
    match block.get("is_error"):
        case True if headed := _headed(content):
            return headed
        case bool(flag):
            return Verdict("failed" if flag else "ok", "error-flag", "/is_error")
    return Verdict()


def _headed(content: Any) -> Verdict | None:
    """The exit code that stands above what a failed command printed, as Claude Code writes it."""
    piece = next(iter(_pieces(content)), Piece("", ""))
    found = EXIT.match(piece.text)
    code = int(found[1]) if found else 0
    return Verdict("failed", "exit-code-in-output", piece.path, code) if code else None
