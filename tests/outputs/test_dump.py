"""What kafka-dump-log 4.3.1 prints, line for line; what we say where it ends with an exception; JSON."""

import json
from pathlib import Path

import pytest

from kafkatx.cli.dump_tool import ToolOptions
from kafkatx.outputs import dump_indexes
from kafkatx.outputs.dump import Dump
from kafkatx.outputs.dump_blocks import BLOCK
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.terms.errors import UsageError
from tests import declared
from tests.dump_text.make import OPTIONS, batch, indexes, logs
from tests.dump_text.texts import DATA_ROOT, Recorded, lines_of, made, recorded, without_misprints
from tests.formats.captures import broker_files

SAME_TEXT_SINCE = (4, 1)
RECORDED = [
    text
    for text in recorded(".log", ".txnindex", ".snapshot", ".index", ".timeindex")
    if text.version >= SAME_TEXT_SINCE
]
MADE = Path(__file__).parents[1] / "dump_text" / "golden"


def dumped(paths, *options, as_json=False, max_bytes=None):
    """What a dump with the tool's own options prints, and its complaints."""
    complaints = []
    given = {name.removeprefix("--").replace("-", "_"): True for name in options}
    chosen = ToolOptions(files_option="", max_bytes=max_bytes, **given).options()
    return "".join(Dump(chosen, as_json, complaints.append).pieces(map(str, paths))), complaints


def everything(paths, as_json=False, **options):
    """What a dump without any option prints, and its complaints."""
    complaints = []
    dump = Dump(DumpOptions(**options), as_json, complaints.append)
    return "".join(dump.pieces(map(str, paths))), complaints


def objects(paths, *options):
    text, _ = dumped(paths, *options, as_json=True) if options else everything(paths, as_json=True)
    return [json.loads(line) for line in text.splitlines()]


def named_as_recorded(text: str, file: Path) -> str:
    return text.replace(str(file.parent.parent), DATA_ROOT)


@pytest.mark.parametrize("text", RECORDED, ids=str)
def test_recorded_texts_of_the_newest_tool_are_ours_line_for_line(text: Recorded):
    ours, _ = dumped([text.file], *text.options())
    printed, _ = without_misprints(text, set())
    assert lines_of(named_as_recorded(ours, text.file)) == printed


def test_texts_of_the_newest_tool_are_there():
    assert len({text.case for text in RECORDED}) >= 4
    assert {text.file.suffix for text in RECORDED} == {".log", ".txnindex", ".snapshot", ".index", ".timeindex"}
    assert {text.topic for text in RECORDED} >= {"__transaction_state", "__cluster_metadata"}


@pytest.mark.parametrize("text", list(made()), ids=str)
def test_records_of_every_type_odd_texts_and_preallocated_indexes_are_printed_as_by_the_tool(text: Recorded):
    ours, _ = dumped([text.file], *filter(None, [OPTIONS.get(text.file.parent.name)]))
    printed, _ = without_misprints(text, set())
    assert lines_of(named_as_recorded(ours, text.file)) == printed


def test_the_made_logs_are_those_that_the_maker_makes():
    for partition, content in logs():
        assert (MADE / partition / "00000000000000000000.log").read_bytes() == content
    for name, content in indexes():
        assert (MADE / name).read_bytes() == content


@pytest.mark.parametrize("partition", OPTIONS)
def test_without_options_everything_is_shown_with_the_decoder_of_the_topic(partition):
    file = MADE / partition / "00000000000000000000.log"
    assert everything([file])[0] == dumped([file], OPTIONS[partition])[0]


def test_records_can_be_shown_without_their_metadata():
    file = MADE / "texts-0" / "00000000000000000000.log"
    lines = dumped([file], "--print-data-log", "--skip-record-metadata")[0].split("\n")
    assert "| key: plain payload: schlüssel 日本 😀" in lines
    assert "| payload: plain" in lines
    assert lines[-3].startswith("baseOffset: ")
    assert lines[-2] == ""


