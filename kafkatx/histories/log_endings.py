"""Who ended transactions of which no row is at hand, by what logs alone show: decided once, for all rules.

Grain: one end of one transactional.id. In this order: the coordinator's rollback line (it names the timeout, and is
proof); a takeover (histories/logs/fencings.py); an abort that a client's log shows and nothing refused; a client
that was refused and nobody tells why: then the time that its transaction had been open at least is held against its
timeout, and where even that is not known the end is the one that fits better, with the other as its alternative. Ids
that the coordinator's rows know are left to the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.begins import has_begun
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.connection_failures import downs
from kafkatx.histories.logs.fencings import Excluded, fencings, grants, timeout_of
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.observers import ConnectionFailure
from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.testimony import statements_of, testimony, told_timeout
from kafkatx.histories.logs.told_ages import told_age
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.terms.catalogue.frameworks import commits_at_once, is_of_one_process
from kafkatx.terms.clocks import (
    CLIENT_TOLERANCE_MS,
    MAX_BLOCK_MS,
    MAX_TRANSACTION_TIMEOUT_MS,
    REQUEST_TIMEOUT_MS,
    STREAMS_TIMEOUT_MS,
    TRANSACTION_TIMEOUT_MS,
)
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from kafkatx.text.prose.statements import LEFT_OUT

REFUSED_WITHIN_MS = 5_000
"""How long after its line an abort can still turn out to be refused: a lost answer and a retry (as RETRY_WINDOW_MS);
what fails later may be of the next transaction."""
STOOD_STILL_MS = 5_000
"""The shortest timeout that people set; who gave no sign for less was refused at work, which fits a new instance."""
_COMMIT = "EndTxn(true)"


def log_endings(model: CaptureModel) -> tuple[LogEnding, ...]:
    """Every end that logs show and no row knows, by id and time; `model` has those of rows and data."""
    found: list[LogEnding] = []
    stretches = downs(model.logs).seen
    used = set(model.ends.witnesses.rollback[: len(model.transactions)].tolist())
    for name in names_of(model.logs):
        rolled_back = list(_rolled_back(model, name, used))
        if _has_rows(model, name):
            found += rolled_back
            continue
        taken = list(_taken_over(model.logs, name))
        ended = [*rolled_back, *taken]
        ended += list(_aborted(model.logs, name, ended))
        found += ended or _refused(model.logs, name, stretches)
    known = _in_data(model) if found else []
    alone = (ending for ending in found if not any(name == ending.name and _is_near(ending, at) for name, at in known))
    return tuple(sorted(alone, key=lambda ending: (ending.name, ending.at)))


def _in_data(model: CaptureModel) -> list[tuple[str, int]]:
    """Ids and markers of aborted data that logs named and the data's own finding tells: one abort, one owner."""
    ends, found = model.ends, list[tuple[str, int]]()
    for number in ends.numbers(ToldBy.data):
        span = model.spans[ends.span(number)]
        if ends.ended_by[number] != EndedBy.unknown:
            names = model.logs.named_by(ends.witnesses.rows_of(number).values())
            found += [(name, int(span["marker_timestamp"])) for name in names]
    return found


def _is_near(ending: LogEnding, marker_at: int) -> bool:
    """Whether a marker can be of this end: a broker that doesn't answer is sent it again after request.timeout.ms."""
    return marker_at >= 0 and -CLIENT_TOLERANCE_MS <= marker_at - ending.at <= REQUEST_TIMEOUT_MS


def names_of(logs: LogModel) -> list[str]:
    """Transactional ids that clients' lines or the coordinator's name."""
    kinds = (EventKind.initialized, EventKind.timeout_rollback)
    codes = set(logs.events["transactional_id_code"][logs.of_kind(*kinds)].tolist()) - {-1}
    clients = {client.transactional_id for client in logs.clients} - {None}
    return sorted({logs.facts.strings[code] for code in codes} | {name for name in clients if name is not None})


def _has_rows(model: CaptureModel, name: str) -> bool:
    """Whether the coordinator's rows know an id: then they decide, and logs are their witnesses."""
    return model.latest_of(model.id_code(name)) is not None


