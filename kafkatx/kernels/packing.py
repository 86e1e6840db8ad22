"""Gathers scattered byte ranges of a buffer into one packed buffer.

So that Arrow can intern them without an object a range.
"""

from typing import Any

from kafkatx.kernels.engine import kernel


@kernel
def pack_ranges(data: Any, starts: Any, lengths: Any, packed: Any, offsets: Any) -> int:
    """Copy data[start : start + length] of every range with a length of 0 or more.

    `offsets` (int32) gets len(starts) + 1 entries.

    Returns the bytes packed. A range of length -1 becomes empty; the caller knows which were null.
    """
    at = 0
    offsets[0] = 0
    for number in range(len(starts)):
        length = lengths[number]
        if length > 0:
            start = starts[number]
            for place in range(length):  # a slice needs numba's runtime
                packed[at + place] = data[start + place]
            at += length
        offsets[number + 1] = at
    return at
