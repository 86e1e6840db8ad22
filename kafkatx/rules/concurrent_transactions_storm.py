"""A transactional.id was answered CONCURRENT_TRANSACTIONS over and over.

Mechanism    While a transaction is decided and its markers are being written, the coordinator answers the id's next
             request with CONCURRENT_TRANSACTIONS, and the client asks again (after 20 ms for the first partition, else
             after retry.backoff.ms). A few times for each transaction is normal; it becomes a storm where markers take
             long (many partitions, a slow or lost broker), or where initTransactions is called in a loop.
Evidence     twenty of these answers or more within a minute for one id (brokers name them at DEBUG, librdkafka as a
             warning; Java clients never do, at DEBUG they repeat the same InitProducerId or EndTxn request); or the
             times from Prepare* to Complete* of an id: the slowest twentieth above a second and ten times its median;
             a client that gave up after retries that met this error (librdkafka, KafkaJS, sarama name it).
Against      single retries, and the back-to-back transactions of transactions v2.
Look-alikes  one slow transaction behind a lost broker (stuck_prepare, coordinator_unavailable); requests repeated
             because the coordinator was loading or moved.
Remedy       where an id is stuck in Prepare*, bring the missing partitions back; else fewer partitions in a
             transaction, larger transactions, and the slow broker looked after.
Source       TransactionCoordinator.handleInitProducerId, TransactionManager (retryBackoffMs), KIP-98 (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.conditions import coordinator_of, same_id
from kafkatx.findings.one_failure import known_as, left
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.rules.storms.given_up import GIVEN_UP_WORDS, given_up
from kafkatx.rules.storms.in_rows import ROW_WORDS, often_slow, slow_in_rows
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.transaction_states import PREPARED, state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import latest_row
from kafkatx.words.explanation import Phrase, Words, included, left_open, measure, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Remedies
from kafkatx.words.remedies import larger_transactions
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Refs, facts

MANY, WITHIN_MS = 20, 60_000
FEW, CLOSE_MS = 3, 1_000
"""Answers, and how close they follow each other, where the client gave up with that error in the end."""
NAMED = "CONCURRENT_TRANSACTIONS"
REPEATED = ("INITPRODUCERID", "ENDTXN")
"""Requests that a healthy client sends once at a time; AddPartitionsToTxn comes once for each new partition."""
ENDS = (EventKind.producer_id_set, EventKind.commit_called, EventKind.begin_called, EventKind.abort_called)
"""What shows that something was achieved between two requests."""


@dataclass(frozen=True, slots=True)
class Storm:
    """A minute or more of these answers (`is_named`), or of requests repeated that nobody explains.

    `failed` are lines of a client that gave up with this error, where the answers alone are too few.
    """

    transactional_id: str
    rows: tuple[int, ...]
    count: int
    is_named: bool
    failed: tuple[int, ...] = ()


@facts
class StormInLines:
    """A storm that lines tell.

    `state` and `since` are of the id's latest row where it waits for markers, `request` what was repeated where no line
    names the error, `gave_up` the lines of a call that ran into max.block.ms. `before` are those until the first call
    failed, `after` those that came later.
    """

    id: str
    count: Count
    lasted: Duration
    before: Count
    lasted_before: Duration
    after: Count | None
    is_named: bool
    request: str
    state: str | None
    since: Instant | None
    latest: Refs
    lines: Refs
    gave_up: Refs
    failed: Refs
    larger: Remedies

    @property
    def is_unexplained(self) -> bool:
        """Whether nothing tells which error was answered."""
        return not self.is_named and self.state is None


@facts
class AskedOften:
    """How many answers or requests there were in how much time."""

    count: Count
    time: Duration


def find(model: CaptureModel) -> Found:
    """One case for each id: from lines where they are many enough, else from the times of its rows."""
    storms: dict[str, Storm] = {}
    for storm in (*_named(model), *_repeated(model)):
        known = storms.get(storm.transactional_id)
        if known is None or (storm.is_named, storm.count) > (known.is_named, known.count):
            storms[storm.transactional_id] = storm
    for name in sorted(storms):
        yield _from_lines(model, storms[name])
    yield from given_up(model, storms)
    for code in often_slow(model).tolist():
        if model.transactional_id(code) not in storms:
            yield from slow_in_rows(model, code)


def _named(model: CaptureModel) -> Iterator[Storm]:
    """Answers that name the error, by id."""
    logs = model.logs
    kinds = (EventKind.concurrent_transactions, EventKind.init_refused, EventKind.add_refused, EventKind.end_refused)
    groups: dict[str, list[int]] = {}
    for row in logs.of_kind(*kinds).tolist():
        name, error = logs.string(row, "transactional_id"), error_code(logs.string(row, "error") or NAMED)
        if name is not None and logs.times[row] >= 0 and error is ErrorCode.CONCURRENT_TRANSACTIONS:
            groups.setdefault(name, []).append(row)
    for name, rows in groups.items():
        yield from _storms(model, name, rows, is_named=True)


def _repeated(model: CaptureModel) -> Iterator[Storm]:
    """The same request queued again and again by one client, with nothing achieved in between."""
    for client in model.logs.clients:
        if client.transactional_id is not None:
            for run in _runs(model.logs, client):
                yield from _storms(model, client.transactional_id, run, is_named=False)


def _runs(logs: LogModel, client: ClientInstance) -> Iterator[list[int]]:
    """Lines of one request after the other, until another one is queued or something was achieved."""
    run: list[int] = []
    current = None
    for row in client.rows:
        kind = logs.kind(row)
        api = _request(logs, row).upper().replace("_", "") if kind is EventKind.request_enqueued else None
        if kind in ENDS or api not in (None, current):
            yield run
            run = []
        if api in REPEATED and logs.times[row] >= 0:
            run.append(row)
            current = api
    yield run


def _request(logs: LogModel, row: int) -> str:
    return logs.string(row, "api") or ""


def _storms(model: CaptureModel, name: str, rows: list[int], is_named: bool) -> Iterator[Storm]:
    """The stretch in which each line lies among MANY within a minute; lines that stand for several count so often."""
    if not rows:
        return
    logs = model.logs
    order = np.array(sorted(rows, key=lambda row: (logs.times[row], row)))
    repeats = logs.events["repeats"][order].clip(min=0).astype(np.int64) if is_named else np.zeros(len(order), np.int64)
    times, weights = logs.times[order], 1 + repeats
    sums = np.concatenate([[0], np.cumsum(weights)])
    inside = sums[np.searchsorted(times, times + WITHIN_MS, "right")] - sums[: len(times)]
    busy = np.flatnonzero(inside >= MANY)
    if not len(busy):
        is_close = len(order) >= FEW and int(np.diff(times).max(initial=0)) <= CLOSE_MS
        failed = _failed(model, name) if is_named and is_close else ()
        if failed:
            yield Storm(name, tuple(order.tolist()), int(sums[-1]), is_named, failed)
        return
    end = int(np.searchsorted(times, times[busy[-1]] + WITHIN_MS, "right"))
    first = int(busy[0])
    yield Storm(name, tuple(order[first:end].tolist()), int(sums[end] - sums[first]), is_named)


def _failed(model: CaptureModel, name: str) -> tuple[int, ...]:
    """Lines of a client of that id, or of nobody, that gave up with this error."""
    meant = (told for told in left(model) if known_as(told, NAMED) and told.transactional_id in (name, None))
    return tuple(row for told in meant if not told.is_brokers for row in told.rows)


def _from_lines(model: CaptureModel, storm: Storm) -> Case:
    logs, name = model.logs, storm.transactional_id
    since, until = int(logs.times[storm.rows[0]]), int(logs.times[storm.rows[-1]])
    stuck, gave_up = _prepared(model, name, until), _gave_up(model, name, since, until)
    before = _until_failure(logs, storm, [*gave_up, *storm.failed])
    measured = ASKED_OFTEN.of(AskedOften(Count(storm.count), Duration(until - since)))
    return Case(
        facts=StormInLines(
            id=name,
            count=Count(storm.count),
            lasted=Duration(until - since),
            before=Count(_counted(logs, storm, before)),
            lasted_before=Duration(int(logs.times[before[-1]]) - since),
            after=Count(storm.count - _counted(logs, storm, before)) or None,
            is_named=storm.is_named,
            request=(_request(logs, storm.rows[0]) or "a transactional request").removesuffix("Data"),
            state=state_name(int(stuck["state"])) if stuck is not None else None,
            since=Instant(stuck["timestamp"]) if stuck is not None else None,
            latest=(latest_row(stuck),) if stuck is not None else (),
            lines=event_refs(model, storm.rows),
            gave_up=event_refs(model, gave_up, 2),
            failed=event_refs(model, storm.failed, 2),
            larger=larger_transactions(advised(model, name), None, measured) if stuck is None else (),
        ),
        verdict=_verdict(storm, stuck is not None),
        severity=Severity.error
        if storm.failed or (gave_up and (storm.is_named or stuck is not None))
        else Severity.warning,
        transactional_id=name,
        since=since,
        until=until,
    )


def _until_failure(logs: LogModel, storm: Storm, failed: list[int]) -> tuple[int, ...]:
    """Its lines up to the first call that failed; all of them where none did, or nothing tells when."""
    first = min((at for row in failed if (at := logs.at(row)) is not None), default=None)
    before = tuple(row for row in storm.rows if first is None or int(logs.times[row]) <= first)
    return before or storm.rows


def _counted(logs: LogModel, storm: Storm, rows: tuple[int, ...]) -> int:
    """How many answers or requests these lines of it stand for."""
    repeats = logs.events["repeats"][np.array(rows)].clip(min=0).astype(np.int64)
    return len(rows) + (int(repeats.sum()) if storm.is_named else 0)


def _verdict(storm: Storm, is_stuck: bool) -> Verdict:
    if storm.is_named:
        return Verdict.likely if storm.failed else Verdict.proved
    return Verdict.likely if is_stuck else Verdict.possible


def _prepared(model: CaptureModel, name: str, until: int) -> Array | None:
    """The id's latest row if it waits for markers since before the storm's end: then that is what was answered."""
    latest = model.latest_of(model.id_code(name))
    if latest is None or int(latest["state"]) not in PREPARED:
        return None
    return latest if int(latest["timestamp"]) <= until + BROKERS_TOLERANCE_MS else None


def _gave_up(model: CaptureModel, name: str, since: int, until: int) -> list[int]:
    """Lines in which a call of the id ran into max.block.ms in that time."""
    logs = model.logs
    own = {row for client in logs.clients_of(name) for row in client.rows}
    return [
        row
        for row in logs.of_kind(EventKind.await_timeout).tolist()
        if (row in own or logs.string(row, "transactional_id") == name)
        and logs.times[row] >= 0
        and int(logs.times[row]) >= since
        and int(logs.times[row]) - max(0, int(logs.events["number"][row])) <= until
    ]


RATE = f"{{count:time}}, at least {MANY} within a minute"
ASKED_OFTEN = Phrase(AskedOften, measure("{count} answers or requests in {time}"))
ANSWERED = "{id} was answered CONCURRENT_TRANSACTIONS {before:time} in {lasted_before}"
REPEATED_IT = "The client of {id} sent {request} {before:time} in {lasted_before}"
MORE = "[, and {after:time} after that]."
SAID = "The coordinator[ {perhaps}] answered CONCURRENT_TRANSACTIONS"
LINE_WORDS = Words(
    StormInLines,
    title=pick("is_named", {True: "CONCURRENT_TRANSACTIONS answered {count:time}"}, "{request} sent {count:time}"),
    summary=(
        pick("is_named", {True: ANSWERED}, REPEATED_IT),
        pick(
            "failed",
            {(): pick("gave_up", {(): "."}, f", until the call timed out{MORE}")},
            f", until it[ {{perhaps}}] gave up{MORE}",
        ),
        pick("is_named", {True: "[ Its transaction stood in {state}.]"}, f" {SAID}[: {{id}} stood in {{state}}]."),
    ),
    steps=(
        step("{id} stood in {state} since {since}", "its latest record in __transaction_state", cites="latest"),
        step(
            pick(
                "failed",
                {(): f"The coordinator answered CONCURRENT_TRANSACTIONS {RATE}; a few for each transaction are normal"},
                "The coordinator answered CONCURRENT_TRANSACTIONS {count:time} in {lasted}",
            ),
            cites="lines",
            needs="is_named",
        ),
        step("The client gave up with that error", cites="failed", needs="failed"),
        step(
            f"The client sent {{request}} again and again: {RATE}",
            pick(
                "state",
                {None: "no success in between; Java clients do not log the error that they are answered"},
                "in {state} such a request is answered CONCURRENT_TRANSACTIONS, which Java clients do not log",
            ),
            cites="lines",
            unless="is_named",
        ),
        step("The call timed out after max.block.ms", cites="gave_up", needs="gave_up"),
    ),
    considered=(
        left_open(
            "coordinator_unavailable",
            "a coordinator that loads or moves makes clients repeat requests too",
            decided_by="the latest record of {id} in __transaction_state, or the coordinator's server.log",
            needs="is_unexplained",
        ),
        left_open(
            "an answer of another kind",
            "the error itself stands in no line",
            decided_by="the request log of the coordinator (kafka-request.log) in that time",
            needs="state",
            unless="is_named",
        ),
        left_open(
            "another reason to give up",
            "so few of these answers are normal",
            decided_by="the client's whole log",
            needs="perhaps failed",
        ),
        ruled_out(
            "coordinator_unavailable",
            "the coordinator had already written {state}",
            cites="latest",
            needs="state",
        ),
    ),
    remedies=(
        remedy(
            text="Bring back the partitions whose markers are missing (leader, in-sync replicas); a restart of the "
            "application does not help",
            where="operator",
            needs="state",
        ),
        remedy(
            text="Look up the state of the transaction of {id}. PrepareCommit or PrepareAbort: it waits for markers, "
            "bring back the partitions that it lists. Another state or no answer: look for what keeps its coordinator "
            "busy or away",
            where="operator",
            command="kafka-transactions.sh --bootstrap-server HOST:PORT describe --transactional-id {id}",
            needs="is_unexplained",
        ),
        included("larger"),
    ),
)

RULE = Rule(
    find=find,
    words=(LINE_WORDS, ROW_WORDS, GIVEN_UP_WORDS),
    depth=4,
    caused_by=(("stuck_prepare", same_id), ("coordinator_unavailable", coordinator_of)),
)
