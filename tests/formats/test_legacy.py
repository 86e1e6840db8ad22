import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import legacy
from kafkatx.formats.layout import Malformed
from kafkatx.formats.legacy import MESSAGES
from tests.declared import batches
from tests.formats.captures import broker_files


def message(magic, **fields):
    """A message with the right size and CRC."""
    content = {
        "offset": 5,
        "size": 0,
        "crc": 0,
        "magic": magic,
        "attributes": 0,
        "timestamp": 9,
        "key": None,
        "value": b"v",
    }
    content |= fields
    size = len(MESSAGES[magic].build(content)) - legacy.LOG_OVERHEAD
    content |= {"size": size, "crc": zlib.crc32(MESSAGES[magic].build(content)[legacy.CRC_COVERS_FROM :])}
    return MESSAGES[magic].build(content)


def test_smallest_sizes_are_those_of_kafka():
    assert legacy.MINIMUM_SIZE == {0: 14, 1: 22}
    assert (legacy.LOG_OVERHEAD, legacy.MAGIC_AT) == (12, 16)
    assert len(message(0, value=None)) == 12 + 14
    assert len(message(1, value=None)) == 12 + 22


def test_a_hand_made_message_of_magic_1_is_read():
    data = bytes.fromhex("0000000000000005 00000018 00000000 01 08 0000018bcfe5687b ffffffff 00000002 6869")
    read = MESSAGES[1].parse(data)
    assert (read.offset, read.size, read.magic, read.attributes, read.timestamp) == (5, 24, 1, 8, 1700000000123)
    assert (read.key, read.value) == (None, b"hi")


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_cut_short_anywhere_is_malformed(magic):
    data = message(magic)
    for size in range(len(data)):
        with pytest.raises(Malformed):
            MESSAGES[magic].parse(data[:size])


@given(
    st.sampled_from([0, 1]), st.integers(0, 255), st.none() | st.binary(max_size=30), st.none() | st.binary(max_size=30)
)
def test_every_message_comes_back(magic, attributes, key, value):
    data = message(magic, attributes=attributes, key=key, value=value)
    read = MESSAGES[magic].parse(data)
    assert (read.attributes, read.key, read.value) == (attributes, key, value)
    assert MESSAGES[magic].build(read) == data


def test_every_recorded_message_is_rebuilt_and_has_the_right_crc():
    count = {0: 0, 1: 0}
    for path in broker_files("*/*.log"):
        for batch in batches(path.read_bytes()):
            if batch.magic < 2:
                layout = MESSAGES[batch.magic]
                assert layout.build(layout.parse(batch.data)) == batch.data
                assert batch.crc_valid
                count[batch.magic] += 1
    assert all(count.values())
