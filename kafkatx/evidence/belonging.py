"""What tells where a text belongs: the facts it shares with, or holds against, other evidence.

Names alone prove little (`orders-sink-0` runs on many clusters), so they only choose among captures; equal facts join,
and contradicting facts part, whatever the names.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.evidence.directories import LOGS, DataDirectory, Partition
from kafkatx.evidence.item import LOG_KINDS, Item, Kind
from kafkatx.evidence.looking import Looker, size_of
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import Rows, SegmentWalk
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.text.pages.part import TextPart

SAMPLED_ROWS = 4_096
"""Rows of a printed log that are compared."""
DIGESTED = 1 << 16
"""Bytes of a text that stand for it in names and ids."""

Facts = tuple[int, int, int, int]
EvidenceRef = tuple[str, int, int]
Use = tuple[int, str, int]


@dataclass(slots=True)
class Sketch:
    """What a directory of printed logs holds: facts by (topic, partition, offset), and who wrote where.

    A fact is (CRC, producer id, epoch, time), each -1 where it is not printed; `wrote` and `listed` hold (producer id,
    topic, partition) of data and of the coordinator's rows.
    """

    facts: dict[EvidenceRef, Facts] = field(default_factory=dict)
    wrote: set[Use] = field(default_factory=set)
    listed: set[Use] = field(default_factory=set)

    def contradicts(self, other: Sketch) -> bool:
        """Whether two facts about one offset can't both be true."""
        return any(_differ(fact, other.facts[place]) for place, fact in self.facts.items() if place in other.facts)

    def is_about(self, other: Sketch) -> bool:
        """Whether one lists, as the coordinator, what the other one shows written."""
        return not (self.wrote.isdisjoint(other.listed) and self.listed.isdisjoint(other.wrote))


def _differ(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return any(a != b for a, b in zip(one, other, strict=True) if a >= 0 and b >= 0)


def sketch_of(printed: list[Item]) -> Sketch:
    """Look at the first rows of every log that a directory holds as text."""
    sketch = Sketch()
    for item in printed:
        if item.part is not None:
            with contextlib.suppress(OSError), OpenFile(item.path) as file:
                _sketch(sketch, file, item, item.part)
    return sketch


Sketches = dict[str, Sketch]
"""What directories hold as text, by their paths; none of those that hold no log as text."""


def sketches_of(directories: list[DataDirectory], looker: Looker) -> Sketches:
    """Look at the printed logs of directories."""
    printed = {directory.path: logs for directory in directories if (logs := _printed_logs(directory))}
    found = looker.each(sketch_of, [*printed.values()], lambda items: sum(item.size for item in items))
    return dict(zip(printed, found, strict=True))


def _printed_logs(directory: DataDirectory) -> list[Item]:
    return [item for item in directory.items if item.part and item.kind in LOGS and item.folder and not item.left_out]


def _sketch(sketch: Sketch, file: OpenFile, item: Item, part: TextPart) -> None:
    assert item.folder is not None
    topic, partition = item.folder.topic, item.folder.partition
    if topic == TRANSACTION_STATE:
        names = Names()
        for _, rows in TextWalk(file, part).states(names):
            sketch.listed |= _listed(rows, names)
            if len(sketch.listed) > SAMPLED_ROWS:
                return
        return
    for rows in TextWalk(file, part).batches():
        for row in rows:
            sketch.facts[topic, partition, int(row["base_offset"])] = fact_of(row)
            sketch.wrote.add((int(row["producer_id"]), topic, partition))
        if len(sketch.facts) > SAMPLED_ROWS:
            return


def _listed(rows: Rows, names: Names) -> set[Use]:
    pairs = set(zip(rows["producer_id"].tolist(), rows["partitions_code"].tolist(), strict=True))
    return {
        (producer_id, *names.topic_partitions[code])
        for producer_id, codes in pairs
        if codes >= 0
        for code in names.partition_lists[codes]
    }


def contradicts_segments(sketch: Sketch, directory: DataDirectory, looker: Looker) -> bool:
    """Whether the segments of a directory hold other batches where a sketch knows some."""
    wanted: dict[Partition, dict[int, Facts]] = {}
    for (topic, partition, offset), fact in sketch.facts.items():
        wanted.setdefault((topic, partition), {})[offset] = fact
    checks = [
        SegmentCheck(item, wanted[key])
        for item in directory.items
        if item.kind is Kind.LOG and item.part is None and item.folder and not item.left_out
        if (key := (item.folder.topic, item.folder.partition)) in wanted and item.base_offset <= max(wanted[key])
    ]
    return any(looker.each(holds_others, checks, lambda check: check.item.size))


@dataclass(frozen=True, slots=True)
class SegmentCheck:
    """A segment, and what is known of some of its offsets."""

    item: Item
    facts: dict[int, Facts]


def holds_others(check: SegmentCheck) -> bool:
    """Whether a segment holds other batches at the offsets that are known."""
    item, chosen = check.item, np.array(sorted(check.facts), np.int64)
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        for chunk in SegmentWalk(file, check=CHECK_NONE, first_offset=max(0, item.base_offset)).chunks():
            for row in chunk.rows[np.isin(chunk.rows["base_offset"], chosen)]:
                if _differ(check.facts[int(row["base_offset"])], fact_of(row)):
                    return True
    return False


def fact_of(row: Any) -> Facts:
    """What a batch says for certain: CRC, producer id and epoch, time."""
    crc = int(row["crc"]) if row["size"] >= 0 else -1
    return crc, int(row["producer_id"]), int(row["producer_epoch"]), int(row["max_timestamp"])


def ids_in_states(directories: Iterable[DataDirectory], looker: Looker) -> set[str]:
    """Transactional.ids that the coordinator's rows of a capture name."""
    logs = [
        item
        for directory in directories
        for item in directory.items
        if item.folder and item.folder.topic == TRANSACTION_STATE and item.kind in LOGS
    ]
    return set().union(*looker.each(ids_of_states, logs, size_of))


def ids_of_states(item: Item) -> set[str]:
    """Read a coordinator's log; return the transactional.ids that it names."""
    names = Names()
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        for _ in TextWalk(file, item.part).states(names) if item.part else StateWalk(file, names).state_chunks():
            pass
    return {value.decode("utf-8", "replace") for value in names.transactional_ids.values}


def ids_in_logs(items: Iterable[Item], looker: Looker) -> set[str]:
    """Transactional.ids that logs and settings name."""
    logs = [item for item in items if item.part and item.kind in LOG_KINDS]
    return set().union(*looker.ids(logs))


def prepare_ids(directories: list[DataDirectory], looker: Looker) -> None:
    """Read the logs of directories together whose ids will be asked for."""
    ids_in_logs((item for directory in directories for item in directory.items), looker)


def digest(items: list[Item], looker: Looker) -> str:
    """Hash of the beginnings of texts: the same for the same texts, wherever they lie and in whatever order."""
    found = {one for one in looker.each(hash_of_beginning, items, lambda item: DIGESTED) if one is not None}
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()[:16]


def hash_of_beginning(item: Item) -> str | None:
    """Hash of the beginning of a text, None where it can't be read."""
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        start = item.part.position if item.part else 0
        return hashlib.sha256(file.read(start, min(DIGESTED, item.size))).hexdigest()
    return None
