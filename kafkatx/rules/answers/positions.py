"""Readers that stand still before the end of the log, as tools print their positions.

A position that does not move while the log's end does is a symptom, never a proof: a consumer may be stuck for reasons
of its own. It tells more where the same group goes on in another partition whose lag stays at one, which is the marker
behind the last record of a transaction: the topic is written in transactions, and the consumer is alive. kcat tells it
by itself: with read_committed the end of a partition is the last stable offset, and -Q asks for the log end. Where both
are printed together (statistics, one's own prints), a last stable offset that stands, or at which a reader stands, is
an open transaction by definition.
A lag that stays at one, or is small, is no symptom. A group without members is nobody who waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.client_lines import only, place_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.terms.clocks import MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, TopicPartition, facts

GROUP, COMMITTED, UNCOMMITTED, LATEST = "consumer group", "read_committed", "read_uncommitted", "log end"
STABLE, READ_UP_TO = "last stable offset", "last stable offset, where a reader stands"
LATE = "PartitionsWithLateTransactionsCount"
READS_UNCOMMITTED, STOOD = "reads_uncommitted", "stood"
LEAST_BEHIND = 1_000
"""Offsets behind which a last stable offset is at any moment on a busy partition, and more."""
Key = tuple[str | None, str | None, int | None]
Prints = dict[Key, list[int]]
"""Rows of a group, topic and partition."""
Told = tuple[TopicPartition, int | None, int, list[int], Verdict, str]
"""Partition, position (None: not told), records behind it, rows, verdict, which kind of sign it is."""


@facts
class StandsFacts:
    """A reader's position, or the last stable offset, before the end of the log; `sign` is what tells it.

    `group` is the reader's where it is one's; `read` are words of the text by which a reader with read_uncommitted gets
    the records that the others wait for, `stood_told` those by which it stood there `stood` later.
    """

    partition: TopicPartition
    offset: int | None
    behind: Count
    sign: str
    told: Refs
    group: str | None = None
    read: Refs = ()
    stood: Duration | None = None
    stood_told: Refs = ()

    @property
    def is_overdue(self) -> bool:
        """Whether it stands for longer than brokers let any transaction be open, unless they were told to."""
        return self.stood is not None and self.stood >= MAX_TRANSACTION_TIMEOUT_MS

    @property
    def named(self) -> TopicPartition | None:
        """The partition, where the answer names it: only then can a command be."""
        return self.partition if self.partition.partition >= 0 else None


def blocked_told(model: CaptureModel) -> Iterator[Case]:
    """One case a partition whose readers stand still by what tools print."""
    logs = model.logs
    for place, offset, behind, rows, verdict, sign in (
        *_groups(logs), *_ends(logs), *_stable(logs), *_reads(logs), *_metrics(logs), *_growing(logs)
    ):  # fmt: skip
        group = only(name for row in rows if (name := logs.string(row, "group")))
        path = logs.path(rows[0])
        stood = [one for one in statements_of(logs, path) if one.name == STOOD and one.lasted_ms > 0][:1]
        told = StandsFacts(
            place,
            offset,
            Count(behind),
            sign,
            event_refs(model, rows),
            group,
            _read(logs, path),
            Duration(stood[0].lasted_ms) if stood else None,
            testimony_refs(path, stood),
        )
        yield Case(
            facts=told,
            verdict=verdict,
            severity=Severity.info if sign == "once" else Severity.error if told.is_overdue else Severity.warning,
            topic=place.topic if place.partition >= 0 else None,
            partition=place.partition if place.partition >= 0 else None,
            first_offset=offset,
        )


def _read(logs: LogModel, path: str) -> Refs:
    """Where the text says that a reader with read_uncommitted goes on."""
    said = [one for one in statements_of(logs, path) if one.name == READS_UNCOMMITTED]
    return testimony_refs(path, said[:1])


def _groups(logs: LogModel) -> Iterator[Told]:
    """Groups that were printed twice: a position that stands while the end goes on.

    In one print a partition may as well be read at this moment: it is worth knowing where the group stands behind
    markers elsewhere in the topic.
    """
    prints: Prints = {}
    for row in logs.of_kind(EventKind.position_told).tolist():
        if logs.string(row, "detail") == GROUP:
            key = logs.string(row, "group"), logs.string(row, "topic"), logs.number(row, "partition")
            prints.setdefault(key, []).append(row)
    alive = {key[0] for key, rows in prints.items() if _goes_on_behind_markers(logs, rows)}
    for key, rows in prints.items():
        offsets = {logs.number(row, "offset") for row in rows}
        ends = [logs.number(row, "number") or 0 for row in rows]
        offset = logs.number(rows[0], "offset") or 0
        if len(rows) > 1 and len(offsets) == 1 and ends[-1] > ends[0] > offset + 1:
            verdict = Verdict.likely if key[0] in alive else Verdict.possible
            yield place_of(logs, rows[0]), offset, ends[-1] - offset, rows, verdict, "group"
        elif (
            len(rows) == 1 and ends[0] > offset + 1 and any(one[:2] == key[:2] for one in _behind_markers(logs, prints))
        ):
            yield place_of(logs, rows[0]), offset, ends[0] - offset, rows, Verdict.possible, "once"


def _behind_markers(logs: LogModel, prints: Prints) -> list[Key]:
    """What a group has read up to a marker: one offset below the end."""
    return [
        key
        for key, rows in prints.items()
        if all((logs.number(row, "number") or 0) - (logs.number(row, "offset") or 0) == 1 for row in rows)
    ]


def _goes_on_behind_markers(logs: LogModel, rows: list[int]) -> bool:
    """Whether a group reads on in a partition and is one behind its end each time: behind a marker."""
    lags = {(logs.number(row, "number") or 0) - (logs.number(row, "offset") or 0) for row in rows}
    return lags == {1} and len({logs.number(row, "offset") for row in rows}) > 1


def _ends(logs: LogModel) -> Iterator[Told]:
    """Kcat's end of a partition for read_committed, and the log end that it was told for the same one."""
    rows = logs.of_kind(EventKind.position_told).tolist()
    latest = {place_of(logs, row): row for row in rows if logs.string(row, "detail") == LATEST}
    for row in rows:
        place = place_of(logs, row)
        if logs.string(row, "detail") != COMMITTED or place not in latest:
            continue
        offset, end = logs.number(row, "offset") or 0, logs.number(latest[place], "number") or 0
        if end > offset:
            yield place, offset, end - offset, [row, latest[place]], Verdict.likely, "end"


