"""What a task of an export by an engine reads: files, each once, to rows of all tables and to facts.

Files are read whole, as facts in a file must be (stages/exports.py), but for `records` and `batches` of large logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Kind
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.stages.decoding import read
from kafkatx.stages.exporting import head_of_facts
from kafkatx.stages.facts import OF_CAPTURE, CaptureFact, FactKind
from kafkatx.stages.file_walk import rows_of_file
from kafkatx.stages.listings import hidden_records
from kafkatx.stages.packing import COST_OF_FILE
from kafkatx.stages.placed import placed_batches
from kafkatx.stages.seams import begun
from kafkatx.stages.strands import Strand
from kafkatx.stages.table_blocks import Block, BlocksOfFile
from kafkatx.stages.table_files import Light, Source, sources
from kafkatx.stages.tasks import Piece, item_of, numbering, pieces
from kafkatx.terms.records import dataclass

HEADERS = 8
"""So many times less a file costs of which no record is read."""


@dataclass(frozen=True, slots=True)
class FileOfExport:
    """A file: what tables read it as (None: they don't), its pieces of facts, and where its batches are told of.

    `tables` are those that are told of it (None: all that are wanted). `source` may be a stretch of it, whose beginning
    is to be found yet (stages/seams.py). `strand` is what it and those beside it in the task are together.
    """

    source: Source | None = None
    pieces: tuple[Piece, ...] = ()
    placed: tuple[int, int, int] | None = None
    listings: tuple[int, Capture] | None = None
    tables: frozenset[str] | None = None
    strand: Strand | None = None

    @property
    def bytes(self) -> int:
        """About how much work it is."""
        if self.source is None:
            return COST_OF_FILE
        extent = self.source.extent
        size = max(0, min(extent.stop, self.source.item.size) - extent.start)
        return COST_OF_FILE + (size if self.tables is None or "records" in self.tables else size // HEADERS)


def files_of_export(evidence: JoinedEvidence, verify_all: bool) -> Iterator[FileOfExport]:
    """Yield all files of an export."""
    of_item: dict[str, list[Piece]] = {}
    heads: list[Piece] = [head_of_facts(evidence, verify_all)]
    for piece in pieces(evidence.captures, verify_all, whole=True):
        item = item_of(piece)
        (heads if item is None else of_item.setdefault(item.key, [])).append(piece)
    placed = _places(evidence.captures)
    yield FileOfExport(pieces=tuple(heads))
    for number, capture in enumerate(evidence.captures):
        if capture.texts(Kind.RECORDS):
            yield FileOfExport(listings=(number, capture))
    light = Light()
    for source in sources(evidence, verify_all):
        key = source.item.key
        yield FileOfExport(light.source(source), tuple(of_item.pop(key, ())), placed.get(key))


def _places(captures: list[Capture]) -> dict[str, tuple[int, int, int]]:
    """For the key of each log's file: capture, partition and file, as facts are numbered."""
    found = {}
    for number, capture in enumerate(captures):
        numbers = numbering(capture)
        for files in capture.segments().values():
            found.update({item.key: (number, *numbers[item.key]) for _, item in files})
    return found


def facts_of_file(one: FileOfExport) -> Iterator[CaptureFact]:
    """Read a file: its facts, and those that stage three asks of it."""
    for piece in one.pieces:
        yield from read(piece)
    if one.placed is not None and one.source is not None:
        capture, number, file = one.placed
        for order, rows in enumerate(placed_batches(one.source.item)):
            yield CaptureFact(capture, number, FactKind.PLACED, rows, int(rows["base_offset"][0]), file, order)
    if one.listings is not None:
        number, of = one.listings
        yield CaptureFact(number, OF_CAPTURE, FactKind.HIDDEN, [*hidden_records(of)])


def blocks_of(one: FileOfExport, tables: Iterable[str]) -> Iterator[Block]:
    """Read a file: its rows of some tables."""
    if one.source is not None:
        blocks = BlocksOfFile(one.source)
        for table, batch in rows_of(one, frozenset(tables)):
            yield from blocks.add(table, batch)
        yield from blocks.rest()


def rows_of(one: FileOfExport, tables: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Read a file: its rows of some tables as far as they are told of it, as RecordBatches with the name of each."""
    told = tables if one.tables is None else tables & one.tables
    for source in begun([one.source] if one.source is not None and told else []):
        yield from rows_of_file(source, told)
