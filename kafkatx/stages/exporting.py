"""Facts of all evidence for the table `facts` of an export: what a diagnosis needs when the files are gone.

They are those of stage one, each file read whole, and what stage three reads of files that findings cite: here of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.item import Kind
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.stages.decoding import read
from kafkatx.stages.export_folders import release
from kafkatx.stages.fact_batches import record_batches
from kafkatx.stages.fact_types import FactsHead
from kafkatx.stages.facts import LAYOUT, NO_CAPTURE, OF_CAPTURE, CaptureFact, FactKind
from kafkatx.stages.listings import hidden_records
from kafkatx.stages.placed import placed_batches
from kafkatx.stages.tasks import item_of, numbering, pieces
from kafkatx.terms.progress import Progress


def fact_table(evidence: JoinedEvidence, verify_all: bool = False, progress: Progress | None = None) -> Iterator[Any]:
    """Yield the facts of evidence as RecordBatches of FACTS, in no order.

    `progress` is called with the path and the size of a file before it is read.
    """
    return record_batches(_facts(evidence, verify_all, progress or (lambda path, size: None)))


def head_of_facts(evidence: JoinedEvidence, verify_all: bool) -> CaptureFact:
    """The fact that says what the others are: their layout, how many captures, files that no capture claims."""
    others = [coverage_of(None, item, None) for item in evidence.others]
    head = FactsHead(release(), LAYOUT, len(evidence.captures), verify_all, others)
    return CaptureFact(NO_CAPTURE, OF_CAPTURE, FactKind.PLAN, head)


def _facts(evidence: JoinedEvidence, verify_all: bool, progress: Progress) -> Iterator[CaptureFact]:
    yield head_of_facts(evidence, verify_all)
    for piece in pieces(evidence.captures, verify_all, whole=True):
        item = item_of(piece)
        if item is not None:
            progress(item.path, item.size)
        yield from read(piece, evidence.log)
    for number, capture in enumerate(evidence.captures):
        yield from _read_at_last(number, capture)


def _read_at_last(number: int, capture: Capture) -> Iterator[CaptureFact]:
    """Facts of what stage three reads of files."""
    numbers, logs = numbering(capture), capture.segments()
    for item in (item for files in logs.values() for _, item in files):
        subject, file = numbers[item.key]
        for order, rows in enumerate(placed_batches(item)):
            yield CaptureFact(number, subject, FactKind.PLACED, rows, int(rows["base_offset"][0]), file, order)
    if capture.texts(Kind.RECORDS):
        yield CaptureFact(number, OF_CAPTURE, FactKind.HIDDEN, [*hidden_records(capture)])
