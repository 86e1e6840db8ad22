"""What two documents prove of each other's evidence: which files and offsets of one are in the other one as well.

A file is known by kind, cluster, partition and name, not by its folder: evidence is copied. It is the same where size,
offsets and first time agree; a log of a program may have grown behind that. A segment that grew is not the same:
compaction takes records out of the middle of a partition, and no document tells which. Only what is open keeps its
place: the cleaner stops at the first open transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import Kind
from kafkatx.formats.file_names import FileSuffix, SegmentKind, parse_segment_file
from kafkatx.outputs.comparing.document import CitedPlace, DiagnosisDocument
from kafkatx.outputs.text_lines import LEFT_OUT
from kafkatx.sources.places import name as name_of
from kafkatx.terms.topics import TRANSACTION_STATE

WHOLE = ("read", "empty")
IN_USE = (SegmentKind.LOG, FileSuffix.NONE)
Partition = tuple[str, int]


class HeldEvidence:
    """The files of a document, by what they are looked up by."""

    def __init__(self, document: DiagnosisDocument) -> None:
        self.rows = [row for row in document.coverage if row.status not in LEFT_OUT]
        self.clusters = {row.cluster_id for row in self.rows}
        self.names = {name_of(row.path) for row in self.rows}
        self._alike: dict[object, list[Coverage]] = {}
        self._logs: dict[tuple[str | None, Partition], list[Coverage]] = {}
        self._places: dict[object, list[Coverage]] = {}
        for row in self.rows:
            self._places.setdefault((row.topic, row.partition), []).append(row)
            self._alike.setdefault(_identity(row), []).append(row)
            if _is_segment(row) and row.topic is not None and row.partition is not None:
                self._logs.setdefault((row.cluster_id, (row.topic, row.partition)), []).append(row)

    def has_all_of(self, other: HeldEvidence, capture: str) -> bool:
        """Whether every file of a capture of another document is here: the same, or a program's log that grew."""
        theirs = [row for row in other.rows if row.capture == capture]
        return bool(theirs) and all(
            any(_is_in(row, one) for one in self._alike.get(_identity(row), ())) for row in theirs
        )

    def logs(self, cluster_id: str | None, partition: Partition) -> list[Coverage]:
        """Return the segments of a partition."""
        return self._logs.get((cluster_id, partition), [])

    def state_partitions(self, cluster_id: str | None) -> set[Partition]:
        """Return the partitions of the coordinators' log."""
        return {one for cluster, one in self._logs if cluster == cluster_id and one[0] == TRANSACTION_STATE}

    def end(self, cluster_id: str | None, partition: Partition) -> int:
        """Return the last offset of a partition; -1 where it is empty or not here."""
        rows = self.logs(cluster_id, partition)
        return max((row.last_offset for row in rows if row.last_offset is not None), default=-1)

    def is_whole(self, cluster_id: str | None, partition: Partition) -> bool:
        """Whether a partition is here, and none of its files is torn or damaged."""
        rows = self.logs(cluster_id, partition)
        return bool(rows) and all(row.status in WHOLE for row in rows)

    def segment_of(self, cluster_id: str | None, partition: Partition, offset: int) -> list[Coverage]:
        """Return the segments (of several copies) that an offset lies in."""
        return [row for row in self.logs(cluster_id, partition) if _holds(row, offset)]

    def lacks(self, cluster_id: str | None, places: Iterable[CitedPlace]) -> CitedPlace | None:
        """Return the first of some places that lies in none of these files; None where each may."""
        return next((place for place in places if not self._may_hold(cluster_id, place)), None)

    def _may_hold(self, cluster_id: str | None, place: CitedPlace) -> bool:
        if place.topic is not None and place.partition is not None and place.offset is not None:
            rows = self._places.get((place.topic, place.partition), [])
            near = [row for row in rows if cluster_id in (None, row.cluster_id) or row.cluster_id is None]
            return any(_holds(row, place.offset) for row in near)
        return place.source is None or name_of(place.source) in self.names


def partition_of(place: CitedPlace) -> Partition | None:
    """Return the partition of a place in one."""
    return None if place.topic is None or place.partition is None else (place.topic, place.partition)


def kept(row: Coverage, others: Iterable[Coverage]) -> bool:
    """Whether a segment is still there with all that it held, provided that its cleaner could not touch it."""
    return any(
        one.status in WHOLE
        and (one.first_offset, one.first_timestamp) == (row.first_offset, row.first_timestamp)
        and _reaches(one.last_offset, row.last_offset)
        and one.bytes >= row.bytes
        for one in others
    )


def _is_segment(row: Coverage) -> bool:
    """Whether a file is a segment as a broker wrote it: what a tool printed of one may leave anything out."""
    file = parse_segment_file(name_of(row.path))
    return row.kind == Kind.LOG.value and file is not None and (file.kind, file.suffix) == IN_USE


def _identity(row: Coverage) -> tuple[object, ...]:
    return row.kind, row.cluster_id, row.topic, row.partition, name_of(row.path)


def _is_in(row: Coverage, other: Coverage) -> bool:
    """Whether a file is another one of its name, or the beginning of it."""
    if (row.first_offset, row.first_timestamp) != (other.first_offset, other.first_timestamp):
        return False
    if (row.bytes, row.last_offset, row.last_timestamp) == (other.bytes, other.last_offset, other.last_timestamp):
        return True
    is_log = row.kind == Kind.TEXT_LOG.value and row.first_timestamp is not None
    return is_log and other.bytes >= row.bytes and _reaches(other.last_timestamp, row.last_timestamp)


def _holds(row: Coverage, offset: int) -> bool:
    return (
        row.first_offset is not None and row.last_offset is not None and row.first_offset <= offset <= row.last_offset
    )


def _reaches(one: int | None, other: int | None) -> bool:
    return other is None or (one is not None and one >= other)