def _stable(logs: LogModel) -> Iterator[Told]:
    """Last stable offsets that stand while the log goes on, or where a reader stands.

    One print of an offset below the log end is every day's: some transaction is open at any moment.
    """
    prints: dict[TopicPartition, list[int]] = {}
    for row in logs.of_kind(EventKind.position_told).tolist():
        if logs.string(row, "detail") in (STABLE, READ_UP_TO):
            prints.setdefault(place_of(logs, row), []).append(row)
    for place, rows in prints.items():
        offset, ends = logs.number(rows[-1], "offset") or 0, [logs.number(row, "number") or 0 for row in rows]
        stands = [row for row in rows if logs.number(row, "offset") == offset]
        goes_on = len(stands) > 1 and len(stands) == len(rows) and ends[-1] > ends[0] >= offset
        is_read = logs.string(rows[-1], "detail") == READ_UP_TO
        if ends[-1] > offset + 1 and (goes_on or is_read):
            yield place, offset, ends[-1] - offset, rows, Verdict.likely, "stable" if goes_on else "reader"


def _reads(logs: LogModel) -> Iterator[Told]:
    """Two console consumers of one partition: what one of them reads the other one does not.

    Aborted records look the same, so it is no more than possible.
    """
    rows = logs.of_kind(EventKind.records_read).tolist()
    everything = {place_of(logs, row): row for row in rows if logs.string(row, "detail") == UNCOMMITTED}
    for row in rows:
        place = place_of(logs, row)
        if logs.string(row, "detail") != COMMITTED or place not in everything:
            continue
        read, there = logs.number(row, "number") or 0, logs.number(everything[place], "number") or 0
        if read == 0 < there:
            yield place, None, there, [row, everything[place]], Verdict.possible, "read"


