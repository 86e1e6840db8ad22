"""Pages: where each tool's output stands, what it is of, what was left out, which incident it belongs to."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.pages import cutting
from kafkatx.text.pages.cutting import cut
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.printed.tool_lines import tool_lines
from tests.text import pasting
from tests.text.pasting import cut_text

ORDERS = "/var/lib/kafka/data/orders-0/00000000000000000000.log"
COMMAND = f"bin/kafka-dump-log.sh --files {ORDERS} --print-data-log"
WARNING = "2026-11-21 10:29:43.835 [main] WARN  org.apache.kafka.clients.NetworkClient - Node 1 disconnected."
KINDS = PartKind


def batch(
    first: int, *, count: int = 2, pid: int = 7, epoch: int = 0, at: int = 1795257829317, is_control: bool = False
) -> str:
    """A batch as 2.2 and later print it, at 100 bytes an offset."""
    return (
        f"baseOffset: {first} lastOffset: {first + count - 1} count: {count} baseSequence: 0 lastSequence: 1 "
        f"producerId: {pid} producerEpoch: {epoch} partitionLeaderEpoch: 0 isTransactional: true "
        f"isControl: {str(is_control).lower()} position: {first * 100} CreateTime: {at + first} size: {count * 100} "
        f"magic: 2 compresscodec: NONE crc: {first} isvalid: true"
    )


def marker(first: int, **given: int) -> str:
    return batch(first, count=1, is_control=True, **given)


def dump(*lines: str, path: str = ORDERS) -> str:
    return "\n".join([f"Dumping {path}", "Starting offset: 0", *lines]) + "\n"


def told(parts: list[TextPart]) -> list[tuple[object, ...]]:
    """What tools wrote: kind, topic, partition."""
    return [(part.kind, part.topic, part.partition) for part in parts if part.kind is not KINDS.PROSE]


def only(parts: list[TextPart]) -> TextPart:
    found = [part for part in parts if part.kind not in (KINDS.PROSE, KINDS.LOG)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("path", pasting.dumps(most=120), ids=lambda path: "/".join(path.parts[-5:]))
def test_a_recorded_dump_is_one_whole_part_of_its_file(tmp_path: Path, path: Path) -> None:
    text = path.read_bytes()
    (part,) = cut_text(tmp_path, text)
    topic, _, partition = path.parent.name.rpartition("-")
    ending = path.name.split(".")[1]
    died = b"Exception in thread" in text
    assert part == TextPart(
        PartKind[f"DUMP_{ending.upper()}"], 0, len(text), 1, topic, int(partition), int(path.name.split(".")[0]),
        is_elided=False, is_whole=not died, named=f"/var/lib/kafka/data/{path.parent.name}/{path.name[:-4]}",
    )  # fmt: skip


PASTINGS = {
    **{name: pasting.prefixed(prefix) for name, prefix in pasting.PREFIXES.items()},
    "numbered": pasting.numbered,
    "grep -n": pasting.grepped,
    "table": pasting.in_a_table,
    "double spaced": pasting.double_spaced,
    "escaped": pasting.escaped,
    "broken at 80": pasting.broken_at(80),
    "broken at 120": pasting.broken_at(120),
    "folded at 100": pasting.folded_at(100),
}


@pytest.mark.parametrize("change", PASTINGS.values(), ids=list(PASTINGS))
def test_a_pasted_dump_gives_the_part_that_the_dump_gives(tmp_path: Path, change: pasting.Pasting) -> None:
    for path in pasting.dumps(".log", 10) + pasting.dumps(".txnindex", 3) + pasting.dumps(".snapshot", 3):
        lines = pasting.printed(path, 25)
        if any("Exception in" in line or "magic: 0" in line or "magic: 1" in line for line in lines):
            continue
        page = ["Our colleague says:", "", *change(lines), "", "What does it mean?"]
        part, whole = (
            only(cut_text(tmp_path, "\n".join(page) + "\n")),
            only(cut_text(tmp_path, "\n".join(lines) + "\n")),
        )
        assert (part.kind, part.topic, part.partition, part.base_offset, part.is_elided) == (
            whole.kind, whole.topic, whole.partition, whole.base_offset, whole.is_elided,
        )  # fmt: skip
        assert part.line == 3


def test_several_files_in_one_page_are_parts_of_their_own(tmp_path: Path) -> None:
    page = (
        dump(batch(0))
        + dump("offset: 0 position: 0", path=ORDERS.replace(".log", ".index"))
        + dump(batch(0), path="/x/payments.v2-11/00000000000000000042.log")
    )
    found = cut_text(tmp_path, page)
    assert told(found) == [
        (KINDS.DUMP_LOG, "orders", 0),
        (KINDS.DUMP_INDEX, "orders", 0),
        (KINDS.DUMP_LOG, "payments.v2", 11),
    ]
    assert [part.base_offset for part in found] == [0, 0, 42]
    assert found[0].end == found[1].position
    assert all(part.is_whole for part in found)


@pytest.mark.parametrize(
    "path",
    ["C:\\kafka\\data\\orders-0\\00000000000000000000.log", "orders-0/00000000000000000000.log", ORDERS + ".deleted"],
)
def test_paths_of_all_systems_name_the_partition(tmp_path: Path, path: str) -> None:
    assert told(cut_text(tmp_path, dump(batch(0), path=path))) == [(KINDS.DUMP_LOG, "orders", 0)]


@pytest.mark.parametrize(
    "above",
    [
        f"$ {COMMAND}",
        f"[kafka@broker-1 ~]$ {COMMAND}",
        "$ bin/kafka-dump-log.sh \\\n    --print-data-log \\\n    --files /x/orders-0/00000000000000000000.log",
        "[kafka@b-1 orders-0]$ kafka-dump-log.sh --deep-iteration --files 00000000000000000000.log",
        f"kafka-run-class.sh kafka.tools.DumpLogSegments --deep-iteration --files {ORDERS} | grep isControl",
        "### orders-0\n",
        "Markers of orders-0:",
        "**orders-0**",
        "the log of topic `orders`, partition 0:\n\n```",
        f"{ORDERS}\n",
    ],
)
def test_without_header_the_command_or_the_heading_names_the_partition(tmp_path: Path, above: str) -> None:
    part = only(cut_text(tmp_path, f"Hello\n\n{above}\n{marker(3)}\n{marker(9)}\n"))
    assert (part.kind, part.topic, part.partition) == (KINDS.DUMP_LOG, "orders", 0)
    assert (part.is_whole, part.named) == (False, None)


@pytest.mark.parametrize(
    "above",
    [
        "On broker-1 we see:",
        "This is KAFKA-9293 again:",
        "kafka-clients-2.4.1.jar",
        "compare orders-0 and orders-1:",
        "bin/kafka-dump-log.sh --files /x/orders-0/00000000000000000000.log,/x/orders-1/00000000000000000000.log",
        "we restarted client-3:",
    ],
)
def test_names_that_only_look_so_and_names_of_several_name_nothing(tmp_path: Path, above: str) -> None:
    part = only(cut_text(tmp_path, f"{above}\n{batch(0)}\n"))
    assert (part.topic, part.partition) == (None, None)


def test_what_a_command_says_is_kept_for_its_output(tmp_path: Path) -> None:
    command = "kafka-console-consumer.sh --topic orders --partition 1 --isolation-level read_committed --from-beginning"
    part = only(cut_text(tmp_path, f"$ {command}\nPartition:1\tOffset:5\tvalue\nPartition:1\tOffset:7\tvalue\n"))
    assert (part.kind, part.topic, part.partition) == (KINDS.CONSOLE_RECORDS, "orders", 1)
    assert part.command is not None
    assert "read_committed" in part.command


def test_prose_in_any_language_between_the_lines_does_not_end_a_dump(tmp_path: Path) -> None:
    page = dump(batch(0), "", "So weit, so gut.", "これは問題です", "", batch(2), "<-- hier!", batch(4))
    part = only(cut_text(tmp_path, page))
    assert (part.is_whole, part.is_elided) == (False, False)
    assert part.end == len(page.encode())


def test_a_log_between_the_lines_is_a_part_and_the_dump_goes_on_behind_it(tmp_path: Path) -> None:
    page = dump(batch(0)) + f"{WARNING}\n\tat org.example.App.main(App.java:1)\n" + batch(2) + "\n"
    assert told(cut_text(tmp_path, page)) == [
        (KINDS.DUMP_LOG, "orders", 0),
        (KINDS.LOG, None, None),
        (KINDS.DUMP_LOG, "orders", 0),
    ]


def test_a_new_section_or_talk_of_another_forgets_the_name(tmp_path: Path) -> None:
    for between in (
        "# After the restart",
        "And the other partition:",
        "----------",
        "**Second case**",
        "Incident 2: slow",
    ):
        found = cut_text(tmp_path, dump(batch(0)) + f"\n{between}\n\n{batch(50)}\n")
        assert told(found) == [(KINDS.DUMP_LOG, "orders", 0), (KINDS.DUMP_LOG, None, None)]


@pytest.mark.parametrize(
    ("lines", "is_elided"),
    [
        ([batch(0), batch(2), marker(4)], False),
        ([batch(0), batch(5)], True),
        ([batch(0), "...", batch(2)], True),
        ([batch(0), "[snip]", batch(2)], True),
        ([batch(0), "(중략)", batch(2)], True),
        ([batch(0), "... 省略 ...", batch(2)], True),
        ([batch(0), batch(2), "(12 lines omitted)"], True),
        (["...", batch(0)], True),
        ([batch(0), "offset: 4 ... producerId: 7 ... endTxnMarker: ABORT coordinatorEpoch: 0"], True),
        ([batch(0), "| offset: 2 CreateTime: 1 keysize: 4 valuesize: 6 sequence: -1 headerKeys: []"], True),
        ([batch(0).replace("magic: 2 ", "")], True),
        ([marker(4), marker(9), marker(11)], True),
    ],
)
def test_what_was_left_out_is_told(tmp_path: Path, lines: list[str], is_elided: bool) -> None:
    (part,) = cut_text(tmp_path, dump(*lines))
    assert (part.is_elided, part.is_whole) == (is_elided, not is_elided)


def test_offsets_that_the_cleaner_took_are_not_left_out(tmp_path: Path) -> None:
    gap = batch(7).replace("position: 700", "position: 200")
    (part,) = cut_text(tmp_path, dump(batch(0), gap))
    assert (part.is_elided, part.is_whole) == (False, True)


def test_a_batch_with_fewer_record_lines_than_it_says_misses_some(tmp_path: Path) -> None:
    record = "| offset: {} CreateTime: 1 keysize: -1 valuesize: -1 sequence: 0 headerKeys: []"
    whole = dump(batch(0), record.format(0), record.format(1), batch(2), record.format(2), record.format(3))
    (part,) = cut_text(tmp_path, whole)
    assert (part.is_elided, part.is_whole) == (False, True)
    (part,) = cut_text(tmp_path, dump(batch(0), record.format(0), batch(2), record.format(2), record.format(3)))
    assert part.is_elided
    (part,) = cut_text(tmp_path, whole.rsplit("\n", 2)[0] + "\n")
    assert (part.is_elided, part.is_whole) == (False, False)


def test_lines_of_releases_before_2_2_tell_by_their_positions(tmp_path: Path) -> None:
    flat = (
        "offset: {} position: {} CreateTime: 17952578{:05} isvalid: true keysize: 4 valuesize: 6 magic: 2 "
        "compresscodec: NONE producerId: 5 producerEpoch: 0 sequence: -1 isTransactional: true headerKeys: [] "
        "endTxnMarker: ABORT coordinatorEpoch: 0"
    )
    (part,) = cut_text(tmp_path, dump(flat.format(0, 0, 1), flat.format(5, 78, 2)))
    assert (part.is_elided, part.is_whole) == (False, True)
    (part,) = cut_text(tmp_path, dump(flat.format(0, 0, 1), flat.format(5, 900, 2)))
    assert part.is_elided


@pytest.mark.parametrize("keep", range(70, len(dump(batch(0), batch(2))), 7))
def test_a_dump_cut_anywhere_is_not_whole(tmp_path: Path, keep: int) -> None:
    text = dump(batch(0), batch(2))
    for part in cut_text(tmp_path, text[:keep]):
        ends_well = "\n" in text[keep - 1 : keep + 1]
        assert part.kind is KINDS.PROSE or not part.is_whole or ends_well


def test_the_same_lines_quoted_again_are_the_same_incident(tmp_path: Path) -> None:
    page = dump(batch(0), batch(2), marker(4)) + f"\nThe important line is\n\n    {marker(4)}\n"
    assert [part.run for part in cut_text(tmp_path, page) if part.kind is KINDS.DUMP_LOG] == [0, 0]


@pytest.mark.parametrize(
    "second",
    [
        dump(batch(0, pid=8), marker(2, pid=8)),
        dump(batch(0, epoch=3), marker(2, epoch=3)),
        dump(batch(0, at=1695257829317), marker(2, at=1695257829317)),
        dump(batch(1, pid=9)),
        dump(
            "offset: 1 position: 117 CreateTime: 1695257792540 isvalid: true keysize: 4 valuesize: 6 magic: 2 "
            "compresscodec: NONE producerId: 5 producerEpoch: 0 sequence: -1 isTransactional: true headerKeys: []"
        ),
    ],
)
def test_two_dumps_of_one_name_that_contradict_are_two_incidents(tmp_path: Path, second: str) -> None:
    other = dump(batch(0, pid=9), path="/x/payments-0/00000000000000000000.log")
    page = f"# One\n{dump(batch(0), marker(2))}{WARNING}\n# Two\n{WARNING}\n{other}{second}{WARNING}\n"
    found = [part for part in cut_text(tmp_path, page) if part.kind is not KINDS.PROSE]
    assert [(part.topic, part.run) for part in found] == [
        ("orders", 0), (None, 0), (None, 1), ("payments", 1), ("orders", 1), (None, 1),
    ]  # fmt: skip


def test_an_older_incident_that_is_quoted_again_is_known(tmp_path: Path) -> None:
    page = dump(batch(0), marker(2)) + dump(batch(0, pid=9), marker(2, pid=9)) + dump(batch(0), marker(2))
    assert [part.run for part in cut_text(tmp_path, page)] == [0, 1, 0]


def test_markers_that_stand_lower_and_were_written_much_later_are_of_another_log(tmp_path: Path) -> None:
    later = 1795257829317 + 86_400_000
    page = dump(marker(100), marker(101)) + dump(marker(3, at=later), marker(4, at=later))
    assert [part.run for part in cut_text(tmp_path, page)] == [0, 1]
    again = dump(marker(100), marker(101)) + dump(marker(103, at=later), marker(104, at=later))
    assert [part.run for part in cut_text(tmp_path, again)] == [0, 0]


def test_an_epoch_that_fell_is_one_of_another_cluster(tmp_path: Path) -> None:
    later = 1795257829317 + 86_400_000
    page = dump(marker(1, epoch=5)) + dump(marker(1, epoch=2, at=later), path="/x/payments-0/00000000000000000000.log")
    assert [part.run for part in cut_text(tmp_path, page)] == [0, 1]


def test_unnamed_lines_that_contradict_begin_no_incident(tmp_path: Path) -> None:
    page = f"{batch(0)}\n\n# Next\n{batch(0, pid=9)}\n\n{dump(batch(0))}"
    assert [part.run for part in cut_text(tmp_path, page) if part.kind is KINDS.DUMP_LOG] == [0, 1, 0]


def test_consoles_and_tables_are_parts(tmp_path: Path) -> None:
    page = """
