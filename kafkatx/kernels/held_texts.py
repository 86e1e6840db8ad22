"""Which of some texts stand in ranges of a block: all of them, as bits.

Method  each text is known by two groups of four of its bytes, side by side: wherever it stands, one of them begins at
        an even place of its range. Groups at these places are asked for in a map of bits by their hash
        (kernels/fingerprints.py); what is in it is compared with the text itself.
Cost    one multiplication and one look-up for two bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.fingerprints import has_bit, narrow_hash
from kafkatx.kernels.literals import find_entries
from kafkatx.kernels.loads import half_at
from kafkatx.terms.records import dataclass

GROUP, SHORTEST = 4, 5
"""Bytes of a group, and those that a text must have."""
TEXTS_A_WORD = 60
"""Texts whose bits one number has."""
BUCKET_BITS = 12


@dataclass(frozen=True, slots=True)
class HeldTexts:
    """Texts by their groups: `bits` is the map of the hashes, `buckets` leads from one to the first group.

    `groups` has a row for each: where its text begins in `data`, the size of that, where the group begins in the text,
    the next group of the bucket or -1, the number of the text.
    """

    count: int
    bits: Any
    buckets: Any
    groups: Any
    data: Any


@kernel_lean
def mark_held(
    data: Any, starts: Any, lengths: Any, bits: Any, buckets: Any, groups: Any, known: Any, marks: Any
) -> None:
    """Set in each row of `marks` the bits of the texts that stand in data[start : start + length)."""
    for number in range(len(starts)):
        start, end = starts[number], starts[number] + lengths[number]
        for at in range(start, end - 3, 2):
            hashed = narrow_hash(half_at(data, at) & 0xFFFFFFFF)
            if not has_bit(bits, hashed):
                continue
            group = int(buckets[hashed >> 4])
            while group >= 0:
                first, size = groups[group, 0], groups[group, 1]
                begin, same = at - groups[group, 2], 0
                if begin >= start and begin + size <= end:
                    while same < size and data[begin + same] == known[first + same]:
                        same += 1
                    if same == size:
                        text = int(groups[group, 4])
                        marks[number, text // 60] |= 1 << (text % 60)
                group = int(groups[group, 3])


mark_held.follows = find_entries


def held_texts(texts: tuple[bytes, ...]) -> HeldTexts:
    """Keep some texts of SHORTEST bytes or more, each by the groups that fewest of the others hold."""
    bits, buckets = np.zeros(1 << 16, np.bool_), np.full(1 << BUCKET_BITS, -1, np.int32)
    counts: dict[bytes, int] = {}
    for text in texts:
        for group in {text[at : at + GROUP] for at in range(len(text) - GROUP + 1)}:
            counts[group] = counts.get(group, 0) + 1
    rows: list[list[int]] = []
    first = 0
    for number, text in enumerate(texts):
        met = [counts[text[at : at + GROUP]] for at in range(len(text) - GROUP + 1)]
        best = min(range(len(met) - 1), key=lambda at: (met[at] + met[at + 1], -at))
        for at in (best, best + 1):
            hashed = narrow_hash.plain(int.from_bytes(text[at : at + GROUP], "little"))
            bits[hashed] = True
            rows.append([first, len(text), at, int(buckets[hashed >> 4]), number])
            buckets[hashed >> 4] = len(rows) - 1
        first += len(text)
    packed = np.packbits(bits, bitorder="little").view("<i8").astype(np.int64)
    known = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    return HeldTexts(len(texts), packed, buckets, np.array(rows, np.int64).reshape(-1, 5), known)


def held_in(held: HeldTexts, data: bytes, starts: Any, lengths: Any) -> Any:
    """Marks (a row of int64 for each range) of the texts that stand in data[start : start + length)."""
    marks = np.zeros((len(starts), held.count // TEXTS_A_WORD + 1), np.int64)
    starts, lengths = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(lengths, np.int64)
    mark_held(mark_held.view(data), starts, lengths, held.bits, held.buckets, held.groups, held.data, marks)
    return marks


def texts_of(marks: Any) -> list[int]:
    """Numbers of the texts whose bits a row of marks has."""
    words = enumerate(marks.tolist())
    return [TEXTS_A_WORD * word + bit for word, bits in words for bit in range(TEXTS_A_WORD) if bits >> bit & 1]
