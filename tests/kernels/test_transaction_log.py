import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.layout import Malformed
from kafkatx.formats.primitives import TaggedField
from kafkatx.formats.transaction_log import (
    TopicPartitions,
    TransactionLogValue,
    parse_partitions,
    parse_tagged_fields,
    unknown_of,
)
from kafkatx.kernels.batches import seen_producers, walk_batches
from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.kernels.transaction_log import (
    BAD_KEY,
    BAD_VALUE,
    KINDS_OF_PLACES,
    LIST_LENGTH,
    NO_RECORD,
    NOT_HELD,
    PROBLEM,
    UNKNOWN_KEY,
    UNKNOWN_VALUE,
    walk_states,
)
from tests import declared
from tests.building import BOTH_ENGINES, batch, build, record, states
from tests.evidence import ROOT
from tests.formats.captures import transaction_state_logs
from tests.kernels.walking import batch_rows

OF_READER = {"id_code", "partitions_code", "unknown_tags_code"}
"""Columns that the kernel leaves to the reader, which interns the places."""


def walk(data, room=1000):
    """Rows, places and outcomes of problems, read in calls of `room` rows."""
    batches, number, done, parts, outcomes = batch_rows(data), 0, 0, [], []
    while number < len(batches):
        out = np.frombuffer(b"\x5a" * room * STATE.itemsize, STATE).copy()  # memory that was used before
        places, problems = np.full((KINDS_OF_PLACES, room), 90), np.zeros(100, PROBLEM)
        state = (batches, number, done, out, places, problems)
        count, bad, number, done = walk_states(walk_states.view(data), 0, *state)
        parts.append((out[:count], places[:, :count].T))
        outcomes += problems["outcome"][:bad].tolist()
    rows, places = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return rows, places, outcomes


def text(data, place, name):
    start, length = place[2 * ("id", "list", "tags").index(name) :][:2].tolist()
    return None if length < 0 else data[start : start + length]


def assert_equal(data, row, place, state):
    for name in set(STATE.names) - OF_READER:
        found = getattr(state, name)
        assert row[name] == (-1 if found is None else found), name
    assert text(data, place, "id").decode("utf-8", "surrogateescape") == state.transactional_id
    tags = text(data, place, "tags")
    assert (unknown_of(parse_tagged_fields(tags)) if tags else ()) == state.unknown_tags
    listed = text(data, place, "list")
    if listed is None:
        assert state.partitions is None
    else:
        topics = parse_partitions(state.value_version, listed)
        pairs = tuple((topic.topic, number) for topic in topics for number in topic.partition_ids or ())
        assert pairs == state.partitions


def test_every_recorded_state_is_that_of_the_declaration(engine):
    compared = 0
    for path in transaction_state_logs():
        data = path.read_bytes()
        if not data:
            continue
        rows, places, outcomes = walk(data)
        assert outcomes == []
        for row, place, state in zip(rows, places, declared.transaction_states(data), strict=True):
            assert_equal(data, row, place, state)
            compared += 1
    assert compared > 100


TAGS = st.lists(
    st.builds(TaggedField, st.integers(0, 5) | st.integers(0, 2**32 - 1), st.binary(max_size=9)),
    max_size=3,
).map(tuple)
IDS = st.none() | st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3).map(tuple)


def topics(tags):
    listed = st.builds(TopicPartitions, st.text(max_size=5), IDS, tags)
    return st.none() | st.lists(listed, max_size=3).map(tuple)


def values(version, tags):
    return st.builds(
        TransactionLogValue,
        version=st.just(version),
        producer_id=st.integers(-(2**63), 2**63 - 1),
        producer_epoch=st.integers(-(2**15), 2**15 - 1),
        transaction_timeout_ms=st.integers(-(2**31), 2**31 - 1),
        transaction_status=st.integers(-128, 127),
        transaction_partitions=topics(tags),
        transaction_last_update_timestamp_ms=st.integers(-(2**63), 2**63 - 1),
        transaction_start_timestamp_ms=st.integers(-(2**63), 2**63 - 1),
        tagged_fields=tags,
    )


VALUES = values(0, st.just(())) | values(1, TAGS)
ROWS = st.lists(st.tuples(st.text(max_size=6), st.none() | VALUES), min_size=1, max_size=4)


@BOTH_ENGINES
@given(rows=ROWS, room=st.integers(1, 5))
def test_every_state_is_that_of_the_declaration(engine, rows, room):
    data = states(5, *rows) + states(5 + len(rows), *rows)
    found, places, outcomes = walk(data, room)
    assert outcomes == []
    for row, place, state in zip(found, places, declared.transaction_states(data), strict=True):
        assert_equal(data, row, place, state)


