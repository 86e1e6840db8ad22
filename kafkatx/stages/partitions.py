"""A partition's log folded: what the coordinator recorded, or which producer's data lie where, and how far it reaches.

Grain: one partition of a capture (evidence/plans.py), its rows in offset order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

import numpy as np

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.file_entries import small_file
from kafkatx.evidence.item import Item
from kafkatx.evidence.offset_coverage import Range
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.evidence.reading import PartitionReading
from kafkatx.evidence.run_copies import original
from kafkatx.histories.capture_model import LogExtent, StateLogExtent
from kafkatx.histories.coordinator import CoordinatorHistory, fold_state_partition
from kafkatx.histories.hiding_entries import hiding_entries
from kafkatx.histories.partition_transactions import OpenAtStart, PartitionTransactions, fold_partition
from kafkatx.kernels.spans import OPEN
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.merging import Stream
from kafkatx.segments.names import Names
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import COMPACTED, INTERNAL


@dataclass(slots=True)
class PartitionStory:
    """What a partition tells. Codes of names are its own: `names` resolves them (stages/naming.py makes them common).

    Of the coordinator's log `history` and `state_horizon` are there, of other logs `spans` and `log_extent`; `newest`
    is the newest time that a broker wrote, `newest_of_clients` that a client did (milliseconds, -1: none); `diverged`
    are rows that contradict the log, with the file of each; `brokers` is how many may have written the capture.
    """

    key: Partition
    coverage: list[Coverage]
    damage: list[Damage]
    diverged: list[tuple[str, Rows]]
    names: Names
    history: CoordinatorHistory | None = None
    state_horizon: StateLogExtent | None = None
    spans: PartitionTransactions | None = None
    log_extent: LogExtent | None = None
    newest: int = -1
    newest_of_clients: int = -1
    brokers: int = 1
    items: list[Item] = field(default_factory=list)


Streams = Callable[[PartitionReading], Iterable[Stream]]
"""Where the rows of a partition come from: its files, or blocks of rows that were read of them elsewhere."""
SmallFiles = Callable[[Item], tuple[Rows, list[Damage]]]
"""Where the entries of the small files beside it come from."""


def fold(
    plan: PartitionPlan, streams: Streams = PartitionReading.streams, entries_of: SmallFiles = small_file
) -> PartitionStory:
    """Read a partition and fold it."""
    reading = PartitionReading(plan, entries_of)
    model = _fold_states(reading, streams) if plan.is_state_log else _fold_batches(reading, streams)
    model.coverage.extend(file.entry for file in reading.files)
    model.damage.extend(reading.damage)
    model.diverged.extend(reading.diverged)
    model.brokers = plan.brokers
    model.items.extend(file.item for file in plan.files)
    return model


def _fold_states(reading: PartitionReading, streams: Streams) -> PartitionStory:
    plan, names = reading.plan, reading.names
    empty = names.list_code(())
    windows = reading.windows(streams(reading))
    history = fold_state_partition(windows, plan.partition, empty, names.partition_lists)
    missing = reading.missing
    log_extent = StateLogExtent(
        partition=plan.partition,
        first_offset=history.first_offset,
        log_end=history.next_offset,
        first_dirty=plan.first_dirty,
        is_torn=_is_torn(missing, history.next_offset),
        newest=history.last_timestamp,
        leader_epoch=history.leader_epoch,
        last_gap=history.last_gap,
        last_loss=max((end for _, end in missing), default=-1),
        is_printed=all(file.item.part is not None for file in plan.files),
        is_end_told=_is_end_told(reading, history.next_offset),
        is_pieced=_is_printed(plan) and _is_pieced(reading),
    )
    return PartitionStory(
        plan.key, [], [], [], names, history=history, state_horizon=log_extent, newest=history.last_timestamp
    )


def _fold_batches(reading: PartitionReading, streams: Streams) -> PartitionStory:
    """Fold a partition of data; the code of the partition is 0 until names are common."""
    plan, code = reading.plan, 0
    open_before = [OpenAtStart(*entry) for entry in reading.open_before(_log_start(plan, {}))]
    windows = reading.windows(streams(reading))
    folded = fold_partition(windows, code, open_before, has_sequences=plan.topic not in INTERNAL)
    folded.hiding = hiding_entries(reading.aborted_entries(), folded.spans)
    broker, client = int(folded.log_extent["broker_time"]), int(folded.log_extent["create_time"])
    return PartitionStory(
        plan.key, [], [], [], reading.names, spans=folded, log_extent=_horizon(code, reading, folded),
        newest=max(broker, client if plan.topic in INTERNAL else -1), newest_of_clients=client,
    )  # fmt: skip


def _horizon(code: int, reading: PartitionReading, folded: PartitionTransactions) -> LogExtent:
    plan, log_extent = reading.plan, folded.log_extent
    compacted = plan.topic in COMPACTED or plan.first_dirty >= 0 or int(log_extent["cleaned_batches"]) > 0
    missing, log_end = reading.missing, int(log_extent["next_offset"])
    first_offsets = {file.item.key: file.entry.first_offset or 0 for file in reading.files}
    return LogExtent(
        partition_code=code,
        topic=plan.topic,
        partition=plan.partition,
        log_start=_log_start(plan, first_offsets),
        log_end=log_end,
        high_watermark=plan.high_watermark,
        first_dirty=plan.first_dirty,
        copies=len({original(file.directory) for file in plan.files}),
        is_compacted=compacted,
        has_gaps=any(end <= log_end for _, end in missing) or _lacks_markers(folded, plan.first_dirty),
        is_torn=_is_torn(missing, log_end),
        first_timestamp=int(log_extent["first_timestamp"]),
        newest=max(int(log_extent["broker_time"]), int(log_extent["create_time"])),
        broker_time=int(log_extent["broker_time"]),
        plain_records=int(log_extent["plain_records"]),
        highest_epoch=int(log_extent["highest_epoch"]),
        highest_epoch_producer=int(log_extent["highest_epoch_producer"]),
        highest_epoch_offset=int(log_extent["highest_epoch_offset"]),
        is_printed=_is_printed(plan),
        is_end_told=_is_end_told(reading, log_end),
        deleted_below=reading.deleted_below,
        only_broker=_only_broker(plan),
    )


def _only_broker(plan: PartitionPlan) -> int | None:
    """The only broker whose directories hold the partition, by broker.id; None where it is not one, or not told."""
    brokers = {file.broker_id for file in plan.files}
    return brokers.pop() if len(brokers) == 1 else None


def _is_whole(item: Item) -> bool:
    return item.part is None or item.part.is_whole


def _is_pieced(reading: PartitionReading) -> bool:
    """Whether a text is not what a tool printed: of several stretches one is cut, or lines of it can't be read.

    Nothing but its form vouches for a line of a text: where some are mangled, digits of others may be.
    """
    files = reading.plan.files
    return bool(reading.damage) or (len(files) > 1 and any(not _is_whole(file.item) for file in files))


def _is_printed(plan: PartitionPlan) -> bool:
    return all(file.item.part is not None for file in plan.files)


def _is_end_told(reading: PartitionReading, log_end: int) -> bool:
    """Whether the last line of a text is that of the log: the name of another file, or another copy, says so.

    The bytes of a segment end where the log did when it was copied; lines of a text may have been cut off.
    """
    plan = reading.plan
    alike = {
        given.directory
        for given, file in zip(plan.files, reading.files, strict=True)
        if file.entry.last_offset == log_end - 1
    }
    return not _is_printed(plan) or plan.known_end >= log_end or len(alike) > 1


def _log_start(plan: PartitionPlan, first_offsets: dict[str, int]) -> int:
    """Lowest log start of the copies; texts have a say only where no directory has one: no tool prints the checkpoint.

    That of a copy is its checkpoint's or its first segment's base offset, whichever is higher. A page without a file's
    name begins at the first offset that it shows (`first_offsets`, by the key of the item): what lay before is unknown.
    """
    starts: dict[str, int] = {}
    for file in [file for file in plan.files if file.item.part is None] or plan.files:
        base = max(0, file.item.base_offset)
        if file.item.part is not None and file.item.base_offset < 0:
            base = first_offsets.get(file.item.key, 0)
        starts[file.directory] = min(starts.get(file.directory, base), base)
    return min(max(start, plan.log_starts[path]) for path, start in starts.items())


def _lacks_markers(folded: PartitionTransactions, first_dirty: int) -> bool:
    """Whether data without a marker lie below the first dirty offset.

    The cleaner stops before the first transaction that is open, and leaves markers as long as their data
    (LogCleanerManager.cleanableOffsets): there was a marker, and the files lack it.
    """
    if first_dirty <= 0:
        return False
    spans = folded.spans
    is_open = np.flatnonzero(spans["flags"] & OPEN)
    return bool((spans["first_offset"][is_open] < first_dirty).any())


def _is_torn(missing: list[Range], log_end: int) -> bool:
    """Whether the log went on behind what could be read of it."""
    return any(end > max(log_end, 0) for _, end in missing)
