"""SQLite databases: rows as records, writes that stand only in the log beside, hostile files."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.source import BESIDE, Source, database

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
