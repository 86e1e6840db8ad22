"""Who ended transactions of which no row is at hand, by what logs alone show: decided once, for all rules.

Grain: one end of one transactional.id. In this order: the coordinator's rollback line (it names the timeout, and is
proof); a takeover (histories/logs/takeovers.py); an abort that a client's log shows and nothing refused; a client
that was refused and nobody tells why: then the time that its transaction had been open at least is held against its
timeout, and where even that is not known both readings are possible. Ids that the coordinator's rows know are left to
the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.downs import downs
from kafkatx.histories.logs.observers import Down
from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.story import ClientInstance, Failure, LogStory
from kafkatx.histories.logs.takeovers import Excluded, grants, takeovers, timeout_of
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict

REFUSED_WITHIN_MS = 5_000
"""How long after its line an abort can still turn out to be refused."""
MARKER_MS = 20_000
"""Markers come up to 17 s after the line of their rollback."""
PENDING_MS = 600_000
"""A transaction that is retried goes back no further than this without another sign."""
_COMMIT = "EndTxn(true)"


def log_endings(story: Story) -> tuple[LogEnding, ...]:
    """Every end that logs show and no row knows, by id and time; `story` has those of rows and data."""
    found: list[LogEnding] = []
    stretches = downs(story.logs).seen
    used = set(story.ends.witnesses.rollback[: len(story.transactions)].tolist())
    for name in names_of(story.logs):
        rolled_back = list(_rolled_back(story, name, used))
        if _has_rows(story, name):
            found += rolled_back
            continue
        taken = list(_taken_over(story.logs, name))
        ended = [*rolled_back, *taken]
        ended += list(_aborted(story.logs, name, ended))
        found += ended or _refused(story.logs, name, stretches)
    known = _in_data(story) if found else []
    alone = (ending for ending in found if not any(name == ending.name and _is_near(ending, at) for name, at in known))
    return tuple(sorted(alone, key=lambda ending: (ending.name, ending.at)))


def _in_data(story: Story) -> list[tuple[str, int]]:
    """Ids and markers of aborted data that logs named and the data's own finding tells: one abort, one owner."""
    ends, found = story.ends, list[tuple[str, int]]()
    for number in ends.numbers(ToldBy.data):
        span = story.spans[ends.span(number)]
        if ends.ended_by[number] != EndedBy.unknown:
            names = story.logs.named_by(ends.witnesses.rows_of(number).values())
            found += [(name, int(span["marker_timestamp"])) for name in names]
    return found


def _is_near(ending: LogEnding, marker_at: int) -> bool:
    """Whether a marker can be of this end: it is written some time after a rollback's line."""
    return marker_at >= 0 and -CLIENT_TOLERANCE_MS <= marker_at - ending.at <= MARKER_MS


def names_of(logs: LogStory) -> list[str]:
    """Transactional ids that clients' lines or the coordinator's name."""
    kinds = (EventKind.initialized, EventKind.timeout_rollback)
    codes = set(logs.events["transactional_id_code"][logs.of_kind(*kinds)].tolist()) - {-1}
    clients = {client.transactional_id for client in logs.clients} - {None}
    return sorted({logs.facts.strings[code] for code in codes} | {name for name in clients if name is not None})


def _has_rows(story: Story, name: str) -> bool:
    """Whether the coordinator's rows know an id: then they decide, and logs are their witnesses."""
    return story.latest_of(story.id_code(name)) is not None


def _rolled_back(story: Story, name: str, used: set[int]) -> Iterator[LogEnding]:
    logs, granted = story.logs, grants(story.logs, name)
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


def _only_client(logs: LogStory, name: str, at: int) -> ClientInstance | None:
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


def _taken_over(logs: LogStory, name: str) -> Iterator[LogEnding]:
    for taken in takeovers(logs, name):
        producer_id = taken.old.producer_id if taken.old.producer_id >= 0 else None
        epoch = taken.old.producer_epoch if taken.old.producer_epoch >= 0 else None
        rows = tuple(dict.fromkeys((taken.old.row, taken.new.row, *taken.refusals)))
        failures = taken.old_client.failures if taken.old_client is not None else ()
        yield LogEnding(
            name, EndedBy.new_instance, taken.verdict, taken.new.at, rows, None, producer_id, epoch, taken.old_client,
            tuple(failure for failure in failures if failure.row in taken.refusals), taken,
        )  # fmt: skip


