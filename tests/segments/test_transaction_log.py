import gzip
import tracemalloc

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafkatx.formats.primitives import TaggedField
from kafkatx.formats.transaction_log import TopicPartitions, TransactionLogValue
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL
from kafkatx.segments import batches as walks
from kafkatx.segments import transaction_log
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from tests import declared
from tests.building import build, segment, states, with_crc
from tests.evidence import fixtures
from tests.formats.captures import transaction_state_logs

FUZZ = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
    max_examples=60,
    deadline=None,
)


def value(version=0, **fields):
    content = {"producer_id": 7, "producer_epoch": 1, "transaction_timeout_ms": 60000, "transaction_status": 1}
    content |= {"transaction_partitions": (TopicPartitions("orders", (1, 0)), TopicPartitions("audit", (3,)))}
    content |= {"transaction_last_update_timestamp_ms": 50, "transaction_start_timestamp_ms": 40}
    return TransactionLogValue(version, **(content | fields))


def read(path, names=None):
    """The rows of a file, and its walk."""
    rows = []
    with OpenFile(str(path)) as file:
        walk = StateWalk(file, names or Names())
        for _, found in walk.state_chunks():
            rows.extend(found)
    return rows, walk


def partitions(row, names):
    code = int(row["partitions_code"])
    return None if code < 0 else {names.topic_partitions[member] for member in names.partition_lists[code]}


def test_every_recorded_row_has_its_names(engine):
    names, compared = Names(), 0
    for path in transaction_state_logs():
        rows, walk = read(path, names)
        assert walk.damage == []
        for row, state in zip(rows, declared.transaction_states(path.read_bytes()), strict=True):
            assert names.transactional_id(row["id_code"]) == state.transactional_id
            assert partitions(row, names) == (None if state.partitions is None else set(state.partitions))
            assert (row["offset"], row["state"]) == (state.offset, -1 if state.state is None else state.state)
            compared += 1
    assert compared > 100


def test_equal_sets_of_partitions_have_one_code_in_both_versions(engine, tmp_path):
    swapped = (TopicPartitions("audit", (3,)), TopicPartitions("orders", (0, 1)))
    data = states(0, ("a", value()), ("a", value(1)), ("b", value(transaction_partitions=swapped)))
    rows, _ = read(segment(tmp_path, data))
    assert len({int(row["partitions_code"]) for row in rows}) == 1


