"""Big-endian integers and varints out of a byte buffer, for kernels (declarations: formats/primitives.py).

Buffers are uint8 arrays when compiled and memoryviews when interpreted; both index to small non-negative integers.
Products, not
shifts: numba makes a shifted uint8 unsigned, and unsigned with signed makes a float. Places of fixed integers are
unsigned: a signed one may count from the end, which is asked at each byte, and keeps the compiler from making one load
of all of them.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel, kernel_with_wheel

ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN = (np.uint64(number) for number in range(1, 8))


def _int16_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big", signed=True)


def _uint32_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def _int32_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def _int64_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "big", signed=True)


@kernel
def int8_at(data: Any, at: int) -> int:
    """Signed 8 bit."""
    value: int = data[at] * 1
    return value - 256 if value >= 128 else value


@kernel_with_wheel(_int16_by_wheel, inlined=True)
def int16_at(data: Any, at: int) -> int:
    """Signed 16 bit."""
    first = np.uint64(at)
    return int((data[first] * 256 | data[first + ONE]) ^ 0x8000) - 0x8000


@kernel_with_wheel(_uint32_by_wheel, inlined=True)
def uint32_at(data: Any, at: int) -> int:
    """Unsigned 32 bit."""
    first = np.uint64(at)
    high = data[first] * 16777216 | data[first + ONE] * 65536
    return int(high | data[first + TWO] * 256 | data[first + THREE])


@kernel_with_wheel(_int32_by_wheel, inlined=True)
def int32_at(data: Any, at: int) -> int:
    """Signed 32 bit."""
    first = np.uint64(at)
    high = data[first] * 16777216 | data[first + ONE] * 65536
    return int((high | data[first + TWO] * 256 | data[first + THREE]) ^ 0x80000000) - 0x80000000


@kernel_with_wheel(_int64_by_wheel, inlined=True)
def int64_at(data: Any, at: int) -> int:
    """Signed 64 bit. The sign is taken from the upper half, so no intermediate value leaves int64.

    To the compiler a product that does is none: it takes for granted that there is no such number.
    """
    first = np.uint64(at)
    high = data[first] * 16777216 | data[first + ONE] * 65536 | data[first + TWO] * 256 | data[first + THREE]
    low = data[first + FOUR] * 16777216 | data[first + FIVE] * 65536 | data[first + SIX] * 256 | data[first + SEVEN]
    return ((int(high) ^ 0x80000000) - 0x80000000) * 4294967296 | int(low)


BAD_VARINT = -(1 << 62)
"""What `varint_at` returns for a value that runs past its end or is longer than ten bytes; no length or delta is that
small.
"""


@kernel
def varint_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Zig-zag varint or varlong (records of batch v2): (value, position behind it).

    BAD_VARINT if it does not end before `end`.

    The unsigned value is folded as it is read, so the ten-byte form of a negative varlong stays within int64.
    """
    if at >= end:
        return BAD_VARINT, at
    byte = data[at] * 1
    at += 1
    negative = byte & 1
    value = (byte & 127) >> 1
    shift = 6
    while byte & 128:
        if at >= end or shift > 62:
            return BAD_VARINT, at
        byte = data[at] * 1
        at += 1
        value += (byte & (127 if shift < 62 else 1)) << shift
        shift += 7
    return (-value - 1 if negative else value), at


@kernel
def uvarint_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Unsigned varint of flexible schemas: (value, position behind it).

    The value is -1 if it does not end before `end`, is longer than five bytes or has more than 32 bits.
    """
    value = 0
    shift = 0
    while at < end and shift < 35:
        byte = data[at] * 1
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value if value < 4294967296 else -1), at
        shift += 7
    return -1, at
