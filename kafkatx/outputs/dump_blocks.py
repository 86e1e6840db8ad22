"""Lines of many batches and records at once, by kernels that write them into one buffer.

They are those of `dump_lines.py`, which prints what a kernel leaves to it: control records of KRaft, states that can't
be read. Few lines are not worth a compiler, and go its way altogether.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.formats.record_batch import MAGIC
from kafkatx.kernels.dump_lines import APART, DONE, NUMBERS, print_batches, print_records, print_states
from kafkatx.kernels.engine import Kernel
from kafkatx.kernels.records import walk_records
from kafkatx.outputs.dump_columns import batch_views, record_views
from kafkatx.outputs.dump_lines import LogLines
from kafkatx.outputs.dump_options import DecoderName, DumpOptions
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.records import RecordChunk
from kafkatx.sources.files import OpenFile

BLOCK = 1 << 20
"""Bytes of lines that are printed at once; of a larger record as many as it takes."""


def blocks_of(file: OpenFile, options: DumpOptions, decoder: DecoderName, lines: LogLines) -> LogBlocks | None:
    """Return what prints a log's lines by kernels; None where they can't print what was asked for."""
    named = {name and name.rpartition(".")[2] for name in (options.key_decoder_class, options.value_decoder_class)}
    is_plain = not options.data or (decoder is DecoderName.PLAIN and named <= {None, "StringDecoder"})
    if options.escape or not (is_plain or decoder is DecoderName.TRANSACTION_LOG):
        return None
    return LogBlocks(file, options, lines, print_records if is_plain else print_states)


class LogBlocks:
    """The lines of one log file."""

    def __init__(self, file: OpenFile, options: DumpOptions, lines: LogLines, printing: Kernel[Any, Any]) -> None:
        """Prepare to print records with `printing`, one of the two kernels for them."""
        self._file, self._options, self._lines, self._printing = file, options, lines, printing
        self._out, self._numbers = bytearray(BLOCK), np.zeros(NUMBERS, np.int64)

    def are_worth_it(self, batches: Rows) -> bool:
        """Whether these batches are for kernels: those of magic 2, once there is a compiler."""
        kernel = self._printing if self._options.deep else print_batches
        return kernel.is_compiled and bool((batches["magic"] == MAGIC).all())

    def batches(self, rows: Rows) -> Iterator[bytes]:
        """Yield the lines of batches, as UTF-8."""
        row, at = 0, 0
        while row < len(rows):
            row, at = print_batches(rows, row, len(rows), print_batches.room(self._out), 0, self._numbers)
            yield bytes(memoryview(self._out)[:at])

    def records(self, chunk: RecordChunk) -> Iterator[bytes]:
        """Yield the lines of batches and their records, in order of the file, as UTF-8."""
        printed, row, stop = chunk.first + chunk.is_continued, 0, -1
        data, has_metadata = self._printing.view(chunk.data), not self._options.skip_record_metadata
        while stop != DONE:
            printed, row, at, stop = self._printing(
                data, chunk.batches, chunk.records, printed, chunk.behind, row, self._options.data, has_metadata,
                self._printing.room(self._out), 0, self._numbers,
            )  # fmt: skip
            if at:
                yield bytes(memoryview(self._out)[:at])
            if stop == APART:
                yield self._apart(chunk, row).encode()
                row += 1
            elif stop != DONE and not at:
                self._out = bytearray(2 * len(self._out))

    def _apart(self, chunk: RecordChunk, row: int) -> str:
        """The line of one record, below that of its batch."""
        (record,) = record_views(
            RecordChunk(chunk.batches, chunk.records[row : row + 1], chunk.data, chunk.first, chunk.behind)
        )
        (batch,) = batch_views(chunk.batches[record.batch_row : record.batch_row + 1], self._file)
        return self._lines.record(batch, record)


def expect_records(chunk: Chunk, file: OpenFile) -> None:
    """Tell the kernels how many records are to come, by those of the first batches."""
    counts, rows = chunk.rows["record_count"].clip(0), chunk.rows
    covered = int(rows["position"][-1] + rows["size"][-1]) or 1
    walk_records.count(0, int(counts.sum()) * max(file.size, 1) // covered)