def _metrics(logs: LogModel) -> Iterator[Told]:
    """Transactions that a broker itself calls late, with how far last stable offsets are behind."""
    rows = logs.of_kind(EventKind.stable_offset_behind).tolist()
    late = [row for row in rows if logs.string(row, "detail") == LATE]
    lags = [row for row in rows if row not in late]
    if late:
        worst = max(lags, key=lambda row: logs.number(row, "number") or 0, default=late[0])
        behind = (logs.number(worst, "number") or 0) if lags else 0
        yield place_of(logs, worst), None, behind, [*late, *lags], Verdict.possible, "late"


def _growing(logs: LogModel) -> Iterator[Told]:
    """A last stable offset that is further behind at each print: with three the chance of traffic is small."""
    prints: dict[TopicPartition, list[int]] = {}
    rows = logs.of_kind(EventKind.stable_offset_behind).tolist()
    if any(logs.string(row, "detail") == LATE for row in rows):
        return
    for row in rows:
        prints.setdefault(place_of(logs, row), []).append(row)
    for place, rows in prints.items():
        lags = [logs.number(row, "number") or 0 for row in rows]
        if len(rows) > 1 and lags[0] >= LEAST_BEHIND and all(one < other for one, other in pairwise(lags)):
            yield place, None, lags[-1], rows, Verdict.likely if len(rows) > 2 else Verdict.possible, "lag"


SEEN = {
    "group": "The group stood at offset {offset} at each print while the log grew: {behind:record} behind it at the "
    "last one",
    "once": "The group stood {behind:record} before the end, at offset {offset}; elsewhere it was behind markers",
    "end": "A read_committed reader met the end at offset {offset}; the log goes on for {behind:offset} more",
    "stable": "The last stable offset stood at {offset} while the log went on to {behind:offset} behind it",
    "reader": "A reader stands at the last stable offset, {offset}; the log goes on for {behind:offset} more",
    "read": "A read_uncommitted reader got {behind:record}, a read_committed one none",
    "lag": "The last stable offset was further behind at each print, {behind:offset} at the last one",
    "late": "A broker has transactions that are open for longer than transaction.max.timeout.ms and 5 min",
}
POSITION_WORDS = Words(
    StandsFacts,
    title=pick("group", {None: "stand still[ at offset {offset}]"}, "stands still in {partition}[ at offset {offset}]"),
    who=pick("group", {None: "readers of {partition}"}, "group {group}"),
    summary=(
        "read_committed readers of {partition}[ (group {group})] are[ {perhaps}] blocked",
        pick(
            "offset",
            {None: " by a transaction that has not ended."},
            " at offset {offset} by a transaction that has not ended; the log goes on for {behind:offset} behind it.",
        ),
    ),
    steps=(
        step(pick("sign", SEEN, SEEN["late"]), cites="told"),
        step(
            (
                "The text says that it stood there {stood} later",
                pick("is_overdue", {True: ": no transaction may be open for longer than 15 min by default"}, ""),
            ),
            cites="stood_told",
            needs="stood",
        ),
    ),
    considered=(
        left_open(
            "records that were all aborted",
            "read_committed skips those, and there is nothing to wait for",
            decided_by="a record that is written there now (a reader that is not blocked gets it)",
            unless="offset",
        ),
        left_open(
            "a consumer that is stuck for reasons of its own",
            "a position alone does not tell why it stands",
            decided_by="a console consumer with read_uncommitted from that offset on, if it reads on at once,",
            needs="offset",
            unless="read",
        ),
        ruled_out(
            "a consumer that is stuck for reasons of its own",
            "the text says that a reader with read_uncommitted gets the records there",
            cites="read",
            needs="offset read",
        ),
    ),
    remedies=(
        remedy(
            "Ask which producer holds the last stable offset, and since when (the lowest "
            "CurrentTransactionStartOffset); do not abort it before its coordinator was asked",
            "operator",
            command="kafka-transactions.sh --bootstrap-server HOST:PORT describe-producers --topic {named.topic} "
            "--partition {named.partition}",
        ),
        remedy(
            "Ask whether its coordinator will end it: what find-hanging lists stays open until somebody aborts it",
            "operator",
            command="kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging --topic {named.topic} "
            "--partition {named.partition}",
        ),
    ),
)