$ kafka-console-consumer.sh --topic __transaction_state --formatter "...TransactionLogMessageFormatter"
t1::TransactionMetadata(transactionalId=t1, producerId=1, producerEpoch=0, state=Ongoing)
t1::TransactionMetadata(transactionalId=t1, producerId=1, producerEpoch=0, state=PrepareAbort)
t1::NULL

{"key":{"version":0,"data":{"transactionalId":"t"}},"value":null}{"key":{"version":0,"data":{"transactionalId":"u"}}}

[g,orders,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1)

CreateTime:1795257792540\tPartition:0\tOffset:5\tk\tv

TransactionalId\tCoordinator\tProducerId\tTransactionState
t1             \t1          \t7         \tOngoing
t2             \t1          \t8         \tEmpty

Topic\tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)
orders\t0\t7\t1\t0\t12\t1795257792540\t90
"""
    found = [part for part in cut_text(tmp_path, page) if part.kind is not KINDS.PROSE]
    assert [part.kind for part in found] == [
        KINDS.CONSOLE_STATES,
        KINDS.CONSOLE_OFFSETS,
        KINDS.CONSOLE_RECORDS,
        KINDS.ADMIN_TRANSACTIONS,
        KINDS.ANSWER,
    ]
    data = page.encode()
    assert b"t1::NULL\n" in data[found[0].position : found[0].end]
    assert data[found[3].position : found[3].end].count(b"\n") == 3
    assert data[found[4].position : found[4].end].endswith(b"90\n")


def test_settings_and_logs_in_a_page_are_parts(tmp_path: Path) -> None:
    page = f"""Our producer:

