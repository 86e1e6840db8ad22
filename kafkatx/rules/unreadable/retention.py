"""What deleted records, and whether another copy of them can be left: as lines of brokers and controllers tell it.

A partition has one replica where the controller registered it with one and nothing tells of more since. Then its log is
the leader's: what it has lost nobody has (`PartitionRegistration`, KRaft; 2.8 and later).
"""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import left_open, remedy
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs

AT_ONCE_MS = 5_000
"""Lines about segments that retention deletes come this close before the one about the new log start."""
MS = "retention.ms"
BY_RECORDS = "largest record timestamp"
REPLICAS = (EventKind.isr_changed, EventKind.isr_expanded, EventKind.isr_shrunk, EventKind.leader_changed)


@dataclass(frozen=True, slots=True)
class Retention:
    """The setting that deleted segments, its value (of a time as `time`), and whether it went by the records' times."""

    setting: str
    value: Count
    time: Duration | None
    by_records: bool
    rows: Refs


def moves(model: CaptureModel, log_extent: LogExtent) -> list[tuple[int, int]]:
    """Offsets that a broker moved the log start of a partition to, by its log, with the rows."""
    logs = model.logs
    mine = [
        row
        for row in logs.of_kind(EventKind.log_start_moved).tolist()
        if (logs.string(row, "topic"), logs.number(row, "partition")) == (log_extent.topic, log_extent.partition)
    ]
    return [(offset, row) for row in mine if (offset := logs.number(row, "offset")) is not None]


def deleted_up_to(model: CaptureModel, log_extent: LogExtent) -> int:
    """Offset below which a partition's records are deleted for certain: by its checkpoints and by lines of brokers."""
    return max([log_extent.deleted_below, *(offset for offset, _ in moves(model, log_extent))])


def moved_at_of(model: CaptureModel, row: int | None) -> int | None:
    """When a broker's log says that the log start moved, where its zone is known."""
    at, logs = model.logs.at(row) if row is not None else None, model.logs
    return None if row is None or logs.path(row) in logs.without_zone else at


def expired_by(model: CaptureModel, moved: int | None) -> Retention | None:
    """What deleted the segments below a log start that a line tells, None where no line says it."""
    if moved is None:
        return None
    logs = model.logs
    rows = [
        row
        for row in logs.of_kind(EventKind.segment_expired).tolist()
        if _place(logs, row) == _place(logs, moved) and abs(int(logs.times[row] - logs.times[moved])) <= AT_ONCE_MS
    ]
    if (
        not rows
        or (setting := logs.string(rows[0], "api")) is None
        or (value := logs.number(rows[0], "number")) is None
    ):
        return None
    by_records = logs.string(rows[0], "detail") == BY_RECORDS
    time = Duration(value) if setting == MS else None
    return Retention(setting, Count(value), time, by_records, event_refs(model, rows, 2))


def sole_replica(model: CaptureModel, log_extent: LogExtent) -> Refs:
    """The line that shows that a partition has one replica; nothing where none does, or something tells of more."""
    logs, here = model.logs, (log_extent.topic, log_extent.partition)
    registered = [row for row in logs.of_kind(EventKind.partition_registered).tolist() if _is_about(logs, row, here)]
    if not registered or not all(_is_one(logs, row) for row in registered):
        return ()
    told = (row for row in logs.of_kind(*REPLICAS).tolist() if _place(logs, row) == here)
    if any("," in (logs.string(row, "detail") or "") for row in told):
        return ()
    return event_refs(model, registered[-1:])


def _place(logs: LogModel, row: int) -> tuple[str | None, int | None]:
    return logs.string(row, "topic"), logs.number(row, "partition")


def _is_about(logs: LogModel, row: int, here: tuple[str, int]) -> bool:
    """Whether a line is about a partition, or about one of its topic that it does not number."""
    topic, number = _place(logs, row)
    return topic == here[0] and number in (None, here[1])


def _is_one(logs: LogModel, row: int) -> bool:
    """Whether a line registers a numbered partition with one replica."""
    return logs.number(row, "partition") is not None and (logs.string(row, "detail") or ",").count(",") == 0


ANOTHER_REPLICA = left_open(
    "whether another replica still has them",
    "replicas delete by themselves, and no directory tells how many there are",
    decided_by="kafka-topics --describe --topic {partition.topic} for the number of replicas, and the log start "
    "offset of the leader's copy",
    unless="is_unseen is_sole",
)
KEEP = remedy(
    pick(
        "is_dated_back",
        {
            True: "Prevent it: let records have the time at which they are written (message.timestamp.type="
            "LogAppendTime), or set their timestamps right. {retention.setting} ({retention.time}) deleted them by "
            "their own timestamps, which are older than that"
        },
        pick(
            "is_early",
            {
                True: "Prevent it: let the topic keep more than is written while the longest transaction is open, or "
                "make transactions shorter",
                False: "Prevent it, if readers came too late: let the topic keep records for longer",
            },
            "Let the topic keep (retention.ms, retention.bytes) more than is written while the longest transaction is "
            "open, or make transactions shorter",
        ),
    ),
    "topic",
    config=pick("is_dated_back", {True: "message.timestamp.type"}, "{retention.setting}"),
    current=pick("is_dated_back", {True: "CreateTime"}, "{retention.value:plain}"),
    proposed=pick("is_dated_back", {True: "LogAppendTime"}, "a larger value"),
)
"""What keeps records for as long as somebody needs them."""