def test_max_bytes_ends_a_log_quietly_before_the_first_batch_that_goes_over(tmp_path):
    file = written(tmp_path, three_batches())
    size = len(three_batches()) // 3
    for limit, shown in ((0, 0), (size - 1, 0), (size, 1), (2 * size + 5, 2), (10**6, 3)):
        text, complaints = dumped([file], "--deep-iteration", max_bytes=limit)
        assert (text.count("baseOffset"), complaints) == (shown, [])
        assert "invalid" not in text


def three_batches() -> bytes:
    return b"".join(batch(n * 2, [{"value": b"a"}, {"value": b"b"}], producer_id=5) for n in range(3))


def written(tmp_path, data: bytes, name="00000000000000000000.log", folder="orders-0") -> Path:
    path = tmp_path / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("cut", [8, 17, 30, 61, 70])
def test_a_torn_tail_is_counted_in_the_words_of_the_tool(tmp_path, cut):
    data = three_batches()
    size = len(data) // 3
    text, complaints = dumped([written(tmp_path, data[: 2 * size + cut])])
    assert text.splitlines()[-1] == f"Found {cut} invalid bytes at the end of 00000000000000000000.log"
    assert text.count("baseOffset") == 2
    assert len(complaints) == 1
    assert f"position {2 * size}" in complaints[0]


def test_zeros_behind_the_last_batch_do_not_end_a_dump(tmp_path):
    text, _ = dumped([written(tmp_path, three_batches() + bytes(500))])
    assert text.splitlines()[-1] == "Found 500 invalid bytes at the end of 00000000000000000000.log"


def test_a_batch_with_a_wrong_crc_is_shown_as_invalid_with_its_records(tmp_path):
    data = bytearray(three_batches())
    size = len(data) // 3
    data[2 * size - 2] ^= 1
    text, complaints = dumped([written(tmp_path, bytes(data))], "--print-data-log")
    assert [line.endswith("isvalid: true") for line in text.splitlines() if line.startswith("base")] == [
        True,
        False,
        True,
    ]
    assert text.count("| offset:") == 6
    assert len(complaints) == 1
    assert "CRC" in complaints[0]


def test_a_broken_header_costs_its_batch_and_nothing_else(tmp_path):
    data = bytearray(three_batches())
    size = len(data) // 3
    data[size + 16] = 77
    text, complaints = dumped([written(tmp_path, bytes(data))], "--deep-iteration")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("base")] == ["0", "4"]
    assert f"{size} bytes at position {size}" in complaints[0]
    assert any("  1 is followed by 4" in line for line in complaints)


def test_records_that_can_not_be_read_are_told_and_the_rest_is_shown(tmp_path):
    broken = batch(0, [{"value": b"a"}], records_count=2, last_offset_delta=1)
    text, complaints = dumped([written(tmp_path, broken + batch(2, [{"value": b"z"}]))], "--print-data-log")
    assert [line.split("payload: ")[1] for line in text.splitlines() if "payload" in line] == ["a", "z"]
    assert "expected record 1 in the batch at offset 0, found bytes that are none" in complaints[0]


def test_offsets_that_jump_are_told_at_the_end_and_a_first_offset_is_no_jump(tmp_path):
    parts = [batch(offset, [{"value": b""}]) for offset in (5, 6, 9)]
    _, complaints = dumped([written(tmp_path, b"".join(parts))], "--deep-iteration")
    assert complaints[-1] == "  6 is followed by 9"
    assert complaints[-2].startswith("Non-consecutive offsets in /")
    many = b"".join(batch(offset * 2, [{"value": b""}]) for offset in range(60))
    _, complaints = dumped([written(tmp_path, many)], "--deep-iteration")
    assert complaints[-1] == "  and 39 more"


