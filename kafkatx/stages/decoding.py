"""Stage one: stretches of files and logs to facts.

Every function here is pure in what it is given and the files: an engine may run it twice, or anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafkatx.evidence.file_entries import small_file
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.log_reading import read_log
from kafkatx.evidence.stretches import StretchReading
from kafkatx.segments.batches import Rows
from kafkatx.segments.names import Names
from kafkatx.stages.blocks import states_of
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.logs import Read
from kafkatx.stages.tasks import LogOfCapture, Piece, SmallFile, StretchOfFile


def facts_of_task(pieces: Iterable[Piece]) -> Iterator[CaptureFact]:
    """Do what a task is to do: hand facts on, read stretches and logs."""
    for piece in pieces:
        yield from read(piece)


def read(piece: Piece, log: Read = read_log) -> Iterator[CaptureFact]:
    """Read a piece, a log by `log`; yields its facts."""
    match piece:
        case CaptureFact():
            yield piece
        case StretchOfFile():
            yield from _of_stretch(piece) if piece.given.item.part is None else _of_text(piece)
        case SmallFile():
            yield CaptureFact(piece.capture, piece.number, FactKind.SNAPSHOT, small_file(piece.item), 0, piece.file)
        case LogOfCapture():
            yield CaptureFact(piece.capture, piece.number, FactKind.LOG, log(piece.item))


def _of_stretch(piece: StretchOfFile) -> Iterator[CaptureFact]:
    """Blocks of the batches that begin in a stretch, then what it told."""
    reading = StretchReading(piece.given, piece.begin, piece.stop, piece.stretch_bytes)
    for at, block in blocks(reading, piece.is_state_log):
        yield CaptureFact(piece.capture, piece.number, FactKind.BLOCK, block, at, piece.file, piece.begin)
    yield CaptureFact(piece.capture, piece.number, FactKind.TOLD, reading.told, 0, piece.file, piece.begin)


def blocks(reading: StretchReading | FileReading, is_state_log: bool) -> Iterator[tuple[int, Any]]:
    """Read a stretch, or a file; the offset that each block of rows begins at, and the block."""
    if not is_state_log:
        return _batches(reading.batch_rows())
    names = Names()
    return _states(reading.state_rows(names), names)


def _batches(rows_of: Iterable[Rows]) -> Iterator[tuple[int, Any]]:
    for rows in rows_of:
        if len(rows):
            yield int(rows["base_offset"][0]), rows


def _states(rows_of: Iterable[Rows], names: Names) -> Iterator[tuple[int, Any]]:
    for rows in rows_of:
        if len(rows):
            yield int(rows["offset"][0]), states_of(rows, names)


def _of_text(piece: StretchOfFile) -> Iterator[CaptureFact]:
    """Blocks of what a tool printed of a log, then the file as it was read."""
    for at, block in blocks(piece.given, piece.is_state_log):
        yield CaptureFact(piece.capture, piece.number, FactKind.BLOCK, block, at, piece.file)
    yield CaptureFact(piece.capture, piece.number, FactKind.TOLD, piece.given, 0, piece.file)
