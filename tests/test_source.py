"""Records, and where they stand: the bytes that an Evidence names are the record's own."""

import contextlib
import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forsy_retrace.errors import Unreachable, UnreadableInput
from forsy_retrace.source import Record, Source, cut, discover, is_regular, reread, text_in

A, B, C = b'{"a":1}', b'{"b":"}{]["}', b'{"c":["\\\\",{"d":null}]}'
VALUES: list[Any] = [{"a": 1}, {"b": "}{]["}, {"c": ["\\", {"d": None}]}]


def written(folder: Path, data: bytes) -> Source:
    path = folder / "log.jsonl"
    path.write_bytes(data)
    return Source(path)


def read(folder: Path, data: bytes) -> list[Record]:
    """The records of a log, after a look that each stands where it says."""
    source = written(folder, data)
    found, whole = list(source.records()), source.whole()
    last = 0
    for record in found:
        here = record.here
        assert last <= here.start < here.end <= len(whole)
        assert here.file == "log.jsonl"
        assert not here.line or whole[: here.start].count(b"\n") == here.line - 1
        if not record.problem and not record.repaired:
            assert json.loads(whole[here.start : here.end]) == record.value
        last = here.end
    return found


def values(records: list[Record]) -> list[Any]:
    return [record.value for record in records if not record.problem]


def problems(records: list[Record]) -> list[str]:
    return [record.problem for record in records if record.problem]


WRAPPERS: dict[str, Callable[[list[bytes]], bytes]] = {
    "lines": lambda parts: b"\n".join(parts) + b"\n",
    "lines without a last feed": lambda parts: b"\n".join(parts),
    "lines after a byte order mark": lambda parts: b"\xef\xbb\xbf" + b"\n".join(parts),
    "lines that end in CRLF": lambda parts: b"\r\n".join(parts) + b"\r\n",
    "lines with blank ones between": lambda parts: b"\n \t\r\n\n".join([b"", *parts, b""]),
    "values glued on one line": lambda parts: b"".join(parts),
    "values glued on one line, a blank between": lambda parts: b" ".join(parts) + b"\n",
    "a compact array": lambda parts: b"[" + b",".join(parts) + b"]",
    "an array with a value a line": lambda parts: b"[\n" + b",\n".join(parts) + b"\n]\n",
    "an array with odd blanks": lambda parts: b"[ \n\t" + b"\r\n ,\t".join(parts) + b"\n\n]",
    "pretty documents, one after another": lambda parts: b"\n".join(map(pretty, parts)),
    "lines in gzip": lambda parts: gzip.compress(b"\n".join(parts) + b"\n"),
    "lines in two members of gzip": lambda parts: b"".join(
        gzip.compress(part + b"\n") for part in parts
    ),
    "lines in zstd": lambda parts: zstandard.compress(b"\n".join(parts)),
    "lines in frames of zstd": lambda parts: b"".join(
        zstandard.compress(part + b"\n") for part in parts
    ),
    "lines in UTF-16": lambda parts: b"\n".join(parts).decode().encode("utf-16"),
    "lines in UTF-16 without a mark": lambda parts: b"\n".join(parts).decode().encode("utf-16-le"),
    "lines in UTF-16, big end first": lambda parts: b"\n".join(parts).decode().encode("utf-16-be"),
    "lines in UTF-32": lambda parts: b"\n".join(parts).decode().encode("utf-32"),
}


def pretty(part: bytes) -> bytes:
    return json.dumps(json.loads(part), indent=2, ensure_ascii=False).encode()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_ranges_are_read_in_any_order(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(40_000))
    source = written(tmp_path, pack(data))
    ranges = [(0, 8), (8, 24), (299_992, 300_000), (150_000, 150_008), (319_992, 320_000)]
    assert list(source.spans(ranges)) == [data[start:end] for start, end in ranges]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_each_value_is_read_from_its_own_bytes(wrapper: str, tmp_path: Path) -> None:
    found = read(tmp_path, WRAPPERS[wrapper]([A, B, C]))
    assert values(found) == VALUES
    assert problems(found) == []


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_letters_beyond_ascii_do_not_shift_offsets(wrapper: str, tmp_path: Path) -> None:
    parts = ['{"ä":"日本 😀"}'.encode(), '{"z":"é\u2028"}'.encode()]
    found = read(tmp_path, WRAPPERS[wrapper](parts))
    assert values(found) == [json.loads(part) for part in parts]


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=3
        )
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), TREES, min_size=1, max_size=3
)


