"""Where to go on after damage: the next batch that passes its CRC and fits.

A payload may itself hold whole record batches, with any offsets. So the end of the damaged batch is asked for first,
of three witnesses: its length, its CRC (the place up to which the bytes have it), its records (each states its length).
Only where none of them is left the first batch behind that fits is taken; what contradicts it and reaches further wins
over it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import google_crc32c
import numpy as np

from kafkatx.kernels.batches import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_AT,
    SEGMENT_OFFSETS,
    SMALLEST_V0,
    is_plausible,
    is_plausible_legacy,
)
from kafkatx.kernels.bytes import varint_at
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

SCAN_WINDOW = 1 << 22
FIRST_WINDOW = 1 << 16
"""Where a batch that is looked for is likely to be near."""
CRC_PIECE = 1 << 22
FIRST_PIECE = 1 << 12
WITNESS_BYTES = 2 << 20
"""How far behind a damaged header its CRC and its records are followed: twice the default of max.message.bytes."""
NO_STOP = (1 << 63) - 1
MOST_CHAINS = 64
LONGEST_CHAIN = 10_000
"""Batches that are followed; a chain as long is believed."""
LONGEST_LEAD = 500
"""As many are followed where a wrong start is found out anyway, and costs a second reading."""
LEAST_RECORD = 6
READ_COST = 4096
LEAST_WORK, WORK_PER_BYTE = 1 << 30, 16
"""Bytes that searches in one file may look at, all together: hostile bytes can't make them quadratic. A file that
uses this up ends
with one long stretch of damage."""


@dataclass(frozen=True, slots=True)
class ExpectedNext:
    """What a batch must satisfy to follow the last good one."""

    last_offset: int
    offset_limit: int
    leader_epoch: int

    def admits(self, header: bytes) -> bool:
        """Whether the first bytes of a batch (or of a message of magic 0 or 1) can be those of one that follows."""
        if len(header) >= SMALLEST_V0 and header[MAGIC_AT] < 2:
            return is_plausible_legacy.plain(header, 0, self.last_offset, self.offset_limit)
        fits = len(header) == HEADER_SIZE
        return fits and is_plausible.plain(header, 0, self.last_offset, self.offset_limit, self.leader_epoch)

    def after(self, header: bytes) -> ExpectedNext:
        """Return the condition for the batch behind the one with this header."""
        if header[MAGIC_AT] < 2:
            return ExpectedNext(_signed(header[:8]), self.offset_limit, self.leader_epoch)
        last_offset = _signed(header[:8]) + _signed(header[23:27])
        return ExpectedNext(last_offset, self.offset_limit, max(self.leader_epoch, _signed(header[12:16])))


class Resync:
    """Searches in one file; what they may cost together is bounded."""

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        self._work_left = LEAST_WORK + WORK_PER_BYTE * file.size

    def next_batch(self, position: int, fit: ExpectedNext) -> int | None:
        """Position at which the log goes on behind the damage at `position`, or None when nothing that fits is left."""
        for end in self._ends(position, fit):
            if self._goes_on(end, fit):
                return end
        return self._first_chain(position + 1, fit)

    def first_batch(
        self, position: int, fit: ExpectedNext, stop: int = NO_STOP, longest: int = LONGEST_LEAD
    ) -> int | None:
        """Position of the first batch that begins at `position` or behind it, by its CRC and by what follows it.

        None where no batch begins before `stop`: what is preallocated is not searched to its end.

        Nothing is known of what lies before: the batch may be part of a payload, or one that damage hid from whoever
        read up to here. So it counts only if that reader arrives at it; `longest` batches are followed.
        """
        return self._first_chain(position, fit, longest, stop, FIRST_WINDOW)

    def first_header(self, position: int, fit: ExpectedNext) -> tuple[int, bytes] | None:
        """Position and header of the first batch from `position` on that passes its CRC, wherever it leads."""
        found = self._first_candidate(position, fit, size=FIRST_WINDOW)
        return None if found is None else (found, self.file.read(found, HEADER_SIZE))

    def _ends(self, position: int, fit: ExpectedNext) -> Iterator[int]:
        """Ends of the batch at `position` by its witnesses; none of them need be right."""
        header = self.file.read(position, HEADER_SIZE)
        length = _signed(header[8:12])
        if len(header) > MAGIC_AT and header[MAGIC_AT] <= 2 and length >= SMALLEST_V0 - LOG_OVERHEAD:
            yield position + LOG_OVERHEAD + length
        if len(header) == HEADER_SIZE:
            yield from self._end_by_crc(position, header, fit)
            yield from self._end_by_records(position, header)

    def _end_by_crc(self, position: int, header: bytes, fit: ExpectedNext) -> Iterator[int]:
        """Yield the place up to which the bytes have the CRC that the header states: its length alone is wrong then."""
        if header[MAGIC_AT] != 2:
            return
        body = self._read(position + 21, WITNESS_BYTES)
        crc, at = 0, 0
        for start in [*_possible_headers(body, fit).tolist(), len(body)]:
            crc, at = google_crc32c.extend(crc, body[at:start]), start
            if crc == int.from_bytes(header[17:21], "big"):
                yield position + 21 + at

    def _end_by_records(self, position: int, header: bytes) -> Iterator[int]:
        """Yield the end of the records behind a header that can't be believed, or of the file that cuts one off."""
        data = self._read(position + HEADER_SIZE, WITNESS_BYTES)
        at, whole = 0, True
        while whole:
            length, start = varint_at.plain(data, at, len(data))
            if length < LEAST_RECORD or start >= len(data) or data[start] != 0:
                break
            whole = start + length <= len(data)
            at = start + length if whole else at
        uncompressed = at > 0 or (header[MAGIC_AT] == 2 and header[22] & 7 == 0)
        if not whole and uncompressed and position + HEADER_SIZE + len(data) == self.file.size:
            yield self.file.size
        if at:
            yield position + HEADER_SIZE + at

    def _goes_on(self, position: int, fit: ExpectedNext) -> bool:
        """Whether the log can go on here: the end, zeros, or a batch that passes its CRC or leads to such a place."""
        header = self._header(position, fit)
        if header is None:
            return self._is_end(position)
        behind = position + size_of(header)
        return (
            self._passes(position, header)
            or self._is_end(behind)
            or self._header(behind, fit.after(header)) is not None
        )

    def _is_end(self, position: int) -> bool:
        return position == self.file.size or (position < self.file.size and is_zero(self.file, position))

    def _first_chain(
        self,
        position: int,
        fit: ExpectedNext,
        longest: int = LONGEST_CHAIN,
        stop: int = NO_STOP,
        window: int = SCAN_WINDOW,
    ) -> int | None:
        """First fitting batch behind `position`; of chains that can't both be true the one that reaches further."""
        best, furthest, last_offset = None, -1, fit.last_offset
        for _ in range(MOST_CHAINS):
            start = self._first_candidate(position, fit, stop if best is None else NO_STOP, window)
            if start is None:
                break
            first_offset = _signed(self.file.read(start, 8))
            reach, last = self._follow(start, fit, longest)
            if best is not None and first_offset > last_offset:
                break
            if best is None or reach > furthest:
                best, furthest, last_offset = start, reach, last
            if reach >= self.file.size:
                break
            position = reach
        return best

    def _follow(self, position: int, fit: ExpectedNext, longest: int) -> tuple[int, int]:
        """How far the batches from `position` on follow one another, by their headers alone, and their last offset."""
        for _ in range(longest):
            header = self._header(position, fit)
            if header is None:
                return (self.file.size if self._is_end(position) else position), fit.last_offset
            fit, position = fit.after(header), position + size_of(header)
        return self.file.size, fit.last_offset

    def _first_candidate(
        self, position: int, fit: ExpectedNext, stop: int = NO_STOP, size: int = SCAN_WINDOW
    ) -> int | None:
        """First position from `position` on where a batch that fits and passes its CRC begins; none is behind `stop`.

        A batch may begin with zeros, so of a hole the last bytes are looked at. It is looked for in windows of `size`
        bytes first, in larger ones then.
        """
        while (position := self._behind_hole(position)) + SMALLEST_V0 <= self.file.size and position < stop:
            window = self._read(position, size + HEADER_SIZE)
            for at in _possible_headers(window, fit).tolist():
                header = self._header(position + at, fit)
                if header is not None and self._passes(position + at, header):
                    return int(position + at)
            if self._work_left < 0 or not window:
                return None
            position, size = position + size, min(4 * size, SCAN_WINDOW)
        return None

    def _behind_hole(self, position: int) -> int:
        return max(position, min(self.file.next_data(position), self.file.size) - HEADER_SIZE)

    def _header(self, position: int, fit: ExpectedNext) -> bytes | None:
        """Return a header at `position` that fits and whose batch lies inside the file."""
        header = self._read(position, HEADER_SIZE)
        return header if fit.admits(header) and position + size_of(header) <= self.file.size else None

    def _passes(self, position: int, header: bytes) -> bool:
        self._work_left -= size_of(header)
        return self._work_left >= 0 and crc_matches(self.file, position, header)

    def _read(self, position: int, length: int) -> bytes:
        self._work_left -= READ_COST + length
        return self.file.read(position, length) if self._work_left >= 0 else b""


