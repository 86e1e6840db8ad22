import gzip

import numpy as np
import pytest

from kafkatx.formats import legacy, record_batch
from kafkatx.formats.record import Record
from kafkatx.kernels.engine import COMPILE_ABOVE_ROWS
from kafkatx.kernels.record_columns import walk_columns
from kafkatx.kernels.records import walk_records
from kafkatx.kernels.rows import RECORD
from kafkatx.segments import batches as walk_of_batches
from kafkatx.segments import laid
from kafkatx.segments import records as walk_of_records
from kafkatx.segments.compression import decompress
from kafkatx.segments.record_columns import ColumnWalk
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.files import OpenFile
from tests import declared
from tests.building import segment, with_crc
from tests.formats.captures import broker_files
from tests.formats.test_legacy import message
from tests.kernels.test_records import a_batch


def record(value: bytes | None, delta: int = 0, **fields):
    content = {"attributes": 0, "timestamp_delta": delta, "offset_delta": delta, "key": None, "headers": []}
    return Record.build(content | {"value": value} | fields)


def read(path, **options):
    """(base offset of its batch, offset, timestamp, key, value, headers) of every record, and the walk."""
    found = []
    with OpenFile(str(path)) as file:
        walk = RecordWalk(file, **options)
        for chunk in walk.record_chunks():
            headers = [[] for _ in chunk.records]
            for row in chunk.headers():
                headers[row["record_row"]].append((field(chunk, row, "key"), field(chunk, row, "value")))
            found += [
                (
                    int(chunk.batches["base_offset"][row["batch_row"]]),
                    int(row["offset"]),
                    int(row["timestamp"]),
                    field(chunk, row, "key"),
                    field(chunk, row, "value"),
                    headers[number],
                )
                for number, row in enumerate(chunk.records)
            ]
    return found, walk


def field(chunk, row, name):
    start, length = int(row[f"{name}_start"]), int(row[f"{name}_length"])
    return None if length < 0 else bytes(chunk.data[start : start + length])


def expected_of(path):
    """What the declarations say of the records of magic 2."""
    for batch in declared.batches(path.read_bytes()):
        if batch.magic == 2:
            codec = record_batch.codec_of(batch.attributes)
            body = batch.data[record_batch.HEADER_SIZE :]
            payload = decompress(codec, body).data if codec and batch.record_count else None
            for found in declared.records(batch.data, payload):
                headers = [(key.encode("utf-8", "surrogateescape"), value) for key, value in found.headers]
                yield batch.base_offset, found.offset, found.timestamp, found.key, found.value, headers


def test_every_recorded_record_is_read_as_declared():
    codecs, compared = set(), 0
    for path in broker_files("*/*.log"):
        found, walk = read(path)
        batches = list(declared.batches(path.read_bytes()))
        bases = {batch.base_offset for batch in batches if batch.magic == 2}
        assert [one for one in found if one[0] in bases] == list(expected_of(path)), path
        assert walk.damage == []
        codecs |= {batch.attributes & 7 for batch in batches if batch.magic == 2}
        compared += len(found)
    assert codecs == {0, 1, 2, 3, 4}
    assert compared > 1000


def test_recorded_wrappers_hold_the_offsets_and_times_that_kafka_dump_log_printed():
    topics = {path.parent.name: path for path in broker_files("metrics-v*/*.log")}
    assert {"metrics-v0-0", "metrics-v1-0", "metrics-v1-append-0"} <= set(topics)
    for path in topics.values():
        found, walk = read(path)
        text = path.parents[2] / "kafka-dump-log" / path.relative_to(path.parents[2])
        lines = text.with_name(f"{path.name}.txt").read_text().splitlines()
        printed = [line.split() for line in lines if line.startswith("offset: ")]
        assert [one[1] for one in found] == [int(words[1]) for words in printed]
        assert [one[2] for one in found] == [int(words[5]) for words in printed]
        assert walk.damage == []


class Compiled:
    """In place of a compiled kernel: the plain one, and how often it is called."""

    is_kept = False

    def __init__(self, plain):
        self.plain, self.calls = plain, 0

    def __call__(self, data, *args):
        self.calls += 1
        return self.plain(memoryview(data), *args)


