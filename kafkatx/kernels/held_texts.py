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
    data: Any, start: int, end: int, bits: Any, buckets: Any, groups: Any, known: Any, marks: Any, row: int
) -> bool:
    """Set in a row of `marks` the bits of the texts that stand in data[start:end); say whether there are any."""
    is_any = False
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
                    marks[row, text // 60] |= 1 << (text % 60)
                    is_any = True
            group = int(groups[group, 3])
    return is_any


@kernel_lean
def mark_rows(
    data: Any, spans: Any, columns: Any, passed: int, bits: Any, buckets: Any, groups: Any, known: Any, rows: Any,
    marks: Any,
) -> int:  # fmt: skip
    """Write the numbers of the rows of `spans` that hold a text into `rows`, its bits into `marks`; return how many.

    `columns` are those where a range begins, its length stands behind it; rows with `passed` in front are passed by.
    """
    count = 0
    for number in range(len(spans)):
        if spans[number, 0] == passed:
            continue
        for word in range(marks.shape[1]):
            marks[count, word] = 0
        is_any = False
        for place in range(len(columns)):
            start, length = int(spans[number, columns[place]]), int(spans[number, columns[place] + 1])
            if mark_held(data, start, start + length, bits, buckets, groups, known, marks, count):
                is_any = True
        if is_any:
            rows[count] = number
            count += 1
    return count


mark_held.follows = mark_rows.follows = find_entries


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


def held_in_rows(held: HeldTexts, data: bytes, spans: Any, columns: tuple[int, ...], passed: int) -> tuple[Any, Any]:
    """Numbers of the rows that hold texts in one of some ranges, and marks (a row of int64) of the texts of each.

    `spans` (int32) has in each of `columns` where a range begins and its length behind that; rows that begin with
    `passed` are left out.
    """
    rows = np.empty(len(spans), np.int64)
    marks = np.empty((len(spans), held.count // TEXTS_A_WORD + 1), np.int64)
    places = np.array(columns, np.int64)
    view = mark_rows.view(data)
    count = mark_rows(view, spans, places, passed, held.bits, held.buckets, held.groups, held.data, rows, marks)
    return rows[:count], marks[:count]


def texts_of(marks: Any) -> list[int]:
    """Numbers of the texts whose bits a row of marks has."""
    words = enumerate(marks.tolist())
    return [TEXTS_A_WORD * word + bit for word, bits in words for bit in range(TEXTS_A_WORD) if bits >> bit & 1]
