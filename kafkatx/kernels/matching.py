"""Matches markers of a producer in a partition with the coordinator's decisions, both in order, from either end.

A marker carries the epoch and the kind of the decision and is written between the decision and the completion. Under
the classic
protocol thousands of transactions share producer id and epoch, so order and time decide; what the two directions see
differently is
not decided by the evidence.
"""

from typing import Any

from kafkatx.kernels.engine import kernel


@kernel
def fits(transactions: Any, row: int, spans: Any, span: int, tolerance: int) -> bool:
    """Whether a marker can be the one that a decision caused."""
    if spans["marker_kind"][span] != transactions["decision"][row] * -1 + 3:
        return False
    epoch = transactions["decision_epoch"][row]
    if epoch < 0:
        epoch = transactions["completion_epoch"][row]
        if transactions["completed_producer_id"][row] != transactions["producer_id"][row]:
            epoch = spans["marker_epoch"][span]
    if spans["marker_epoch"][span] >= 0 and epoch != spans["marker_epoch"][span]:
        return False
    written = spans["marker_timestamp"][span]
    if written < transactions["decided_at"][row] - tolerance:
        return False
    completed = transactions["completion_timestamp"][row]
    return bool(completed < 0 or written <= completed + tolerance)


@kernel
def match_forward(
    transactions: Any,
    rows: Any,
    first_row: int,
    end_row: int,
    spans: Any,
    order: Any,
    first: int,
    end: int,
    tolerance: int,
    found: Any,
) -> None:
    """Give every decision (rows[first_row:end_row], in order) the earliest marker (order[first:end]) left for it."""
    at = first_row
    for number in range(first, end):
        span = order[number]
        if spans["marker_offset"][span] < 0:
            continue
        ahead = at
        while ahead < end_row:
            row = rows[ahead]
            if fits(transactions, row, spans, span, tolerance):
                found[ahead] = span
                at = ahead + 1
                break
            if (
                transactions["decision"][row] >= 0
                and transactions["decided_at"][row] - tolerance > spans["marker_timestamp"][span]
            ):
                break
            ahead += 1


@kernel
def match_backward(
    transactions: Any,
    rows: Any,
    first_row: int,
    end_row: int,
    spans: Any,
    order: Any,
    first: int,
    end: int,
    tolerance: int,
    found: Any,
) -> None:
    """Give every decision the latest marker left for it, from the end."""
    at = end_row - 1
    for back in range(end - first):
        span = order[end - 1 - back]
        if spans["marker_offset"][span] < 0:
            continue
        ahead = at
        while ahead >= first_row:
            row = rows[ahead]
            if fits(transactions, row, spans, span, tolerance):
                found[ahead] = span
                at = ahead - 1
                break
            completed = transactions["completion_timestamp"][row]
            if completed >= 0 and completed + tolerance < spans["marker_timestamp"][span]:
                break
            ahead -= 1


@kernel
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
    """Match group by group; group g has rows[row_bounds[g]:row_bounds[g+1]] and order[span_bounds[g.

    0]:span_bounds[g, 1]].
    """
    for group in range(len(row_bounds) - 1):
        a, b = row_bounds[group], row_bounds[group + 1]
        c, d = span_bounds[group, 0], span_bounds[group, 1]
        match_forward(transactions, rows, a, b, spans, order, c, d, tolerance, forward)
        match_backward(transactions, rows, a, b, spans, order, c, d, tolerance, backward)
