"""Which of many literals stands in a block of bytes, by groups of bytes at every eighth (or fourth) place.

Method  wherever a literal of 15 bytes stands, it covers a whole group of eight bytes that begins at a multiple of
        eight; one of 7 bytes covers four that begin at a multiple of four, a shorter one three, two or one of them.
        So of each literal as many groups are kept as it can be shifted, and of the block only the groups at these
        places are asked for, in a map of bits by their hash; what is in it is compared with the literal itself.
Cost    one multiplication and one look-up for eight bytes, and two for each kind of smaller groups; 0.5 ns a byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean
from kafkatx.terms.records import dataclass

WIDE, NARROW = 8, 4
"""Bytes of the two groups, and the places at which they are asked for."""
SHORTEST = 4
"""Bytes that a literal must have."""
WIDE_BITS, NARROW_BITS, BUCKET_BITS = 20, 16, 14
"""Bits of the hashes that the maps are asked for, and of those that lead to the groups themselves."""
MAY_HOLD_WIDE, MAY_END, MAY_HOLD_NARROW = 1, 2, 4
UNKNOWN = MAY_END | MAY_HOLD_NARROW
"""Flags of eight bytes: a literal may stand there, known by a group of eight or of four; a line ends there. What is
less than eight bytes, at the end of a block, may be the latter two."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Groups of literals: `wide` and `narrow` are maps of bits, `masks` the bytes of narrow groups that count.

    `buckets` leads from a hash to the first of `groups` (columns: the group, its place in the literal, where the
    literal begins in `text`, its size, the next group of the bucket or -1).
    """

    wide: Any
    narrow: Any
    masks: Any
    buckets: Any
    groups: Any
    text: Any


@kernel_lean
def wide_hash(group: int) -> int:
    """Hash of eight bytes as a signed number."""
    return ((group * 0x1E3779B97F4A7C15) >> 44) & 0xFFFFF


@kernel_lean
def narrow_hash(group: int) -> int:
    """Hash of four bytes, or some of them, as a number."""
    return ((group * 0x5E3779B1) >> 28) & 0xFFFF


@kernel_lean
def has_bit(bits: Any, number: int) -> int:
    """Whether a bit is set in a map of them: 1 or 0."""
    bit: int = (bits[number >> 6] >> (number & 63)) & 1
    return bit


@kernel_lean
def four_at(data: Any, at: int, end: int) -> int:
    """Up to four bytes at `at` as a number, zeros in place of those that `end` cuts off."""
    value, unit = 0, 1
    for place in range(at, min(at + 4, end)):
        value += data[place] * unit
        unit *= 256
    return value


@kernel_lean
def flag_words(words: Any, wide: Any, narrow: Any, masks: Any, flags: Any) -> None:
    """Write what may stand there into the flags of each eight bytes; plain loops, of which compilers make vectors."""
    for number in range(len(words)):
        word = words[number]
        other = word ^ 0x0A0A0A0A0A0A0A0A
        has_end = ((other - 0x0101010101010101) & ~other & -0x7F7F7F7F7F7F7F80) != 0
        flags[number] = has_end * 2 | has_bit(wide, wide_hash(word))
    for row in range(len(masks)):
        mask = masks[row]
        for number in range(len(words)):
            low, high = narrow_hash(words[number] & mask), narrow_hash((words[number] >> 32) & mask)
            flags[number] |= 4 * (has_bit(narrow, low) | has_bit(narrow, high))


@kernel_lean
def stands(data: Any, at: int, end: int, group: int, bucket: int, buckets: Any, groups: Any, text: Any) -> bool:
    """Whether a literal stands in data[0:end) of which `group` at `at` is a part."""
    number = buckets[bucket]
    while number >= 0:
        start, size = at - groups[number, 1], groups[number, 3]
        if groups[number, 0] == group and start >= 0 and start + size <= end:
            first, same = groups[number, 2], 0
            while same < size and data[start + same] == text[first + same]:
                same += 1
            if same == size:
                return True
        number = groups[number, 4]
    return False


@kernel_lean
def holds_narrow(
    data: Any, at: int, end: int, four: int, narrow: Any, masks: Any, buckets: Any, groups: Any, text: Any
) -> bool:
    """Whether a literal stands in data[0:end) that has all, or the first, of the bytes `four` at `at`."""
    for number in range(len(masks)):
        group = four & masks[number]
        hashed = narrow_hash(group)
        if has_bit(narrow, hashed) and stands(data, at, end, group, hashed >> 2, buckets, groups, text):
            return True
    return False


@kernel_lean
def holds_within(
    data: Any, at: int, flag: int, start: int, end: int, words: Any, wide: Any, narrow: Any, masks: Any, buckets: Any,
    groups: Any, text: Any,
) -> bool:  # fmt: skip
    """Whether a literal stands in data[start:end) of which one of its groups begins within the eight bytes at `at`.

    `flag` is what may stand there.
    """
    if flag & 1 and start <= at and at + 8 <= end:
        word = words[at >> 3]
        hashed = wide_hash(word)
        if has_bit(wide, hashed) and stands(data, at, end, word, hashed >> 6, buckets, groups, text):
            return True
    for place in range(at, min(at + 8, end) if flag & 4 else at, 4):
        four = four_at(data, place, end)
        if place >= start and holds_narrow(data, place, end, four, narrow, masks, buckets, groups, text):
            return True
    return False


def fingerprints(literals: tuple[bytes, ...], sample: bytes = b"") -> Fingerprints:
    """Keep the groups of some literals of SHORTEST bytes or more, those that are rarest in a `sample` text."""
    counts = _Counts(sample)
    rows: list[list[int]] = []
    buckets = np.full(1 << BUCKET_BITS, -1, np.int32)
    maps = {WIDE: np.zeros(1 << WIDE_BITS, np.bool_), NARROW: np.zeros(1 << NARROW_BITS, np.bool_)}
    first = 0
    for literal in literals:
        for at, size in _places(literal, counts):
            group = int.from_bytes(literal[at : at + size], "little", signed=size == WIDE)
            kind = WIDE if size == WIDE else NARROW
            hashed = wide_hash.plain(group) if kind == WIDE else narrow_hash.plain(group)
            bucket = hashed >> (6 if kind == WIDE else 2)
            maps[kind][hashed] = True
            rows.append([group, at, first, len(literal), int(buckets[bucket])])
            buckets[bucket] = len(rows) - 1
        first += len(literal)
    sizes = sorted({min(NARROW, len(one) - NARROW + 1) for one in literals if len(one) < 2 * WIDE - 1})
    masks = np.array([(1 << (8 * size)) - 1 for size in sizes], np.int64)
    text = np.frombuffer(b"".join(literals) or b"\0", np.uint8)
    groups = np.array(rows, np.int64).reshape(-1, 5)
    return Fingerprints(_packed(maps[WIDE]), _packed(maps[NARROW]), masks, buckets, groups, text)


class _Counts:
    """How often groups of bytes stand in a text, by their hashes."""

    def __init__(self, text: bytes) -> None:
        groups: Any = np.ndarray((max(0, len(text) - WIDE + 1),), "<i8", text, strides=(1,)).astype(np.int64)
        self._by_hash = {
            size: np.bincount(narrow_hash.function(groups & (1 << (8 * size)) - 1), minlength=1 << NARROW_BITS)
            for size in range(1, NARROW + 1)
        }
        self._by_hash[WIDE] = np.bincount(wide_hash.function(groups), minlength=1 << WIDE_BITS)

    def of(self, group: bytes) -> int:
        """How often at most this group does."""
        value = int.from_bytes(group, "little", signed=len(group) == WIDE)
        hashed = wide_hash.plain(value) if len(group) == WIDE else narrow_hash.plain(value)
        return int(self._by_hash[len(group)][hashed])


def _places(literal: bytes, counts: _Counts) -> Iterator[tuple[int, int]]:
    """Place and size of the groups by which a literal is known, wherever it stands: the rarest ones side by side."""
    length = len(literal)
    size = WIDE if length >= 2 * WIDE - 1 else min(NARROW, length - NARROW + 1)
    step = WIDE if size == WIDE else NARROW
    met = [counts.of(literal[at : at + size]) for at in range(length - size + 1)]
    first = min(range(len(met) - step + 1), key=lambda at: (sum(met[at : at + step]), -at))
    for at in range(first, first + step):
        yield at, size


def _packed(bits: Any) -> Any:
    """A map of bits as signed numbers of 64 of them."""
    return np.packbits(bits, bitorder="little").view("<i8").astype(np.int64)


def words_of(data: Any, is_compiled: bool) -> Any:
    """The whole groups of eight bytes of a block as signed numbers; those of a plain kernel never overflow."""
    words = np.frombuffer(data, "<i8", len(data) // WIDE)
    return words if is_compiled else words.tolist()
