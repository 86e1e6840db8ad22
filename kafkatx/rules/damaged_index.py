"""An index of aborted transactions, or a producer snapshot, is damaged: the cleaner or the start of a broker met it.

Mechanism    Beside each segment lies an index of the transactions that were aborted in it, and the state of its
             producers. A repeated or torn entry makes the cleaner give the partition up for good: the log grows from
             then on, and the coordinator of its groups or ids loads it for longer and longer.
Evidence     the cleaner's line that marks a partition as uncleanable, with a message about the index of aborted
             transactions ("The last offset of appended transactions must increase sequentially").
Against      an index of offsets or times: those are rebuilt at the next start.
Look-alikes  log_directory_failed (the disk refuses); a cleaner that stopped for a damaged record.
Remedy       with the broker stopped, move the segment's .txnindex and .index away: a missing .index makes the start
             recover the segment and rebuild both. Or let the replica fetch the partition anew from a healthy leader.
Source       TransactionIndex, LogCleaner, LogLoader, LogSegment.recover (0.11 to 4.3).
"""

from __future__ import annotations

from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.explanation import Words, left_open, remedy, step


def find(model: CaptureModel) -> Found:
    """One case a partition whose cleaner stopped for its index of aborted transactions."""
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

RULE = Rule(find=find, words=(WORDS,), depth=1)
