"""Lines: numbers, places, ends of lines, encodings, and lines that never end."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.sources.files import OpenFile
from kafkatx.text import lines as module
from kafkatx.text.lines import LONGEST_LINE, Line, Page, _walked, lines


def read(folder: Path, data: bytes, **where: int) -> list[Line]:
    path = folder / "page.txt"
    path.write_bytes(data)
    with OpenFile(str(path)) as file:
        return list(lines(file, **where))


def test_each_line_knows_its_number_and_the_bytes_it_takes(tmp_path: Path) -> None:
    assert read(tmp_path, b"one\n\r\ntwo\r\nend") == [
        Line(1, 0, "one", 4, size=3),
        Line(2, 4, "", 6, size=0),
        Line(3, 6, "two", 11, size=3),
        Line(4, 11, "end", 14, is_ended=False, size=3),
    ]


def test_a_reader_may_begin_at_any_line_and_stop_at_any(tmp_path: Path) -> None:
    assert [(line.number, line.text) for line in read(tmp_path, b"a\nb\nc\nd\n", position=2, end=6, number=2)] == [
        (2, "b"),
        (3, "c"),
    ]


def test_a_carriage_return_inside_a_line_is_a_character_unless_the_file_knows_no_other_end(tmp_path: Path) -> None:
    assert [line.text for line in read(tmp_path, b"payload: a\rb\nnext\n")] == ["payload: a\rb", "next"]
    assert [line.text for line in read(tmp_path, b"old\rmac\r")] == ["old", "mac"]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_keeps_its_byte_positions(tmp_path: Path, codec: str) -> None:
    data = ("\ufeff" + "offset: 1\r\n\u0a00\u0a0a\U0001f600\nlast").encode(codec)
    found = read(tmp_path, data)
    assert [line.text for line in found] == ["offset: 1", "\u0a00\u0a0a\U0001f600", "last"]
    assert [data[line.position : line.end].decode(codec).rstrip("\r\n") for line in found] == [
        line.text for line in found
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfDumping x\n") == [Line(1, 3, "Dumping x", 13, size=9)]


def test_bytes_that_are_no_utf_8_and_nuls_stay_in_their_line(tmp_path: Path) -> None:
    found = read(tmp_path, b"a\xff\x00\x01b\nc\n")
    assert [(line.text, line.size) for line in found] == [("a\ufffd\x00\x01b", 5), ("c", 1)]


def test_a_line_without_end_keeps_its_head_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    with path.open("wb") as out:
        out.write(b"x" * 7)
        for _ in range(20):
            out.write(b"y" * LONGEST_LINE)
        out.write(b"\nnext\n")
    with OpenFile(str(path)) as file:
        tracemalloc.start()
        found = list(lines(file))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert [(line.number, len(line.text), line.is_cut) for line in found] == [(1, LONGEST_LINE, True), (2, 4, False)]
    assert found[1].position == found[0].end == 7 + 20 * LONGEST_LINE + 1
    assert peak < 8 << 20


@given(data=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xff", "\u20ac".encode()])).map(b"".join))
def test_lines_do_not_depend_on_where_a_block_ends(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = read(folder, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 4)
        assert read(folder, data) == whole
    assert b"".join(data[line.position : line.end] for line in whole) == data


@given(st.lists(st.sampled_from(["a", "\r", "\n", "b\n", "\r\n", "\x85", "\u2028", "ä"]), max_size=12), st.data())
def test_lines_that_are_remembered_are_those_that_are_read(pieces, data):
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe"]))
    content = mark + "".join(pieces).encode("utf-16-le" if mark == b"\xff\xfe" else "utf-8")
    page = Page(content)
    places = st.integers(0, len(content))
    position, end = data.draw(places), data.draw(st.one_of(st.none(), places))
    number = data.draw(st.integers(1, 4))
    if mark != b"\xff\xfe" or not (position % 2 or (end or 0) % 2):
        walked = _walked(page, position, len(content) if end is None else end, number)
        assert list(lines(page, position, end, number)) == list(walked)


def test_every_stretch_of_whole_lines_is_as_it_is_read():
    page = Page("\ufeffone\r\ntwo\n\nfour".encode())
    whole = list(lines(page))
    for first in range(len(whole)):
        for last in range(first, len(whole)):
            stretch = lines(page, whole[first].position, whole[last].end, whole[first].number)
            assert list(stretch) == whole[first : last + 1]
