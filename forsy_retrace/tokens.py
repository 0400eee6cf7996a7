"""How many tokens a text has: exact where o200k_base's table is on disk, else a stated estimate.

Nothing here goes to the network. What decides about a trace's text (`fits`, `head_and_tail`) goes
by the estimate alone, so that the same log gives the same trace on every machine; only the figures
of `count` depend on the table.
"""

import binascii
import gzip
import hashlib
import importlib.util
import os
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later

if TYPE_CHECKING:
    import tiktoken

# From tiktoken_ext.openai_public.o200k_base, which would fetch the table when called.
TABLE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
TABLE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        + CONTRACTION,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        + CONTRACTION,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

ESTIMATE = "estimate: utf-8 bytes / 3.5"
EXACT = f"tiktoken o200k_base; texts over 4 MB: {ESTIMATE}"
LOGGED = "the log's own usage; of several figures for one message, the largest"
EXACT_UP_TO = 4_000_000  # bytes
PIECE = 250_000  # characters, at most 1 MB
BLANKS = 100_000  # tiktoken's regex overflows its stack on longer runs of white space
LONG_BLANKS = later(rf"\s(?<!\s\s)\s{{{BLANKS - 1},}}+")
INSIDE = bytes(range(0x80, 0xC0))  # the bytes of a character after its first
NEAR = 8  # a cut moves to the end of a line within an eighth of its part


ESTIMATING: ContextVar[bool] = ContextVar("ESTIMATING", default=False)


def count(text: str) -> int:
    """Tokens of a text, by the method that `method` names."""
    size = _size(text)
    if size > EXACT_UP_TO or ESTIMATING.get() or (encoding := _encoding()) is None:
        return _estimate(size)
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def method() -> str:
    """How `count` counts on this machine, in words for the manifest."""
    return EXACT if not ESTIMATING.get() and _has_table() else ESTIMATE


@contextmanager
def estimated() -> Iterator[None]:
    """Inside, tokens are estimated whatever tables lie here: the figures are the same anywhere."""
    token = ESTIMATING.set(True)
    try:
        yield
    finally:
        ESTIMATING.reset(token)


def fits(text: str, limit: int) -> bool:
    """Whether a text keeps within `limit` tokens by the estimate, the same on every machine."""
    limit = max(limit, 0)
    if 2 * len(text) > 7 * limit:  # a character is a byte at least, …
        return False
    return 8 * len(text) <= 7 * limit or _estimate(_size(text)) <= limit  # … and four at most


def head_and_tail(text: str, limit: int) -> tuple[str, str, int] | None:
    """The first three quarters and the last quarter of what fits, and the number of tokens between.

    None where all of it fits. Cuts fall at the end of a line where one is near, and never inside
    a character with its accents; sizes go by the estimate.
    """
    if fits(text, limit):
        return None
    budget = 7 * max(limit, 0) // 2
    room = budget // 4
    end = _line_end(text, _fitting(text[: budget - room], budget - room))
    start = len(text) - _fitting(text[len(text) - room :][::-1], room) if room else len(text)
    start = _line_start(text, start)
    head, tail = text[:end], text[start:]
    return head, tail, _estimate(_size(text) - _size(head) - _size(tail))


def _estimate(size: int) -> int:
    return -(-2 * size // 7)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# --- cutting ------------------------------------------------------------------------------------


def _fitting(text: str, size: int) -> int:
    """How many characters of a text take `size` bytes at most."""
    if text.isascii():
        return min(len(text), size)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return len(text)
    return len(data[: size + 1].translate(None, INSIDE)) - 1


def _line_end(text: str, end: int) -> int:
    newline = text.rfind("\n", max(end - end // NEAR - 1, 0), end)
    if newline >= 0:
        return newline + 1
    stop = max(end - 64, 0)
    while end > stop and _is_one(text, end):
        end -= 1
    return end


def _line_start(text: str, start: int) -> int:
    newline = text.find("\n", max(start - 1, 0), start + (len(text) - start) // NEAR)
    if newline >= 0:
        return newline + 1
    stop = min(start + 64, len(text))
    while start < stop and _is_one(text, start):
        start += 1
    return start


def _is_one(text: str, at: int) -> bool:
    """Whether the characters before and after a place are one to the reader."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (
        unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\u200d" in (before, after)  # joins emoji
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # colours skin
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or (before, after) == ("\r", "\n")
        or ("\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
    )


def _pieces(text: str) -> Iterator[str]:
    """A text in parts that tiktoken can bear, cut after a newline where there is one."""
    start = 0
    while start < len(text):
        end = start + PIECE
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        piece, done = text[start:end], 0
        for run in LONG_BLANKS.finditer(piece):
            for at in range(run.start() + BLANKS, run.end() + 1, BLANKS):
                yield piece[done:at]
                done = at
        yield piece[done:]
        start = end


# --- the table ----------------------------------------------------------------------------------


@cache
def _encoding() -> "tiktoken.Encoding | None":
    """o200k_base from a table on disk that has the hash tiktoken demands; None without one."""
    data = _table()
    if data is None:
        return None
    import tiktoken

    words = data.split()
    tokens, numbers = map(binascii.a2b_base64, words[::2]), map(int, words[1::2])
    ranks = dict(zip(tokens, numbers, strict=True))
    return tiktoken.Encoding(
        "o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL
    )


@cache
def _has_table() -> bool:
    return _table() is not None


def _table() -> bytes | None:
    held = (data for data in _tables() if hashlib.sha256(data).hexdigest() == TABLE_SHA256)
    return next(held, None)


def _tables() -> Iterator[bytes]:
    """tiktoken's cache, then the copy inside bpe-openai (never imported: that loads 70 MB)."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", ""))
    if folder:
        with suppress(OSError):
            name = hashlib.sha1(TABLE.encode(), usedforsecurity=False).hexdigest()
            yield (Path(folder) / name).read_bytes()
    with suppress(OSError, EOFError, ValueError, zlib.error):
        package = importlib.util.find_spec("bpe_openai")
        for place in (package and package.submodule_search_locations) or ():
            yield gzip.decompress((Path(place) / "data" / "o200k_base.tiktoken.gz").read_bytes())
