"""What is at an offset: recorded readers say who sees it, clusters written down say why not."""

import json
import re
from typing import Any

import pytest

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.visibility import Sight, visibility
from kafkatx.local.batch_at import batch_at, record_at
from kafkatx.local.location import NoSuchPartitionError, locate, parse_place
from kafkatx.stages.models import build_models, open_captures
from kafkatx.terms.errors import UsageError
from tests.building import batch, data_batch, marker, segment
from tests.evidence import broker_folders, fixture_cases, fixtures
from tests.rules.cluster import Cluster

ID = "orders-1"
READ = re.compile(r"(?P<topic>[^ ]+)-(?P<partition>\d+): end \d+ position (?P<position>\d+) seen \[(?P<seen>[\d,-]*)\]")


def recorded_reads() -> list[Any]:
    """The last read of each partition by a real read_committed consumer: case, partition, position, offsets given."""
    reads = {}
    for case in fixture_cases():
        for entry in json.loads((case / "case.json").read_text())["did"]:
            if entry["what"].startswith("read_committed"):
                for read in READ.finditer(entry["what"]):
                    reads[case.name, read["topic"], read["partition"]] = (case, *read.groups())
    return [pytest.param(*read, id="-".join(name)) for name, read in reads.items()]


def offsets(text: str) -> set[int]:
    spans = [part.split("-") for part in text.split(",") if part]
    return {offset for span in spans for offset in range(int(span[0]), int(span[-1]) + 1)}


@pytest.fixture
def classic(tmp_path) -> Cluster:
    return Cluster(tmp_path)


def at(cluster: Cluster, place: str, **options):
    (found,) = locate(cluster.write(), place, **options).found
    return found


@pytest.mark.parametrize(("case", "topic", "partition", "position", "seen"), recorded_reads())
def test_what_a_real_reader_was_given_is_what_is_said_to_be_visible(case, topic, partition, position, seen):
    key = (topic, int(partition))
    for told in build_models(open_captures(broker_folders(case))):
        (log_extent,) = [h for h in told.model.log_extents.values() if (h.topic, h.partition) == key]
        visible = set()
        for offset in range(int(position)):
            held = batch_at(told.segments[key], offset)
            record = record_at(held.copies[0], offset, False, held.problems) if held.copies else None
            if visibility(told.model, log_extent, offset, held.row, record is not None).sees:
                visible.add(offset)
        assert visible == {offset for offset in offsets(seen) if offset >= log_extent.log_start}


def test_a_committed_record_is_told_with_batch_place_and_writer():
    (found,) = locate(broker_folders(fixtures() / "k39-fenced"), "payments-0:8").found
    assert found.visibility.sight is Sight.visible
    assert found.visibility.marker_offset == 9
    assert (found.transactional_id, found.batch.producer_epoch) == ("payments-eu-1", 2)
    (copy,) = found.copies
    assert (copy.position, copy.crc_valid) == (738, True)
    assert copy.path.endswith("payments-0/00000000000000000000.log")
    assert found.record.sequence == 1


def test_an_aborted_record_names_the_marker_and_who_ended_it():
    (found,) = locate(broker_folders(fixtures() / "k39-fenced"), "payments-1@0").found
    assert (found.visibility.sight, found.visibility.marker_offset) == (Sight.aborted, 1)
    assert found.transaction.ended_by is EndedBy.new_instance
    assert [part.marker.offset for part in found.transaction.parts] == [6, 1]


def test_a_payload_is_only_returned_where_it_was_asked_for():
    plain, shown = (
        locate(broker_folders(fixtures() / "k39-fenced"), "payments-0:0", show_payloads=show).found[0]
        for show in (False, True)
    )
    assert (plain.record.key, plain.record.value, plain.record.key_size) == (None, None, 3)
    assert shown.record.key == b"k-0"
    row = locate(broker_folders(fixtures() / "k39-fenced"), "__transaction_state-0:13").found[0]
    assert (row.record.key, row.record.value) == (None, None)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_record_of_a_compressed_batch_is_found(codec):
    for folder in sorted((fixtures() / "k39-codecs").glob(f"broker-1/*{codec}*-0")):
        (found,) = locate([folder], f"{folder.name}:0", show_payloads=True).found
        assert found.batch.codec == codec
        assert found.record.value


def test_a_record_inside_a_message_of_an_old_format_is_found():
    case = fixtures() / "k011-legacy-formats"
    found = {
        place.batch.magic
        for folder in case.glob("broker-*/*-0")
        if not folder.name.startswith("__")
        for place in locate([folder], f"{folder.name}:0").found
        if place.batch is not None and place.record is not None
    }
    assert {0, 1} & found


def test_a_record_behind_an_open_transaction_names_its_holder(classic):
    classic.init("holder")
    classic.begin("holder", "orders-0", records=2)
    classic.init(ID)
    classic.run(ID, "orders-0")
    found = at(classic, "orders-0:2")
    assert found.visibility.sight is Sight.above_last_stable_offset
    assert (found.visibility.last_stable_offset, found.holder_name) == (0, "holder")
    assert found.transactional_id == ID


def test_records_outside_transactions_wait_too(classic):
    classic.init("holder")
    classic.plain("orders-0")
    classic.begin("holder", "orders-0")
    classic.plain("orders-0")
    assert [at(classic, f"orders-0:{offset}").visibility.sees for offset in (0, 2)] == [True, False]


