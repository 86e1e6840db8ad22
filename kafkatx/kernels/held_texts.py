"""Which of some texts stand in ranges of a block: all of them, as bits.

Method  each text is known by one group of four of its bytes, which are asked for at every place, in a map of bits by
        their hash (kernels/fingerprints.py); what is in it is compared with the text itself.
Cost    one multiplication and one look-up a byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel
from kafkatx.kernels.fingerprints import has_bit, narrow_hash
from kafkatx.kernels.literals import find_entries
from kafkatx.terms.records import dataclass

GROUP = 4
"""Bytes by which a text is known; none may be shorter."""
TEXTS_A_WORD = 60
"""Texts whose bits one number has."""
BUCKET_BITS = 12


@dataclass(frozen=True, slots=True)
class HeldTexts:
    """Texts in the order of their bits: `bits` is the map of the hashes, `buckets` leads from one to the first text.

    `texts` has a row for each: where it begins in `data`, its size, how many of its bytes stand behind its group's
    first, the next text of the bucket or -1.
    """

    count: int
    bits: Any
    buckets: Any
    texts: Any
    data: Any


@kernel
def mark_held(
    data: Any, starts: Any, lengths: Any, bits: Any, buckets: Any, texts: Any, known: Any, marks: Any
) -> None:
    """Set in each row of `marks` the bits of the texts that stand in data[start : start + length)."""
    for number in range(len(starts)):
        start, end = starts[number], starts[number] + lengths[number]
        group = 0
        for at in range(start, end):
            group = (group % 16777216) * 256 + data[at]
            hashed = narrow_hash(group)
            if at < start + 3 or not has_bit(bits, hashed):
                continue
            text = int(buckets[hashed >> 4])
            while text >= 0:
                first, size = texts[text, 0], texts[text, 1]
                begin, same = at - 3 - texts[text, 2], 0
                if begin >= start and begin + size <= end:
                    while same < size and data[begin + same] == known[first + same]:
                        same += 1
                    if same == size:
                        marks[number, text // 60] |= 1 << (text % 60)
                text = int(texts[text, 3])


mark_held.follows = find_entries


def held_texts(texts: tuple[bytes, ...]) -> HeldTexts:
    """Keep some texts of GROUP bytes or more, each by the last group that fewest of the others hold."""
    bits, buckets = np.zeros(1 << 16, np.bool_), np.full(1 << BUCKET_BITS, -1, np.int32)
    counts: dict[bytes, int] = {}
    for text in texts:
        for group in {text[at : at + GROUP] for at in range(len(text) - GROUP + 1)}:
            counts[group] = counts.get(group, 0) + 1
    rows, first = [], 0
    for number, text in enumerate(texts):
        at = max(range(len(text) - GROUP + 1), key=lambda place: (-counts[text[place : place + GROUP]], place))
        hashed = narrow_hash.plain(int.from_bytes(text[at : at + GROUP], "big"))
        bits[hashed] = True
        rows.append([first, len(text), at, int(buckets[hashed >> 4])])
        buckets[hashed >> 4] = number
        first += len(text)
    packed = np.packbits(bits, bitorder="little").view("<i8").astype(np.int64)
    known = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    return HeldTexts(len(texts), packed, buckets, np.array(rows, np.int64).reshape(-1, 4), known)


def held_in(held: HeldTexts, data: bytes, starts: Any, lengths: Any) -> Any:
    """Marks (a row of int64 for each range) of the texts that stand in data[start : start + length)."""
    marks = np.zeros((len(starts), held.count // TEXTS_A_WORD + 1), np.int64)
    starts, lengths = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(lengths, np.int64)
    mark_held(mark_held.view(data), starts, lengths, held.bits, held.buckets, held.texts, held.data, marks)
    return marks


def texts_of(marks: Any) -> list[int]:
    """Numbers of the texts whose bits a row of marks has."""
    words = enumerate(marks.tolist())
    return [TEXTS_A_WORD * word + bit for word, bits in words for bit in range(TEXTS_A_WORD) if bits >> bit & 1]
