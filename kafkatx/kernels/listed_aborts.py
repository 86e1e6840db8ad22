"""Which entries of an index of aborted transactions say what a span says that an ABORT marker ended: nearly all do."""

from typing import Any

from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.spans import ABORT


@kernel_inlined
def place_from(markers: Any, offset: int, low: int) -> int:
    """The first place from `low` on that holds `offset` or more, of offsets that ascend.

    What is looked for next lies near: steps are doubled first.
    """
    step, high = 1, low
    while high < len(markers) and markers[high] < offset:
        low = high + 1
        high += step
        step *= 2
    high = min(high, len(markers))
    while low < high:
        middle = (low + high) // 2
        if markers[middle] < offset:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_lean
def mark_told(producer_ids: Any, first_offsets: Any, last_offsets: Any, spans: Any, told: Any) -> None:
    """Mark the entries whose producer has a span with their first offset, and its ABORT marker at their last one.

    Spans come in the order of their markers, and entries do. Where either is not so, an entry is not found, no more.
    """
    markers, low = spans["marker_offset"], 0
    for number in range(len(producer_ids)):
        if number > 0 and last_offsets[number] < last_offsets[number - 1]:
            low = 0
        low = place_from(markers, last_offsets[number], low)
        if low < len(spans) and markers[low] == last_offsets[number] and spans["marker_kind"][low] == ABORT:
            told[number] = (
                spans["producer_id"][low] == producer_ids[number]
                and spans["first_offset"][low] == first_offsets[number]
            )