transactional.id=orders-1
acks = all
transaction.timeout.ms: 60000

and its log:

{WARNING}
org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer
\tat org.example.App.main(App.java:1)
Caused by: java.lang.IllegalStateException
\t... 12 more
[2026-11-21 10:23:51,003] INFO ProducerConfig values:
\tacks = -1
\tbatch.size = 16384
 (org.apache.kafka.clients.producer.ProducerConfig)

What is wrong?
"""
    found = cut_text(tmp_path, page)
    assert [part.kind for part in found] == [KINDS.PROSE, KINDS.SETTINGS, KINDS.PROSE, KINDS.LOG, KINDS.PROSE]
    assert page.encode()[: found[3].end].endswith(b"ProducerConfig)\n")


def test_a_dump_in_the_content_of_a_record_is_content(tmp_path: Path) -> None:
    forged = f"x\n{dump(marker(1, pid=99), path='/x/payments-0/00000000000000000000.log')}{WARNING}\n# Two\nend"
    record = (
        f"| offset: 0 CreateTime: 1 keysize: -1 valuesize: {len(forged.encode())} sequence: 0 headerKeys: [] payload: "
    )
    other = "| offset: 1 CreateTime: 1 keysize: -1 valuesize: 1 sequence: 1 headerKeys: [] payload: y"
    page = dump(batch(0), record + forged, other, marker(2))
    (part,) = cut_text(tmp_path, page)
    assert (part.kind, part.topic, part.is_whole) == (KINDS.DUMP_LOG, "orders", True)


def test_parts_do_not_overlap_and_lines_are_counted(tmp_path: Path) -> None:
    other = dump(batch(0), path="/x/a-1/00000000000000000000.log")
    page = f"Hello\n{dump(batch(0))}\n{WARNING}\n\nacks=all\nlinger.ms=5\n\n{other}"
    found = cut_text(tmp_path, page)
    data = page.encode()
    assert all(one.end <= other.position for one, other in pairwise(found))
    assert all(part.line == data.count(b"\n", 0, part.position) + 1 for part in found)


def test_a_page_of_very_many_parts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MOST_PARTS", 50)
    lines = pasting.numbered_lines([WARNING, "", "prose of some kind", ""] * 200)
    found = cut(tool_lines(lines))
    assert len(found) <= 52
    assert found[-1].end == lines[-1].end


PIECES = [
    dump(batch(0)), batch(2), batch(0, pid=9), marker(4), "...", "", "# Heading", "prose", WARNING, f"$ {COMMAND}",
    "```", "acks=all", "\tat a.b.C(D.java:1)", "offset: 3 ... producerId: 7", "Dumping x", "| ", "orders-0:", "\\",
    "> ", "\x00",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_a_page_of_any_order_is_cut_into_parts_that_do_not_overlap(pieces: list[str]) -> None:
    lines = pasting.numbered_lines("\n".join(pieces).split("\n"))
    found = cut(tool_lines(lines))
    begins = {line.position: line.number for line in lines}
    assert all(part.line == begins[part.position] and part.position < part.end for part in found)
    assert all(one.end <= other.position for one, other in pairwise(found))


STATE = (
    "offset: {0} position: {0}00 CreateTime: 1795258939173 isvalid: true keysize: 12 valuesize: 53 magic: 2 "
    "compresscodec: NONE producerId: -1 sequence: -1 isTransactional: false headerKeys: [] key: "
    "transactionalId=ledger-0 payload: producerId:0,producerEpoch:0,state=Ongoing,partitions=Set(ledger-0),"
    "txnLastUpdateTimestamp=1795258939173,txnTimeoutMs=60000"
)


def test_the_rest_of_a_dump_with_a_broken_line_is_of_the_log_that_its_header_names(tmp_path: Path) -> None:
    """What is left of it names ledger-0; the id's partition among 50 would be 22. Offsets begin anew in another log."""
    header = dump(path="/data/__transaction_state-3/00000000000000000000.log")
    folded = pasting.folded_at(130, "")
    for offset, partition in ((6, 3), (2, 22)):
        lines = [*folded([STATE.format(4)]), *folded([STATE.format(5)])[1:], *folded([STATE.format(offset)])]
        parts = [part for part in cut_text(tmp_path, header + "\n".join(lines)) if part.kind is KINDS.DUMP_LOG]
        assert told(parts) == [(KINDS.DUMP_LOG, "__transaction_state", place) for place in (3, partition)]