def _rolled_back(model: CaptureModel, name: str, used: set[int]) -> Iterator[LogEnding]:
    logs, granted = model.logs, grants(model.logs, name)
    for row in logs.about(name, EventKind.timeout_rollback).tolist():
        at = int(logs.times[row])
        if row in used or at < 0:
            continue
        before = [grant for grant in granted if grant.at <= at + CLIENT_TOLERANCE_MS]
        last = max(before, key=lambda grant: grant.at, default=None)
        client = last.client if last is not None else _only_client(logs, name, at)
        timeout, is_known = timeout_of(logs, name, client)
        failures = _refused_after(client, at) if client is not None else ()
        yield LogEnding(
            name, EndedBy.timeout, Verdict.proved, at, (row,), at - timeout if is_known else None,
            last.producer_id if last is not None else None, last.producer_epoch if last is not None else None,
            client, failures,
        )  # fmt: skip


def _only_client(logs: LogModel, name: str, at: int) -> ClientInstance | None:
    alive = [
        client
        for client in logs.clients_of(name)
        if not client.is_consumer and client.since is not None and client.since <= at + CLIENT_TOLERANCE_MS
    ]
    return alive[-1] if alive else None


def _refused_after(client: ClientInstance, at: int) -> tuple[Failure, ...]:
    return tuple(
        failure
        for failure in client.failures
        if failure.at is not None and failure.at >= at - CLIENT_TOLERANCE_MS and failure.category != "retriable"
    )


def _taken_over(logs: LogModel, name: str) -> Iterator[LogEnding]:
    for taken in fencings(logs, name):
        producer_id = taken.old.producer_id if taken.old.producer_id >= 0 else None
        epoch = taken.old.producer_epoch if taken.old.producer_epoch >= 0 else None
        rows = tuple(dict.fromkeys((taken.old.row, taken.new.row, *taken.refusals)))
        failures = taken.old_client.failures if taken.old_client is not None else ()
        yield LogEnding(
            name, EndedBy.new_instance, taken.verdict, taken.new.at, rows, None, producer_id, epoch, taken.old_client,
            tuple(failure for failure in failures if failure.row in taken.refusals), taken,
        )  # fmt: skip


def _aborted(logs: LogModel, name: str, ended: list[LogEnding]) -> Iterator[LogEnding]:
    """Aborts that a client's log shows, that nothing refused, and that no other end forestalled."""
    for client in logs.clients_of(name):
        for row in client.rows:
            if logs.kind(row) not in (EventKind.abort_called, EventKind.abort_on_close) or logs.times[row] < 0:
                continue
            at = int(logs.times[row])
            if _is_refused(logs, client, row, at) or _is_over(client, at, ended):
                continue
            yield _of_client(name, client, at, (row,))


def _of_client(name: str, client: ClientInstance, at: int, rows: tuple[int, ...]) -> LogEnding:
    """An end that a client's log shows, of what it had been given then: likely its own abort."""
    given = client.given_by(at)
    ending = LogEnding(name, EndedBy.client, Verdict.likely, at, rows, client=client)
    if given is None:
        return ending
    return replace(ending, producer_id=given.producer_id, producer_epoch=given.producer_epoch)


def _is_refused(logs: LogModel, client: ClientInstance, row: int, at: int) -> bool:
    """Whether an abort failed, or could not have worked: the state was fatal, or a commit was still on its way."""
    given = client.given_by(at)
    since = given.at if given is not None and given.at is not None else -1
    if any(_was_fatal(failure, since, at) or _refuses(failure, row, at) for failure in client.failures):
        return True
    return _fails_namelessly(logs, client.source, at) or _awaits_commit(logs, client, row, since)


def _was_fatal(failure: Failure, since: int, at: int) -> bool:
    """Whether a failure left the producer unusable for an abort."""
    return failure.category == "fatal" and since <= (failure.at if failure.at is not None else -1) <= at


def _refuses(failure: Failure, row: int, at: int) -> bool:
    """Whether a failure is the answer to an abort."""
    fails = failure.call == "abortTransaction" or failure.category == "fatal" or failure.error in FENCED
    return fails and failure.at is not None and at <= failure.at <= at + REFUSED_WITHIN_MS and failure.row > row