@pytest.mark.slow
@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(sorted(WRAPPERS)), st.booleans())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_objects_in_any_wrapper_come_back_in_order(
    tmp_path: Path, objects: list[Any], wrapper: str, ascii_only: bool
) -> None:
    parts = [json.dumps(one, ensure_ascii=ascii_only).encode() for one in objects]
    found = read(tmp_path, WRAPPERS[wrapper](parts))
    assert [record.value for record in found] == objects
    assert problems(found) == []


@given(st.lists(TREES, min_size=2, max_size=5), st.booleans())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_values_in_lines_or_an_array_come_back_in_order(
    tmp_path: Path, trees: list[Any], in_array: bool
) -> None:
    parts = [json.dumps(one).encode() for one in trees]
    data = b"[" + b", ".join(parts) + b"]" if in_array else b"\n".join(parts)
    found = read(tmp_path, data)
    assert [record.value for record in found] == trees


@given(st.lists(OBJECTS, min_size=1, max_size=3), st.data())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_cut_anywhere_costs_no_whole_line(
    tmp_path: Path, objects: list[Any], data: st.DataObject
) -> None:
    whole = b"".join(json.dumps(one).encode() + b"\n" for one in objects)
    cut = data.draw(st.integers(0, len(whole)))
    found = read(tmp_path, whole[:cut])
    ended = whole[:cut].count(b"\n")
    assert values(found)[:ended] == objects[:ended]
    assert len(found) <= ended + 1


@given(st.binary(max_size=200))
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_bytes_make_reading_fail(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(UnreadableInput):
        read(tmp_path, data)


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x1c", "\x1d", "\x1e"])
def test_lines_are_split_at_line_feeds_only(mark: str, tmp_path: Path) -> None:
    line = json.dumps({"text": f"one{mark}two"}, ensure_ascii=False).encode()
    assert values(read(tmp_path, line + b"\n" + A + b"\n")) == [{"text": f"one{mark}two"}, {"a": 1}]


def test_a_raw_carriage_return_inside_a_line_ends_no_record(tmp_path: Path) -> None:
    assert values(read(tmp_path, A + b"\r" + B + b"\r\n" + C)) == VALUES


def test_a_comment_line_is_told_apart_from_an_unreadable_one(tmp_path: Path) -> None:
    found = read(tmp_path, b"// made by x\n" + A + b"\n  // more\n" + B)
    assert problems(found) == ["comment line", "comment line"]
    assert values(found) == VALUES[:2]


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n \n\t\r\n", b"[]"])
def test_a_file_without_a_value_has_no_records(data: bytes, tmp_path: Path) -> None:
    assert read(tmp_path, data) == []


def test_an_empty_array_over_two_lines_has_no_records(tmp_path: Path) -> None:
    assert read(tmp_path, b"[\n]\n") == []


def test_a_line_that_is_no_json_costs_only_itself(tmp_path: Path) -> None:
    found = read(tmp_path, A + b"\nnot json\n{'a':1}\n<html>\n" + B + b"\n}{\n" + C + b"\n")
    assert values(found) == VALUES
    assert problems(found) == ["unreadable: not JSON"] * 4


@pytest.mark.parametrize("count", [1, 3])
def test_an_object_in_another_programs_log_has_the_time_of_its_prefix(
    count: int, tmp_path: Path
) -> None:
    line = b'[2026-01-31T12:00:00.5Z] [INFO] {"a":1}\n'
    source = written(tmp_path, line * count + B)
    found = list(source.records())
    logged = {"logged_at": "2026-01-31T12:00:00.5Z", "a": 1}
    assert values(found) == [logged] * count + VALUES[1:2]
    data = source.whole()
    assert [reread(data[one.here.start : one.here.end], one.here) for one in found] == found


def test_a_log_of_one_prefixed_line_is_no_array(tmp_path: Path) -> None:
    (one,) = written(tmp_path, b'[2026-01-31T12:00:00Z] [INFO] {"a":1}\n').records()
    assert one.value == {"logged_at": "2026-01-31T12:00:00Z", "a": 1}
    (one,) = written(tmp_path, b'[2026-01-31T12:00:00Z] [INFO] {"a":\n').records()
    assert one.problem == "unreadable: not JSON"


@pytest.mark.parametrize("tail", [b'{"b":"x', b'{"b":"\\u00', b'{"b":"\xe2\x82', b"[1,", b"{"])
def test_a_cut_last_line_is_named_as_cut(tail: bytes, tmp_path: Path) -> None:
    found = read(tmp_path, A + b"\n" + tail)
    assert values(found) == [{"a": 1}]
    assert problems(found) == ["unreadable: cut off"]
    assert (found[1].here.start, found[1].here.end) == (8, 8 + len(tail))


def test_a_cut_array_keeps_its_whole_elements(tmp_path: Path) -> None:
    for head in (b"[", b"[\n"):
        found = read(tmp_path, head + A + b",\n" + B + b',\n{"c":')
        assert values(found) == VALUES[:2]
        assert problems(found) == ["unreadable: cut off"]


def test_a_last_line_without_a_feed_counts_if_it_parses(tmp_path: Path) -> None:
    assert values(read(tmp_path, A + b"\n" + B)) == VALUES[:2]


def test_what_is_written_while_a_log_is_read_is_not_read(tmp_path: Path) -> None:
    source = written(tmp_path, (A + b"\n") * 3 + b'{"torn":')
    found = []
    for record in source.records():
        found.append(record)
        with source.path.open("ab") as more:
            more.write(b'"rest"}\n' + B + b"\n")
    assert values(found) == [{"a": 1}] * 3
    assert problems(found) == ["unreadable: cut off"]


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, 2**70, -(2**70), 10**4000])
def test_an_integer_keeps_all_its_digits(number: int, tmp_path: Path) -> None:
    found = read(tmp_path, b'{"n":%d}\n' % number)
    assert found[0].value == {"n": number}
    assert type(found[0].value["n"]) is int


