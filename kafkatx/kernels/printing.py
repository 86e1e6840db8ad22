"""Text written into a byte buffer: words, numbers, and bytes as Java shows them, for kernels that print.

Must equal terms/java_text.py and Python's own forms of numbers. Who calls has made room.
"""

from typing import Any

from kafkatx.kernels.engine import kernel_lean

SMALLEST_INT64 = -(1 << 63)


@kernel_lean
def put_digits(out: Any, at: int, value: int) -> int:
    """Write a number that is not negative; returns the place behind it, as all of these do."""
    behind, rest = at + 1, value // 10
    while rest > 0:
        behind += 1
        rest //= 10
    place = behind - 1
    while place > at:
        out[place] = 48 + value % 10
        value //= 10
        place -= 1
    out[at] = 48 + value
    return behind


@kernel_lean
def put_number(out: Any, at: int, value: int) -> int:
    """Write an int64."""
    if value >= 0:
        return put_digits(out, at, value)
    out[at] = 45
    if value == SMALLEST_INT64:  # its positive is none
        at = put_digits(out, at + 1, 922337203685477580)
        out[at] = 56
        return at + 1
    return put_digits(out, at + 1, -value)


@kernel_lean
def is_continuation(data: Any, at: int, end: int, low: int, high: int) -> bool:
    """Whether the byte at `at` is there and lies between two."""
    return at < end and low <= data[at] <= high


@kernel_lean
def character_size(data: Any, at: int, end: int) -> int:
    """Bytes of the character at `at` in UTF-8; of what is none the negative of the bytes that one U+FFFD stands for.

    An encoded surrogate is one for Java, else as many bytes as a character could have begun with.
    """
    byte = data[at] * 1
    if byte < 128:
        return 1
    if byte < 194 or byte > 244:
        return -1
    if byte < 224:
        return 2 if is_continuation(data, at + 1, end, 128, 191) else -1
    low, high = 128, 191
    if byte == 237 and is_continuation(data, at + 1, end, 160, 191):
        return -3 if is_continuation(data, at + 2, end, 128, 191) else -2
    if byte == 224:
        low = 160
    elif byte == 240:
        low = 144
    elif byte == 244:
        high = 143
    if not is_continuation(data, at + 1, end, low, high):
        return -1
    if not is_continuation(data, at + 2, end, 128, 191):
        return -2
    if byte < 240:
        return 3
    return 4 if is_continuation(data, at + 3, end, 128, 191) else -3


@kernel_lean
def put_bytes(out: Any, at: int, data: Any, start: int, size: int) -> int:
    """Write data[start : start + size] as it is, without a slice: one takes numba seconds to compile."""
    for place in range(size):
        out[at + place] = data[start + place]
    return at + size


@kernel_lean
def put_text(out: Any, at: int, data: Any, start: int, size: int) -> int:
    """Write data[start : start + size] as Java reads it; at most three times as many bytes."""
    place, end = start, start + size
    while place < end:
        while place < end and data[place] < 128:
            out[at] = data[place]
            at += 1
            place += 1
        if place == end:
            break
        length = character_size(data, place, end)
        if length < 0:
            out[at], out[at + 1], out[at + 2] = 239, 191, 189
            at += 3
            place -= length
        else:
            at = put_bytes(out, at, data, place, length)
            place += length
    return at
