"""Which incident of a page a stretch belongs to: facts that contradict each other are of different logs.

Facts       a batch or a record is known by its shape and first offset. Two of one partition contradict each other where
            both say it and differ: producer, epoch, last offset; timestamp or checksum of batches of the same size (the
            cleaner makes batches smaller). Equal ones are one fact, quoted twice.
Time        markers are written by brokers, so their times grow with the offsets, and epochs of a producer id with
            them. Markers that stand lower, or have a lower epoch, and were written later by far are of another log.
Sections    where a contradiction comes up, all that stands since the last heading belongs to the new incident, but for
            what is known of an older one already.
Unnamed     of lines that name no partition nobody knows whether they are of one: where they contradict others they are
            apart, but begin no incident.
Limits      the first `MOST_FACTS` facts of a page are kept; behind `MOST_RUNS` incidents each stretch is one.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import field
from itertools import islice

from kafkatx.terms.records import dataclass
from kafkatx.text.printed.dump_lines import TIMESTAMPS
from kafkatx.text.printed.line_kinds import ToolLineKind

MOST_FACTS = 1 << 15
MOST_RUNS = 200
TOLERANCE_MS = 600_000
"""What clocks of brokers may differ by at most, generously."""
EvidenceRef = tuple[str | None, int | None]
Key = tuple[EvidenceRef, ToolLineKind, int]
Writer = tuple[int, int, int, int]
"""First and last offset, producer id and epoch."""


@dataclass(frozen=True, slots=True)
class LineFact:
    """What a line says of a batch or record, -1 where it does not; `is_marker`: it ends a transaction."""

    last_offset: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    timestamp: int = -1
    size: int = -1
    crc: int = -1
    is_marker: bool = False

    def contradicts(self, other: LineFact) -> bool:
        """Whether both can't be true of one log."""
        if _differ(self.producer_id, other.producer_id) or _differ(self.producer_epoch, other.producer_epoch):
            return True
        if _differ(self.last_offset, other.last_offset):
            return True
        is_comparable = self.size == other.size
        return is_comparable and (_differ(self.timestamp, other.timestamp) or _differ(self.crc, other.crc))

    def equals(self, other: LineFact) -> bool:
        """Whether both tell the same, and enough to be no accident."""
        return not self.contradicts(other) and (
            self.timestamp == other.timestamp >= 0
            or (self.producer_id == other.producer_id >= 0 and self.size == other.size)
        )


def first_offset(shape: ToolLineKind, fields: Mapping[str, str]) -> int:
    """Return the first offset of a line of a batch or record, -1 where it says none."""
    return number(fields, "baseOffset" if shape is ToolLineKind.BATCH and "baseOffset" in fields else "offset")


def fact_of(shape: ToolLineKind, fields: Mapping[str, str]) -> LineFact:
    """Return what a line of a batch or record says."""
    timestamp = next((number(fields, key) for key in TIMESTAMPS if key in fields), -1)
    size = next((number(fields, key) for key in ("size", "valueSize", "valuesize") if key in fields), -1)
    return LineFact(
        number(fields, "lastOffset") if shape is ToolLineKind.BATCH else -1,
        number(fields, "producerId"),
        number(fields, "producerEpoch"),
        timestamp,
        size,
        number(fields, "crc"),
        "endTxnMarker" in fields or fields.get("isControl") == "true",
    )


def number(fields: Mapping[str, str], name: str) -> int:
    """Return a field that is a number, -1 where it is absent or none."""
    text = fields.get(name)
    return int(text) if text is not None and text.isdecimal() and len(text) < 20 else -1


def _differ(one: int, other: int) -> bool:
    return one >= 0 and other >= 0 and one != other


def _writer(first: int, fact: LineFact) -> Writer:
    return first, max(first, fact.last_offset), fact.producer_id, fact.producer_epoch


