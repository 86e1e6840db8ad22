"""A record of `__transaction_state`, decoded."""

from __future__ import annotations

from typing import Any

from kafkatx.formats.layout import Malformed
from kafkatx.formats.transaction_log import TransactionLogValue, parse_key, parse_value
from kafkatx.histories.location import RecordFacts, StateFacts
from kafkatx.terms.times import iso
from kafkatx.terms.transaction_states import state_name


def state_row(record: RecordFacts) -> StateFacts:
    """Decode a record (its payload must be at hand); what is none says why."""
    name, value = None, None
    try:
        name = parse_key(record.key or b"")
        value = parse_value(record.value) if record.value is not None else None
    except Malformed as error:
        return StateFacts(name, False, {}, (), str(error))
    if value is None:
        return StateFacts(name, True, {}, ())
    topics = value.transaction_partitions or ()
    partitions = tuple(f"{topic.topic}-{number}" for topic in topics for number in topic.partition_ids or ())
    return StateFacts(name, False, _fields(value), partitions)


def _fields(value: TransactionLogValue) -> dict[str, Any]:
    """The value's fields by Kafka's names; absent is None."""
    return {
        "state": state_name(value.transaction_status),
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "timeout_ms": value.transaction_timeout_ms,
        "started_at": iso(value.transaction_start_timestamp_ms),
        "updated_at": iso(value.transaction_last_update_timestamp_ms),
        "previous_producer_id": value.previous_producer_id,
        "next_producer_id": value.next_producer_id,
        "client_transaction_version": value.client_transaction_version,
        "next_producer_epoch": value.next_producer_epoch,
        "version": value.version,
        "unknown_tagged_fields": len(value.unknown_tagged_fields),
    }
