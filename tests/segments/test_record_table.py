import pyarrow as pa

from kafkatx.formats import declared
from kafkatx.formats.record import Record
from kafkatx.segments.record_table import RECORDS, Origin, record_batches
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.files import OpenFile
from tests.formats.captures import broker_files
from tests.formats.test_legacy import message
from tests.kernels.test_records import a_batch
from tests.segments.test_records import expected_of, read, with_crc, written


def table(path, **origin) -> list[dict]:
    with OpenFile(str(path)) as file:
        batches = list(record_batches(RecordWalk(file), Origin(str(path), **origin)))
    return pa.Table.from_batches(batches, RECORDS).to_pylist()


def record(value, delta=0, **fields):
    content = {"attributes": 0, "timestamp_delta": delta, "offset_delta": delta, "key": None, "headers": []}
    return Record.build(content | {"value": value} | fields)


def test_recorded_records_are_rows_without_those_of_control_batches(engine):
    compared = 0
    for path in broker_files("*-0/*.log"):
        rows = table(path, capture="c", topic="t", partition=0, broker_id=1)
        markers = {batch.base_offset for batch in declared.batches(path.read_bytes()) if batch.attributes & 0x20}
        found = {row["offset"]: row for row in rows}
        for _, offset, timestamp, key, value, headers in expected_of(path):
            if offset in found:
                row = found[offset]
                assert (row["timestamp_ms"], row["key"], row["value"]) == (timestamp, key, value)
                assert [(one["key"].encode(), one["value"]) for one in row["headers"]] == headers
                compared += 1
        assert not markers & set(found)
        if compared > 1500:
            break
    assert compared


def test_absent_values_are_null_and_empty_ones_are_not(tmp_path, engine):
    records = record(None) + record(b"", 1, key=b"", headers=[{"key": "h", "value": None}, {"key": "", "value": b""}])
    data = with_crc(a_batch(records, 2, producer_id=-1, producer_epoch=-1, base_sequence=-1)) + message(0, offset=2000)
    first, second, third = table(written(tmp_path, data), topic="t")
    assert (first["key"], first["value"], first["headers"]) == (None, None, [])
    assert (second["key"], second["value"]) == (b"", b"")
    assert second["headers"] == [{"key": "h", "value": None}, {"key": "", "value": b""}]
    assert {first["producer_id"], first["producer_epoch"], first["sequence"], third["sequence"]} == {None}
    assert (first["topic"], first["partition"], first["cluster_id"]) == ("t", None, None)
    assert (third["timestamp"], third["timestamp_ms"], third["is_transactional"]) == (None, -1, False)


def test_a_record_of_a_transaction_has_its_producer_and_a_marker_is_no_row(tmp_path):
    data = with_crc(a_batch(record(b"v"), 1, attributes=0x10, base_sequence=5))
    marker = record(b"\0\0\0\0\0\0", key=b"\0\0\0\1")
    rows = table(written(tmp_path, data + with_crc(a_batch(marker, 1, base_offset=1001, attributes=0x30))))
    assert len(rows) == 1
    assert (rows[0]["producer_id"], rows[0]["producer_epoch"], rows[0]["sequence"]) == (7, 0, 5)
    assert rows[0]["is_transactional"] is True
    assert (rows[0]["position"], rows[0]["batch_position"]) == (0, 0)


def test_times_that_are_none_are_null_beside_their_number(tmp_path):
    content = b"".join(record(b"v", delta) for delta in range(2))
    (early, late) = table(written(tmp_path, with_crc(a_batch(content, 2, base_timestamp=2**62))))
    assert (early["timestamp"], early["timestamp_ms"], late["timestamp_ms"]) == (None, 2**62, 2**62 + 1)
    (row, _) = table(written(tmp_path, with_crc(a_batch(content, 2, base_timestamp=1_700_000_000_123))))
    assert row["timestamp"].isoformat() == "2023-11-14T22:13:20.123000+00:00"


def test_header_keys_that_are_no_text_get_the_replacement_character(tmp_path):
    headers = [{"key": "\udcff", "value": b"x"}]
    (row,) = table(written(tmp_path, with_crc(a_batch(record(b"v", headers=headers), 1))))
    assert row["headers"] == [{"key": "\ufffd", "value": b"x"}]


def test_rows_are_as_many_as_records_read():
    for path in list(broker_files("payments-*/*.log"))[:3]:
        found, walk = read(path)
        assert len(table(path)) <= len(found)
        assert walk.damage == []
