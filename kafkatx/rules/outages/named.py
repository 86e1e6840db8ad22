"""Failures that name a broken connection themselves, or stand beside lines that do, and no stretch of time tells it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from kafkatx.findings.client_lines import topic_partition
from kafkatx.findings.known_defects import met_defects
from kafkatx.findings.one_failure import (
    THE_CALL,
    FailureFacts,
    alike_by,
    failure_case,
    failure_facts,
    is_of,
    left,
    says,
)
from kafkatx.findings.plain_clients import is_plain
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.rules.settings.missing_topics import is_missing
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.breaks import Break, break_in
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, facts

LOST = (
    EventKind.connection_failed, EventKind.node_disconnected, EventKind.bootstrap_disconnected,
    EventKind.request_timed_out, EventKind.request_cancelled,
)  # fmt: skip
HARD = (EventKind.connection_failed, EventKind.bootstrap_disconnected)
BEFORE_MS = 180_000
"""How long before a call gave up a lost connection is looked for: what it waits for at most, and then some."""
MOST_BEFORE = 100
"""How many lines about connections before a failure are looked at."""
OWN_COORDINATOR = frozenset({"poll", "commitSync"})


@facts
class NamedBreak(FailureFacts):
    """Calls that failed for a connection; `before` are lines of connections that were lost before.

    `is_named`: their own lines name the connection; `is_new`: a connection could not be made, `is_plain`: nothing tells
    of transactions; `expired` are records whose time was over, after `age`.
    """

    what: Break
    before: Refs
    is_named: bool
    is_new: bool
    is_plain: bool
    expired: Count | None
    age: Duration | None

    @property
    def is_refused(self) -> bool:
        """Whether a broker was there, and refused the connection."""
        return self.what is Break.credentials


def by_the_error(model: CaptureModel) -> Iterator[tuple[Case, list[int]]]:
    """One case for each client and kind of break, with the lines that it rests on."""
    for what, found in alike_by(model, lambda told: _break(model, told)):
        before = sorted({row for told in found.all for row in _lost_before(model, told)})
        is_named = any(row in _named(model) for row in found.rows)
        expired = [row for row in found.rows if model.logs.kind(row) is EventKind.batch_expired]
        shown = sorted({*before, *_moved(model, found.rows)})
        told = NamedBreak(
            **failure_facts(model, found),
            what=what,
            before=event_refs(model, shown, 4),
            is_named=is_named,
            is_new=is_named or any(model.logs.kind(row) in HARD for row in before),
            is_plain=is_plain(model, found.first),
            expired=_records(model.logs, expired),
            age=lasting(max((model.logs.number(row, "number") or 0 for row in expired), default=0) or None),
        )
        verdict = Verdict.possible if what is Break.metadata and not before else Verdict.likely
        severity = Severity.info if is_plain(model, found.first) else Severity.error
        yield failure_case(model, found, told, verdict, severity), [*found.rows, *before]


def _moved(model: CaptureModel, rows: list[int]) -> list[int]:
    """Lines before a failure that say that the leader of its partition had moved."""
    logs = model.logs
    places = {topic_partition(logs, row) for row in rows} - {None}
    retried = (row for row in logs.of_kind(EventKind.produce_retry).tolist() if row < max(rows))
    return [
        row
        for row in retried
        if topic_partition(logs, row) in places and logs.error(row) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    ]


def _records(logs: LogModel, expired: list[int]) -> Count | None:
    """How many records expired, where every line counts them."""
    counts = [logs.number(row, "offset") for row in expired]
    return Count(sum(count or 0 for count in counts)) if counts and None not in counts else None


def _break(model: CaptureModel, told: ToldFailure) -> Break | None:
    if told.is_brokers or told.call in OWN_COORDINATOR or is_missing(model.logs, told) or _is_refused(model.logs, told):
        return None
    named = _named(model)
    if any(not set(met.rows).isdisjoint(told.rows) for met in met_defects(model)):
        return None
    if (what := next((named[row] for row in told.rows if row in named), None)) is not None:
        return what
    return Break.connection if _gave_up(model.logs, told) and _lost_before(model, told) else None


def _is_refused(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the client itself refused the call, since one before has to be made again: nobody was asked."""
    said = [logs.end_given_up(row) for row in told.rows]
    return all(one is not None and one.is_refusal for one in said)


@once
def _named(model: CaptureModel) -> dict[int, Break]:
    """The breaks that lines of failures name themselves, by line."""
    said = ((row, break_in(model.logs.words(row))) for told in left(model) for row in told.rows)
    return {row: what for row, what in said if what is not None}


