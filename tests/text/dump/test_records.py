"""Lines as people paste them: cut out, left out, in another order, wrapped, quoted; and what they then do not say."""

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.table import record_rows
from tests.text.dump.comparing import batches_of_text, whole

HEADER = (
    "baseOffset: {0} lastOffset: {1} count: {2} baseSequence: {3} lastSequence: {4} producerId: 7 producerEpoch: 2 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: {5} deleteHorizonMs: OptionalLong.empty position: {6} "
    "CreateTime: 1700000000000 size: {7} magic: 2 compresscodec: none crc: 1 isvalid: true"
)
DATA = HEADER.format(0, 1, 2, 0, 1, "false", 0, 90)
RECORDS = (
    "| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: 0 headerKeys: [] key: a payload: b",
    "| offset: 1 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: 1 headerKeys: [] key: a payload: c",
)
MARKER = HEADER.format(2, 2, 1, -1, -1, "true", 90, 78)
MARK = (
    "| offset: 2 CreateTime: 1700000000000 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT "
    "coordinatorEpoch: 3"
)
LATER = HEADER.format(9, 9, 1, 7, 7, "false", 700, 80)
TEXT = (DATA, *RECORDS, MARKER, MARK)


@pytest.fixture
def read(tmp_path):
    def reader(*lines: str, topic: str | None = "orders"):
        path = tmp_path / "page.txt"
        path.write_text("\n".join(lines) + "\n")
        return batches_of_text(path, topic)

    return reader


def test_a_whole_text_knows_all_of_a_marker(read):
    ours = read(*TEXT)
    assert ours.rows["base_offset"].tolist() == [0, 2]
    assert (ours.rows["control_type"][1], ours.rows["coordinator_epoch"][1]) == (0, 3)
    assert ours.is_telling.all()
    assert not ours.is_elided
    assert ours.lines.tolist() == [1, 4]
    assert ours.positions.tolist() == [0, sum(len(line) + 1 for line in TEXT[:3])]


@pytest.mark.parametrize(
    "line",
    [
        "offset: 4 ... producerId: 7 producerEpoch: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
        "offset: 4 \u2026 producerId: 7 producerEpoch: 2 \u2026 endTxnMarker: ABORT coordinatorEpoch: 0",
        "producerId: 7 producerEpoch: 2 offset: 4 endTxnMarker: ABORT coordinatorEpoch: 0",
        "offset: 4 producerId: 7 producerEpoch: 2 isTransactional: true headerKeys: [] endTxnMarker: ABORT "
        "coordinatorEpoch: 0",
        "12:offset: 4 ... producerId: 7 producerEpoch: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
        "> offset: 4 ... producerId: 7 producerEpoch: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
    ],
)
def test_a_marker_of_which_little_is_left(line, read):
    ours = read(line)
    (row,) = ours.rows
    assert (row["base_offset"], row["last_offset"], row["producer_id"], row["producer_epoch"]) == (4, 4, 7, 2)
    assert (row["control_type"], row["coordinator_epoch"]) == (0, 0)
    assert ours.is_telling.all()
    assert not ours.knows("max_timestamp")[0] or row["max_timestamp"] > 0
    assert not ours.knows("position")[0]
    assert not ours.knows("base_sequence")[0]
    assert ours.is_elided


def test_records_without_the_line_of_their_batch_tell_no_producer(read):
    ours = read(*RECORDS, MARK)
    assert ours.rows["base_offset"].tolist() == [0, 2]
    assert ours.rows["last_offset"].tolist() == [1, 2]
    assert not ours.knows("producer_id").any()
    assert ours.knows("control_type").tolist() == [False, True]
    assert not ours.is_telling.any()


def test_a_batch_whose_flags_were_cut_out_is_neither_data_nor_marker(read):
    ours = read("baseOffset: 0 lastOffset: 1 producerId: 7 producerEpoch: 2 ... position: 0 CreateTime: 1700000000000")
    assert ours.knows("producer_id")[0]
    assert not ours.knows("is_control")[0]
    assert not ours.is_telling[0]


def test_positions_prove_that_lines_were_left_out(read):
    ours = read(*TEXT, LATER)
    assert ours.left_out == [(3, 9)]
    assert ours.is_elided


