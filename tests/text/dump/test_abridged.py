"""Dump lines in which people left columns out: what is there is read, and what is missing is unknown, never false."""

import pytest

from tests.text.dump.comparing import batches_of_text

FLAT = (
    "offset: 0 ... producerId: 0 producerEpoch: 5 ... payload: x",
    "| offset: 1 ... endTxnMarker: ABORT coordinatorEpoch: 0",
    "offset: 2 ... producerId: 0 producerEpoch: 7 ... payload: y",
    "| offset: 3 ... endTxnMarker: COMMIT coordinatorEpoch: 0",
)
HEADED = (
    "baseOffset: 0 lastOffset: 1 ... producerId: 0 producerEpoch: 5 ...",
    "| offset: 0 ... payload: x",
    "baseOffset: 2 ... producerId: 0 producerEpoch: 6 ...",
    "| offset: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
)

MARKER_OF_0 = "offset: 11 ... producerId: 0 producerEpoch: 5 ... endTxnMarker: COMMIT coordinatorEpoch: 0"


@pytest.fixture
def told(tmp_path):
    def reader(*lines: str):
        path = tmp_path / "page.txt"
        path.write_text("\n".join(lines) + "\n")
        return batches_of_text(path)

    return reader


def columns(rows, *names: str):
    return [tuple(int(row[name]) for name in names) for row in rows.rows]


def test_a_marker_of_the_same_producer_proves_that_its_data_were_transactional(told):
    rows = told(*FLAT)
    assert rows.is_telling.all()
    assert columns(rows, "base_offset", "producer_id", "producer_epoch", "control_type") == [
        (0, 0, 5, -1), (1, 0, -1, 0), (2, 0, 7, -1), (3, 0, -1, 1)
    ]  # fmt: skip
    assert [attributes & 0x30 for (attributes,) in columns(rows, "attributes")] == [0x10, 0x30, 0x10, 0x30]


def test_a_batch_without_its_count_holds_the_offsets_that_it_names(told):
    rows = told(*HEADED)
    assert rows.is_telling.all()
    assert columns(rows, "base_offset", "record_count")[0] == (0, 2)


def test_without_a_marker_nobody_knows_whether_data_were_transactional(told):
    assert not told(FLAT[0], FLAT[2]).is_telling.any()


def test_a_marker_without_a_producer_is_nobodys_where_a_text_names_two(told):
    rows = told(
        FLAT[0],
        "offset: 1 ... producerId: 9 producerEpoch: 0 ... payload: z",
        "| offset: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
    )
    assert not rows.is_telling[-1]


def test_a_line_without_sequence_or_content_may_be_a_marker_as_well(told):
    rows = told("offset: 0 ... producerId: 0 producerEpoch: 5 ...", *FLAT[1:])
    assert rows.is_telling.tolist() == [False, True, True, True]


def test_in_a_text_of_markers_other_producers_data_are_assumed_to_be_transactional(told):
    ended = (FLAT[0].replace("offset: 0", "offset: 10"),)
    rows = told("offset: 0 ... producerId: 9 producerEpoch: 0 ... payload: z", ended[0], MARKER_OF_0)
    assert rows.is_telling.all()
    assert not told("offset: 0 ... producerId: 9 producerEpoch: 0 ... payload: z", ended[0]).is_telling.any()
