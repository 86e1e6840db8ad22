"""Gives byte ranges of a buffer the codes of their contents: a table of open addressing over the bytes met so far.

A value is compared as a whole, so two that hash alike are two. The hash is of all bytes: names that differ in one place
only are the rule.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_inlined, kernel_lean

DONE, NO_ROOM = 0, 1
ONE, TWO, THREE = (np.uint64(number) for number in range(1, 4))
MULTIPLIER, MASK = 0x45D9F3B, 0xFFFFFFFF
"""Of a multiplicative hash of 32 bits: products are below 2^63, since to a compiler there are none above."""


@kernel_inlined
def four_at(data: Any, at: Any) -> int:
    """Four bytes as a number of 32 bits, the first the lowest. `at` is unsigned: then they are one load (bytes.py)."""
    low = data[at] * 1 | data[at + ONE] * 256
    return int(low | data[at + TWO] * 65536 | data[at + THREE] * 16777216)


@kernel_inlined
def hash_of(data: Any, start: int, length: int) -> int:
    """Return 32 bits of the range, and of its length."""
    value = int(length)
    for step in range(length // 4):
        value = ((value ^ four_at(data, np.uint64(start + 4 * step))) * MULTIPLIER) & MASK
        value ^= value >> 15
    for at in range(start + length - length % 4, start + length):
        value = ((value ^ (data[np.uint64(at)] * 1)) * MULTIPLIER) & MASK
        value ^= value >> 15
    return int(value)


@kernel_inlined
def is_same(data: Any, start: int, known: Any, begin: int, length: int) -> bool:
    """Whether two ranges of one length are alike."""
    left = length
    while left >= 4 and four_at(data, np.uint64(start + left - 4)) == four_at(known, np.uint64(begin + left - 4)):
        left -= 4  # names differ at their ends
    if left >= 4:
        return False
    while left > 0 and data[np.uint64(start + left - 1)] == known[np.uint64(begin + left - 1)]:
        left -= 1
    return left == 0


@kernel_inlined
def is_value(data: Any, start: int, length: int, known: Any, ends: Any, code: int) -> bool:
    """Whether a range is the value of a code."""
    begin = ends[code]
    return bool(ends[code + 1] - begin == length and is_same(data, start, known, begin, length))


@kernel_inlined
def code_of(data: Any, start: int, length: int, slots: Any, known: Any, ends: Any, count: int) -> int:
    """The code of a range, `count` if it is a new value, which is taken; -1 where there is no room for it.

    `known[ends[code] : ends[code + 1]]` is the value of a code; `slots` (int32, a power of two of them) hold codes, -1
    where nothing is.
    """
    mask = len(slots) - 1
    slot = hash_of(data, start, length) & mask
    while slots[slot] >= 0:
        if is_value(data, start, length, known, ends, slots[slot]):
            return int(slots[slot])
        slot = (slot + 1) & mask
    end = ends[count]
    if 2 * (count + 1) > len(slots) or count + 2 > len(ends) or end + length > len(known):
        return -1
    for place in range(length):
        known[end + place] = data[start + place]
    ends[count + 1] = end + length
    slots[slot] = count
    return count


@kernel_lean
def code_ranges(
    data: Any, starts: Any, lengths: Any, first: int, slots: Any, known: Any, ends: Any, count: int, codes: Any
) -> tuple[int, int, int]:
    """Write the codes of ranges[first:]; a length of -1 has code -1, a new value the next code.

    Returns (why it stopped, the range to go on with, how many values are known): NO_ROOM where slots are half full or
    `known` or `ends` can't take the next value.
    """
    last = -1
    for number in range(first, len(starts)):
        length = lengths[number]
        if length < 0:
            codes[number] = -1
            continue
        start = starts[number]
        if last < 0 or not is_value(data, start, length, known, ends, last):  # lists of partitions most often repeat
            last = code_of(data, start, length, slots, known, ends, count)
            if last < 0:
                return NO_ROOM, number, count
            count = max(count, last + 1)
        codes[number] = last
    return DONE, len(starts), count


__all__ = ["DONE", "NO_ROOM", "code_of", "code_ranges", "is_value"]