def _awaits_commit(logs: LogModel, client: ClientInstance, row: int, since: int) -> bool:
    """Whether a commit was given up before a line, and may still have come through."""
    waits = [other for other in client.rows if other < row and logs.kind(other) is EventKind.await_timeout]
    return any(logs.string(other, "api") in (_COMMIT, None) and logs.times[other] >= since for other in waits)


def _fails_namelessly(logs: LogModel, source: int, at: int) -> bool:
    """Whether an abort failed right after in a line that nobody can be given: of processes that share one file."""
    return any(at <= when <= at + REFUSED_WITHIN_MS for when in _nameless_failures(logs).get(source, ()))


@once
def _nameless_failures(logs: LogModel) -> dict[int, list[int]]:
    """Times at which an abort failed in a line that nobody can be given, by source."""
    named = {row for client in logs.clients if client.transactional_id is not None for row in client.rows}
    found: dict[int, list[int]] = {}
    for row in logs.of_kind(EventKind.failure).tolist():
        trace = logs.trace(row)
        calls = (*(trace.calls if trace is not None else ()), logs.string(row, "api"))
        if row not in named and "abortTransaction" in calls:
            found.setdefault(int(logs.events["source"][row]), []).append(int(logs.times[row]))
    return found


def _is_over(client: ClientInstance, at: int, ended: list[LogEnding]) -> bool:
    """Whether somebody else had ended what the client had open, and it was given nothing since."""
    for other in ended:
        since = other.at - CLIENT_TOLERANCE_MS
        again = any(one.at is not None and other.at < one.at <= at for one in client.initialisations)
        same = other.client is None or other.client.number == client.number
        if same and since <= at and not again:
            return True
    return False


def _refused(logs: LogModel, name: str, stretches: list[ConnectionFailure]) -> Iterator[LogEnding]:
    """Clients that were refused as too old, and no log says why: by how long their transaction had been open.

    Where that is open, an id that one process alone can know is left to findings/private_ids.py.
    """
    for client in logs.clients_of(name):
        refusals = tuple(one for one in client.failures if one.error in FENCED and one.at is not None)
        if refusals:
            first = refusals[0]
            at, rows = first.at or 0, first.rows or (first.row,)
            aged = told_age(logs, first.row)
            began = at - aged.age_ms if aged and aged.is_over else _began(logs, client, at, stretches)
            ending = replace(_of_client(name, client, at, rows), began=began, failures=refusals)
            ended = _reading(logs, client, ending)
            if ended.verdict > Verdict.possible or not is_of_one_process(name):
                yield ended


def _reading(logs: LogModel, client: ClientInstance, ending: LogEnding) -> LogEnding:
    """Who ended what a refused client had open: the timeout or a new instance.

    What people say beside the lines decides where no line does. Where nothing excludes either, one end is told and
    the other one is its alternative: a refusal has one cause. The client's own words name a newer producer, so it
    is a new instance, unless the client had been silent for its timeout or longer and nobody else is seen with its
    id meanwhile: a transaction that stood still so long fits a timeout. Of a client whose timeout nothing tells, one
    that stood still for some seconds may have had a shorter one than the default: neither end is excluded.
    """
    timeout, is_known = timeout_of(logs, ending.name, client)
    if not is_known and (said := told_timeout(logs, logs.path(ending.rows[0]))) is not None:
        timeout, is_known = said, True
    if ending.began is not None and ending.at - ending.began >= timeout:
        return replace(ending, ended_by=EndedBy.timeout)
    silent_since = _silent_since(logs, client, ending)
    stood_still = not is_known and silent_since is not None and ending.at - silent_since >= STOOD_STILL_MS
    too_soon = _is_too_soon(logs, client, ending.at, timeout if is_known else _half_of_default(client))
    if too_soon and not stood_still:
        by = Excluded.BY_TIME if is_known else Excluded.BY_DEFAULT
        return replace(ending, ended_by=EndedBy.new_instance, excluded=by)
    if commits_at_once(ending.name, client.client_id):
        return replace(ending, ended_by=EndedBy.new_instance, excluded=Excluded.BY_USE)
    if (told := testimony(logs, ending.rows[0], timeout)) is not None and told.is_enough:
        return replace(ending, ended_by=told.ended_by, told=told)
    is_long = silent_since is not None and ending.at - silent_since >= timeout
    if is_long and _is_alone(logs, client, ending) and not _is_abridged(logs, client, ending):
        return replace(ending, ended_by=EndedBy.timeout, verdict=Verdict.possible, silent_since=silent_since)
    return replace(ending, ended_by=EndedBy.new_instance, verdict=Verdict.possible)


