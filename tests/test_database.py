"""SQLite databases: rows as records, writes that stand only in the log beside, hostile files."""

import re
import shutil
import sqlite3
import struct
import tempfile
from pathlib import Path

import pytest
import zstandard

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.source import BESIDE, Source, database, journals

HISTORY = """
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, exit INTEGER, cost REAL, key BLOB);
INSERT INTO history VALUES (2, 'git push', NULL, 0.5, x'00ff'), (1, 'ls "a b"', 0, 2.0, NULL);
CREATE TABLE alone (name TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO alone VALUES ('b'), ('a');
CREATE VIEW seen AS SELECT * FROM history;
"""
ENDLESS = "WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


def made(folder: Path, script: str = HISTORY, name: str = "history.db") -> Source:
    path = folder / name
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return Source(path)


def test_a_row_is_a_record_behind_one_that_names_the_tables(tmp_path: Path) -> None:
    source = made(tmp_path)
    assert [record.value for record in source.records()] == [
        {"database": {"alone": ["name"], "history": ["id", "command", "exit", "cost", "key"]}},
        {"table": "alone", "rowid": None, "row": {"name": "a"}},
        {"table": "alone", "rowid": None, "row": {"name": "b"}},
        {
            "table": "history",
            "rowid": 1,
            "row": {"id": 1, "command": 'ls "a b"', "exit": 0, "cost": 2.0, "key": None},
        },
        {
            "table": "history",
            "rowid": 2,
            "row": {"id": 2, "command": "git push", "exit": None, "cost": 0.5, "key": {"blob": 2}},
        },
    ]
    whole = source.whole()
    places = [(one.here.start, one.here.end) for one in source.records()]
    assert list(source.spans(places)) == [whole[start:end] for start, end in places]


def test_a_blob_of_json_is_told_as_the_text_that_it_is(tmp_path: Path) -> None:
    held = {
        b'{"a": "\xc3\xa9"}': '{"a": "\u00e9"}',
        b"[1]": "[1]",
        b'{"a": "\xff"}': {"blob": 10},
        b'{"a": 1': {"blob": 7},
        b"7": {"blob": 1},
        b"[" * 5000: {"blob": 5000},
        b"": {"blob": 0},
    }
    source = made(tmp_path, "CREATE TABLE kept (value BLOB);")
    with sqlite3.connect(source.path) as connection:
        connection.executemany("INSERT INTO kept VALUES (?)", [(one,) for one in held])
    connection.close()
    told = [record.value["row"]["value"] for record in list(source.records())[1:]]
    assert told == list(held.values())


