"""Typed values of what rows, spans and clients tell: absent is None from here on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.kernels.growing import Array
from kafkatx.words.values import (
    ClientName,
    Count,
    Data,
    Duration,
    Instant,
    OffsetRange,
    Producer,
    ShownError,
    TopicPartition,
)


def instant(time: Any) -> Instant | None:
    """A time in milliseconds; None where it is absent (None or negative)."""
    return Instant(time) if time is not None and time >= 0 else None


def lasting(milliseconds: Any) -> Duration | None:
    """A duration in milliseconds; None where it is absent (None or negative)."""
    return Duration(milliseconds) if milliseconds is not None and milliseconds >= 0 else None


def producer(producer_id: Any, epoch: Any) -> Producer | None:
    """A producer id at an epoch (absent: None); None where the id is absent."""
    return Producer(int(producer_id), known(epoch)) if producer_id is not None and producer_id >= 0 else None


def topic_partition(model: CaptureModel, code: int) -> TopicPartition:
    """The partition behind a code."""
    return TopicPartition(*model.topic_partition(code))


def offsets(model: CaptureModel, span: Array) -> OffsetRange:
    """Where a span's data lie."""
    first, last = int(span["first_offset"]), int(span["last_offset"])
    return OffsetRange(*model.topic_partition(int(span["partition_code"])), first, last, Count(span["records"]))


def data(model: CaptureModel, spans: Iterable[Array]) -> Data:
    """Where the data of spans lie."""
    return Data(offsets(model, span) for span in spans)


def client_name(client: ClientInstance | None) -> ClientName:
    """What a client is called; nobody's of None."""
    if client is None:
        return ClientName(None, None)
    is_named = client.transactional_id is not None or client.client_id is not None
    return ClientName(client.transactional_id, client.client_id, None if is_named else client.number)


def thrown(failure: Failure) -> ShownError:
    """What went wrong, as the application saw it."""
    return ShownError(failure.call, failure.exception, failure.outer)