def test_a_control_record_is_never_given_to_a_consumer(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    found = at(classic, "orders-0:1")
    assert (found.visibility.sight, found.batch.control_type) == (Sight.control_batch, "COMMIT")
    assert found.transaction.records == 1


def test_offsets_outside_the_log_are_told_apart(classic):
    classic.init(ID)
    classic.run(ID, "orders-0", times=3)
    classic.log("orders-0").log_start = 2
    assert at(classic, "orders-0:1").visibility.sight is Sight.below_log_start
    assert at(classic, "orders-0:6").visibility.sight is Sight.beyond_the_end
    assert at(classic, "orders-0:99").batch is None


def test_a_hole_in_a_compacted_log_names_its_neighbours():
    (found,) = locate([fixtures() / "k4-overflow"], "__transaction_state-1:65300").found
    assert found.visibility.sight is Sight.compacted_away
    assert found.behind.first_offset == 65_343
    assert found.batch is None


def test_a_record_that_the_cleaner_took_out_of_its_batch_is_compacted_away(tmp_path):
    kept = batch(0, content=b"", records_count=0, last_offset_delta=4)
    segment(tmp_path / "orders-0", [kept, batch(5, b"x")])
    (found,) = locate([tmp_path], "orders-0:3").found
    assert found.visibility.sight is Sight.compacted_away
    assert (found.batch.base_offset, found.batch.last_offset, found.record) == (0, 4, None)


def test_a_gap_that_compaction_does_not_explain_is_no_answer(tmp_path):
    (tmp_path / "orders-0").mkdir()
    segment(tmp_path / "orders-0", [batch(0, b"x")])
    segment(tmp_path / "orders-0", [batch(10, b"y")], "00000000000000000010.log")
    (found,) = locate([tmp_path], "orders-0:5").found
    assert found.visibility.sees is not True
    assert found.before.last_offset == 0


def test_every_copy_is_named_and_one_with_a_wrong_crc_stands_last(tmp_path):
    cluster = Cluster(tmp_path, brokers=3)
    cluster.init(ID)
    cluster.run(ID, "orders-0")
    written = cluster.write()
    broken = written[0] / "orders-0/00000000000000000000.log"
    data = bytearray(broken.read_bytes())
    data[66] ^= 1
    broken.write_bytes(bytes(data))
    (found,) = locate(written, "orders-0:0").found
    assert [copy.crc_valid for copy in found.copies] == [True, True, False]
    assert found.copies[-1].path == str(broken)


def test_data_that_no_transaction_owns_are_told_as_they_are(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.late_data("orders-0", classic.ids[ID].producer_id, 0)
    found = at(classic, "orders-0:2")
    assert found.transaction is None
    assert found.leftover.part.marker is None
    assert found.transactional_id == ID


def test_an_abort_that_the_index_of_aborted_transactions_lacks_is_said(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0")
    classic.abort(ID)
    assert at(classic, "orders-0:0").unlisted_in == ()
    (written,) = classic.write()
    (index,) = (written / "orders-0").glob("*.txnindex")
    index.write_bytes(b"")
    (found,) = locate([written], "orders-0:0").found
    assert found.unlisted_in == (str(index),)


def test_a_row_of_the_coordinator_is_decoded_and_leads_to_its_transaction():
    (found,) = locate(broker_folders(fixtures() / "k39-fenced"), "__transaction_state-0:13").found
    assert found.state_row.transactional_id == "payments-eu-1"
    assert found.state_row.fields["state"] == "PrepareAbort"
    assert found.state_row.partitions == ("payments-0", "payments-1")
    assert (found.transaction.decision_offset, found.transaction.records) == (13, 4)


def test_a_tombstone_and_a_row_that_is_none_are_told(classic, tmp_path):
    classic.init(ID)
    classic.expire(ID)
    assert at(classic, "__transaction_state-0:1").state_row.is_tombstone
    segment(tmp_path / "other" / "__transaction_state-0", [batch(0, b"no row")])
    (found,) = locate([tmp_path / "other"], "__transaction_state-0:0").found
    assert found.state_row.problem


def test_damage_is_said_and_nothing_is_concluded_from_it(tmp_path):
    good = [data_batch(0, 7, b"a"), marker(1, 7)]
    path = segment(tmp_path / "orders-0", [*good, data_batch(2, 7, b"b"), marker(3, 7)])
    data = bytearray(path.read_bytes())
    start = len(b"".join(good))
    data[start + 8 : start + 12] = b"\x00\x00\x00\x00"
    path.write_bytes(bytes(data))
    (found,) = locate([tmp_path], "orders-0:2").found
    assert found.problems
    assert found.visibility.sees is None


@pytest.mark.parametrize("text", ["orders-0", "orders:5", "orders-0:", "orders-0:-1", ":5", "orders-0:5 "])
def test_a_place_of_another_form_is_refused(text):
    with pytest.raises(UsageError, match="TOPIC-PARTITION:OFFSET"):
        parse_place(text)


def test_a_topic_may_have_a_name_like_a_partition():
    assert parse_place("orders-0-1@7") == ("orders-0", 1, 7)


def test_a_partition_that_is_not_there_names_those_of_its_topic(classic):
    classic.plain("orders-0")
    with pytest.raises(NoSuchPartitionError, match=r"no segment of orders-7 is in the evidence; it holds orders-0$"):
        locate(classic.write(), "orders-7:0")