def crc_matches(file: OpenFile, position: int, header: bytes) -> bool:
    """Whether the CRC of a batch (CRC-32C), or of a message of magic 0 or 1 (CRC-32), is right; in bounded memory.

    It is not where the file was cut off before the magic since that header was seen.
    """
    if len(header) <= MAGIC_AT:
        return False
    legacy = header[MAGIC_AT] < 2
    stated = int.from_bytes(header[12:16] if legacy else header[17:21], "big")
    crc, at, end = 0, position + (MAGIC_AT if legacy else 21), position + size_of(header)
    while at < end:
        piece = file.read(at, min(CRC_PIECE, end - at))
        if not piece:
            return False
        crc, at = zlib.crc32(piece, crc) if legacy else google_crc32c.extend(crc, piece), at + len(piece)
    return bool(crc == stated)


def is_zero(file: OpenFile, position: int) -> bool:
    """Whether everything from `position` to the end of the file is zero (a preallocated tail)."""
    if file.read(position, FIRST_PIECE).strip(b"\0"):
        return False
    data, position = bytearray(CRC_PIECE), position + FIRST_PIECE
    buffer = np.frombuffer(data, np.uint8)
    while (position := file.next_data(position)) < file.size:
        count = file.read_into(memoryview(data), position)
        if count == 0 or buffer[:count].any():
            return count == 0
        position += count
    return True


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def size_of(header: bytes) -> int:
    """Bytes of the whole batch or message that begins with this header."""
    return LOG_OVERHEAD + _signed(header[8:12])


