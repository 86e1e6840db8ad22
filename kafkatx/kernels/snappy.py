"""Blocks of snappy without compression (google/snappy, format_description.txt: a size, then literals and copies)."""

from __future__ import annotations

from typing import Any

from kafkatx.kernels.engine import kernel_inlined, kernel_lean, kernel_with_wheel
from kafkatx.kernels.loads import word_at
from kafkatx.kernels.moves import AT_ONCE, move_16

SIZE_BYTES = 5
"""Bytes that the size of a block takes at most."""
LITERAL, NEAR, FAR = 0, 1, 2
"""Kinds of an element: bytes as they are; a copy of up to 2 KiB back, of up to 64 KiB back; what is left is 4 GiB."""
IN_TAG = 60
"""Literals up to this long have their length in the tag."""
LONGEST = 64
"""Bytes of the longest copy, and of the longest literal whose length is in its tag, moved in whole registers."""
FARTHEST = LONGEST + AT_ONCE
"""No element that is moved at once is read or written farther than this from where it begins."""


def claimed_size(block: Any) -> int:
    """The size that a block says to have without compression."""
    claimed = 0
    for number, byte in enumerate(bytes(block[:SIZE_BYTES])):
        claimed |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            break
    return claimed


@kernel_inlined
def move_one_by_one(out: Any, to: int, data: Any, at: int, count: int) -> None:
    """Copy bytes in order: what was written comes again where a copy overlaps itself."""
    for number in range(count):
        out[to + number] = data[at + number]


@kernel_inlined
def move_up_to_64(out: Any, to: int, data: Any, at: int, count: int) -> None:
    """Copy bytes by registers, with what follows them: 32 at least, since a branch costs more than a move."""
    move_16(out, to, data, at)
    move_16(out, to + 16, data, at + 16)
    if count > 2 * AT_ONCE:
        move_16(out, to + 32, data, at + 32)
        move_16(out, to + 48, data, at + 48)


@kernel_lean
def any_element(data: Any, place: int, end: int, out: Any, begin: int, at: int, stop: int) -> tuple[int, int]:
    """Write the element at data[place], of any kind and size, to out[at]; the places behind both, -1 if it is none."""
    tag = int(data[place])
    kind = tag & 3
    more = kind if kind < 3 else 4
    length = (tag >> 2) + 1
    place += 1
    if kind == LITERAL:
        more = max(length - IN_TAG, 0)
    if more > end - place:
        return -1, at
    number = 0
    for byte in range(more):
        number |= int(data[place + byte]) << 8 * byte
    place += more
    if kind == LITERAL:
        if more:
            length = number + 1
        if length > end - place or length > stop - at:
            return -1, at
        move_one_by_one(out, at, data, place, length)
        return place + length, at + length
    if kind == NEAR:
        length = 4 + (tag >> 2 & 7)
        number |= tag >> 5 << 8
    if number == 0 or number > at - begin or length > stop - at:
        return -1, at
    move_one_by_one(out, at, out, at - number, length)
    return place, at + length


@kernel_lean
def elements(data: Any, place: int, end: int, out: Any, at: int, stop: int) -> bool:
    """Write the elements data[place:end] to out[at:stop]; whether these fill it, no less and no more."""
    begin = at
    room = len(data) - FARTHEST
    last = len(out) - FARTHEST
    while place < end:
        if place > room or at > last:
            place, at = any_element(data, place, end, out, begin, at, stop)
            if place < 0:
                return False
            continue
        word = word_at(data, place)
        kind = word & 3
        length = (word >> 2 & 63) + 1
        if kind == LITERAL:
            if length <= IN_TAG:
                if 1 + length > end - place or length > stop - at:
                    return False
                move_up_to_64(out, at, data, place + 1, length)
                place += 1 + length
                at += length
            else:
                place, at = any_element(data, place, end, out, begin, at, stop)
                if place < 0:
                    return False
            continue
        if kind <= FAR:
            is_near = -(kind & NEAR)
            length = length & ~is_near | 4 + (length - 1 & 7) & is_near
            distance = word >> 8 & (65535 & ~is_near | 255) | (word & 224) << 3 & is_near
            place += 1 + kind
        else:
            distance = word >> 8 & 4294967295
            place += 5
        if distance == 0 or distance > at - begin or length > stop - at:
            return False
        if distance >= AT_ONCE:
            move_up_to_64(out, at, out, at - distance, length)
        else:
            move_one_by_one(out, at, out, at - distance, length)
        at += length
    return place == end and at == stop


def _block_by_wheel(data: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    import snappy

    block = memoryview(data)[start:end]
    if claimed_size(block) > room:
        return -1
    try:
        whole = snappy.uncompress(block)
    except snappy.UncompressError:
        return -1
    memoryview(out)[at : at + len(whole)] = whole
    return len(whole)


@kernel_with_wheel(_block_by_wheel)
def snappy_block(data: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """Write the block data[start:end] without compression to out[at : at + room]; its size, -1 where it can't be had.

    What lies in `out` behind that may be overwritten.
    """
    claimed = 0
    place = start
    more = True
    for number in range(SIZE_BYTES - 1):
        if place == end:
            return -1
        byte = int(data[place])
        place += 1
        claimed |= (byte & 127) << 7 * number
        more = byte >= 128
        if not more:
            break
    if more or claimed > room or not elements(data, place, end, out, at, at + claimed):
        return -1
    return claimed