@pytest.mark.parametrize("codec", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("kernel", "chunks"),
    [
        (walk_records, lambda file: RecordWalk(file).record_chunks()),
        (walk_columns, lambda file: ColumnWalk(file).column_chunks()),
    ],
    ids=["rows", "columns"],
)
def test_the_first_of_many_records_is_read_compiled_already(tmp_path, monkeypatch, kernel, chunks, codec):
    monkeypatch.setattr(kernel, "_compiled", compiled := Compiled(kernel.plain))
    attributes, claimed = int(codec is gzip.compress), COMPILE_ABOVE_ROWS
    for count, is_worth_it in ((claimed, True), (100, False)):
        compiled.calls = 0
        monkeypatch.setattr(kernel, "rows", 0)
        content = codec(record(b"v") * count)
        path = segment(tmp_path, with_crc(a_batch(content, claimed, attributes=attributes)))
        with OpenFile(str(path)) as file:
            assert sum(chunk.rows if kernel is walk_columns else len(chunk.records) for chunk in chunks(file)) == count
        assert (compiled.calls > 0) == is_worth_it


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_alone_keeps_its_offset_time_key_and_value(tmp_path, engine, magic):
    found, walk = read(segment(tmp_path, message(magic, key=b"k") + message(magic, offset=6, value=None)))
    time = 9 if magic else -1
    assert found == [(5, 5, time, b"k", b"v", []), (6, 6, time, None, None, [])]
    assert walk.damage == []


def wrapper(magic, inner, **fields):
    return message(magic, value=gzip.compress(b"".join(inner)), attributes=1, **fields)


def test_offsets_inside_a_wrapper_are_relative_with_magic_1_and_absolute_with_magic_0(tmp_path, engine):
    relative = [message(1, offset=n, timestamp=100 + n) for n in (0, 1, 3)]
    absolute = [message(0, offset=n) for n in (7, 9)]
    data = wrapper(0, absolute, offset=9) + wrapper(1, relative, offset=20)
    found, _ = read(segment(tmp_path, data))
    assert [(one[1], one[2]) for one in found] == [(7, -1), (9, -1), (17, 100), (18, 101), (20, 103)]


def test_a_wrapper_without_an_offset_counts_from_zero(tmp_path):
    data = wrapper(1, [message(1, offset=n) for n in range(3)], offset=0)
    assert [one[1] for one in read(segment(tmp_path, data))[0]] == [0, 1, 2]


def test_log_append_time_of_a_wrapper_holds_for_all_inside(tmp_path):
    value = gzip.compress(message(1, offset=0, timestamp=1) + message(1, offset=1, timestamp=2))
    data = message(1, value=value, attributes=1 | 8, offset=1, timestamp=99)
    assert [one[2] for one in read(segment(tmp_path, data))[0]] == [99, 99]


def test_records_in_many_pieces_are_the_same(tmp_path, engine, monkeypatch):
    """Small calls, small buffers, small gatherings: every border falls somewhere else."""
    parts = []
    for number in range(6):
        content = b"".join(record(b"%d-%d" % (number, delta), delta) for delta in range(5))
        zipped = number % 3 == 1
        body = gzip.compress(content) if zipped else content
        parts.append(with_crc(a_batch(body, 5, base_offset=number * 10, attributes=int(zipped), producer_id=-1)))
    path = segment(tmp_path, b"".join(parts))
    whole, _ = read(path)
    monkeypatch.setattr(walk_of_records, "ROWS_PER_CALL", 2)
    monkeypatch.setattr(laid, "LAID", 1)
    monkeypatch.setattr(walk_of_batches, "BUFFER_SIZE", 150)
    assert read(path)[0] == whole
    assert [one[4] for one in whole] == [b"%d-%d" % (n, delta) for n in range(6) for delta in range(5)]