def _possible_headers(data: bytes, fit: ExpectedNext) -> Any:
    """Places in a window where length, magic, attributes and base offset look right, by array expressions."""
    window = np.frombuffer(data, np.uint8)
    count = max(0, len(window) - SMALLEST_V0 + 1)
    magic = window[MAGIC_AT : MAGIC_AT + count]
    possible = magic <= 2 if fit.last_offset >= 0 else magic == 2
    has_length = window[8 : 8 + count] | window[9 : 9 + count] | window[10 : 10 + count] | window[11 : 11 + count]
    starts = np.flatnonzero(possible & (has_length != 0) & (window[:count] < 128) & (window[8 : 8 + count] < 128))
    modern = window[starts + MAGIC_AT] == 2
    attributes = np.where(modern, (window[starts + 21] == 0) & (window[starts + 22] < 128), window[starts + 17] < 16)
    starts = starts[attributes]
    length, base_offset = _big_endian(window, starts + 8, 4), _big_endian(window, starts, 8)
    highest = min(fit.offset_limit, fit.last_offset + SEGMENT_OFFSETS) if fit.last_offset >= 0 else fit.offset_limit
    fits = (length >= SMALLEST_V0 - LOG_OVERHEAD) & (base_offset > fit.last_offset) & (base_offset < highest)
    return starts[fits]


def _big_endian(window: Any, starts: Any, size: int) -> Any:
    value = np.zeros(len(starts), np.int64)
    for byte in range(size):
        value = value * 256 + window[starts + byte]
    return value
