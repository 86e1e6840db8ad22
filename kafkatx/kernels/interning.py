"""Gives byte ranges of a buffer the codes of their contents: a table of open addressing over the bytes met so far.

A value is compared as a whole, so two that hash alike are two. The hash is of all bytes: names that differ in one place
only are the rule.
"""

from typing import Any

from kafkatx.kernels.engine import kernel_lean

DONE, NO_ROOM = 0, 1
MULTIPLIER, MASK = 0x9E3779B1, 0xFFFFFFFF
"""Of a multiplicative hash of 32 bits: products stay what they are where 64 bits overflow, since the low ones count."""


@kernel_lean
def hash_of(data: Any, start: int, length: int) -> int:
    """Return 32 bits of the range, and of its length."""
    value = int(length)
    at = start
    behind = start + length
    while at + 4 <= behind:
        word = data[at] * 1 + data[at + 1] * 256 + data[at + 2] * 65536 + data[at + 3] * 16777216
        value = ((value ^ word) * MULTIPLIER) & MASK
        value ^= value >> 15
        at += 4
    while at < behind:
        value = ((value ^ (data[at] * 1)) * MULTIPLIER) & MASK
        value ^= value >> 15
        at += 1
    return int(value)


@kernel_lean
def is_same(data: Any, start: int, known: Any, begin: int, length: int) -> bool:
    """Whether two ranges of one length are alike."""
    left = length
    while left > 0 and data[start + left - 1] == known[begin + left - 1]:  # names differ at their ends
        left -= 1
    return left == 0


@kernel_lean
def code_ranges(
    data: Any, starts: Any, lengths: Any, first: int, slots: Any, known: Any, ends: Any, count: int, codes: Any
) -> tuple[int, int, int]:
    """Write the codes of ranges[first:]; a length of -1 has code -1, a new value the next code.

    `known[ends[code] : ends[code + 1]]` is the value of a code; `slots` (int32, a power of two of them) hold codes, -1
    where nothing is. Returns (why it stopped, the range to go on with, how many values are known): NO_ROOM where slots
    are half full or `known` or `ends` can't take the next value.
    """
    mask = len(slots) - 1
    last = -1
    for number in range(first, len(starts)):
        length = lengths[number]
        if length < 0:
            codes[number] = -1
            continue
        start = starts[number]
        if last >= 0 and ends[last + 1] - ends[last] == length and is_same(data, start, known, ends[last], length):
            codes[number] = last  # lists of partitions are most often those of the row before
            continue
        slot = hash_of(data, start, length) & mask
        while slots[slot] >= 0:
            begin = ends[slots[slot]]
            if ends[slots[slot] + 1] - begin == length and is_same(data, start, known, begin, length):
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            end = ends[count]
            if 2 * (count + 1) > len(slots) or count + 2 > len(ends) or end + length > len(known):
                return NO_ROOM, number, count
            for place in range(length):
                known[end + place] = data[start + place]
            ends[count + 1] = end + length
            slots[slot] = count
            count += 1
        last = slots[slot]
        codes[number] = last
    return DONE, len(starts), count


__all__ = ["DONE", "NO_ROOM", "code_ranges"]
