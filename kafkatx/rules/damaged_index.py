"""An index of aborted transactions, or a producer snapshot, is damaged: a broker met it as it cleaned, read or started.

Mechanism    Beside each segment lies an index of the transactions that were aborted in it, and the state of its
             producers. A repeated or torn entry makes the cleaner give the partition up for good: the log grows from
             then on, and the coordinator of its groups or ids loads it for longer and longer. An index that can't be
             read fails every read_committed fetch of its segment; read_uncommitted readers are not touched. What a
             start finds damaged it builds anew from the log.
Evidence     the cleaner's line that marks a partition as uncleanable, with a message about the index of aborted
             transactions ("The last offset of appended transactions must increase sequentially"); "Failed to read from
             the transaction index"; "Unexpected aborted transaction version"; "Found a corrupted index file" for such
             an index; "Failed to load producer snapshot".
Against      an index of offsets or times: those are rebuilt at the next start.
Look-alikes  log_directory_failed (the disk refuses); a cleaner that stopped for a damaged record.
Remedy       with the broker stopped, move the segment's .txnindex and .index away: a missing .index makes the start
             recover the segment and rebuild both. Or let the replica fetch the partition anew from a healthy leader.
             After a start that rebuilt it: nothing, but look for what damaged the file.
Source       TransactionIndex, LogCleaner, LogLoader, LogSegment.recover, ProducerStateManager (0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of, topic_partition
from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying, partition_of_file_in
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, TopicPartition, facts


@facts
class Met:
    """A damaged file that a broker, or the dump tool, met: the index of aborted transactions or a snapshot.

    `is_rebuilt`: the broker goes on without it, and builds it anew from the log.
    """

    partition: TopicPartition | None
    is_snapshot: bool
    is_rebuilt: bool
    count: Count
    lines: Refs


def find(model: CaptureModel) -> Found:
    """One case a partition whose cleaner stopped for its index of aborted transactions, or whose files were damaged."""
    yield from _uncleanable(model)
    logs = model.logs
    groups: dict[tuple[tuple[str, int] | None, bool], list[int]] = {}
    for row in logs.of_kind(EventKind.log_damaged).tolist():
        is_snapshot = logs.says(row, Saying.OF_SNAPSHOT)
        if is_snapshot or logs.says(row, Saying.OF_ABORTED_INDEX):
            groups.setdefault((_partition(logs, row), is_snapshot), []).append(row)
    for (place, is_snapshot), rows in groups.items():
        yield _met(model, place, rows, is_snapshot=is_snapshot)


def _partition(logs: LogModel, row: int) -> tuple[str, int] | None:
    """The partition that a line names, or in whose folder the file lies that it names."""
    return topic_partition(logs, row) or partition_of_file_in(logs.words(row))


def _met(model: CaptureModel, place: tuple[str, int] | None, rows: list[int], *, is_snapshot: bool) -> Case:
    logs = model.logs
    since, until = times_of(logs, rows)
    is_rebuilt = is_snapshot or all(logs.string(row, "error") is None for row in rows)
    return Case(
        facts=Met(
            partition=TopicPartition(*place) if place is not None else None,
            is_snapshot=is_snapshot,
            is_rebuilt=is_rebuilt,
            count=Count(len(rows)),
            lines=event_refs(model, rows, 4),
        ),
        verdict=Verdict.likely,
        severity=Severity.warning if is_rebuilt else Severity.error,
        topic=place[0] if place is not None else None,
        partition=place[1] if place is not None else None,
        since=since,
        until=until,
        count=len(rows),
    )


def _uncleanable(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    rows = [row for row in logs.of_kind(EventKind.cleaner_stopped).tolist() if logs.says(row, Saying.OF_ABORTED_INDEX)]
    for subject, mine in by_producer(logs, rows):
        yield case_of(model, subject, mine, Verdict.likely, Severity.error, by_broker=True)


WORDS = Words(
    RefusedWrites,
    title="index of aborted transactions damaged",
    summary="The cleaner gave {partition} up: its index of aborted transactions[ {perhaps}] is damaged. The partition "
    "is not compacted from then on, and grows.",
    steps=(step("The cleaner met an entry of the index that can't stand there", cites="lines"),),
    considered=(
        left_open(
            "a defect of that release, which wrote the entry twice",
            "the line does not tell how it came there",
            decided_by="kafka-dump-log.sh of the .txnindex beside its segment",
        ),
    ),
    remedies=(
        remedy(
            "Stop the broker, move the .txnindex and the .index of the segment away, and start it: it rebuilds both. "
            "Never do that while it runs",
            "operator",
            cost="this broker is away for the time of the restart and recovery",
            restart_needed=True,
        ),
        remedy("Or let this replica fetch the partition anew from a leader whose cleaner works", "operator"),
    ),
)

FILE = pick("is_snapshot", {True: "producer snapshot"}, "index of aborted transactions")
WORDS_OF_FILES = Words(
    Met,
    title=(FILE, " damaged"),
    summary=(
        "The ",
        FILE,
        "[ of {partition}] is[ {perhaps}] damaged. ",
        pick(
            "is_rebuilt",
            {True: "The broker went on without it and builds it anew from the log."},
            "read_committed fetches of its segment fail until it is built anew; read_uncommitted readers go on.",
        ),
    ),
    steps=(
        step(
            pick("count", {1: "A line says that it can't be used"}, "{count:line} say that it can't be used"),
            pick("is_snapshot", {True: "its checksum or layout is wrong"}, "its entries do not fit the segment"),
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("log_directory_failed", "the file was read: its content is wrong", needs="is_rebuilt"),
        left_open(
            "log_directory_failed",
            "a disk that refuses makes reading fail as well",
            decided_by="the exception under this line, and the kernel's log",
            unless="is_rebuilt",
        ),
        left_open(
            "what damaged it",
            "the line does not tell",
            decided_by="what was done to that directory before (a power cut, a full disk, a copy of a running broker)",
        ),
    ),
    remedies=(
        remedy(
            "Nothing for the data: the log itself is whole as far as this line tells. After a power cut compare the "
            "partition with another replica. Never copy files of a running broker",
            "operator",
            needs="is_rebuilt",
        ),
        remedy(
            "Stop the broker, move the .txnindex and the .index of the segment away, and start it: it rebuilds both. "
            "Never do that while it runs",
            "operator",
            cost="this broker is away for the time of the restart and recovery",
            restart_needed=True,
            unless="is_rebuilt",
        ),
        remedy("Or let this replica fetch the partition anew from a healthy leader", "operator", unless="is_rebuilt"),
    ),
)

RULE = Rule(find=find, words=(WORDS, WORDS_OF_FILES), depth=1)
