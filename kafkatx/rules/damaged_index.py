"""An index of aborted transactions, or a producer snapshot, is damaged: the cleaner, a read or a start met it.

Mechanism    Beside each segment lies an index of the transactions that were aborted in it, and the state of its
             producers. A repeated or torn entry makes the cleaner give the partition up for good: the log grows from
             then on, and the coordinator of its groups or ids loads it for longer and longer. A read_committed fetch
             that needs an index which can't be read fails. A start checks both: it rebuilds an index that does not fit
             its segment, and takes an older snapshot, or the log, for one that fails its checksum.
Evidence     the cleaner's line that marks a partition as uncleanable, with a message about the index of aborted
             transactions ("The last offset of appended transactions must increase sequentially"); "Failed to read from
             the transaction index"; "Found a corrupted index file ... in index ... .txnindex"; "Failed to load producer
             snapshot".
Against      an index of offsets or times: those are rebuilt at the next start.
Look-alikes  log_directory_failed (the disk refuses); a cleaner that stopped for a damaged record.
Remedy       with the broker stopped, move the segment's .txnindex and .index away: a missing .index makes the start
             recover the segment and rebuild both. Or let the replica fetch the partition anew from a healthy leader.
Source       TransactionIndex, LogCleaner, LogLoader, LogSegment.recover (0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from kafkatx.findings.client_lines import times_of, topic_partition
from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, TopicPartition, facts

INDEX, SNAPSHOT = ".txnindex", ".snapshot"


class Damaged(Enum):
    """What is damaged, and who met it."""

    unreadable = auto()
    rebuilt = auto()
    snapshot = auto()


@facts
class FileFacts:
    """Lines of a broker about such a file of one partition."""

    what: Damaged
    place: TopicPartition
    count: Count
    lines: Refs

    @property
    def fails(self) -> bool:
        """Whether reads fail for it."""
        return self.what is Damaged.unreadable


def find(model: CaptureModel) -> Found:
    """One case a partition whose cleaner stopped for its index of aborted transactions."""
    logs = model.logs
    rows = [row for row in logs.of_kind(EventKind.cleaner_stopped).tolist() if logs.says(row, Saying.OF_ABORTED_INDEX)]
    for subject, mine in by_producer(logs, rows):
        yield case_of(model, subject, mine, Verdict.likely, Severity.error, by_broker=True)
    yield from _files(model)


def _files(model: CaptureModel) -> Iterator[Case]:
    """One case for each partition and kind of file that a broker could not read, or found damaged as it started."""
    logs = model.logs
    groups: dict[tuple[Damaged, tuple[str, int]], list[int]] = {}
    for row in logs.of_kind(EventKind.log_damaged).tolist():
        what, place = _what(logs, row), topic_partition(logs, row)
        if what is not None and place is not None:
            groups.setdefault((what, place), []).append(row)
    for (what, (topic, partition)), rows in groups.items():
        since, until = times_of(logs, rows)
        yield Case(
            facts=FileFacts(what, TopicPartition(topic, partition), Count(len(rows)), event_refs(model, rows, 3)),
            verdict=Verdict.likely,
            severity=Severity.error if what is Damaged.unreadable else Severity.warning,
            topic=topic,
            partition=partition,
            since=since,
            until=until,
            count=len(rows),
        )


def _what(logs: LogModel, row: int) -> Damaged | None:
    name = logs.string(row, "detail") or ""
    if SNAPSHOT in name:
        return Damaged.snapshot
    if INDEX not in name:
        return None
    return Damaged.unreadable if logs.string(row, "error") else Damaged.rebuilt


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

FILE_WORDS = Words(
    FileFacts,
    title=pick(
        "what",
        {
            Damaged.unreadable: "index of aborted transactions can't be read",
            Damaged.rebuilt: "index of aborted transactions rebuilt",
        },
        "producer snapshot damaged",
    ),
    summary=pick(
        "what",
        {
            Damaged.unreadable: "The broker could not read an index of aborted transactions of {place}: it[ {perhaps}] "
            "is damaged or gone. read_committed readers that need it fail; others read on.",
            Damaged.rebuilt: "As it started, the broker found an index of aborted transactions of {place}[ {perhaps}] "
            "damaged, or of another segment, and rebuilt it from the segment.",
        },
        "A producer snapshot of {place}[ {perhaps}] is damaged. The broker leaves it out and rebuilds the state of its "
        "producers from an older one, or from the log.",
    ),
    steps=(
        step(
            pick(
                "what",
                {
                    Damaged.unreadable: "A read of the index failed, {count:time}",
                    Damaged.rebuilt: "An entry of the index does not fit its segment",
                },
                "The snapshot could not be loaded",
            ),
            cites="lines",
        ),
    ),
    considered=(
        ruled_out(
            "hanging_transaction", "readers are not held back by an open transaction, but refused", needs="fails"
        ),
        left_open(
            "what damaged it",
            "a disk, an unclean stop and a copied folder leave the same",
            decided_by="the log of the broker's last stop, and whether the folder was copied",
        ),
    ),
    remedies=(
        remedy(
            "Stop the broker, move the .txnindex and the .index of the segment away, and start it: it rebuilds both. "
            "Or let this replica fetch the partition anew from a healthy leader",
            "operator",
            cost="this broker is away for the time of the restart and recovery",
            restart_needed=True,
            needs="fails",
        ),
        remedy(
            "Nothing to do for the data: the broker healed it. Find out how it came there (disk, unclean stop, a copy "
            "of the folder)",
            "operator",
            unless="fails",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS, FILE_WORDS), depth=1)
