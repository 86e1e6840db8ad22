"""Which stretches of a block hold one of many literals, without a compiler: by four bytes of each literal, in numpy.

Method  all groups of four bytes of the block are hashed to 16 bits; of each literal the group is looked for that is
        rarest in the block. What has such a group is looked at: few places, whatever the literals are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

BYTES = 4
"""Bytes of a group; no literal may be shorter."""
BITS = 16
SAMPLE_EVERY = 16
"""One group in so many is counted to tell the rare ones."""
_FACTOR = np.uint32(2654435761)
_SHIFT = np.uint32(32 - BITS)


class Grams:
    """Literals, each with the hashes of all its groups; those of shorter ones are repeated to make a table of them."""

    def __init__(self, literals: Sequence[bytes]) -> None:
        """Hash the groups; `literals` hold BYTES bytes or more each."""
        self.literals = literals
        width = max((len(one) for one in literals), default=BYTES) - BYTES + 1
        sizes = np.array([len(one) for one in literals], np.intp)
        bounds = np.cumsum(sizes) - sizes
        hashes = _hashed(b"".join(literals))
        self.offsets = np.minimum(np.arange(width), sizes[:, np.newaxis] - BYTES)
        self.hashes = hashes[bounds[:, np.newaxis] + self.offsets] if len(literals) else self.offsets

    def held(self, data: bytes, bounds: Any) -> list[int]:
        """Numbers of the stretches [bounds[n], bounds[n + 1]) that hold a literal, in order.

        No literal reaches over a bound; what stands behind the last one is of no stretch.
        """
        if len(data) < BYTES or len(bounds) < 2 or not self.literals:
            return []
        hashes = _hashed(data)
        wanted, table = self._rarest(hashes)
        places = np.flatnonzero(table[hashes])
        places = places[places < bounds[-1]]
        stretches = np.searchsorted(bounds, places, "right") - 1
        found: list[int] = []
        last = -1
        for place, code, stretch in zip(places.tolist(), hashes[places].tolist(), stretches.tolist(), strict=True):
            if stretch > last and _stands(data, place, wanted[code]):
                found.append(stretch)
                last = stretch
        return found

    def _rarest(self, hashes: Any) -> tuple[dict[int, list[tuple[int, bytes]]], Any]:
        """Literals by their rarest groups (with the place of the group in each), and which hashes these are."""
        counts = np.bincount(hashes[::SAMPLE_EVERY], minlength=1 << BITS)
        chosen = counts[self.hashes].argmin(axis=1)
        rows = np.arange(len(chosen))
        codes, offsets = self.hashes[rows, chosen], self.offsets[rows, chosen]
        table = np.zeros(1 << BITS, np.bool_)
        table[codes] = True
        wanted: dict[int, list[tuple[int, bytes]]] = {}
        for code, offset, literal in zip(codes.tolist(), offsets.tolist(), self.literals, strict=True):
            wanted.setdefault(code, []).append((offset, literal))
        return wanted, table


def _hashed(data: bytes) -> Any:
    """Hash of each group of a block of at least BYTES bytes, by the place where it begins."""
    groups = np.ndarray((max(0, len(data) - BYTES + 1),), "<u4", data, strides=(1,))
    return ((groups * _FACTOR) >> _SHIFT).astype(np.intp)


def _stands(data: bytes, place: int, literals: list[tuple[int, bytes]]) -> bool:
    """Whether one of some literals has its group at a place."""
    return any(place >= offset and data.startswith(literal, place - offset) for offset, literal in literals)