def test_an_integer_of_5000_digits_stands_as_its_digits(tmp_path: Path) -> None:
    found = read(tmp_path, A + b'\n{"n":' + b"7" * 5000 + b',"m":1}\n' + B + b"\n")
    assert not any(record.problem for record in found)
    assert found[1].value == {"n": "7" * 5000, "m": 1}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_json_lacks_becomes_a_text(word: str, tmp_path: Path) -> None:
    found = read(tmp_path, b'{"n":%b,"m":1}\n' % word.encode())
    assert found[0].value == {"n": word, "m": 1}
    assert found[0].repaired


@pytest.mark.parametrize("opening", ["[", '{"k":'])
def test_odd_values_are_read_as_deep_as_others(opening: str, tmp_path: Path) -> None:
    closing = "]" if opening == "[" else "}"
    data = f'{{"deep":{opening * 511}NaN{closing * 511}}}\n'
    found = read(tmp_path, data.encode())
    assert (found[0].problem, found[0].repaired) == ("", True)


@pytest.mark.parametrize("opening", ["[", '{"k":'])
@pytest.mark.parametrize("head", [b"", A + b"\n"])
def test_nesting_is_read_to_512_and_no_deeper(opening: str, head: bytes, tmp_path: Path) -> None:
    def nested(depth: int) -> bytes:
        closing = "]" if opening == "[" else "}"
        inner = opening * (depth - 1) + "1" + closing * (depth - 1)
        return f'{{"deep":{inner}}}\n'.encode()

    found = read(tmp_path, head + nested(512) + nested(513) + nested(20_000) + B + b"\n")
    if head:
        del found[0]
    assert [record.problem for record in found] == [
        "",
        "unreadable: nested too deep",
        "unreadable: nested too deep",
        "",
    ]


def test_brackets_inside_texts_nest_nothing(tmp_path: Path) -> None:
    value = {"text": "[{" * 2000 + '\\"' * 10}
    assert values(read(tmp_path, json.dumps(value).encode())) == [value]


@pytest.mark.parametrize(
    "raw", [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"gr\xfc\xdfe"]
)
def test_bytes_that_are_no_utf8_are_replaced(raw: bytes, tmp_path: Path) -> None:
    found = read(tmp_path, b'{"a":"x' + raw + b'"}\n' + B + b"\n")
    assert "\ufffd" in found[0].value["a"]
    assert found[0].repaired
    assert (found[0].here.end, found[1].value) == (9 + len(raw), VALUES[1])