def _aborted(logs: LogStory, name: str, ended: list[LogEnding]) -> Iterator[LogEnding]:
    """Aborts that a client's log shows, that nothing refused, and that no other end forestalled."""
    for client in logs.clients_of(name):
        for row in client.rows:
            if logs.kind(row) not in (EventKind.abort_called, EventKind.abort_on_close) or logs.times[row] < 0:
                continue
            at = int(logs.times[row])
            if _is_refused(logs, client, row, at) or _is_over(client, at, ended):
                continue
            given = [one for one in client.initialisations if one.at is not None and one.at <= at]
            yield LogEnding(
                name, EndedBy.client, Verdict.likely, at, (row,), None,
                given[-1].producer_id if given else None, given[-1].producer_epoch if given else None, client,
            )  # fmt: skip


def _is_refused(logs: LogStory, client: ClientInstance, row: int, at: int) -> bool:
    """Whether an abort failed, or could not have worked: the state was fatal, or a commit was still on its way."""
    given = max((one.at for one in client.initialisations if one.at is not None and one.at <= at), default=-1)
    for failure in client.failures:
        when = failure.at if failure.at is not None else -1
        was_fatal = given <= when <= at and failure.category == "fatal"
        is_answer = at <= when <= at + REFUSED_WITHIN_MS and failure.row > row
        fails = failure.call == "abortTransaction" or failure.category == "fatal" or failure.error in FENCED
        if was_fatal or (is_answer and fails):
            return True
    if _fails_namelessly(logs, client.source, at):
        return True
    waits = [other for other in client.rows if other < row and logs.kind(other) is EventKind.await_timeout]
    return any(logs.string(other, "api") in (_COMMIT, None) and logs.times[other] >= given for other in waits)


def _fails_namelessly(logs: LogStory, source: int, at: int) -> bool:
    """Whether an abort failed right after in a line that nobody can be given: of processes that share one file."""
    return any(at <= when <= at + REFUSED_WITHIN_MS for when in _nameless_failures(logs).get(source, ()))


@once
def _nameless_failures(logs: LogStory) -> dict[int, list[int]]:
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


def _refused(logs: LogStory, name: str, stretches: list[Down]) -> Iterator[LogEnding]:
    """Clients that were refused as too old, and no log says why: by how long their transaction had been open."""
    for client in logs.clients_of(name):
        refusals = [failure for failure in client.failures if failure.error in FENCED and failure.at is not None]
        if not refusals or refusals[0].at is None:
            continue
        first, at = refusals[0], refusals[0].at
        began, (timeout, _) = _began(logs, client, at, stretches), timeout_of(logs, name, client)
        given = [one for one in client.initialisations if one.at is not None and one.at <= at]
        ending = LogEnding(
            name, EndedBy.timeout, Verdict.possible, at, first.rows or (first.row,), began,
            given[-1].producer_id if given else None, given[-1].producer_epoch if given else None, client,
            tuple(refusals),
        )  # fmt: skip
        if began is not None and at - began >= timeout:
            yield replace(ending, verdict=Verdict.likely)
        elif _is_too_soon(logs, name, client, at):
            fenced, excluded = EndedBy.new_instance, Excluded.BY_TIME
            yield replace(ending, ended_by=fenced, verdict=Verdict.likely, excluded=excluded)
        else:
            yield from (ending, replace(ending, ended_by=EndedBy.new_instance))


def _is_too_soon(logs: LogStory, name: str, client: ClientInstance, at: int) -> bool:
    """Whether no transaction could have timed out: the client was given its epoch less than the timeout before."""
    timeout, is_known = timeout_of(logs, name, client)
    given = [one.at for one in client.initialisations if one.at is not None and one.at <= at]
    bumped = any(logs.kind(row) is EventKind.init_bump for row in client.rows)
    return bool(given) and is_known and not bumped and at - given[-1] < timeout


def _began(logs: LogStory, client: ClientInstance, at: int, stretches: list[Down]) -> int | None:
    """When a transaction that ended at `at` had begun at the latest: by what was sent, waited for, or begun in it."""
    begun = [int(logs.times[row]) for row in client.rows if logs.kind(row) is EventKind.begin_called]
    earlier = [time for time in begun if 0 <= time <= at]
    if earlier:
        return earlier[-1]
    given = max((one.at for one in client.initialisations if one.at is not None and one.at <= at), default=-1)
    signs = [
        (int(logs.times[row]) - max(0, int(logs.events["number"][row])), int(logs.times[row]))
        for row in client.rows
        if logs.kind(row) in (EventKind.batch_expired, EventKind.await_timeout) and logs.times[row] >= 0
    ]
    mine = set(client.rows)
    signs += [(down.since, down.until) for down in stretches if mine & set(down.rows)]
    near = [since for since, until in signs if since >= given and since <= at and at - until <= REFUSED_WITHIN_MS * 12]
    return min((since for since in near if at - since <= PENDING_MS), default=None)