@dataclass(slots=True)
class Incident:
    """One incident: its facts by key, and per partition who wrote which offsets and the markers with their times."""

    facts: dict[Key, LineFact] = field(default_factory=dict)
    writers: dict[EvidenceRef, list[Writer]] = field(default_factory=dict)
    markers: dict[EvidenceRef, tuple[tuple[int, int], tuple[int, int]]] = field(default_factory=dict)
    epochs: dict[int, tuple[int, int]] = field(default_factory=dict)

    def compare(self, place: EvidenceRef, facts: Mapping[tuple[ToolLineKind, int], LineFact]) -> tuple[bool, bool]:
        """Whether facts contradict this run, and whether any of them is known here."""
        is_known = False
        for (shape, first), fact in facts.items():
            known = self.facts.get((place, shape, first))
            if (known is not None and known.contradicts(fact)) or self._has_other_writer(place, first, fact):
                return True, is_known
            is_known |= known is not None and known.equals(fact)
        return self._is_out_of_time(place, facts), is_known

    def add(self, place: EvidenceRef, facts: Mapping[tuple[ToolLineKind, int], LineFact]) -> None:
        """Take in facts, as long as there is room."""
        for (shape, first), fact in facts.items():
            self.facts.setdefault((place, shape, first), fact)
            if fact.producer_id >= 0:
                insort(self.writers.setdefault(place, []), _writer(first, fact))
            if fact.is_marker and fact.timestamp > 0:
                lowest, highest = self.markers.get(place, ((first, fact.timestamp),) * 2)
                self.markers[place] = min(lowest, (first, fact.timestamp)), max(highest, (first, fact.timestamp))
                last = self.epochs.get(fact.producer_id, (-1, 0))
                self.epochs[fact.producer_id] = max(last, (fact.producer_epoch, fact.timestamp))

    def _has_other_writer(self, place: EvidenceRef, first: int, fact: LineFact) -> bool:
        """Whether another producer, or the same with another epoch, wrote some of the offsets."""
        known = self.writers.get(place, ())
        new = _writer(first, fact)
        at = bisect_right(known, new)
        beside = known[max(0, at - 1) : at + 1]
        return new[2] >= 0 and any(
            one[0] <= new[1] and new[0] <= one[1] and (one[2] != new[2] or _differ(one[3], new[3])) for one in beside
        )

    def _is_out_of_time(self, place: EvidenceRef, facts: Mapping[tuple[ToolLineKind, int], LineFact]) -> bool:
        new = [(first, fact) for (_, first), fact in facts.items() if fact.is_marker and fact.timestamp > 0]
        if any(self._is_of_older_epoch(fact) for _, fact in new):
            return True
        if place not in self.markers or not new:
            return False
        firsts, times = [first for first, _ in new], [fact.timestamp for _, fact in new]
        lowest, highest = self.markers[place]
        is_later = max(firsts) < lowest[0] and min(times) > lowest[1] + TOLERANCE_MS
        return is_later or (min(firsts) > highest[0] and max(times) < highest[1] - TOLERANCE_MS)

    def _is_of_older_epoch(self, fact: LineFact) -> bool:
        """Whether a producer id had a higher epoch long before a marker."""
        epoch, at = self.epochs.get(fact.producer_id, (-1, 0))
        return 0 <= fact.producer_epoch < epoch and fact.timestamp > at + TOLERANCE_MS


@dataclass(slots=True)
class Incidents:
    """The incidents of a page, as they come up. `latest` is the one that what follows belongs to."""

    runs: list[Incident] = field(default_factory=lambda: [Incident()])
    latest: int = 0
    room: int = MOST_FACTS

    def place(self, place: EvidenceRef, facts: Mapping[tuple[ToolLineKind, int], LineFact]) -> int:
        """Return the number of the run that facts belong to, that of none yet for a new one; nothing is taken in."""
        if len(self.runs) >= MOST_RUNS:
            return len(self.runs)
        results = [run.compare(place, facts) for run in self.runs]
        known = [number for number, result in enumerate(results) if result == (False, True)]
        if known:
            return self.latest if self.latest in known else known[-1]
        return len(self.runs) if results[self.latest][0] else self.latest

    def take(self, number: int, place: EvidenceRef, facts: Mapping[tuple[ToolLineKind, int], LineFact]) -> None:
        """Take facts into a run, a new one if the number is that of none."""
        while number >= len(self.runs):
            self.runs.append(Incident())
        kept = dict(islice(facts.items(), max(0, self.room)))
        self.room -= len(kept)
        self.runs[number].add(place, kept)