def _silent_since(logs: LogModel, client: ClientInstance, ending: LogEnding) -> int | None:
    """When a client gave its last sign before it was refused."""
    times = [int(logs.times[row]) for row in client.rows if row not in ending.rows]
    return max((at for at in times if 0 <= at < ending.at), default=None)


def _is_abridged(logs: LogModel, client: ClientInstance, ending: LogEnding) -> bool:
    """Whether lines were left out of the page between a client's last sign and its refusal: it may have given more."""
    refused, path = ending.rows[0], logs.path(ending.rows[0])
    line_of, until = logs.events["line"], int(logs.events["line"][refused])
    signs = [int(line_of[row]) for row in client.rows if row not in ending.rows and logs.path(row) == path]
    since = max((line for line in signs if line < until), default=0)
    return any(one.name == LEFT_OUT and since < one.line < until for one in statements_of(logs, path))


def _is_alone(logs: LogModel, client: ClientInstance, ending: LogEnding) -> bool:
    """Whether nobody else is seen with the id from a client's last grant to its refusal."""
    given = client.given_by(ending.at)
    since = (given.at if given is not None else client.since) or 0
    others = [one for one in logs.clients_of(ending.name) if one.number != client.number and not one.is_consumer]
    lives = [(one.since, one.until) for one in others if one.since is not None and one.until is not None]
    lives += [(one.at, one.at) for one in grants(logs, ending.name) if one.client is None and one.at > since]
    return not any(begin <= ending.at and since <= end for begin, end in lives)


def _half_of_default(client: ClientInstance) -> int:
    """What no transaction can be over of a client whose timeout nothing tells: half of the default."""
    is_streams = "StreamThread" in (client.client_id or "")
    return (STREAMS_TIMEOUT_MS if is_streams else TRANSACTION_TIMEOUT_MS) // 2


def _is_too_soon(logs: LogModel, client: ClientInstance, at: int, timeout: int) -> bool:
    """Whether no transaction could have timed out: the client was given its epoch less than the timeout before."""
    given = client.given_by(at)
    is_young = given is not None and at - (given.at or 0) < timeout
    return is_young and not any(logs.kind(row) is EventKind.init_bump for row in client.rows)


def _began(logs: LogModel, client: ClientInstance, at: int, stretches: list[ConnectionFailure]) -> int | None:
    """When a transaction that ended at `at` had begun at the latest: by what was sent, waited for, or begun in it.

    What was given up longer ago than a call blocks (max.block.ms) is another transaction's, and none stays open longer
    than transaction.max.timeout.ms.
    """
    begun = [int(logs.times[row]) for row in client.rows if has_begun(logs, row)]
    earlier = [time for time in begun if 0 <= time <= at]
    if earlier:
        return earlier[-1]
    given = client.given_by(at)
    earliest = max(at - MAX_TRANSACTION_TIMEOUT_MS, given.at or 0 if given is not None else 0)
    signs = [*_waits(logs, client), *_unreachable(client, stretches)]
    return min((since for since, until in signs if earliest <= since <= at <= until + MAX_BLOCK_MS), default=None)


def _waits(logs: LogModel, client: ClientInstance) -> Iterator[tuple[int, int]]:
    """What a client waited for in vain: since when, and when it gave up."""
    for row in client.rows:
        if logs.kind(row) in (EventKind.batch_expired, EventKind.await_timeout) and logs.times[row] >= 0:
            at = int(logs.times[row])
            yield at - max(0, int(logs.events["number"][row])), at


def _unreachable(client: ClientInstance, stretches: list[ConnectionFailure]) -> Iterator[tuple[int, int]]:
    """Stretches in which a client could not reach a broker."""
    mine = set(client.rows)
    yield from ((down.since, down.until) for down in stretches if not mine.isdisjoint(down.rows))
