"""Stage one: stretches of files and logs to packed facts.

Every function here is pure in what it is given and the files: an engine may run it twice, or anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkatx.evidence.file_entries import snapshot_entries
from kafkatx.evidence.stretches import StretchReading
from kafkatx.segments.batches import Rows
from kafkatx.segments.entries import PRODUCER
from kafkatx.segments.names import Names
from kafkatx.stages.blocks import packed_states
from kafkatx.stages.codec import encode
from kafkatx.stages.facts import Fact, Rank
from kafkatx.stages.logs import read_log
from kafkatx.stages.tasks import LogOfCapture, Piece, SnapshotFile, StretchOfFile


def facts_of_task(pieces: Iterable[Piece]) -> Iterator[Fact]:
    """Do what a task is to do: hand facts on, read stretches and logs."""
    for piece in pieces:
        yield from read(piece)


def read(piece: Piece) -> Iterator[Fact]:
    """Read a piece; yields its facts."""
    match piece:
        case Fact():
            yield piece
        case StretchOfFile():
            yield from _of_stretch(piece) if piece.given.item.part is None else _of_text(piece)
        case SnapshotFile():
            entries, damage = snapshot_entries(piece.item)
            found = encode((entries.astype(PRODUCER), damage))
            yield Fact(piece.capture, piece.number, Rank.SNAPSHOT, found, 0, piece.file)
        case LogOfCapture():
            yield Fact(piece.capture, piece.number, Rank.LOG, encode(read_log(piece.item, piece.coverage)))


def _of_stretch(piece: StretchOfFile) -> Iterator[Fact]:
    """Blocks of the batches that begin in a stretch, then what it told."""
    reading = StretchReading(piece.given, piece.begin, piece.stop, piece.stretch_bytes)
    for at, block in blocks(reading, piece.is_state_log):
        yield Fact(piece.capture, piece.number, Rank.BLOCK, block, at, piece.file, piece.begin)
    yield Fact(piece.capture, piece.number, Rank.TOLD, encode(reading.told), 0, piece.file, piece.begin)


def blocks(reading: StretchReading, is_state_log: bool) -> Iterator[tuple[int, bytes]]:
    """Read a stretch: the offset that each block of rows begins at, and the block."""
    if not is_state_log:
        return _packed_batches(reading.batch_rows())
    names = Names()
    return _packed_states(reading.state_rows(names), names)


def _packed_batches(rows_of: Iterable[Rows]) -> Iterator[tuple[int, bytes]]:
    for rows in rows_of:
        if len(rows):
            yield int(rows["base_offset"][0]), encode(rows)


def _packed_states(rows_of: Iterable[Rows], names: Names) -> Iterator[tuple[int, bytes]]:
    for rows in rows_of:
        if len(rows):
            yield int(rows["offset"][0]), packed_states(rows, names)


def _of_text(piece: StretchOfFile) -> Iterator[Fact]:
    """Blocks of what a tool printed of a log, then the file as it was read."""
    given, names = piece.given, Names()
    if piece.is_state_log:
        found = _packed_states(given.state_rows(names), names)
    else:
        found = _packed_batches(given.batch_rows())
    for at, block in found:
        yield Fact(piece.capture, piece.number, Rank.BLOCK, block, at, piece.file)
    yield Fact(piece.capture, piece.number, Rank.TOLD, encode(given), 0, piece.file)
