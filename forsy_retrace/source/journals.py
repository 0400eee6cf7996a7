"""What SQLite had not put into a database yet when its files were copied, put into it in memory.

A write-ahead log holds newer pages, a rollback journal older ones of a transaction that never
ended. Nothing is written to disk: a copy of a history would be a private file that a killed
process leaves behind. The formats are those of https://www.sqlite.org/fileformat2.html.
"""

import struct

HEAD, FRAME = 32, 24
"""Bytes before all pages of a write-ahead log, and before each."""
MAGIC = {b"\x37\x7f\x06\x82": "<", b"\x37\x7f\x06\x83": ">"}
"""How a write-ahead log begins, and the order of the bytes that it sums up."""
JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a rollback journal begins that was not ended."""
UNCOUNTED = WORD = 0xFFFFFFFF
"""As a count, that of all pages there are; as a mask, that of a number of 32 bits."""
Sums = tuple[int, int]


def logged(base: bytearray, log: bytes) -> bytearray:
    """A database with all transactions of its write-ahead log; what is half written counts not.

    Raises ValueError where the log asks for more pages than it can have written.
    """
    order, size = MAGIC.get(log[:4]), int.from_bytes(log[8:12])
    if order is None or not size or len(log) < HEAD:
        return base
    most = len(base) + 2 * len(log)
    sums = _summed(log[: HEAD - 8], order, (0, 0))
    if sums != struct.unpack(">II", log[HEAD - 8 : HEAD]):
        return base
    pages: dict[int, bytes] = {}
    for at in range(HEAD, len(log) - FRAME - size + 1, FRAME + size):
        head, page = log[at : at + FRAME], log[at + FRAME : at + FRAME + size]
        sums = _summed(page, order, _summed(head[:8], order, sums))
        if head[8:16] != log[16:24] or sums != struct.unpack(">II", head[16:]):
            break
        number, count = struct.unpack(">II", head[:8])
        pages[number] = page
        if count:  # the last page of a transaction
            _put(base, pages, count, size, most)
            pages = {}
    return base


def rolled_back(base: bytearray, journal: bytes) -> bytearray:
    """A database without the transaction of a journal that was not ended.

    Raises ValueError where the journal asks for more pages than there can have been.
    """
    at, count, size = 0, 0, 0
    pages: dict[int, bytes] = {}
    while journal[at : at + 8] == JOURNAL and len(journal) >= at + 28:
        held, nonce, before, sector, size = struct.unpack(">5I", journal[at + 8 : at + 28])
        count = count or before
        at += max(sector, 28)
        record = size + 8
        there = max(0, len(journal) - at) // record
        for _ in range(there if held == UNCOUNTED else min(held, there)):
            number, told = (int.from_bytes(journal[x : x + 4]) for x in (at, at + record - 4))
            data = journal[at + 4 : at + record - 4]
            if (nonce + sum(data[-200:0:-200])) & WORD != told:
                break
            pages.setdefault(number, data)
            at += record
        at = -(-at // max(sector, 1)) * max(sector, 1)
    if pages:
        _put(base, pages, count, size, len(base) + len(journal))
    return base


def _put(base: bytearray, pages: dict[int, bytes], count: int, size: int, most: int) -> None:
    """Pages in their places; the database has `count` of them then."""
    end = count * size
    if end > most:
        raise ValueError("more pages than were written")
    base.extend(bytes(max(0, end - len(base))))
    for number, data in pages.items():
        if 1 <= number <= count:
            base[(number - 1) * size : number * size] = data
    del base[end:]


def _summed(data: bytes, order: str, sums: Sums) -> Sums:
    """The running check sums of a write-ahead log, with these bytes."""
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for even, odd in zip(words, words, strict=False):
        first = first + even + second & WORD
        second = second + odd + first & WORD
    return first, second