def test_a_record_of_an_internal_topic_that_is_none_is_told_in_its_place(tmp_path):
    records = [
        {"key": b"\0\0\0\1x", "value": b"\0\7"},
        {"key": b"\0\x63", "value": b"v"},
        {"key": None, "value": b"v"},
        {"key": b"\0\0\0\1x", "value": b"\0\1\0"},
        {"key": b"\0", "value": None},
        {"key": b"\0\0\0\1x", "value": None},
    ]
    file = written(tmp_path, batch(0, records), folder="__transaction_state-0")
    lines = [line.partition("headerKeys: []")[2] for line in everything([file])[0].splitlines() if line[0] == "|"]
    assert lines == [
        " key: Error at offset 0, skipping. TransactionLogValue has no version 7",
        " key: Unknown record type 99 at offset 1, skipping.",
        " key: Error at offset 2, skipping. The record has no key.",
        " key: Error at offset 3, skipping. TransactionLogValue ends early",
        " key: Error at offset 4, skipping. Could not read version from key's buffer.",
        ' key: {"type":"0","data":{"transactionalId":"x"}} payload: <DELETE>',
    ]
    problems = [found.get("decode_problem") for found in objects([file]) if found["object"] == "record"]
    assert problems == [line.removeprefix(" key: ") for line in lines[:5]] + [None]


def test_a_metadata_record_that_is_none_is_told_in_its_place(tmp_path):
    values = [b"", b"\x07", b"\x01\x7f\x00", b"\x01\x14\x00\x00left", None]
    file = written(tmp_path, batch(0, [{"value": value} for value in values]), folder="__cluster_metadata-0")
    lines = [line.partition("payload: ")[2] for line in everything([file])[0].splitlines() if line[0] == "|"]
    assert [line.partition("skipping. ")[0] for line in lines] == [f"Error at {n}, " for n in range(5)]
    assert lines[3].endswith("Found 4 byte(s) of garbage after NoOpRecord")


def test_secrets_in_the_metadata_log_are_hidden(tmp_path):
    from kafkatx.formats.message_schemas import by_name
    from tests.formats.message_writing import uvarint

    def text(value):
        return uvarint(len(value) + 1) + value.encode()

    config = by_name("cluster_metadata")["ConfigRecord"]
    frame = uvarint(1) + uvarint(config.number) + uvarint(0) + b"\x04" + text("1")
    names = ("listener.name.x.sasl.jaas.config", "ssl.key.password", "some.token", "log.retention.ms")
    values = [frame + text(name) + text("s3cret") + b"\0" for name in names]
    scram = uvarint(1) + uvarint(11) + uvarint(0) + text("ann") + b"\1" + text("salt") * 3 + bytes(4) + b"\0"
    file = written(tmp_path, batch(0, [{"value": v} for v in [*values, scram]]), folder="__cluster_metadata-0")
    for shown in (everything([file])[0], everything([file], as_json=True)[0]):
        assert shown.count("[hidden]") == 6
    assert everything([file])[0].count('"value":"s3cret"') == 1


@pytest.mark.parametrize(
    ("control_type", "value", "said"),
    [
        (0, bytes(6), " endTxnMarker: ABORT coordinatorEpoch: 0"),
        (1, b"", " endTxnMarker: COMMIT coordinatorEpoch: -1"),
        (2, b"\0\0", " controlType: LEADER_CHANGE(2)"),
        (9, b"", " controlType: UNKNOWN(9)"),
    ],
)
def test_control_records_that_are_cut_or_unknown_are_said(tmp_path, control_type, value, said):
    record = {"key": b"\0\0\0" + bytes([control_type]), "value": value}
    text, _ = dumped([written(tmp_path, batch(0, [record], attributes=0x30))], "--deep-iteration")
    assert text.splitlines()[-1].partition("headerKeys: []")[2] == said


def test_a_leader_change_of_version_1_is_read_which_the_tool_can_not():
    from kafkatx.outputs.dump_control import control_text

    voter = (7).to_bytes(4, "big") + bytes(16) + b"\0"
    value = b"\0\1" + (3).to_bytes(4, "big") + b"\x02" + voter + b"\x01" + b"\0"
    assert control_text(b"\0\0\0\2", value) == (
        ' LeaderChange: {"version":1,"leaderId":3,"voters":[{"voterId":7,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"}]'
        ',"grantingVoters":[]}'
    )


