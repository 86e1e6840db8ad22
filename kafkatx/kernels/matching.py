"""Matches markers of a producer in a partition with the coordinator's decisions, both in order, from either end.

A marker carries the epoch and the kind of the decision and is written between the decision and the completion. Under
the classic protocol thousands of transactions share producer id and epoch, so order and time decide; what the two
directions see differently is not decided by the evidence.
"""

from typing import Any

from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.spans import UNKNOWN_KIND


@kernel_inlined
def fits(transactions: Any, row: int, spans: Any, span: int, tolerance: int) -> bool:
    """Whether a marker can be the one that a decision caused."""
    kind = spans["marker_kind"][span]
    if kind != UNKNOWN_KIND and kind != transactions["decision"][row] * -1 + 3:
        return False
    epoch = transactions["decision_epoch"][row]
    if epoch < 0:
        epoch = transactions["completion_epoch"][row]
        if transactions["completed_producer_id"][row] != transactions["producer_id"][row]:
            epoch = spans["marker_epoch"][span]
    if spans["marker_epoch"][span] >= 0 and epoch != spans["marker_epoch"][span]:
        return False
    written = spans["marker_timestamp"][span]
    if written < 0:  # a text may leave it out
        return True
    if written < transactions["decided_at"][row] - tolerance:
        return False
    completed = transactions["completion_timestamp"][row]
    return bool(completed < 0 or written <= completed + tolerance)


@kernel_inlined
def is_passed(transactions: Any, row: int, spans: Any, span: int, tolerance: int, step: int) -> bool:
    """Whether a marker is too early (step 1) or too late (-1) for a decision and all that follow in that direction."""
    written = spans["marker_timestamp"][span]
    if written < 0:
        return False
    if step > 0:
        is_decided = transactions["decision"][row] >= 0
        return bool(is_decided and transactions["decided_at"][row] - tolerance > written)
    completed = transactions["completion_timestamp"][row]
    return bool(completed >= 0 and completed + tolerance < written)


@kernel_inlined
def match_from(
    transactions: Any,
    rows: Any,
    first_row: int,
    end_row: int,
    spans: Any,
    order: Any,
    first: int,
    end: int,
    tolerance: int,
    step: int,
    found: Any,
) -> None:
    """Give every decision (rows[first_row:end_row], in order) the nearest marker (order[first:end]) left for it.

    With a step of 1 the earliest, from the beginning; with -1 the latest, from the end.
    """
    at = first_row if step > 0 else end_row - 1
    stop = end_row if step > 0 else first_row - 1
    for number in range(end - first):
        span = order[first + number if step > 0 else end - 1 - number]
        if spans["marker_offset"][span] < 0:
            continue
        ahead = at
        while ahead != stop:
            row = rows[ahead]
            if fits(transactions, row, spans, span, tolerance):
                found[ahead] = span
                at = ahead + step
                break
            if is_passed(transactions, row, spans, span, tolerance, step):
                break
            ahead += step


@kernel_lean
def match_groups(
    transactions: Any,
    rows: Any,
    row_bounds: Any,
    spans: Any,
    order: Any,
    span_bounds: Any,
    tolerance: int,
    forward: Any,
    backward: Any,
) -> None:
    """Match group by group: group g has rows[row_bounds[g]:row_bounds[g+1]].

    Its spans are order[span_bounds[g, 0]:span_bounds[g, 1]].
    """
    for group in range(len(row_bounds) - 1):
        a, b = row_bounds[group], row_bounds[group + 1]
        c, d = span_bounds[group, 0], span_bounds[group, 1]
        match_from(transactions, rows, a, b, spans, order, c, d, tolerance, 1, forward)
        match_from(transactions, rows, a, b, spans, order, c, d, tolerance, -1, backward)
