"""Where to go on after damage: the next batch that passes its CRC and fits.

A payload may itself hold whole record batches, with any offsets. So the end that the damaged header claims is tried first; after
that every batch found in the bytes behind is followed as far as its chain leads, and the chain that reaches furthest wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np

from kafkatx.kernels.batches import HEADER_SIZE, LOG_OVERHEAD, MAGIC_AT, SMALLEST_LENGTH, is_plausible
from kafkatx.sources.files import OpenFile

SCAN_WINDOW = 1 << 22
CRC_PIECE = 1 << 22
MOST_CHAINS = 64
"""Chains followed before the furthest one so far is taken: a hostile payload can't make the search quadratic."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What a batch must satisfy to follow the last good one."""

    last_offset: int
    offset_limit: int
    leader_epoch: int

    def after(self, header: bytes) -> Fit:
        """Return the condition for the batch behind the one with this header."""
        base_offset, delta = _signed(header[:8]), _signed(header[23:27])
        return Fit(base_offset + delta, self.offset_limit, max(self.leader_epoch, _signed(header[12:16])))


def next_batch(file: OpenFile, position: int, fit: Fit) -> int | None:
    """Position of the next batch behind the damage at `position`, or None when nothing that fits is left."""
    claimed = _claimed_end(file, position)
    if claimed is not None and (claimed == file.size or _is_batch(file, claimed, fit)):
        return claimed
    best, furthest, chains, scan_from = None, -1, 0, position + 1
    while chains < MOST_CHAINS:
        candidate = _first_candidate(file, scan_from, fit)
        if candidate is None:
            break
        reach = _chain_end(file, candidate, fit)
        if reach > furthest:
            best, furthest = candidate, reach
        if reach >= file.size:
            break
        chains, scan_from = chains + 1, candidate + 1
    return best


def crc_matches(file: OpenFile, position: int, size: int, header: bytes) -> bool:
    """Whether a batch's CRC-32C is right, in bounded memory whatever its size."""
    crc, at, end = 0, position + 21, position + size
    while at < end:
        piece = file.read(at, min(CRC_PIECE, end - at))
        if not piece:
            return False
        crc, at = google_crc32c.extend(crc, piece), at + len(piece)
    return bool(crc == int.from_bytes(header[17:21], "big"))


def is_zero(file: OpenFile, position: int) -> bool:
    """Whether everything from `position` to the end of the file is zero (a preallocated tail)."""
    while piece := file.read(position, CRC_PIECE):
        if piece.strip(b"\0"):
            return False
        position += len(piece)
    return True


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def _claimed_end(file: OpenFile, position: int) -> int | None:
    """End of the batch at `position` if its length can be meant; the rest of its header need not be right."""
    header = file.read(position, MAGIC_AT + 1)
    if len(header) <= MAGIC_AT or header[MAGIC_AT] > 2:
        return None
    length = _signed(header[8:12])
    end = position + LOG_OVERHEAD + length
    return end if length >= 14 and end <= file.size else None


def _header(file: OpenFile, position: int, fit: Fit) -> bytes | None:
    """Return a plausible header at `position` whose batch lies inside the file."""
    header = file.read(position, HEADER_SIZE)
    if len(header) < HEADER_SIZE or not is_plausible.plain(header, 0, fit.last_offset, fit.offset_limit, fit.leader_epoch):
        return None
    return header if position + LOG_OVERHEAD + _signed(header[8:12]) <= file.size else None


def _is_batch(file: OpenFile, position: int, fit: Fit) -> bool:
    header = _header(file, position, fit)
    return header is not None and crc_matches(file, position, LOG_OVERHEAD + _signed(header[8:12]), header)


def _chain_end(file: OpenFile, position: int, fit: Fit) -> int:
    """How far the batches from `position` on follow one another; a batch with a wrong CRC inside is stepped over by its length."""
    while position < file.size:
        header = _header(file, position, fit)
        if header is None:
            rest = file.read(position, HEADER_SIZE)
            return file.size if not rest.strip(b"\0") and is_zero(file, position) else position
        fit = fit.after(header)
        position += LOG_OVERHEAD + _signed(header[8:12])
    return position


def _first_candidate(file: OpenFile, position: int, fit: Fit) -> int | None:
    """First position from `position` on where a batch that fits and passes its CRC begins."""
    while position + HEADER_SIZE <= file.size:
        window = file.read(position, SCAN_WINDOW + HEADER_SIZE)
        if len(window) < HEADER_SIZE:
            return None
        for at in _possible_headers(np.frombuffer(window, np.uint8), fit):
            if _is_batch(file, position + int(at), fit):
                return position + int(at)
        position += SCAN_WINDOW
    return None


def _possible_headers(window: Any, fit: Fit) -> Any:
    """Offsets in a window where magic, attributes, length and base offset look right, by array expressions."""
    starts = np.flatnonzero((window[MAGIC_AT : len(window) - HEADER_SIZE + MAGIC_AT + 1] == 2))
    starts = starts[(window[starts + 21] == 0) & (window[starts + 22] < 128)]
    length, base_offset = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    for byte in range(4):
        length = length * 256 + window[starts + 8 + byte]
    starts, length = starts[window[starts] < 128], length[window[starts] < 128]
    base_offset = base_offset[: len(starts)]
    for byte in range(8):
        base_offset = base_offset * 256 + window[starts + byte]
    fits = (length >= SMALLEST_LENGTH) & (length < 1 << 31) & (base_offset > fit.last_offset) & (base_offset < fit.offset_limit)
    return starts[fits]