@once
def _lost(model: CaptureModel) -> list[int]:
    """Lines that tell of a connection that was lost or not made, in order."""
    return sorted({*model.logs.of_kind(*LOST).tolist(), *_named(model)})


def _gave_up(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a call, or a batch, ran out of its time."""
    texts = ("TimeoutException", "_TIMED_OUT", "Timed out", "timed out", "TimeoutError", "deadline exceeded")
    return says(logs, told, *texts) or is_of(logs, told, EventKind.await_timeout, EventKind.batch_expired)


def _lost_before(model: CaptureModel, told: ToldFailure) -> list[int]:
    """Lines of lost connections of the same text shortly before; one that was made again proves nothing.

    A connection that stood and was lost counts only beside a refusal, or where it is a broker's that never came back.
    """
    logs, first = model.logs, told.rows[0]
    source, at = int(logs.events["source"][first]), logs.at(told.rows[-1])
    lost = _lost(model)
    end = bisect_left(lost, first)
    rows = []
    for row in lost[max(0, end - MOST_BEFORE) : end]:
        before = logs.at(row)
        is_soon = at is None or before is None or 0 <= at - before <= BEFORE_MS
        if int(logs.events["source"][row]) == source and is_soon:
            rows.append(row)
    is_hard = any(logs.kind(row) in HARD or row in _named(model) for row in rows)
    return rows if is_hard or (rows and not _answered(logs, rows[-1], first)) else []


def _answered(logs: LogModel, lost: int, until: int) -> bool:
    """Whether the client was answered after a connection was lost."""
    kinds = (EventKind.producer_id_set, EventKind.coordinator_found, EventKind.commit_called)
    return any(lost < row < until for row in logs.of_kind(*kinds).tolist())


SEND_AGAIN = (
    "Send again what failed, unless the program does so by itself (a restarted task of Connect does): no line tells of "
    "a transaction"
)
END_AND_REPEAT = (
    "Abort the transaction if it is open, and repeat the work. A commit without an answer has to be repeated first"
)
NAMED_WORDS = Words(
    NamedBreak,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title=pick(
        "what",
        {
            Break.credentials: "brokers refused the connection's credentials",
            Break.metadata: "no metadata for the topic",
        },
        "no connection to a broker",
    ),
    summary=pick(
        "what",
        {
            Break.credentials: (
                *THE_CALL,
                " failed[ {perhaps}] for its connection: it was refused for its credentials or its certificate.",
            ),
            Break.metadata: (
                *THE_CALL,
                " got no metadata for its topic[ {perhaps}] since no broker answered; the topic may also be missing.",
            ),
        },
        pick(
            "expired",
            {
                None: (
                    *THE_CALL,
                    " failed[ {perhaps}] because the client could not reach a broker.",
                )
            },
            "{expired:record}[ for {place}] expired[ after {age}],[ {perhaps}] because the client could not reach "
            "their leader.",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step("Connections failed before", cites="before", needs="before"),
        step(
            ("The call failed", pick("count", {1: ""}, ", {count:time}")),
            pick("is_named", {True: "{what.value}, by the lines' own words"}, "it ran out of its time behind them"),
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("fenced_by_new_instance", "the client was not refused for its epoch"),
        left_open(
            "the client's own host or network",
            "a client can't see whether the broker, its host or the network was gone",
            decided_by="the logs of the brokers at that time",
        ),
    ),
    remedies=(
        remedy(
            "Check the credentials, the certificate and the listener that the client uses",
            "client",
            needs="is_refused",
        ),
        remedy(
            (
                "Find out why the broker could not be reached: process, host, network",
                pick("is_new", {True: ", or an address that clients can't resolve (advertised.listeners)"}, ""),
            ),
            "operator",
            unless="is_refused",
        ),
        remedy(
            "Restart brokers one at a time, each when all replicas are in sync again, and keep delivery.timeout.ms "
            "above the longest change of a leader",
            "operator",
            needs="expired",
        ),
        remedy(
            pick(
                "nothing_open",
                {True: "Repeat the work: no transaction of it is open"},
                pick(
                    "call",
                    {
                        "commitTransaction": "Call {called} again, with the same producer, until it returns "
                        "or fails for good. Do not abort, and do not repeat the work before its outcome is known",
                    },
                    pick("is_plain", {True: SEND_AGAIN}, END_AND_REPEAT),
                ),
            ),
            "application",
        ),
    ),
)
