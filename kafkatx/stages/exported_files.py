"""What is read of files when findings are known, looked up in the facts of an export: the files may be gone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import groupby
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item
from kafkatx.findings.finding import NotCheckable
from kafkatx.kernels.rows import UNCHECKED, VALID
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.stages.codec import decode
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_files import FoundRow, find, payloads
from kafkatx.stages.facts import OF_CAPTURE, FactKind, FactsError
from kafkatx.stages.folding import ENTRIES
from kafkatx.stages.placed import PLACED, Files, FilesAtHand
from kafkatx.stages.tasks import numbering
from kafkatx.stages.uniting import Renumbering
from kafkatx.terms.records import dataclass


def files_of(exports: Iterable[Export], number: int, capture: Capture) -> Files:
    """Return where the files of a capture are read: in the export that it comes of, else where they lie.

    `number` is that of the capture among all captures.
    """
    holders = [(export, export.numbers.index(number)) for export in exports if number in export.numbers]
    if len(holders) == 1:
        return ExportedFiles(*holders[0], capture)
    parts = [(ExportedFiles(export, own, export.capture(own)), dict(export.united)[own]) for export, own in holders]
    return UnitedFiles(parts) if parts else FilesAtHand()


@dataclass(slots=True)
class ExportedFiles:
    """The facts of a capture in an export; `number` is its number there. All methods raise FactsError."""

    export: Export
    number: int
    capture: Capture
    _numbers: dict[str, tuple[int, int]] = field(init=False)
    _found: dict[tuple[int, FactKind], list[FoundRow]] = field(default_factory=dict)
    _group: tuple[str, int, Any] = ("", -1, None)

    def __post_init__(self) -> None:
        self._numbers = numbering(self.capture)

    def batches(self, item: Item, offsets: list[int]) -> Iterator[Rows]:
        """Yield where batches lie, with their CRCs checked; of a text all that it prints."""
        number, file = self._place(item)
        rows = [row for row in self._rows(number, FactKind.PLACED) if row.file == file]
        rows.sort(key=lambda row: (row.begin, row.piece))
        if item.part is None:
            rows = _holding(rows, offsets)
        for placed in self._contents(rows, PLACED):
            if len(placed):
                yield placed

    def crc_valid(self, item: Item, row: Any) -> bool | None:
        """Say what was found when the batch was read."""
        return None if row["crc_valid"] == UNCHECKED else bool(row["crc_valid"] == VALID)

    def snapshot_entries(self, item: Item) -> tuple[Rows, list[Damage]]:
        """Return what was read of the file."""
        number, file = self._place(item)
        rows = [row for row in self._rows(number, FactKind.SNAPSHOT) if row.file == file]
        found: list[tuple[Rows, list[Damage]]] = [*self._contents(rows, ENTRIES)]
        if len(found) != 1:
            raise FactsError(f"{self.export.path}: facts are missing, of {item.path}")
        return found[0]

    def hidden_records(self, capture: Capture) -> Iterable[NotCheckable]:
        """Return what listings left open."""
        found: list[list[NotCheckable]] = [*self._contents(self._rows(OF_CAPTURE, FactKind.HIDDEN), list[NotCheckable])]
        return found[0] if found else []

    def _place(self, item: Item) -> tuple[int, int]:
        """The numbers of a file in the plan; what is told of a file that the plan lacks is told by somebody else."""
        if item.key not in self._numbers:
            raise FactsError(f"{self.export.path}: no fact of {item.path}")
        return self._numbers[item.key]

    def _rows(self, number: int, rank: FactKind) -> list[FoundRow]:
        if (number, rank) not in self._found:
            self._found[number, rank] = find(self.export.files, self.number, number, rank)
        return self._found[number, rank]

    def _contents(self, rows: list[FoundRow], declared: Any) -> Iterator[Any]:
        for _, pieces in groupby(rows, key=lambda row: (row.at, row.file, row.begin)):
            yield decode(b"".join(map(self._payload, pieces)), declared)

    def _payload(self, row: FoundRow) -> bytes:
        """The payload of a row; the row group that was read last is kept."""
        if self._group[:2] != (row.path, row.group):
            self._group = row.path, row.group, payloads(row.path, row.group)
        found: bytes = self._group[2][row.row].as_py()
        return found


@dataclass(slots=True)
class UnitedFiles:
    """The facts of a capture in several runs, the oldest first. All methods raise FactsError."""

    parts: list[tuple[ExportedFiles, Renumbering]]

    def batches(self, item: Item, offsets: list[int]) -> Iterator[Rows]:
        """Yield where batches lie, in the run that the file is of."""
        files, own = self._of(item)
        return files.batches(own, offsets)

    def crc_valid(self, item: Item, row: Any) -> bool | None:
        """Say what was found when the batch was read."""
        files, own = self._of(item)
        return files.crc_valid(own, row)

    def snapshot_entries(self, item: Item) -> tuple[Rows, list[Damage]]:
        """Return what was read of the file."""
        files, own = self._of(item)
        return files.snapshot_entries(own)

    def hidden_records(self, capture: Capture) -> Iterable[NotCheckable]:
        """Return what listings left open, each once."""
        return dict.fromkeys(one for files, _ in self.parts for one in files.hidden_records(capture))

    def _of(self, item: Item) -> tuple[ExportedFiles, Item]:
        for files, renumbering in self.parts:
            if item.key in renumbering.items:
                return files, renumbering.items[item.key]
        raise FactsError(f"no fact of {item.path}")


def _holding(rows: list[FoundRow], offsets: list[int]) -> list[FoundRow]:
    """The rows of a file, in order, of which each begins at or below a wanted offset and the next one above it."""
    starts = sorted({row.at for row in rows})
    places = {bisect_right(starts, offset) - 1 for offset in offsets}
    wanted = {starts[place] for place in places if place >= 0}
    return [row for row in rows if row.at in wanted]
