"""Headers and records of a dump's text to batches.

Without header lines (0.11 to 2.1 with records) a batch is the run of records that say the same position: its end is the
last record that is there, and its size, CRC and leader epoch are not printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from kafkatx.kernels.dumped_batches import IS_DEEP
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.text.dump.abridged import complete
from kafkatx.text.dump.columns import IS_CONTROL, BatchDraft, known_of_run, rows_of
from kafkatx.text.dump.events import DumpedRecord, Header, control_of
from kafkatx.text.dump.records import LogText, log_text
from kafkatx.text.dump.rows import BATCH_COLUMNS, TextRows
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.eras import LineKind
from kafkatx.text.printed.runs import Run, Runs, runs_of

ROWS_PER_CHUNK = 4_096
"""Batches that are held as objects before they become rows."""
SAME_BATCH = ("position", "baseOffset", "producerId", "producerEpoch", "isTransactional", "magic", "compresscodec")
"""What the records of one batch say alike."""


@dataclass(slots=True)
class Drafting:
    """Collects lines to batches.

    `needs_records`: what a batch means stands in its records (states), as it always does for markers.
    """

    needs_records: bool = False
    done: list[BatchDraft] = field(default_factory=list)
    short: list[tuple[int, int]] = field(default_factory=list)
    _open: BatchDraft | None = None
    _records: int = 0
    _has_records: bool = False

    def take_short(self) -> list[tuple[int, int]]:
        """Return the offsets (first, behind) of batches whose records were left out, where records are printed."""
        if not self._has_records:
            return []
        taken, self.short = self.short, []
        return taken

    def add(self, event: Header | DumpedRecord) -> BatchDraft:
        """Add a header or record; returns the batch that it belongs to."""
        if isinstance(event, Header):
            begun = self._begin(BatchDraft(event.line, event.parsed, event.base_offset, event.last_offset))
            begun.control = control_of(event.parsed, event)  # people put the marker into the line of its batch
            return begun
        draft = self._open
        if draft is None or not _continues(draft, event):
            draft = self._begin(BatchDraft(event.line, event.parsed, event.offset, event.offset))
        self._has_records, self._records = True, self._records + 1
        if draft.first is None:
            draft.first = event
        if event.control is not None and draft.control is None:
            draft.control = event.control
            draft.max_timestamp = event.parsed.number("timestamp")  # it is the only record
        if event.header is None:
            draft.last_offset = event.offset
            draft.count += 1
            draft.max_timestamp = max(draft.max_timestamp, event.parsed.number("timestamp"))
        return draft

    def pass_over(self, rows: Rows, *, is_deep: bool) -> None:
        """Take note of batches that were read elsewhere, with all of their records or with none (`is_deep`)."""
        self._has_records |= is_deep
        means = self.needs_records | (rows["attributes"] & IS_CONTROL != 0)
        short = rows[means & (rows["record_count"] > 0) & (not is_deep)]
        self.short += zip(short["base_offset"].tolist(), (short["last_offset"] + 1).tolist(), strict=True)

    def close(self) -> None:
        """No record of the last batch comes any more."""
        draft, self._open = self._open, None
        if draft is None:
            return
        self.done.append(draft)
        means = self.needs_records or draft.parsed.get("isControl") == "true"
        if means and self._records < draft.parsed.number("count") and draft.parsed.kind is LineKind.BATCH:
            self.short.append((draft.base_offset, draft.last_offset + 1))

    def _begin(self, draft: BatchDraft) -> BatchDraft:
        self.close()
        self._open, self._records = draft, 0
        return draft


def _continues(draft: BatchDraft, record: DumpedRecord) -> bool:
    """Whether a record belongs to a batch: its header stands above, or it says the same of its batch as the first."""
    if record.header is not None:
        return draft.line is record.header.line
    if draft.first is None or draft.parsed.kind is not record.parsed.kind or draft.control or record.control:
        return False
    first = draft.parsed
    if draft.parsed.kind is LineKind.RECORD and first.get("baseOffset") is None:
        return record.offset == draft.last_offset + 1
    return first.get("position") is not None and all(first.get(name) == record.parsed.get(name) for name in SAME_BATCH)


def batch_chunks(file: OpenFile, part: TextPart) -> Iterator[TextRows]:
    """Yield the batches (kernels.rows.BATCH) of a dumped log in chunks.

    There is one chunk at least, which tells what was met where there is no batch.
    """
    text, drafting = log_text(file, part), Drafting()
    runs = None if part.is_elided else runs_of(file, part.position, part.end)
    for event in text.events():
        if runs is not None and isinstance(event, Header) and runs.are_due():
            yield from _run_at(event, runs, text, drafting)
        else:
            drafting.add(event)
        if len(drafting.done) >= ROWS_PER_CHUNK:
            yield chunk_of(drafting, text)
    drafting.close()
    yield chunk_of(drafting, text)


def _run_at(header: Header, runs: Runs, text: LogText, drafting: Drafting) -> Iterator[TextRows]:
    """Yield the run of batches that begins with a header; where there is none, the header is read as any other.

    What was drafted before stands in a chunk of its own.
    """
    number, last = header.line.number, None
    for run in runs_behind(header, runs, text):
        if last is None:
            drafting.close()
            yield chunk_of(drafting, text)
        yield rows_of_run(run, number, drafting)
        last = run, number
        number += run.line_count
    if last is None:
        drafting.add(header)
    else:
        text.go_on_behind(*last)


def runs_behind(header: Header, runs: Runs, text: LogText) -> Iterator[Run]:
    """Yield the run that begins with a header, piece by piece."""
    shape = text.shape_of_run(header)
    if shape is not None:
        yield from runs.at(header.line.position, shape, header.base_offset - 1, header.position)


def rows_of_run(run: Run, number: int, drafting: Drafting) -> TextRows:
    """Return a run, whose first line has a number, as rows."""
    drafting.pass_over(run.rows, is_deep=bool(run.shape & IS_DEEP))
    known = known_of_run(run.rows, run.is_timed, run.shape)
    return TextRows(BATCH_COLUMNS, run.rows, run.lines + number, run.positions, known)


def chunk_of(drafting: Drafting, text: LogText) -> TextRows:
    """Return the batches that are done as rows, with what was met since the last call.

    A batch with a wrong CRC, or with a number that its field can't have, is damage and no row, as it is in bytes.
    """
    drafts, drafting.done = drafting.done, []
    rows, known, wrong = rows_of(drafts)
    is_assumed = complete(drafts, rows, known)
    lines = np.array([draft.line.number for draft in drafts], np.int64)
    positions = np.array([draft.line.position for draft in drafts], np.int64)
    damage = [*text.damage, *_damage(drafts, wrong.nonzero()[0].tolist(), text.path)]
    left_out = [*text.left_out, *drafting.take_short()]
    text.damage.clear()
    text.left_out.clear()
    kept = ~wrong
    return TextRows(
        BATCH_COLUMNS,
        rows[kept],
        lines[kept],
        positions[kept],
        known[kept],
        damage,
        left_out,
        text.is_elided,
        is_assumed,
    )


def _damage(drafts: list[BatchDraft], wrong: list[int], path: str) -> Iterator[Damage]:
    for number in wrong:
        line, parsed = drafts[number].line, drafts[number].parsed
        size = max(line.end - line.position, 0)
        if "false" in (parsed.get("isvalid"), parsed.get("isValid")):
            yield Damage("crc", path, line.position, size, "a batch with the CRC its header states", "isvalid: false")
        else:
            yield Damage("entry", path, line.position, size, "numbers that a batch can have", "one that is too large")
