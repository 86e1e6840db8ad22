"""Contents that look like the tool's own lines, cuts, lost characters, wild claims: no row is ever invented."""

import random

import numpy as np
import pytest

from kafkatx.text.dump import records
from kafkatx.text.lines import LONGEST_LINE
from kafkatx.text.printed import tool_lines
from kafkatx.text.printed.contents import Growth
from tests.text.dump.comparing import batches_of_bytes, batches_of_text, differing
from tests.text.dump.writing import RELEASES, logs, printed_by


def version(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def read(tmp_path, text: str | bytes):
    path = tmp_path / "text.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return batches_of_text(path, "orders")


def told(release, rows):
    """Batches that a release shows: without a line for a batch none that is empty."""
    return rows[rows["record_count"] > 0] if release < (2, 2) else rows


@pytest.mark.parametrize("release", RELEASES, ids=version)
def test_forged_lines_in_contents_are_contents(release, tmp_path):
    for log in logs("forged", tmp_path, 6):
        theirs = told(release, batches_of_bytes(log))
        ours = read(tmp_path, printed_by(release, log))
        assert len(ours) == len(theirs)
        assert not ours.damage
        assert differing(ours, theirs) == {}


def invented(ours, theirs):
    """Rows of a text that no batch of the log bears out: other offsets, another producer, a marker for data."""
    return [row for number, row in enumerate(ours.rows) if not is_borne_out(ours, number, theirs)]


def is_borne_out(ours, number, theirs) -> bool:
    row = ours.rows[number]
    for real in theirs:
        if real["base_offset"] <= row["base_offset"] <= row["last_offset"] <= real["last_offset"]:
            differs = ours.knows("is_control")[number] and (row["attributes"] ^ real["attributes"]) & 0x20
            return not differs and row["producer_id"] in (-1, real["producer_id"])
    return False


@pytest.mark.parametrize("release", RELEASES, ids=version)
def test_a_text_that_ends_anywhere_invents_nothing(release, tmp_path):
    for log in logs("ends", tmp_path, 1):
        theirs, text = batches_of_bytes(log), printed_by(release, log).encode()
        lines = [at + 1 for at, byte in enumerate(text) if byte == ord("\n")]
        for end in [*lines, *random.Random("ends").sample(range(len(text)), 20)]:
            ours = read(tmp_path, text[:end])
            assert invented(ours, theirs) == [], end


@pytest.mark.parametrize("release", RELEASES, ids=version)
def test_bytes_that_are_no_text_invent_nothing(release, tmp_path):
    whole_rows = found = 0
    for log in logs("odd", tmp_path, 8, odd=True):
        theirs = told(release, batches_of_bytes(log))
        ours = read(tmp_path, printed_by(release, log))
        assert invented(ours, theirs) == []
        whole_rows, found = whole_rows + len(theirs), found + len(ours)
    assert found > 0.9 * whole_rows


@pytest.mark.parametrize("release", RELEASES, ids=version)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\x00", "").replace("\x01", "").replace("\x1b", ""),
        lambda text: text.replace("\x00", "^@").replace("\x01", "^A").replace("\x1b", "^["),
        lambda text: text.replace("\n", "\r\n"),
    ],
    ids=["lost", "carets", "crlf"],
)
def test_what_pasting_does_to_contents_invents_nothing(release, change, tmp_path):
    total = found = 0
    for log in logs("pasted", tmp_path, 3):
        theirs = told(release, batches_of_bytes(log))
        ours = read(tmp_path, change(printed_by(release, log)))
        assert invented(ours, theirs) == []
        total, found = total + len(theirs), found + len(ours)
    assert found > 0.5 * total