def test_lone_surrogates_are_replaced_in_values_and_keys(tmp_path: Path) -> None:
    found = read(tmp_path, b'{"a":["\\ud83d!",{"\\udc00k":1}],"b":"\\ud83d\\ude00"}\n')
    assert found[0].value == {"a": ["\ufffd!", {"\ufffdk": 1}], "b": "😀"}
    assert found[0].repaired


def test_nul_bytes_inside_a_text_stay_in_it(tmp_path: Path) -> None:
    found = read(tmp_path, b'{"a":"x\x00y"}\n{"b":"x\\u0000y"}\n')
    assert values(found) == [{"a": "x\0y"}, {"b": "x\0y"}]


def test_a_hole_of_nul_bytes_is_one_unreadable_record(tmp_path: Path) -> None:
    found = read(tmp_path, A + b"\n" + b"\0" * 4096 + b"\n" + B + b"\n")
    assert [bool(record.problem) for record in found] == [False, True, False]


def test_of_two_equal_keys_the_last_wins(tmp_path: Path) -> None:
    assert values(read(tmp_path, b'{"a":1,"b":2,"\\u0061":3}\n')) == [{"a": 3, "b": 2}]


def test_a_line_over_the_cap_is_one_unreadable_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("log", "cut"):
        monkeypatch.setattr(f"forsy_retrace.source.{module}.MAX_LINE", 1000)
    long = b'{"a":"' + b"x" * 2000 + b'"}'
    for data in (
        A + b"\n" + long + b"\n" + B,
        b"[\n" + A + b",\n" + long + b",\n" + B + b"]",
    ):
        found = read(tmp_path, data)
        assert problems(found) == ["unreadable: line too long"]
        assert values(found) == VALUES[:2]