@BOTH_ENGINES
@given(value=VALUES, at=st.integers(0, 200), byte=st.integers(0, 255), cut=st.integers(0, 5))
def test_a_value_that_the_declaration_refuses_is_a_problem(engine, value, at, byte, cut):
    encoded = bytearray(build(value))
    encoded[min(at, len(encoded) - 1)] = byte
    data = states(0, ("a", bytes(encoded[: len(encoded) - cut])), ("b", None))
    rows, places, outcomes = walk(data)
    expected = list(declared.transaction_states(data))
    assert len(rows) + len(outcomes) == 2
    for row, place, state in zip(rows, places, expected, strict=True):
        assert_equal(data, row, place, state)


def test_a_transaction_of_no_partition_and_one_of_a_null_list_differ(engine):
    golden = bytes.fromhex("0000 0000000000001389 7fff 0000ea60 00 ffffffff 0000018bcfe5687b ffffffffffffffff")
    empty = golden.replace(b"\xff\xff\xff\xff\0", b"\0\0\0\0\0", 1)
    _, places, _ = walk(states(0, ("a", golden), ("a", empty)))
    assert places[:, LIST_LENGTH].tolist() == [-1, 4]


def test_what_can_not_be_read_says_why(engine):
    content = [
        record(0, b"", b"\0\0\0\5a"),
        record(1, b"", b"\0\1\0\1a"),
        record(2, b"", b"\0\0"),
        record(3, b"", None),
        record(4, bytes(20), b"\0\0\0\1a"),
        record(5, b"\0\2" + bytes(40), b"\0\0\0\1a"),
        record(6, None, b"\0\0\0\1a"),
        record(2, None, b"\0\0\0\1a"),
        record(99, None, b"\0\0\0\1a"),
    ]
    data = batch(0, content=b"".join(content), records_count=len(content))
    rows, _, outcomes = walk(data)
    assert rows["offset"].tolist() == [6]
    assert outcomes == [BAD_KEY, UNKNOWN_KEY, BAD_KEY, BAD_KEY, BAD_VALUE, UNKNOWN_VALUE, NO_RECORD, NO_RECORD]


def test_a_record_longer_than_its_batch_ends_the_batch(engine):
    content = record(0, None, b"\0\0\0\1a")
    data = batch(0, content=content[:-1], records_count=2) + states(2, ("b", None))
    rows, _, outcomes = walk(data)
    assert (rows["offset"].tolist(), outcomes) == ([2], [NO_RECORD])


@pytest.mark.parametrize("attributes", [0x01, 0x04, 0x20, 0x30])
def test_compressed_and_control_batches_hold_no_states(engine, attributes):
    content = record(0, None, b"\0\0\0\1a")
    assert len(walk(batch(0, content=content, records_count=1, attributes=attributes))[0]) == 0


def test_a_batch_that_is_not_in_the_buffer_is_not_touched(engine):
    data = states(0, ("a", None)) + states(1, ("b", None))
    batches, problems = batch_rows(data), np.zeros(4, PROBLEM)
    for start, held in ((-1, len(data)), (0, len(data) - 1)):
        out, places = np.zeros(4, STATE), np.zeros((KINDS_OF_PLACES, 4), np.int64)
        view = walk_states.view(data[:held])
        count, bad, _, _ = walk_states(view, start - (0 if start == 0 else 61), batches, 0, 0, out, places, problems)
        assert count < 2
        assert NOT_HELD in problems["outcome"][:bad]


def mutations(data):
    """Yield the bytes with one of them changed, each place and some values."""
    for at in range(len(data)):
        for byte in (0, 1, 0x7F, 0x80, 0xFF):
            yield data[:at] + bytes([byte]) + data[at + 1 :]


def run_over_mutations():
    """Walk changed batches compiled, each in a buffer that ends where the batch ends; run with bounds checks on."""
    from kafkatx.kernels.engine import forced

    value = TransactionLogValue(
        1,
        7,
        1,
        60000,
        1,
        (TopicPartitions("topic", (1, 2), (TaggedField(9, b"abc"),)),),
        5,
        4,
        (TaggedField(2, b"\0\2"),),
    )
    older = TransactionLogValue(0, 7, 1, 60000, 1, (TopicPartitions("topic", (1, 2)),), 5, 4)
    with forced("compiled"):
        for whole in (states(0, ("id", value), ("x", None)), states(0, ("id", older))):
            batches = batch_rows(whole)
            for data in mutations(whole):
                for end in (len(data), len(data) - 7):
                    rows = batches.copy()
                    rows["size"] = min(end, len(data))
                    places = np.zeros((KINDS_OF_PLACES, 9), np.int64)
                    state = (rows, 0, 0, np.zeros(9, STATE), places, np.zeros(9, PROBLEM))
                    walk_states(walk_states.view(data[:end]), 0, *state)
                with suppress(Malformed):
                    state = (-1, 2**63 - 1, -1, 0, seen_producers(), np.zeros(9, BATCH), 0)
                    walk_batches(walk_batches.view(data), 0, len(data), 0, len(data), *state)


def test_no_compiled_kernel_reads_outside_its_buffers(tmp_path):
    code = "from tests.kernels.test_transaction_log import run_over_mutations as run; run(); print('whole')"
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("whole\n", 0), done.stderr[-2000:]