def test_chunks_say_which_batches_they_cover_and_which_they_continue(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_of_records, "ROWS_PER_CALL", 2)
    content = b"".join(record(b"v", delta) for delta in range(3))
    data = b"".join(with_crc(a_batch(content if n != 1 else b"", 3 * (n != 1), base_offset=n * 10)) for n in range(3))
    with OpenFile(str(segment(tmp_path, data))) as file:
        chunks = list(RecordWalk(file).record_chunks())
    covered = [(chunk.first, chunk.behind, chunk.is_continued, len(chunk.records)) for chunk in chunks]
    assert covered == [(0, 1, False, 2), (0, 3, True, 2), (2, 3, True, 2)]


def test_unreadable_records_are_damage_of_their_batch_and_the_rest_is_read(tmp_path, engine):
    batches = [
        with_crc(a_batch(gzip.compress(record(b"a"))[:-9], 1, base_offset=0, attributes=1)),
        with_crc(a_batch(record(b"b") + b"\x05", 2, base_offset=10)),
        with_crc(a_batch(record(b"c"), 1, base_offset=20)),
    ]
    found, walk = read(segment(tmp_path, b"".join(batches)))
    assert [one[4] for one in found if one[0] >= 10] == [b"b", b"c"]
    assert [(damage.kind, damage.position, damage.bytes) for damage in walk.damage] == [
        ("entry", 0, len(batches[0])),
        ("entry", len(batches[0]), len(batches[1])),
    ]


def test_a_batch_that_decompresses_to_too_much_is_damage_not_memory(tmp_path):
    content = b"".join(record(bytes(1000), delta) for delta in range(100))
    data = with_crc(a_batch(gzip.compress(content), 100, attributes=1))
    found, walk = read(segment(tmp_path, data), largest_payload=20_000)
    assert 0 < len(found) < 20
    assert [damage.found for damage in walk.damage] == ["more than 20,000 bytes when decompressed"]


def test_a_batch_too_large_for_the_buffer_is_read_from_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_of_batches, "BUFFER_SIZE", 256)
    monkeypatch.setattr(walk_of_batches, "LARGEST_BUFFER", 512)
    data = with_crc(a_batch(record(bytes(5000)), 1)) + with_crc(a_batch(record(b"z"), 1, base_offset=2000))
    found, walk = read(segment(tmp_path, data))
    assert [len(one[4]) for one in found] == [5000, 1]
    assert walk.damage == []


def test_headers_keep_their_order_nulls_and_repeats(tmp_path, engine):
    headers = [{"key": "a", "value": b"1"}, {"key": "", "value": None}, {"key": "a", "value": b""}]
    data = with_crc(a_batch(record(b"x") + record(b"y", 1, headers=headers), 2))
    found, _ = read(segment(tmp_path, data))
    assert [one[5] for one in found] == [[], [(b"a", b"1"), (b"", None), (b"a", b"")]]


def test_truncation_anywhere_keeps_all_whole_batches(tmp_path):
    path = min(broker_files("payments-*/*.log"), key=lambda path: (path.stat().st_size < 500, path.stat().st_size))
    data = path.read_bytes()
    ends = [batch.position + batch.size for batch in declared.batches(data)]
    whole, _ = read(path)
    for size in range(0, len(data), 7):
        found, _ = read(segment(tmp_path, data[:size]))
        kept = sum(end <= size for end in ends)
        assert len({one[0] for one in found}) == len({base for base in {one[0] for one in whole[: len(found)]}}) == kept


def test_the_walk_of_messages_refuses_what_the_declaration_refuses(engine):
    from kafkatx.kernels.messages import walk_messages

    for magic in (0, 1):
        whole = message(magic, key=b"key", value=b"value")
        for size in range(len(whole) + 1):
            out = np.zeros(2, RECORD)
            count, behind = walk_messages(walk_messages.view(whole[:size] or b"\0")[:size], 0, size, 0, out)
            assert (count, behind) == ((1, size) if size == len(whole) else (0, 0))
        for place in range(legacy.LOG_OVERHEAD + 6 + 8 * magic, len(whole)):
            broken = whole[:place] + b"\x7f" + whole[place + 1 :]
            count, _ = walk_messages(walk_messages.view(broken), 0, len(broken), 0, np.zeros(1, RECORD))
            assert count == is_readable(magic, broken)


def is_readable(magic, data):
    try:
        legacy.MESSAGES[magic].parse(data)
    except ValueError:
        return False
    return True