def test_a_terminal_gets_no_acting_character(tmp_path):
    record = {"key": b"\x1b[2J", "value": "\u202eevil\r\n".encode(), "headers": [{"key": "\x1b", "value": None}]}
    file = written(tmp_path, batch(0, [record]))
    shown, _ = everything([file], escape=True)
    assert shown.isascii()
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert r"headerKeys: [\x1b] key: \x1b[2J payload: \u202eevil\x0d\x0a" in shown
    assert "\x1b[2J" in everything([file])[0]


def index_of(path: Path, layout, entries) -> Path:
    import numpy as np

    path.write_bytes(np.array(entries, layout).tobytes())
    return path


def test_an_index_that_the_log_does_not_bear_out_is_told(tmp_path):
    size = len(three_batches()) // 3
    log = written(tmp_path, three_batches())
    entries = [(3, size), (5, size), (5, 2 * size), (9, 10**6), (0, 0), (0, 0)]
    index = index_of(log.with_suffix(".index"), dump_indexes.OFFSET_ENTRY, entries)
    text, complaints = dumped([index])
    assert text.splitlines()[1:] == [f"offset: {offset} position: {position}" for offset, position in entries[:4]]
    assert complaints == [
        f"Mismatches in :{index}",
        "  Index offset: 9, log offset: -1",
        "  Index offset: 5, log offset: 3",
    ]
    assert dumped([index], "--verify-index-only")[0].splitlines() == [f"Dumping {index}"]


def test_a_time_index_that_the_log_does_not_bear_out_is_told(tmp_path):
    log = written(tmp_path, three_batches())
    last = 1_700_000_000_001
    index = index_of(
        log.with_suffix(".timeindex"), dump_indexes.TIME_ENTRY, [(last, 1), (last + 1, 3), (last, 4), (1, 77)]
    )
    text, complaints = dumped([index])
    assert text.count("timestamp: ") == 4
    assert complaints == [
        f"Found timestamp mismatch in :{index}",
        f"  Index timestamp: {last + 1}, log timestamp: {last}",
        f"The following indexed offsets are not found in :{index}",
        "Indexed offset: 4, found log offset: 5",
        "Indexed offset: 77, found log offset: -1",
    ]


def test_an_index_alone_is_shown_and_said_to_be_held_against_nothing(tmp_path):
    index = index_of(tmp_path / "00000000000000000007.index", dump_indexes.OFFSET_ENTRY, [(1, 4100)])
    text, complaints = dumped([index])
    assert text.splitlines()[1:] == ["offset: 8 position: 4100"]
    assert "held against nothing" in complaints[0]


def test_empty_and_preallocated_indexes_have_no_entry(tmp_path):
    empty, zeros = tmp_path / "00000000000000000000.index", tmp_path / "00000000000000000009.index"
    empty.write_bytes(b"")
    zeros.write_bytes(bytes(80))
    assert dumped([empty])[0].splitlines()[1:] == [f"{empty} is empty."]
    assert dumped([zeros])[0].splitlines()[1:] == []
    assert dumped([zeros], "--index-sanity-check")[0].splitlines()[1:] == [f"{zeros} passed sanity check."]
    zeros.write_bytes(bytes(81))
    assert "did not pass" in dumped([zeros], "--index-sanity-check")[1][-1]


def test_files_that_the_tool_does_not_know_are_passed_over_with_its_options_and_shown_without(tmp_path):
    checkpoint = tmp_path / "replication-offset-checkpoint"
    checkpoint.write_text("0\n1\norders 0 5\n")
    text, complaints = dumped([checkpoint])
    assert (text, complaints) == (f"Dumping {checkpoint}\n", [f"Ignoring unknown file {checkpoint}"])
    assert everything([checkpoint])[0].splitlines()[1:] == ["0", "1", "orders 0 5"]


def test_a_segment_under_another_name_and_a_folder_are_dumped(tmp_path):
    odd = written(tmp_path, three_batches(), name="saved.bin")
    assert everything([odd])[0].count("baseOffset") == 3
    written(tmp_path, three_batches(), name="00000000000000000006.log")
    assert everything([tmp_path])[0].count("Dumping") == 2


