"""What bytes the message of a line has: seven at once, so that their number and its sums are never negative."""

from typing import Any

from kafkatx.kernels.bytes import uint32_at
from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.loads import byte_at, word_at

HIGH, BLANKS, COLONS = 0x80808080808080, 0x20202020202020, 0x3A3A3A3A3A3A3A
ALL_E, ALL_R, ALL_X = 0x45454545454545, 0x72727272727272, 0x78787878787878
"""Seven bytes as a number: the highest bit of each, and one character seven times."""
EXCE, RROR = (int.from_bytes(text, "big") for text in (b"Exce", b"rror"))
"""Four characters as a number."""


@kernel_inlined
def zeros_of(seven: int) -> int:
    """The highest bits of those of seven bytes, none above 127, that are zero."""
    return ((seven + 0x7F7F7F7F7F7F7F) & HIGH) ^ HIGH


@kernel_lean
def is_plain(data: Any, at: int, end: int) -> bool:
    """Whether a text has single blanks, no control characters and ASCII only, so that its bytes compare as they are."""
    before = 1
    while at + 8 <= end:
        seven = word_at(data, at) & 0xFFFFFFFFFFFFFF
        if (seven | (seven + 0x01010101010101)) & HIGH or ((seven | HIGH) - BLANKS) & HIGH != HIGH:
            return False
        blanks = zeros_of(seven ^ BLANKS)
        if blanks & (blanks >> 8) or (before and blanks & 0x80):
            return False
        before = blanks >> 55
        at += 7
    while at < end:
        byte = data[at]
        if byte < 32 or byte > 126 or (byte == 32 and before):
            return False
        before = 1 if byte == 32 else 0
        at += 1
    return True


@kernel_lean
def has_escape(data: Any, at: int, end: int) -> bool:
    """Whether there are colours of a terminal."""
    for place in range(at, end):  # noqa: SIM110 (numba knows no generators)
        if byte_at(data, place) == 27:
            return True
    return False


@kernel_lean
def may_be_request(data: Any, at: int, end: int) -> bool:
    """Whether a message begins as those of the request logger do (`Completed request`)."""
    return end - at > 10 and data[at] == 67 and data[at + 9] == 32 and data[at + 10] == 114


@kernel_lean
def shows_error(data: Any, at: int, end: int) -> bool:
    """Whether `Exce`, `rror` or `X: ` stands in a text."""
    for place in range(at, end - 3):
        if data[place + 1] == 58 and data[place + 2] == 32 and 65 <= data[place] <= 90:
            return True
        if data[place] == 114 and uint32_at(data, place) == RROR:
            return True
        if data[place] == 69 and uint32_at(data, place) == EXCE:
            return True
    return False


@kernel_lean
def may_show_error(data: Any, at: int, end: int) -> bool:
    """Whether a message of ASCII may show an exception (`Exce`, `rror`, `CODE: `), or is one of the request logger."""
    if may_be_request(data, at, end):
        return True
    place = at
    while place + 8 <= end:  # pairs that may be part of one, six at once
        seven = word_at(data, place) & 0xFFFFFFFFFFFFFF
        pairs = zeros_of(seven ^ ALL_R) & (zeros_of(seven ^ ALL_R) >> 8)
        pairs |= zeros_of(seven ^ ALL_E) & (zeros_of(seven ^ ALL_X) >> 8)
        pairs |= zeros_of(seven ^ COLONS) & (zeros_of(seven ^ BLANKS) >> 8)
        if pairs and shows_error(data, max(at, place - 1), min(place + 9, end)):
            return True
        place += 6
    return shows_error(data, max(at, place - 1), end)