def test_of_a_line_over_the_cap_no_more_than_two_chunks_are_held() -> None:
    long = b"x" * (5 * cut.CHUNK) + b"\n"
    for last in (b"b\n", b"b"):
        found = list(cut.lines(io.BytesIO(b"a\n" + long + last), most=1000))
        assert [(start, end) for _, start, end, _, _ in found] == [
            (0, 2),
            (2, 2 + len(long)),
            (2 + len(long), 2 + len(long) + len(last)),
        ]
        assert len(found[1][3]) <= 2 * cut.CHUNK
        assert found[2][3] == last


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 2**20 + 1])
def test_a_line_may_lie_across_two_reads(size: int, tmp_path: Path) -> None:
    line = b'{"a":"' + b"x" * (size - 9) + b'"}\n'
    assert len(line) == size
    found = read(tmp_path, line + line + B)
    assert [record.here.start for record in found] == [0, size, 2 * size]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_file_that_unpacks_to_far_more_is_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    data = pack(b'{"a":"' + b"x" * (12 << 20) + b'"}\n')
    assert len(data) < 1 << 17
    with pytest.raises(UnreadableInput, match="sane"):
        read(tmp_path, data)


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08nothing", b"\x28\xb5\x2f\xfdnothing"])
def test_a_damaged_head_of_compression_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="damaged"):
        read(tmp_path, data)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_what_was_packed_whole_is_read_where_junk_follows(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    assert values(read(tmp_path, pack(A + b"\n") + pack(B + b"\n") + b"junk")) == VALUES[:2]


CHECKED = zstandard.ZstdCompressor(write_checksum=True).compress


@pytest.mark.parametrize("pack", [gzip.compress, CHECKED], ids=["gzip", "zstd"])
def test_packed_bytes_that_were_changed_are_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    lines = b"".join(b'{"n":%d,"r":"%b"}\n' % (n, os.urandom(40).hex().encode()) for n in range(99))
    data = bytearray(pack(lines))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(Unreachable, match="damaged"):
        read(tmp_path, bytes(data))


def test_a_text_whose_checksum_fails_is_refused(tmp_path: Path) -> None:
    stored = gzip.compress(A + b"\n" + B + b"\n", 0)
    with pytest.raises(Unreachable, match="damaged"):
        read(tmp_path, stored.replace(B, B.replace(b":", b";")))


def test_a_zstd_file_that_is_cut_within_its_first_block_is_not_empty(tmp_path: Path) -> None:
    data = zstandard.compress(A + b"\n" + os.urandom(400).hex().encode())
    with pytest.raises(Unreachable, match="damaged"):
        read(tmp_path, data[: len(data) // 2])
    assert read(tmp_path, zstandard.compress(b"")) == []


@pytest.mark.parametrize(
    "behind",
    [gzip.compress(B + b"\n")[:9], zstandard.compress(B + b"\n")[:9]],
    ids=["gzip", "zstd"],
)
def test_a_further_part_that_is_cut_is_told(behind: bytes, tmp_path: Path) -> None:
    pack = gzip.compress if behind[:1] == b"\x1f" else zstandard.compress
    found = read(tmp_path, pack((A + b"\n") * 9) + behind)
    assert problems(found) == ["unreadable: cut off"]
    assert len(found) == 10


def test_a_frame_of_zstd_that_holds_no_text_is_passed_over(tmp_path: Path) -> None:
    skipped = b"\x5e\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    packed = zstandard.compress(A + b"\n")
    for data in (skipped + packed, packed + skipped, packed + skipped + packed):
        assert set(map(str, values(read(tmp_path, data)))) == {str(VALUES[0])}
        assert text_in(data, "a").startswith(A)


def test_a_packed_text_may_be_wide(tmp_path: Path) -> None:
    wide = (A + b"\n" + B + b"\n").decode().encode("utf-16")
    assert values(read(tmp_path, gzip.compress(wide))) == VALUES[:2]


@pytest.mark.parametrize("word", [b"BZhello", b"Rar! what", b'{"a":"%bustar"}' % (b"x" * 251)])
def test_a_text_that_begins_like_an_archive_is_none(word: bytes, tmp_path: Path) -> None:
    assert text_in(word + b" " * 600, "a").startswith(word)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_of_logs_is_an_archive_and_no_log(mode: str, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes((A + b"\n" + B + b"\n") * 9)
    with tarfile.open(tmp_path / "logs.tar", mode) as archive:  # type: ignore[call-overload]  # two of its modes
        for name in ("a.jsonl", "b.jsonl"):
            archive.add(tmp_path / name, name)
    source = Source(tmp_path / "logs.tar")
    assert problems(list(source.records())) == ["archive of files"]
    assert source.first_lines == ()


def test_whole_lines_are_read_from_a_cut_gzip_file(tmp_path: Path) -> None:
    lines = b"".join(b'{"n":%d,"r":"%b"}\n' % (n, os.urandom(40).hex().encode()) for n in range(99))
    found = values(read(tmp_path, gzip.compress(lines)[:-200]))
    assert [value["n"] for value in found] == list(range(len(found)))
    assert len(found) > 50


@pytest.mark.parametrize(
    "data",
    [
        b'[\n{"a":1}\n]\n[\n{"b":2}\n]\n',
        b'[\n{"a":1}\n]\n{"b":2}\n',
        b'{\n"a":1\n}\n{\n"b":2\n',
        b'{\n"a":1\n}\n{\n"b":"x',
        b'{\n"a":1\n} not json {\n"b":2\n}\n',
    ],
    ids=["array after array", "object after array", "cut", "cut in a text", "words between"],
)
def test_nothing_of_a_document_is_lost_without_a_record(data: bytes, tmp_path: Path) -> None:
    left = bytearray(data)
    for record in read(tmp_path, data):
        left[record.here.start : record.here.end] = b" " * (record.here.end - record.here.start)
    assert left.translate(None, b" \t\r\n[],") == b""


COMMENTED = pytest.param(
    b"// made by x\n",
    marks=pytest.mark.xfail(strict=True, reason="behind a comment an array reads as lines"),
)


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b"\n\n", COMMENTED])
def test_an_array_is_known_after_a_mark_blank_lines_or_a_comment(
    head: bytes, tmp_path: Path
) -> None:
    found = read(tmp_path, head + b"[\n" + A + b",\n" + B + b"\n]\n")
    assert values(found) == VALUES[:2]
    assert [word for word in problems(found) if word != "comment line"] == []


def test_the_head_is_the_first_40_records(tmp_path: Path) -> None:
    source = written(tmp_path, b"".join(b'{"n":%d}\n' % n for n in range(50)))
    assert [record.value["n"] for record in source.head] == list(range(40))


def test_a_text_that_quotes_a_record_is_no_log_of_records(tmp_path: Path) -> None:
    quoted = written(tmp_path, b"A document.\n" * 9 + A + b"\n" + b"A line of it.\n" * 30)
    assert values(list(quoted.head)) == []
    assert len(quoted.head) > 30


def test_a_log_amid_the_words_of_a_program_is_one(tmp_path: Path) -> None:
    for after in (b"\n".join([A] * 300), b"\n".join([A] * 4)):
        noisy = written(tmp_path, b"npm warn: still here\n" * 36 + after)
        assert values(list(noisy.head)) == [VALUES[0]] * 4
        (tmp_path / "log.jsonl").unlink()


@pytest.mark.parametrize("kind", ["link", "loop", "pipe", "folder", "device", "none"])
def test_only_regular_files_are_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    match kind:
        case "link":
            (tmp_path / "true.jsonl").write_bytes(A)
            path.symlink_to(tmp_path / "true.jsonl")
        case "loop":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path = Path("/dev/zero")
    assert not is_regular(path)
    with pytest.raises(UnreadableInput):
        list(Source(path).records())


def test_discovery_goes_by_name_and_passes_over_what_is_no_file(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    outside.mkdir()
    (outside / "far.jsonl").write_bytes(A)
    for name in ("c.jsonl", "a.jsonl", "b/d.jsonl"):
        (root / name).write_bytes(A)
    (root / "link.jsonl").symlink_to(outside / "far.jsonl")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.jsonl")
    assert [source.name for source in discover(root)] == ["a.jsonl", "c.jsonl", "b/d.jsonl"]


def test_companions_are_regular_files_named_from_the_same_root(tmp_path: Path) -> None:
    (tmp_path / "s" / "sub").mkdir(parents=True)
    for name in ("s.jsonl", "s/sub/b.jsonl", "s/sub/a.jsonl"):
        (tmp_path / name).write_bytes(A)
    (tmp_path / "s" / "sub" / "c.jsonl").symlink_to(tmp_path / "s.jsonl")
    source = Source(tmp_path / "s.jsonl", "project/s.jsonl")
    names = [one.name for one in source.beside("s/sub/*.jsonl")]
    assert names == ["project/s/sub/a.jsonl", "project/s/sub/b.jsonl"]


def test_a_name_can_be_written_as_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.jsonl"))
    path.write_bytes(A)
    for source in (Source(path), *discover(tmp_path)):
        source.name.encode()


def test_what_lies_beside_a_log_is_found_by_pattern_and_in_order(tmp_path: Path) -> None:
    names = ["agent-1.jsonl", "agent-2.jsonl", "agent-2.json", "b[1].x.jsonl", "b1.x.jsonl", "log"]
    for name in [*names, ".agent-3.jsonl"]:
        (tmp_path / name).write_bytes(b"{}\n")
    (tmp_path / "agent-4.jsonl").mkdir()
    (tmp_path / "agent-5.jsonl").symlink_to(tmp_path / "agent-1.jsonl")
    log = Source(tmp_path / "log", "folder/log")
    for pattern in ("agent-*.jsonl", "*.jsonl", "b[[]1].*.jsonl", "agent-?.json", "none-*", "log"):
        found = [one.path for one in log.beside(pattern)]
        expected = sorted(tmp_path.glob(pattern))
        assert found == [one for one in expected if is_regular(one) and one.name != "log"], pattern
    assert [one.name for one in log.beside("agent-*.jsonl")] == [
        "folder/agent-1.jsonl",
        "folder/agent-2.jsonl",
    ]


def test_what_comes_beside_a_log_later_is_found_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"{}\n")
    assert Source(log).beside("agent-*.jsonl") == []
    (tmp_path / "agent-1.jsonl").write_bytes(b"{}\n")
    os.utime(tmp_path, ns=(1, 1))  # clocks of disks may be coarser than this test
    assert len(Source(log).beside("agent-*.jsonl")) == 1


def test_a_folder_of_many_logs_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, own = [], os.listdir

    def spied(folder: Any) -> list[str]:
        listed.append(folder)
        return own(folder)

    monkeypatch.setattr(os, "listdir", spied)
    for number in range(50):
        (tmp_path / f"{number}.jsonl").write_bytes(b"{}\n")
    for number in range(50):
        assert Source(tmp_path / f"{number}.jsonl").beside(f"{number}.copy.*.jsonl") == []
    assert len(listed) == 1
