"""What logs tell of a marker that is missing in a partition: that it was left out, or when the log was read anew.

Left out   The coordinator knew no leader of the partition, took it for deleted, and completed the transaction without
           that marker; it never sends it again. The line is of the coordinator's own clock, as the rows are: it stands
           between the decision and the completion.
Recovered  A broker that starts reads the end of a log from its disk again: what the disk did not have is gone.
Source     TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue (0.11 to 4.3), KAFKA-20734; LogLoader (3.3 on).
"""

from __future__ import annotations

from kafkatx.findings.open_spans import OpenSpan
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind
from kafkatx.words.values import TopicPartition


def skipped_partitions(detail: str) -> list[str]:
    """Partitions in a set as Scala or Java prints one, each `topic-0`."""
    places = detail.removeprefix("Set(").removeprefix("HashSet(").strip("[]() ").split(", ")
    return [place for place in places if place.rpartition("-")[2].isdecimal()]


def transaction_of(model: CaptureModel, line: int) -> int | None:
    """The completed transaction whose marker a line left out, by its row: it was decided then, and not yet complete."""
    logs = model.logs
    rows = model.transactions_of(model.id_code(logs.string(line, "transactional_id")))
    told, at = model.transactions[rows], logs.times[line]
    fits = rows[(told["decided_at"] >= 0) & (told["decided_at"] <= at) & (at <= told["completion_timestamp"])]
    return int(fits[0]) if len(fits) == 1 else None


def left_out(model: CaptureModel, transaction: int, place: TopicPartition) -> list[int]:
    """Lines by which the coordinator left the marker of a completed transaction out in a partition."""
    return [
        line
        for line in model.logs.of_kind(EventKind.marker_skipped).tolist()
        if f"{place.topic}-{place.partition}" in skipped_partitions(model.logs.string(line, "detail") or "")
        and transaction_of(model, line) == transaction
    ]


def is_left_out(one: OpenSpan) -> bool:
    """Whether the coordinator left the marker of open data out."""
    return one.transaction is not None and bool(left_out(one.model, one.transaction, one.data.place))


def recovered(model: CaptureModel, place: TopicPartition, since: int, until: int | None) -> list[int]:
    """Lines by which a broker recovered the log of a partition from its disk, from one time on, up to another one."""
    logs = model.logs
    return [
        number
        for number in logs.of_kind(EventKind.unclean_start).tolist()
        if logs.string(number, "topic") == place.topic
        and logs.number(number, "partition") == place.partition
        and since <= logs.times[number] <= (until if until is not None else logs.times[number])
    ]


def next_entry(model: CaptureModel, part: Array, since: int) -> int | None:
    """When the first marker behind a time was written in a partition: by then the one that is missing was gone."""
    spans = model.spans[model.spans_of(int(part["partition_code"]))]
    times = spans["marker_timestamp"][(spans["marker_offset"] >= 0) & (spans["marker_timestamp"] > since)]
    return int(times.min()) if len(times) else None
