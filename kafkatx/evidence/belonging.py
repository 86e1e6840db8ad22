"""What tells where a text belongs: the facts it shares with, or holds against, other evidence.

Names alone prove little (`orders-sink-0` runs on many clusters), so they only choose among captures; equal facts join,
and contradicting facts part, whatever the names.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafkatx.evidence.directories import DataDirectory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import Rows, SegmentWalk
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.text.pages.part import TextPart

SAMPLED_ROWS = 4_096
"""Rows of a printed log that are compared."""
DIGESTED = 1 << 16
"""Bytes of a text that stand for it in names and ids."""

Place = tuple[str, int, int]
Use = tuple[int, str, int]


@dataclass(slots=True)
class Sketch:
    """What a directory of printed logs holds: facts by (topic, partition, offset), and who wrote where.

    A fact is (CRC, producer id, epoch, time), each -1 where it is not printed; `wrote` and `listed` hold (producer id,
    topic, partition) of data and of the coordinator's rows.
    """

    facts: dict[Place, tuple[int, int, int, int]] = field(default_factory=dict)
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


def sketch_of(directory: DataDirectory) -> Sketch:
    """Look at the first rows of every log that a directory holds as text."""
    sketch = Sketch()
    for item in directory.items:
        if item.part is not None and item.kind in (Kind.LOG, Kind.STATES) and item.folder and not item.left_out:
            with contextlib.suppress(OSError), OpenFile(item.path) as file:
                _sketch(sketch, file, item, item.part)
    return sketch


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


def contradicts_segments(sketch: Sketch, directory: DataDirectory) -> bool:
    """Whether the segments of a directory hold other batches where a sketch knows some."""
    wanted: dict[tuple[str, int], set[int]] = {}
    for topic, partition, offset in sketch.facts:
        wanted.setdefault((topic, partition), set()).add(offset)
    return any(
        _holds_others(sketch, item, wanted[item.folder.topic, item.folder.partition])
        for item in directory.items
        if item.kind is Kind.LOG and item.part is None and item.folder and not item.left_out
        if (item.folder.topic, item.folder.partition) in wanted
    )


def _holds_others(sketch: Sketch, item: Item, offsets: set[int]) -> bool:
    assert item.folder is not None
    if item.base_offset > max(offsets):
        return False
    chosen = np.array(sorted(offsets), np.int64)
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        for chunk in SegmentWalk(file, check=CHECK_NONE, first_offset=max(0, item.base_offset)).chunks():
            for row in chunk.rows[np.isin(chunk.rows["base_offset"], chosen)]:
                fact = sketch.facts[item.folder.topic, item.folder.partition, int(row["base_offset"])]
                if _differ(fact, fact_of(row)):
                    return True
    return False


def fact_of(row: Any) -> tuple[int, int, int, int]:
    """What a batch says for certain: CRC, producer id and epoch, time."""
    crc = int(row["crc"]) if row["size"] >= 0 else -1
    return crc, int(row["producer_id"]), int(row["producer_epoch"]), int(row["max_timestamp"])


def ids_in_states(directories: Iterable[DataDirectory]) -> set[str]:
    """Transactional.ids that the coordinator's rows of a capture name."""
    names = Names()
    for directory in directories:
        for item in directory.items:
            if item.folder and item.folder.topic == TRANSACTION_STATE and item.kind in (Kind.LOG, Kind.STATES):
                with contextlib.suppress(OSError), OpenFile(item.path) as file:
                    walk = (
                        TextWalk(file, item.part).states(names) if item.part else StateWalk(file, names).state_chunks()
                    )
                    for _ in walk:
                        pass
    return {value.decode("utf-8", "replace") for value in names.transactional_ids.values}


def ids_in_logs(items: Iterable[Item]) -> set[str]:
    """Transactional.ids that logs and settings name."""
    texts = [(item.path, item.part) for item in items if item.part and item.kind in (Kind.TEXT_LOG, Kind.SETTINGS)]
    if not texts:
        return set()
    from kafkatx.text.logs.reading import read_log

    named = set[str]()
    for path, part in texts:
        with contextlib.suppress(OSError), OpenFile(path) as file:
            facts = read_log(file, part)
            codes = np.unique(facts.events["transactional_id_code"])
            named.update(facts.strings[code] for code in codes[codes >= 0].tolist())
            named.update(one.value for one in facts.settings if one.name == "transactional.id" and one.value)
    return named


def digest(items: Iterable[Item]) -> str:
    """Hash of the beginnings of texts: the same for the same texts, wherever they lie and in whatever order."""
    found = set()
    for item in items:
        with contextlib.suppress(OSError), OpenFile(item.path) as file:
            start = item.part.position if item.part else 0
            found.add(hashlib.sha256(file.read(start, min(DIGESTED, item.size))).hexdigest())
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()[:16]
