"""What kernels print of a log is what is printed line by line, whatever stands in it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.message_schemas import by_number
from kafkatx.kernels.dump_lines import BATCH_ROOM, print_batches, print_records, print_states
from kafkatx.kernels.engine import forced
from kafkatx.outputs import dump_blocks
from kafkatx.outputs.dump import Dump
from kafkatx.outputs.dump_blocks import LogBlocks
from kafkatx.outputs.dump_options import DecoderName, DumpOptions
from tests.building import BOTH_ENGINES, message
from tests.dump_text.make import batch
from tests.dump_text.texts import made, recorded
from tests.formats.message_writing import random_message

SHALLOW = DumpOptions(deep=False, data=False)
DEEP = DumpOptions(data=False)
BARE = DumpOptions(skip_record_metadata=True)
EVERYTHING = DumpOptions()
STATES = DumpOptions(decoder=DecoderName.TRANSACTION_LOG)
ALL = (SHALLOW, DEEP, BARE, EVERYTHING, STATES, replace(STATES, skip_record_metadata=True))
MADE = [text.file for text in made() if text.file.suffix == ".log"]
RECORDED = sorted({text.file for text in recorded(".log")})

int8, int16, int32, int64 = (st.integers(-(1 << bits), (1 << bits) - 1) for bits in (7, 15, 31, 63))
text = st.one_of(
    st.none(),
    st.binary(max_size=12),
    st.text(max_size=6).map(str.encode),
    st.lists(st.sampled_from([b"\xed", b"\xa0", b"\xbf", b"\x80", b"\xf0", b"\x90", b"\xf4", b"\xe0", b"\xc2", b"a"]))
    .map(b"".join),
)  # fmt: skip
headers = st.lists(st.fixed_dictionaries({"key": st.text(max_size=4), "value": text}), max_size=3)
plain_record = st.fixed_dictionaries({"key": text, "value": text, "headers": headers})
control_record = st.fixed_dictionaries(
    {
        "key": st.one_of(text, st.integers(-1, 7).map(lambda kind: b"\0\0" + kind.to_bytes(2, "big", signed=True))),
        "value": st.one_of(text, int32.map(lambda epoch: b"\0\0" + epoch.to_bytes(4, "big", signed=True))),
    }
)


@st.composite
def state_record(draw):
    """A record of `__transaction_state`, most often whole, else with bytes changed or cut off."""
    dice = random.Random(draw(st.integers(0, 1 << 32)))
    key = b"\0\0" + random_message(by_number("transaction_coordinator", "key")[0], 0, dice)[1]
    version = draw(st.sampled_from([0, 1, 1, 2]))
    value = random_message(by_number("transaction_coordinator", "value")[0], min(version, 1), dice)[1]
    pair = [key, version.to_bytes(2, "big") + value]
    at = draw(st.sampled_from([0, 1, 1, 1]))
    match draw(st.sampled_from(["whole", "whole", "cut", "changed", "longer", "null"])):
        case "cut":
            pair[at] = pair[at][: draw(st.integers(0, len(pair[at])))]
        case "changed":
            place = draw(st.integers(0, len(pair[at]) - 1))
            pair[at] = pair[at][:place] + bytes([draw(st.integers(0, 255))]) + pair[at][place + 1 :]
        case "longer":
            pair[at] += draw(st.binary(max_size=8))
        case "null":
            pair[at] = None
    return {"key": pair[0], "value": pair[1]}


@st.composite
def log(draw, record):
    """Some batches one behind the other."""
    data, offset = b"", 0
    for _ in range(draw(st.integers(1, 3))):
        attributes = draw(st.sampled_from([0, 0x08, 0x10, 0x18, 0x30, 0x20, 0x40, 0x50, 0x70]))
        records = draw(st.lists(control_record if attributes & 0x20 else record, max_size=5))
        fields = {
            "attributes": attributes, "base_timestamp": draw(int64), "max_timestamp": draw(int64),
            "producer_id": draw(int64), "producer_epoch": draw(int16), "base_sequence": draw(int32),
            "partition_leader_epoch": draw(st.integers(0, 5)),
            "last_offset_delta": max(len(records) - 1, 0) + draw(st.integers(0, 2)),
        }  # fmt: skip
        data += batch(offset, records, **fields)
        offset += fields["last_offset_delta"] + 1
    return data


def printed(path, options, *, by_kernels, monkeypatch, block=dump_blocks.BLOCK):
    """A dump as text, and what is complained of."""
    with monkeypatch.context() as patched:
        patched.setattr(LogBlocks, "are_worth_it", lambda self, rows: by_kernels and bool((rows["magic"] == 2).all()))
        patched.setattr(dump_blocks, "BLOCK", block)
        complaints = []
        return "".join(Dump(options, False, complaints.append).pieces([str(path)])), complaints


def assert_equal(path, options, monkeypatch, block=dump_blocks.BLOCK):
    careful = printed(path, options, by_kernels=False, monkeypatch=monkeypatch)
    assert printed(path, options, by_kernels=True, monkeypatch=monkeypatch, block=block) == careful


@pytest.mark.parametrize("options", ALL, ids=str)
def test_logs_of_every_kind_of_record(options, engine, monkeypatch):
    for file in MADE:
        assert_equal(file, options, monkeypatch, block=2000)


@pytest.mark.parametrize("options", [SHALLOW, EVERYTHING], ids=str)
def test_recorded_logs(options, monkeypatch):
    with forced("compiled"):
        for file in RECORDED:
            assert_equal(file, options, monkeypatch)
    assert len(RECORDED) > 50


@BOTH_ENGINES
@given(log(plain_record), st.sampled_from(ALL), st.sampled_from([BATCH_ROOM, 3000, 1 << 20]))
def test_any_log(engine, monkeypatch, tmp_path, data, options, block):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    assert_equal(path, options, monkeypatch, block)


@BOTH_ENGINES
@given(log(state_record()), st.sampled_from(ALL), st.sampled_from([BATCH_ROOM, 3000, 1 << 20]))
def test_any_log_of_states(engine, monkeypatch, tmp_path, data, options, block):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    assert_equal(path, options, monkeypatch, block)


def test_messages_of_old_formats_and_terminals_are_not_for_kernels(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(message(0, 1, b"old") + message(1, 1, b"\x1b[31m") + batch(2, [{"value": b"new \x1b[31m"}]))
    with forced("compiled"):
        pieces = "".join(Dump(DumpOptions(escape=True), False, print).pieces([str(path)]))
    assert pieces.count("isValid: true crc: ") == 2
    assert pieces.count("\\x1b[31m") == 2
    assert "\x1b" not in pieces


def test_the_kernels_go_on_compiled_as_soon_as_the_walks_do():
    assert all(kernel.follows is not None for kernel in (print_batches, print_records, print_states))