def test_a_null_list_has_no_code_and_an_empty_one_has(engine, tmp_path):
    lists = [None, (), None, ()]
    made = [("a", value(number // 2, transaction_partitions=listed)) for number, listed in enumerate(lists)]
    names = Names()
    rows, _ = read(segment(tmp_path, states(0, *made)), names)
    assert [partitions(row, names) for row in rows] == [None, set(), None, set()]


def test_unknown_tagged_fields_are_kept_by_code(engine, tmp_path):
    tagged = [value(1, tagged_fields=(TaggedField(9, data),)) for data in (b"x", b"y", b"x")]
    rows, _ = read(segment(tmp_path, states(0, *(("a", made) for made in tagged), ("a", value(1)))))
    codes = [int(row["unknown_tags_code"]) for row in rows]
    assert codes[0] == codes[2] != codes[1]
    assert codes[3] == -1


def test_ids_that_are_no_text_are_told_apart_and_can_be_shown(engine, tmp_path):
    names = Names()
    rows, _ = read(segment(tmp_path, states(0, ("\udcff", None), ("\udcfe", None), ("", None))), names)
    assert len({int(row["id_code"]) for row in rows}) == 3
    assert names.transactional_id(rows[0]["id_code"]) == "\ufffd"


def test_a_record_of_a_release_to_come_is_damage_and_its_neighbours_are_read(engine, tmp_path):
    newer = b"\0\2" + build(value())[2:]
    data = states(0, ("a", value()), ("b", newer), ("c", None)) + states(3, ("d", None))
    rows, walk = read(segment(tmp_path, data))
    assert [int(row["offset"]) for row in rows] == [0, 2, 3]
    assert [(damage.kind, damage.position, damage.expected) for damage in walk.damage] == [
        ("entry", 0, "a value of version 0 or 1")
    ]
    assert "offset 1" in walk.damage[0].found


def test_more_rows_than_a_call_holds_are_all_read(engine, tmp_path, monkeypatch):
    data = b"".join(states(5 * number, *(("id", None) for _ in range(5))) for number in range(4))
    monkeypatch.setattr(transaction_log, "ROWS_PER_CALL", 3)
    rows, _ = read(segment(tmp_path, data))
    assert [int(row["offset"]) for row in rows] == list(range(20))


def test_a_batch_too_large_for_memory_is_damage_and_not_read_beyond_the_buffer(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(walks, "BUFFER_SIZE", 100)
    monkeypatch.setattr(walks, "LARGEST_BUFFER", 200)
    data = states(0, ("x", None)) + states(1, *(("y" * 20, None) for _ in range(20))) + states(21, ("z", None))
    rows, walk = read(segment(tmp_path, data))
    assert [int(row["offset"]) for row in rows] == [0, 21]
    assert [damage.kind for damage in walk.damage] == ["entry"]


def recorded():
    paths = sorted(fixtures().glob("*/broker-*/__transaction_state-*/*.log"))
    return [path.read_bytes() for path in paths if 500 < path.stat().st_size < 20_000][:6]


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["set", "cut", "drop", "repeat", "zero"]),
        st.integers(0, 20_000),
        st.integers(0, 255),
        st.integers(1, 300),
    ),
    max_size=6,
)


def changed(data, changes, repair):
    """The bytes after some changes; with `repair` every batch that is left has the right CRC again."""
    made = bytearray(data)
    for kind, at, byte, size in changes:
        at %= max(1, len(made))
        if kind == "set":
            made[at : at + 1] = bytes([byte])
        elif kind == "cut":
            del made[len(made) - size :]
        elif kind == "drop":
            del made[at : at + size]
        elif kind == "repeat":
            made[at:at] = made[at : at + size]
        else:
            made[at : at + size] = bytes(len(made[at : at + size]))
    if repair:
        for batch in list(declared.batches(bytes(made))):
            if batch.magic == 2:
                made[batch.position : batch.position + batch.size] = with_crc(batch.data)
    return bytes(made)


@FUZZ
@example(source=0, changes=[("set", 30, 255, 1)], repair=True)
@given(source=st.integers(0, 5), changes=CHANGES, repair=st.booleans())
def test_changed_files_are_walked_to_their_end_and_every_byte_is_accounted_for(
    engine, tmp_path, source, changes, repair
):
    files = recorded()
    data = changed(files[source % len(files)], changes, repair)
    path = segment(tmp_path, data)
    for check in (CHECK_ALL, CHECK_CONTROL):
        with OpenFile(str(path)) as file:
            walk, read_bytes, last = SegmentWalk(file, check=check), 0, -1
            for chunk in walk.chunks():
                assert chunk.rows["base_offset"][0] > last
                last = int(chunk.rows["last_offset"][-1])
                read_bytes += int(chunk.rows["size"].sum())
        assert read_bytes + sum(damage.bytes for damage in walk.damage) + walk.preallocated == len(data)
    rows, _ = read(path)
    offsets = [int(row["offset"]) for row in rows]
    assert offsets == sorted(set(offsets))


@pytest.mark.parametrize("kind", ["headers", "records", "varints"])
def test_hostile_bytes_cost_bounded_memory(engine, tmp_path, kind):
    whole = states(0, ("a", value()))
    content = {
        "headers": b"".join(whole[:8] + (1 << 20).to_bytes(4, "big") + whole[12:61] for _ in range(3000)),
        "records": states(1, *((f"{number}", b"\0\2" + bytes(40)) for number in range(3000))),
        "varints": with_crc(states(1, ("a", None))[:61] + b"\xff" * 17 + b"\xff" * 100_000),
    }[kind]
    path = segment(tmp_path, whole + content)
    read(path)
    tracemalloc.start()
    read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def test_a_compressed_batch_is_read_like_any_other(engine, tmp_path):
    """No broker compresses this topic; a hand that rewrote it might."""
    path = next(path for path in transaction_state_logs() if len(list(declared.batches(path.read_bytes()))) > 3)
    batches = list(declared.batches(path.read_bytes()))
    data = path.read_bytes()
    pieces = [bytearray(data[batch.position : batch.position + batch.size]) for batch in batches]
    squeezed = bytearray(pieces[1][:61] + gzip.compress(bytes(pieces[1][61:])))
    squeezed[8:12] = (len(squeezed) - 12).to_bytes(4, "big")
    squeezed[22] |= 1
    pieces[1] = bytearray(with_crc(bytes(squeezed)))
    changed = tmp_path / path.name
    changed.write_bytes(b"".join(pieces))
    names, others = Names(), Names()
    kept = ("offset", "producer_id", "producer_epoch", "state", "id_code", "partitions_code", "timestamp")
    before = [[row[name] for name in kept] for row in read(path, names)[0]]
    assert [[row[name] for name in kept] for row in read(changed, others)[0]] == before
