"""Batches that ran out of their time, and what the sends of their partition had been answered before.

A batch is tried again until delivery.timeout.ms is over, and its end is a TimeoutException whatever held it up. What
did is told by the leader's answers, a line each (`Got error produce response ...`), of the same client and partition.
"""

from __future__ import annotations

from kafkatx.findings.client_lines import topic_partition
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.text.error_messages.sayings import Saying


def is_expiry(logs: LogModel, row: int) -> bool:
    """Whether a line tells of a batch that its producer gave up, as its time was over."""
    return logs.kind(row) == EventKind.batch_expired or logs.says(row, Saying.EXPIRED)


def answers_before(logs: LogModel, told: ToldFailure) -> list[int]:
    """Lines of errors that sends of an expired batch's partition met before it expired, in order; none of others."""
    places = {place for row in told.rows if (place := _place(logs, row)) is not None}
    if not places:
        return []
    source, last = int(logs.events["source"][told.rows[0]]), told.rows[-1]
    client = told.client
    return [
        row
        for row in logs.of_kind(EventKind.produce_retry).tolist()
        if int(logs.events["source"][row]) == source
        and topic_partition(logs, row) in places
        and (client is None or client.client_id is None or int(logs.owners[row]) in (client.number, -1))
        and _is_before(logs, row, last)
    ]


def _is_before(logs: LogModel, row: int, last: int) -> bool:
    """Whether a line came before another; texts may show the latest first."""
    one, other = logs.at(row), logs.at(last)
    return one <= other if one is not None and other is not None else row < last


def _place(logs: LogModel, row: int) -> tuple[str, int] | None:
    """The partition of a batch whose expiry a line tells."""
    if logs.kind(row) is EventKind.batch_expired and (named := topic_partition(logs, row)) is not None:
        return named
    expiry = logs.expiry(row)
    return (expiry.topic, expiry.partition) if expiry is not None else None
