"""Committed records that read_committed readers are not given: which ones, and why.

Mechanism    A COMMIT marker does not yet make records readable. Readers stop at the last stable offset, which the
             oldest open transaction of any producer holds; they drop what the index of aborted transactions lists, and
             take no notice of COMMIT markers; nothing below the log start can be read, and retention or DeleteRecords
             may move it into a transaction that is still open.
Evidence     committed data at or above the last stable offset; an entry of a .txnindex over data with a COMMIT marker;
             a COMMIT marker of a transaction that a producer snapshot shows open since before the log start, and
             hardly any time between the marker and the deletion.
Against      a marker that this copy may lack; a log that begins where only the evidence does; another replica.
Look-alikes  read_committed_blocked (that readers wait, and for whom: the cause); data that were aborted; deletion by
             retention after readers had their time, and compaction, which are no fault; a marker's own offset, which is
             never delivered; atomicity_violation and stuck_prepare (committed, but the marker is missing).
Remedy       above the last stable offset: end the transaction that holds it, and send nothing again. A wrong entry:
             rebuild the index with the broker stopped, then read again. Deleted: send again; keep more than the longest
             transaction.
Source       UnifiedLog.fetchLastStableOffsetMetadata, TransactionIndex.collectAbortedTxns, CompletedFetch (0.11 to
             4.4); KIP-98, KIP-107.
"""

from __future__ import annotations

from kafkatx.findings.finding import Finding
from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.unreadable.deleted import DELETED_WORDS, deleted
from kafkatx.rules.unreadable.listed import LISTED_WORDS, listed
from kafkatx.rules.unreadable.waiting import WAITING_WORDS, waiting


def find(model: CaptureModel) -> Found:
    """One case a partition whose committed records wait, or were deleted; one a producer whose data an index hides."""
    yield from waiting(model)
    yield from listed(model)
    yield from deleted(model)


def holds_them_back(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """Records that wait at the last stable offset at which the readers of the same partition stand."""
    here = (cause.topic, cause.partition) == (effect.topic, effect.partition)
    return here and effect.facts.get("last_stable_offset") is not None


def lists_them(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The damaged index of aborted transactions of the same partition."""
    here = (cause.topic, cause.partition) == (effect.topic, effect.partition)
    return here and effect.facts.get("index") is not None and not cause.facts.get("is_snapshot")


RULE = Rule(
    find=find,
    words=(WAITING_WORDS, LISTED_WORDS, DELETED_WORDS),
    depth=7,
    caused_by=(("read_committed_blocked", holds_them_back), ("damaged_index", lists_them)),
)
