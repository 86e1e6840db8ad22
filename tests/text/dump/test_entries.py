"""Lines of indexes and snapshots that the recorded texts do not have: other releases, pasted ones, nonsense."""

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.entries import aborted_entries, producer_entries
from tests.text.dump.comparing import whole

ABORTED = "version: 0 producerId: 5 firstOffset: 1 lastOffset: 9 lastStableOffset: 10"
CACHED = (
    "producerId: 5 producerEpoch: 2 coordinatorEpoch: 1 currentTxnFirstOffset: Some(3) cachedMetadata: Queue("
    "BatchMetadata(firstSeq=4, lastSeq=6, firstOffset=7, lastOffset=9, timestamp=1700000000000))"
)


@pytest.fixture
def read(tmp_path):
    def reader(entries, *lines: str):
        path = tmp_path / "entries.txt"
        path.write_text("\n".join(lines) + "\n")
        with OpenFile(str(path)) as file:
            return entries(file, whole(file))

    return reader


@pytest.mark.parametrize("line", [ABORTED, f"> {ABORTED}", f" * {ABORTED}", f"3:{ABORTED}"])
def test_an_aborted_transaction_however_it_was_pasted(line, read):
    ours = read(aborted_entries, line)
    assert ours.rows.tolist() == [(0, 5, 1, 9, 10)]


def test_fields_that_were_left_out_are_not_known(read):
    ours = read(aborted_entries, "producerId: 5 firstOffset: 1 ... lastStableOffset: 10")
    assert ours.is_elided
    assert [column for column in ours.columns if not ours.knows(column)[0]] == ["version", "last_offset"]


def test_an_entry_of_another_version_is_damage(read):
    ours = read(aborted_entries, ABORTED.replace("version: 0", "version: 3"), ABORTED)
    assert (len(ours), [damage.found for damage in ours.damage]) == (1, ["version 3"])
    assert ours.lines.tolist() == [2]


def test_cached_batches_as_a_scala_queue(read):
    ours = read(producer_entries, CACHED)
    (row,) = ours.rows
    assert (row["producer_id"], row["producer_epoch"], row["open_since_offset"]) == (5, 2, 3)
    assert (row["last_sequence"], row["last_offset"], row["offset_delta"]) == (6, 9, 2)
    assert row["timestamp"] == 1700000000000
    assert all(ours.knows(column)[0] for column in ours.columns)


def test_an_empty_queue_is_a_producer_without_a_batch(read):
    ours = read(producer_entries, CACHED.partition("BatchMetadata")[0] + ")")
    assert (ours.rows["last_offset"][0], ours.knows("last_offset")[0]) == (-1, True)
    assert not ours.knows("timestamp")[0]


@pytest.mark.parametrize("entries", [aborted_entries, producer_entries])
@pytest.mark.parametrize("line", ["", "prose", "offset: x position: y", "producerId: " + "9" * 500, "version: " * 99])
def test_other_lines_are_no_entries(entries, line, read):
    ours = read(entries, line)
    assert (len(ours), ours.damage) == (0, [])


def test_numbers_that_no_entry_can_have_are_damage(read):
    ours = read(aborted_entries, ABORTED.replace("producerId: 5", "producerId: 9999999999999999999"))
    assert (len(ours), [damage.kind for damage in ours.damage]) == (0, ["entry"])


def test_an_exception_of_the_tool_ends_the_file(read):
    ours = read(aborted_entries, 'Exception in thread "main" java.util.NoSuchElementException')
    assert [damage.kind for damage in ours.damage] == ["torn"]
