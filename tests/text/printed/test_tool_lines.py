"""Broken lines are joined, contents with ends of lines stay whole, in linear time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.lines import Line
from kafkatx.text.printed import joining
from kafkatx.text.printed import tool_lines as module
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.tool_lines import ToolLine, tool_lines, unpasted
from tests.text import pasting

HEAD = "| offset: 7 CreateTime: 1795256984939 keySize: -1 valueSize: {} sequence: 0 headerKeys: [] payload: "
BATCH = (
    "baseOffset: 8 lastOffset: 9 count: 2 baseSequence: 0 lastSequence: 1 producerId: 1 producerEpoch: 0 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: false position: 0 CreateTime: 1795256984970 size: 225 "
    "magic: 2 compresscodec: none crc: 306846742 isvalid: true"
)
WIDTHS = [80, 100, 120, 132]


def read(texts: list[str]) -> list[ToolLine]:
    return list(tool_lines(pasting.numbered_lines(texts)))


def texts(lines: list[str]) -> list[str]:
    return [line.text for line in unpasted(pasting.numbered_lines(lines))]


def of_tools(lines: list[str]) -> list[str]:
    """Lines of the tool without contents, which folding at blanks may break anywhere."""
    return [pasting.head(found.line.text) for found in read(lines) if found.printed is not None]


@pytest.mark.parametrize("path", pasting.dumps(most=40), ids=lambda path: "/".join(path.parts[-5:]))
def test_a_dump_as_it_was_printed_stays_as_it_is(path: Path) -> None:
    lines = pasting.printed(path)
    assert texts(lines) == lines


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", pasting.dumps(most=40), ids=lambda path: "/".join(path.parts[-5:]))
def test_a_dump_broken_by_a_terminal_or_by_mail_is_joined_again(path: Path, width: int) -> None:
    lines = [line for line in pasting.printed(path, 40) if "Exception" not in line and "magic: 0" not in line]
    if "magic: 1" not in "".join(lines):
        assert texts(pasting.broken_at(width)(lines)) == lines
    assert of_tools(pasting.folded_at(width)(lines)) == of_tools(lines)


WRITTEN = {
    "backquotes": pasting.in_backquotes,
    "breaks": pasting.with_breaks,
    "escapes": pasting.escaped,
    "quotes": pasting.prefixed("> "),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("path", pasting.dumps(most=20), ids=lambda path: "/".join(path.parts[-5:]))
def test_a_broken_dump_that_was_written_down_is_joined_again(path: Path, written: pasting.Pasting) -> None:
    lines = [line for line in pasting.printed(path, 40) if "Exception" not in line and "magic: " in line]
    of_logs = [line for line in lines if "magic: 0" not in line and "magic: 1" not in line and " payload: " not in line]
    assert of_tools(written(pasting.broken_at(100)(of_logs))) == of_logs


def test_a_break_of_html_behind_a_record_is_no_content_of_it() -> None:
    decoded = (
        "| offset: 1 CreateTime: 1699999999120 keySize: 12 valueSize: 50 sequence: -1 headerKeys: [] "
        "key: transaction_metadata::transactionalId=late-1 payload: producerId:77,producerEpoch:2,"
        "state=CompleteCommit,partitions=[],txnLastUpdateTimestamp=1699999999120,txnTimeoutMs=60000"
    )
    marker = "| offset: 9 CreateTime: 1 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT"
    marker += " coordinatorEpoch: 3"
    for line in (decoded, marker, BATCH, HEAD.format(5) + "hello"):
        assert texts([line + "<br>"]) == [line]


def test_html_that_a_value_ends_with_is_its_own() -> None:
    line = HEAD.format(9) + "hello<br>"
    assert texts([line]) == [line]


@given(width=st.integers(70, 160), lines=st.integers(1, 3))
def test_a_line_broken_at_any_column_is_one(width: int, lines: int) -> None:
    whole = ["Dumping /var/lib/kafka/orders-0/00000000000000000000.log", *[BATCH] * lines]
    assert texts(pasting.broken_at(width)(whole)) == whole


def test_a_joined_line_has_the_number_of_its_first_and_the_end_of_its_last_piece() -> None:
    pieces = pasting.broken_at(100)(["prose", BATCH, "more prose"])
    found = read(pieces)
    assert [(one.line.number, one.is_joined) for one in found] == [(1, False), (2, True), (len(pieces), False)]
    assert found[1].line.end == found[2].line.position


def test_two_lines_are_never_taken_for_one() -> None:
    lines = ["offset: 0 position: 0", "offset: 33 position: 4183", "timestamp: 1 offset: 2", "timestamp: 3 offset: 4"]
    assert texts(lines) == lines
    cut = [BATCH[:120], "and then the broker said that it was done", BATCH]
    assert texts(cut) == cut
    assert texts([BATCH[:99], BATCH]) == [BATCH[:99], BATCH]


@pytest.mark.parametrize(
    "content",
    [
        "first\n" + BATCH + "\nlast",
        "\n\n" + BATCH,
        "a\nDumping /var/lib/kafka/other-0/00000000000000000000.log\n| offset: 1 CreateTime: 2 keySize: 3 valueSize: 4",
        "2026-11-21 10:29:43.835 [main] WARN a - b\n> quoted\n    indented",
        "\u20ac\n\u20ac\n" + HEAD.format(3),
    ],
)
@pytest.mark.parametrize("prefix", ["", "> ", " * "])
def test_what_looks_like_a_line_inside_a_content_is_content(content: str, prefix: str) -> None:
    lines = [*(HEAD.format(len(content.encode())) + content).split("\n"), BATCH]
    found = read([prefix + line for line in lines])
    assert [one.line.text for one in found] == lines
    assert [one.is_content for one in found] == [False, *[True] * content.count("\n"), False]
    assert [one.printed.kind for one in found if one.printed] == [ToolLineKind.RECORD, ToolLineKind.BATCH]


def test_a_size_that_ends_inside_of_a_line_makes_no_content() -> None:
    found = read([HEAD.format(60) + "short", BATCH, BATCH])
    assert [one.printed is not None for one in found] == [True, True, True]


def test_a_decoder_s_text_is_shorter_than_its_size_and_takes_nothing() -> None:
    line = (
        "| offset: 7 CreateTime: 1 keySize: 9 valueSize: 400 sequence: -1 headerKeys: [] "
        "key: group_metadata::group=g payload: {}"
    )
    assert [one.is_content for one in read([line, BATCH, BATCH])] == [False, False, False]


def test_lines_that_claim_contents_are_looked_behind_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    grow = joining.Growth.add
    monkeypatch.setattr(joining.Growth, "add", lambda self, line: looked.append(1) or grow(self, line))
    lines = [HEAD.format(2_000_000_000) + "x"] * 3000
    assert len(read(lines)) == 3000
    assert len(looked) < 2 * 3000 + module.BUDGET // 100


def test_a_line_that_goes_on_for_ever_is_joined_up_to_a_bound() -> None:
    pieces = pasting.broken_at(80)([HEAD.format(100_000) + "{" * 80_000])
    assert max(len(one.line.text) for one in read([BATCH[:80], BATCH[80:160], BATCH[160:], *pieces])) < 80 * 250


@given(
    st.lists(
        st.sampled_from([BATCH, BATCH[:90], BATCH[90:], HEAD.format(5) + "a", "b", "", "prose", "> "]), max_size=12
    )
)
def test_every_line_of_a_text_is_told_once_and_in_order(lines: list[str]) -> None:
    found = read(lines)
    begins = [one.line.position for one in found]
    assert begins == sorted(set(begins))
    ends = [one.line.end for one in found]
    assert begins[1:] == ends[:-1]
    assert ends[-1:] == [line.end for line in pasting.numbered_lines(lines)][-1:]


def test_text_of_any_kind_is_read() -> None:
    odd = ["\x00" * 50, "\ufeff", "|", "| offset:", "headerKeys: [", "a" * 100_000, "\r", "producerId: -1 lastOffset"]
    assert [one.line for one in read(odd)] == pasting.numbered_lines(odd)
    assert list(tool_lines(iter(()))) == []
    assert next(tool_lines([Line(1, 0, BATCH, 9)])).line.text == BATCH