BIG = "2147483647"
CLAIMS = {
    "huge": f"| offset: %d CreateTime: 1 keysize: {BIG} valuesize: {BIG} sequence: 0 headerKeys: [] key: a payload: b",
    "more than there is": "| offset: %d CreateTime: 1 keysize: 1 valuesize: 70000 sequence: 0 headerKeys: [] key: a",
    "many beginnings": "| offset: %d CreateTime: 1 keysize: 1 valuesize: 9000 sequence: 0 headerKeys: ["
    + "] key: a" * 40,
    "flat": "offset: %d position: 7 CreateTime: 1 isvalid: true keysize: 99999999 valuesize: -1 magic: 2 "
    "compresscodec: NONE producerId: 1 producerEpoch: 0 sequence: 0 isTransactional: true headerKeys: [] "
    "key: \ufffd\ufffd",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_looking_ahead_costs_in_proportion_to_the_text(claim, tmp_path, monkeypatch):
    seen = []
    add = Growth.add
    monkeypatch.setattr(Growth, "add", lambda growth, line: seen.append(len(line.text)) or add(growth, line))
    monkeypatch.setattr(records, "BUDGET", 10_000)
    text = "".join(CLAIMS[claim] % number + "\n" for number in range(1000))
    ours = read(tmp_path, text)
    granted = records.BUDGET + tool_lines.BUDGET
    assert sum(seen) <= 5 * len(text) + 2 * granted < len(text) * 1000 / 10
    assert len(ours) <= 1000


@pytest.mark.parametrize(
    "line", ["baseOffset: " + "9" * 400, "offset: 1 " * 30, "offset: " + "... " * 90, "| offset: "]
)
def test_lines_that_only_begin_like_the_tools_say_nothing(line, tmp_path):
    assert len(read(tmp_path, f"{line}\n" * 20)) <= 1


def test_numbers_that_no_field_can_hold_are_damage(tmp_path):
    header = (
        "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: 0 lastSequence: 0 producerId: {} producerEpoch: {} "
        "partitionLeaderEpoch: 0 isTransactional: true isControl: false position: 0 CreateTime: 1 size: 90 magic: 2 "
        "compresscodec: NONE crc: 1 isvalid: true\n"
    )
    for pair in (("9999999999999999999", "0"), ("1", "70000"), ("9223372036854775807", "32767")):
        ours = read(tmp_path, header.format(*pair))
        legal = pair[1] == "32767"
        assert len(ours) == legal
        assert [damage.kind for damage in ours.damage] == ([] if legal else ["entry"])


def test_a_batch_with_a_wrong_crc_is_damage_and_no_row(tmp_path):
    log = next(logs("crc", tmp_path, 1))
    text = printed_by((3, 9, 1), log)
    theirs = batches_of_bytes(log)
    ours = read(tmp_path, text.replace("isvalid: true", "isvalid: false", 1))
    assert len(ours) == len(theirs) - 1
    assert [damage.kind for damage in ours.damage] == ["crc"]
    assert np.array_equal(ours.rows["base_offset"], theirs["base_offset"][1:])


def with_value(value: str, offset: int = 0, position: int = 0) -> str:
    return (
        f"baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: 0 lastSequence: 0 producerId: 7 "
        "producerEpoch: 2 partitionLeaderEpoch: 0 isTransactional: true isControl: false "
        f"position: {position} CreateTime: 1 size: 100 magic: 2 compresscodec: NONE crc: 1 isvalid: true\n"
        f"| offset: {offset} CreateTime: 1 keysize: -1 valuesize: {len(value)} sequence: 0 headerKeys: [] "
        f"payload: {value}\n"
    )


def test_a_line_that_is_too_long_to_be_held_is_counted_whole(tmp_path):
    ours = read(tmp_path, with_value("v" * (LONGEST_LINE + 5000)) + with_value("x", 1, 100))
    assert ours.rows["base_offset"].tolist() == [0, 1]
    assert not ours.damage


def test_contents_that_are_too_long_to_be_held_end_where_the_log_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LARGEST_CONTENT", 2_000)
    forged = with_value("a", 5, 4000)
    ours = read(tmp_path, with_value(("words\n" * 100 + forged) * 20) + with_value("x", 1, 100))
    assert ours.rows["base_offset"].tolist() == [0, 1]