def test_damaged_snapshots_and_abort_indexes_are_told(tmp_path):
    snapshot, index = tmp_path / "00000000000000000001.snapshot", tmp_path / "00000000000000000000.txnindex"
    snapshot.write_bytes(b"\0\1" + bytes(8))
    index.write_bytes(bytes(34) + b"\0\1" + bytes(32) + b"xyz")
    text, complaints = dumped([snapshot, index])
    assert text.count("producerId") == 1
    assert [complaint.partition(" bytes")[0] for complaint in complaints] == [
        "unreadable 10",
        "unreadable 34",
        "unreadable 3",
    ]


def test_a_path_that_does_not_exist_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        dumped([tmp_path / "nothing.log"])


def test_objects_say_what_the_declarations_say():
    compared = 0
    for path in broker_files("*-0/*.log"):
        found = objects([path])
        batches = [one for one in found if one["object"] == "batch"]
        oracle = [one for one in declared.batches(path.read_bytes()) if one.magic == 2]
        if len(oracle) != len(batches):
            continue
        for ours, theirs in zip(batches, oracle, strict=True):
            assert (ours["base_offset"], ours["last_offset"]) == (theirs.base_offset, theirs.last_offset)
            assert (ours["producer_id"], ours["producer_epoch"]) == (theirs.producer_id, theirs.producer_epoch)
            assert (ours["base_sequence"], ours["leader_epoch"]) == (theirs.base_sequence, theirs.leader_epoch)
            assert (ours["crc"], ours["crc_valid"], ours["size"]) == (theirs.crc, True, theirs.size)
            assert ours["record_count"] == theirs.record_count
            assert (ours["max_timestamp_ms"], ours["position"]) == (theirs.max_timestamp, theirs.position)
            compared += 1
        assert sum(batch["record_count"] for batch in batches) == sum(one["object"] == "record" for one in found)
    assert compared > 100


def test_objects_of_records_hold_bytes_headers_and_decoded_content(tmp_path):
    records = [
        {"key": b"\xff\x00", "value": "ü".encode(), "headers": [{"key": "h", "value": b"\xfe"}]},
        {"key": None, "value": None},
    ]
    first, second = [one for one in objects([written(tmp_path, batch(0, records))]) if one["object"] == "record"]
    assert (first["key"], first["key_base64"], first["value"], first["key_size"]) == (None, "/wA=", "ü", 2)
    assert first["headers"] == [{"key": "h", "value": None, "value_base64": "/g=="}]
    assert (second["key"], second["value"], second["key_size"], second["headers"]) == (None, None, None, [])
    assert (first["topic"], first["partition"], first["producer_id"]) == ("orders", 0, None)
    file = MADE / "__transaction_state-0" / "00000000000000000000.log"
    decoded = [one for one in objects([file]) if one["object"] == "record"]
    assert decoded[0]["decoded_key"]["data"].keys() == {"transactionalId"}
    assert "producerId" in decoded[0]["decoded_value"]["data"]
    assert decoded[-2]["decoded_value"] is None


def test_objects_of_other_files_and_damage(tmp_path):
    log = written(tmp_path, three_batches()[:-3])
    index = index_of(log.with_suffix(".index"), dump_indexes.OFFSET_ENTRY, [(3, 80)])
    checkpoint = tmp_path / "replication-offset-checkpoint"
    checkpoint.write_text("0\n0\n")
    found = objects([log, index, checkpoint])
    assert [one["object"] for one in found if one["object"] not in ("batch", "record")] == [
        "file", "damage", "file", "entry", "file", "line", "line",
    ]  # fmt: skip
    assert next(one for one in found if one["object"] == "entry")["offset"] == 3
    assert next(one for one in found if one["object"] == "damage")["kind"] == "torn"
    assert all("path" in one for one in found)


def test_a_log_is_dumped_piece_by_piece(tmp_path):
    """No more than a chunk is held, however long the log is."""
    file = written(tmp_path, b"".join(batch(n, [{"value": b"v" * 1000}]) for n in range(5000)))
    pieces = Dump(DumpOptions(), False, print).pieces([str(file)])
    first = [next(pieces) for _ in range(4)]
    assert first[2].startswith("baseOffset: 0 ")
    assert max(len(piece) for piece in pieces) <= BLOCK
