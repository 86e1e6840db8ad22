"""Big-endian integers and varints out of a byte buffer, for kernels (declarations: formats/primitives.py).

Buffers are uint8 arrays when compiled and memoryviews when interpreted; both index to small non-negative integers.
Products, not
shifts: numba makes a shifted uint8 unsigned, and unsigned with signed makes a float.
"""

from typing import Any

from kafkatx.kernels.engine import kernel


@kernel
def int8_at(data: Any, at: int) -> int:
    """Signed 8 bit."""
    value: int = data[at] * 1
    return value - 256 if value >= 128 else value


@kernel
def int16_at(data: Any, at: int) -> int:
    """Signed 16 bit."""
    value: int = data[at] * 256 + data[at + 1]
    return value - 65536 if value >= 32768 else value


@kernel
def uint32_at(data: Any, at: int) -> int:
    """Unsigned 32 bit."""
    value: int = data[at] * 16777216 + data[at + 1] * 65536 + data[at + 2] * 256 + data[at + 3]
    return value


@kernel
def int32_at(data: Any, at: int) -> int:
    """Signed 32 bit."""
    value: int = data[at] * 16777216 + data[at + 1] * 65536 + data[at + 2] * 256 + data[at + 3]
    return value - 4294967296 if value >= 2147483648 else value


@kernel
def int64_at(data: Any, at: int) -> int:
    """Signed 64 bit. The sign is taken from the upper half, so no intermediate value leaves int64."""
    high: int = data[at] * 16777216 + data[at + 1] * 65536 + data[at + 2] * 256 + data[at + 3]
    low: int = data[at + 4] * 16777216 + data[at + 5] * 65536 + data[at + 6] * 256 + data[at + 7]
    if high >= 2147483648:
        high -= 4294967296
    return high * 4294967296 + low


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