def test_rows_that_stand_only_in_the_log_of_writes_are_read(tmp_path: Path) -> None:
    source = made(tmp_path)
    connection = sqlite3.connect(source.path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO history (command) VALUES ('make deploy')")
    other = tmp_path / "copied"
    other.mkdir()
    for path in tmp_path.glob("history.db*"):
        shutil.copy(path, other)
    connection.close()
    copied = Source(other / "history.db")
    before = {path.name: path.read_bytes() for path in other.iterdir()}
    assert [one.path.name for one in copied.parts()] == ["history.db-wal", "history.db-shm"]
    assert "make deploy" in [one.value.get("row", {}).get("command") for one in copied.records()]
    assert {path.name: path.read_bytes() for path in other.iterdir()} == before
    (other / "history.db-wal").unlink()
    alone = Source(other / "history.db").records()
    assert "make deploy" not in [one.value.get("row", {}).get("command") for one in alone]


def test_an_index_that_calls_a_function_is_passed_over(tmp_path: Path) -> None:
    source = made(
        tmp_path,
        "CREATE TABLE held (it TEXT); INSERT INTO held VALUES ('{}');"
        "CREATE INDEX roles ON held (json_extract(it, '$.role'));",
    )
    assert [record.value.get("row") for record in source.records()] == [None, {"it": "{}"}]


def test_a_text_that_was_packed_reads_as_the_text(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor().compress("né".encode())
    picture = zstandard.ZstdCompressor().compress(b"\xff\x00")
    bomb = zstandard.ZstdCompressor().compress(bytes(11 << 20))
    blobs = [packed, packed[:-1], packed + b"x", picture, bomb, b"\x28\xb5\x2f\xfd"]
    rows = ", ".join(f"(x'{one.hex()}')" for one in blobs)
    source = made(tmp_path, f"CREATE TABLE held (it BLOB); INSERT INTO held VALUES {rows};")
    held = [record.value["row"]["it"] for record in source.records() if "row" in record.value]
    assert held == ["né", *({"blob": len(one)} for one in blobs[1:])]


@pytest.mark.parametrize("at", [17, 100, 600, 4096, 5000])
def test_a_damaged_database_is_refused_in_one_line(at: int, tmp_path: Path) -> None:
    rows = f"INSERT INTO history SELECT NULL, 'ls', 0, 1, 1 FROM ({ENDLESS} LIMIT 900);"
    source = made(tmp_path, HISTORY + rows)
    source.path.write_bytes(source.path.read_bytes()[:at])
    with pytest.raises(UnreadableInput, match=r"^history\.db: damaged database$"):
        list(Source(source.path).records())


def test_a_row_that_claims_to_be_larger_than_any_memory_is_refused(tmp_path: Path) -> None:
    script = "PRAGMA page_size = 512; CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('ls');"
    source = made(tmp_path, script)
    data = bytearray(source.path.read_bytes())
    data[512 + 8 : 512 + 10] = (400).to_bytes(2)  # where the first cell of the second page is
    data[512 + 400 : 512 + 418] = b"\xff" * 16 + b"\0o"  # its size, then its row id
    source.path.write_bytes(data)
    with pytest.raises(UnreadableInput, match="damaged database"):
        list(Source(source.path).records())


def test_nothing_that_a_database_computes_is_read(tmp_path: Path) -> None:
    source = made(
        tmp_path,
        "CREATE TABLE history (command TEXT, more AS (hex(zeroblob(9000))));"
        "INSERT INTO history VALUES ('ls');"
        f"CREATE VIEW hidden AS {ENDLESS};",
    )
    assert [one.value for one in source.records()] == [
        {"database": {"history": ["command"]}},
        {"table": "history", "rowid": 1, "row": {"command": "ls"}},
    ]


def test_a_view_that_is_filed_as_a_table_is_refused(tmp_path: Path) -> None:
    forged = (
        f"CREATE VIEW hidden AS {ENDLESS}; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_master SET type = 'table' WHERE name = 'hidden';"
    )
    with pytest.raises(UnreadableInput, match=r"^history\.db: damaged database$"):
        list(made(tmp_path, HISTORY + forged).records())


def test_a_row_that_takes_too_much_work_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "STEPS", 1)
    monkeypatch.setattr(database, "MOST_STEPS", 1)
    with pytest.raises(UnreadableInput, match=r"^history\.db: damaged database$"):
        list(made(tmp_path).records())


PAGES = sorted((Path(__file__).parent.parent / "fixtures").glob("*/*/README.md"))
SQL = re.compile(r"```sql\n(.*?)```", re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_a_database_of_a_case_holds_what_its_page_says(page: Path, tmp_path: Path) -> None:
    [path] = [one for one in page.parent.glob("input.*") if not one.name.endswith(BESIDE)]
    told = made(tmp_path, "".join(SQL.findall(page.read_text("utf-8"))))
    values = [[one.value for one in source.records()] for source in (told, Source(path))]
    assert values[0] == values[1]


def test_a_table_may_have_any_name_and_columns(tmp_path: Path) -> None:
    source = made(
        tmp_path,
        'CREATE TABLE "a ""b"" ; --" (rowid TEXT, "table" TEXT, "x y" TEXT);'
        "INSERT INTO \"a \"\"b\"\" ; --\" VALUES ('r', 't', 'x');",
    )
    assert [one.value for one in source.records()][1:] == [
        {"table": 'a "b" ; --', "rowid": 1, "row": {"rowid": "r", "table": "t", "x y": "x"}}
    ]


# what SQLite had not put into the database yet


def copied(source: Path, folder: Path) -> Path:
    """The files of a database as they lie now, whoever works on it."""
    folder.mkdir()
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy(path, folder)
    return folder / source.name


def filled(connection: sqlite3.Connection, rounds: int) -> None:
    """Many transactions that make a database longer and shorter."""
    connection.execute("CREATE TABLE t (x TEXT)")
    for turn in range(rounds):
        connection.execute("BEGIN")
        for number in range(40):
            connection.execute("INSERT INTO t VALUES (?)", (f"{turn}-{number}-" * 30,))
        connection.execute("COMMIT")
        connection.execute("DELETE FROM t WHERE x LIKE ?", (f"{turn // 2}-%",))
    connection.execute("PRAGMA incremental_vacuum")


def said_by_sqlite(path: Path) -> list[str]:
    try:
        rows = sqlite3.connect(path).execute("SELECT x FROM t ORDER BY rowid").fetchall()
    except sqlite3.Error:
        return []
    return [row for (row,) in rows]


def values_of(path: Path) -> list[str]:
    return [one.value["row"]["x"] for one in Source(path).records() if "row" in one.value]


@pytest.mark.parametrize("size", [512, 4096, 65536])
def test_a_log_of_writes_gives_what_sqlite_gives(size: int, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    writer = sqlite3.connect(path, isolation_level=None)
    for setting in (f"page_size = {size}", "auto_vacuum = 2", "journal_mode = WAL"):
        writer.execute(f"PRAGMA {setting}")
    writer.execute("PRAGMA wal_autocheckpoint = 40")
    filled(writer, 20)
    writer.execute("BEGIN")
    writer.execute("INSERT INTO t VALUES ('never said')")
    writer.execute("PRAGMA cache_spill = 1")
    told = said_by_sqlite(path)
    mine = copied(path, tmp_path / "copy")
    before = {one.name: one.read_bytes() for one in mine.parent.iterdir()}
    assert before["history.db-wal"]
    assert values_of(mine) == told
    assert {one.name: one.read_bytes() for one in mine.parent.iterdir()} == before
    log = mine.with_name("history.db-wal")
    whole = log.read_bytes()
    for cut in (0, 31, 32, len(whole) // 3, len(whole) - 1):
        log.write_bytes(whole[:cut])
        mended = copied(mine, tmp_path / f"cut-{cut}")
        assert values_of(mine) == said_by_sqlite(mended)


def test_a_transaction_that_never_ended_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA cache_size = 5")
    filled(writer, 6)
    told = said_by_sqlite(path)
    writer.execute("BEGIN")
    writer.execute("DELETE FROM t WHERE rowid % 3")
    writer.executemany("INSERT INTO t VALUES (?)", [("never said" * 50,)] * 400)
    mine = copied(path, tmp_path / "copy")
    assert mine.with_name("history.db-journal").stat().st_size
    assert mine.read_bytes() != path.read_bytes() or b"never said" in mine.read_bytes()
    assert values_of(mine) == told
    assert said_by_sqlite(copied(mine, tmp_path / "mended")) == told


@pytest.mark.parametrize("at", range(0, 4200, 60))
def test_a_damaged_log_of_writes_is_left_out_or_refused(at: int, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    filled(writer, 2)
    mine = copied(path, tmp_path / "copy")
    log = mine.with_name("history.db-wal")
    data = bytearray(log.read_bytes())
    data[at] ^= 0x55
    log.write_bytes(data)
    assert values_of(mine) == said_by_sqlite(copied(mine, tmp_path / "mended"))


def test_a_log_that_asks_for_more_than_it_wrote_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(4080))
    head = struct.pack(">IIIIII", 0x377F0683, 3007000, 4096, 0, 1, 2)
    sums = journals._summed(head, ">", (0, 0))
    first = struct.pack(">II", 0xFFFFFFF0, 0xFFFFFFFF)
    page = bytes(4096)
    told = journals._summed(page, ">", journals._summed(first, ">", sums))
    frame = first + struct.pack(">IIII", 1, 2, *told) + page
    path.with_name("history.db-wal").write_bytes(head + struct.pack(">II", *sums) + frame)
    with pytest.raises(UnreadableInput, match=r"^history\.db: damaged database$"):
        list(Source(path).records())


def test_a_database_too_large_for_memory_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = made(tmp_path)
    source.path.with_name("history.db-wal").write_bytes(b"x")
    monkeypatch.setattr(database, "MOST_MERGED", 1)
    with pytest.raises(UnreadableInput, match="too large with writes beside it; end what writes"):
        list(source.records())


def test_no_copy_of_a_history_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be a private file that a killed process leaves behind."""
    away = tmp_path / "temp"
    away.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(away))
    path = tmp_path / "history.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    filled(writer, 1)
    records = Source(copied(path, tmp_path / "copy")).records()
    next(records)
    assert list(away.iterdir()) == []