def test_a_gap_that_the_cleaner_made_is_no_line_left_out(read):
    ours = read(*TEXT, LATER.replace("position: 700", "position: 168"))
    assert ours.left_out == []
    assert not ours.is_elided


def test_three_dots_between_lines_are_lines_left_out(read):
    assert read(DATA, "...", MARKER, MARK).is_elided


def test_a_batch_that_goes_back_is_damage(read):
    ours = read(*TEXT, DATA)
    assert ours.rows["base_offset"].tolist() == [0, 2]
    assert [damage.kind for damage in ours.damage] == ["entry"]


@pytest.mark.parametrize("prefix", ["> ", "    ", " * ", "// ", "# ", "| "], ids=repr)
def test_lines_behind_marks_are_the_same_lines(prefix, read):
    plain, marked = read(*TEXT), read(*(prefix + line for line in TEXT))
    assert marked.rows.tolist() == plain.rows.tolist()
    assert marked.known.tolist() == plain.known.tolist()


@pytest.mark.parametrize("width", [80, 100, 132, 200])
def test_lines_that_a_terminal_broke_are_the_same_lines(width, read):
    plain = read(*TEXT)
    broken = read(*(line[at : at + width] for line in TEXT for at in range(0, len(line), width)))
    assert broken.rows.tolist() == plain.rows.tolist()


def test_markdown_escapes_are_undone(read):
    ours = read(*(line.replace("[", "\\[").replace("]", "\\]").replace("|", "\\|") for line in TEXT))
    assert ours.rows.tolist() == read(*TEXT).rows.tolist()


def test_an_exception_of_the_tool_ends_the_text(read):
    ours = read(DATA, *RECORDS, 'Exception in thread "main" java.lang.IllegalStateException: x', "\tat a.B.c(D.java:1)")
    assert [damage.kind for damage in ours.damage] == ["torn"]
    assert len(ours) == 1


def test_bytes_at_the_end_that_the_tool_could_not_read_are_damage(read):
    ours = read(*TEXT, "Found 17 invalid bytes at the end of 00000000000000000000.log")
    assert [(damage.kind, "17 bytes" in damage.found) for damage in ours.damage] == [("torn", True)]
    assert len(ours) == 2


def test_prose_between_lines_is_passed_over(read):
    ours = read("we saw this:", *TEXT[:3], "and then suddenly (offset 2)", "", *TEXT[3:], "cheers")
    assert ours.rows.tolist() == read(*TEXT).rows.tolist()


def test_a_text_of_one_release_has_no_lines_of_another(read):
    flat = (
        "offset: {0} position: 0 CreateTime: 1 isvalid: true keysize: 1 valuesize: 1 magic: 2 compresscodec: NONE "
        "producerId: 7 producerEpoch: 2 sequence: {0} isTransactional: true headerKeys: [] key: a payload: b"
    )
    ours = read(flat.format(0), flat.format(1), LATER)
    assert ours.rows["last_offset"].tolist() == [1]
    assert ours.is_elided


@pytest.mark.parametrize("topic", ["orders", None])
def test_contents_that_look_decoded_are_contents_of_an_ordinary_topic(topic, read, tmp_path):
    value = "producerId:1,producerEpoch:0\n" + MARK
    size = len(value)
    line = RECORDS[1].replace("valueSize: 1", f"valueSize: {size}").removesuffix("c") + value
    ours = read(DATA, RECORDS[0], line, MARKER, MARK, topic=topic)
    assert ours.rows["base_offset"].tolist() == [0, 2]
    with OpenFile(str(tmp_path / "page.txt")) as file:
        assert [record.value for record in record_rows(file, whole(file, topic))][1] == value.encode()


def test_contents_that_were_shortened_by_hand_do_not_take_lines_along(read):
    shortened = RECORDS[0].replace("valueSize: 1", "valueSize: 5000").removesuffix("b") + '{"id":1,...}'
    ours = read(DATA, shortened, RECORDS[1], MARKER, MARK, LATER)
    assert ours.rows["base_offset"].tolist() == [0, 2, 9]


def test_a_text_that_ends_inside_of_contents_ends_there(read):
    begun = RECORDS[0].replace("valueSize: 1", "valueSize: 9000")
    ours = read(DATA, begun, *TEXT[2:])
    assert ours.rows["base_offset"].tolist() == [0]
    assert [damage.kind for damage in ours.damage] == ["torn"]
