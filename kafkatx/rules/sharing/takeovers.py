"""Two owners of one id as the coordinator's grants show them: each newcomer found a transaction open.

InitProducerId that finds a transaction open aborts it under the next epoch, answers CONCURRENT_TRANSACTIONS, and grants
the epoch after that: from grant to grant the epoch rises by two. An instance that crashes and starts again leaves the
same, but not within a second. Evenly within seconds it may: some of what restarts a process waits longer each time (a
pod's back-off), some does not (systemd's RestartSec), so that is possible only, unless an owner was refused. So does,
under transactions v2, an instance that committed once and was closed in good order: every end raises the epoch there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.grants import Granted, series
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.fencings import V2_SINCE
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.sharing.owners import CRASH_LOOP, SENT_AGAIN, TOO_SOON_MS, count_instances, id_of_its_own, refusals
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import AtLeast, Count, Duration, Refs, facts

FEWEST = 3
"""Take-overs in a row, each of an open transaction."""
EVEN_MS = 15_000
"""A process that is restarted starts within that time, at most a few times; then what restarts it waits longer."""
GROWTH = 2
"""How much longer than the first pause the last one may be where nobody waits longer each time."""


@facts
class TakeOverFacts:
    """Grants of one producer id, `count` of them take-overs of an open transaction.

    `busy` answered newcomers first, `refused` are owners that were told of it.
    """

    id: str
    producer_id: int
    count: Count
    lasted: Duration
    is_instant: bool
    lines: Refs
    busy: Refs
    refused: Refs

    @property
    def is_alive(self) -> bool:
        """Whether something shows that owners lived when they lost the id."""
        return self.is_instant or bool(self.refused)


def in_take_overs(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that the coordinator granted again and again while a transaction was open."""
    for one in series(model):
        name = one.transactional_id
        if name is None or hands_ids_on(model, name):
            continue
        for grants in _runs(model.logs, name, one.pairs()):
            if _is_instant(model.logs, name, grants) or _is_even(model.logs, grants):
                yield _case(model, name, grants)
                break


def _runs(logs: LogModel, name: str, pairs: Iterator[tuple[Granted, Granted]]) -> Iterator[list[Granted]]:
    """Grants in a row each of which took over an open transaction, by the coordinator's own lines."""
    for is_taken, run in groupby(pairs, key=lambda pair: _takes_over(logs, name, *pair)):
        if is_taken:
            found = list(run)
            yield [found[0][0], *(new for _, new in found)]


def _takes_over(logs: LogModel, name: str, old: Granted, new: Granted) -> bool:
    if old.producer_id != new.producer_id or new.epoch != old.epoch + 2:
        return False
    if logs.kind(new.row) is not EventKind.initialized or _was_closed(logs, name, old, new):
        return False
    if _may_be_v2(logs, name) and not _are_between(logs, _busy(logs, name), old, new):
        return False
    return not _are_between(logs, logs.about(name, EventKind.timeout_rollback).tolist(), old, new)


def _may_be_v2(logs: LogModel, name: str) -> bool:
    """Whether logs name releases, and none too old for transactions v2: there a commit raises the epoch as well."""
    releases = [logs.settings.release, *(client.release for client in logs.clients_of(name))]
    known = [release for release in releases if release]
    return bool(known) and all(release[:2] >= V2_SINCE for release in known)


def _are_between(logs: LogModel, rows: list[int], old: Granted, new: Granted) -> bool:
    """Whether a line stands between two grants."""
    return any(logs.is_before(old.row, row) and logs.is_before(row, new.row) for row in rows)


def _was_closed(logs: LogModel, name: str, old: Granted, new: Granted) -> bool:
    """Whether an owner's log shows that it closed before the next one came: then nothing was left open."""
    closed = [client.closed_at for client in logs.clients_of(name)]
    if old.at is None or new.at is None:
        return False
    return any(at is not None and old.at <= at <= new.at + CLIENT_TOLERANCE_MS for at in closed)


def _is_instant(logs: LogModel, name: str, grants: list[Granted]) -> bool:
    """Whether newcomers came within a second of each other, and the first of them was told of an open transaction."""
    pauses, busy = _pauses(logs, grants), _busy(logs, name)
    is_told = len(busy) > 1 and any(logs.is_before(row, grants[0].row) for row in busy)
    return is_told and bool(pauses) and max(pauses) <= TOO_SOON_MS


def _is_even(logs: LogModel, grants: list[Granted]) -> bool:
    """Whether take-overs came faster, and more evenly, than an instance that is restarted each time would."""
    pauses = _pauses(logs, grants)
    return len(pauses) >= FEWEST and max(pauses) <= EVEN_MS and pauses[-1] <= GROWTH * pauses[0]


def _pauses(logs: LogModel, grants: list[Granted]) -> list[int]:
    """Times from grant to grant; nothing where one is not known."""
    pauses = [logs.lasted(old.row, new.row) for old, new in pairwise(grants)]
    return [pause for pause in pauses if pause is not None] if None not in pauses else []


def _refused(model: CaptureModel, name: str, grants: list[int]) -> list[int]:
    """Refusals of old owners that name this id, or none beside its grants in one text."""
    logs, told = model.logs, refusals(model)
    beside = {logs.path(row) for row in grants}
    nameless = (row for row in told if logs.transactional_id(row) is None and logs.path(row) in beside)
    return [*(row for row in told if logs.transactional_id(row) == name), *nameless]


def _busy(logs: LogModel, name: str) -> list[int]:
    """Answers CONCURRENT_TRANSACTIONS to InitProducerId of an id."""
    rows = logs.about(name, EventKind.concurrent_transactions).tolist()
    return [row for row in rows if logs.string(row, "api") == "InitProducerId"]


def _case(model: CaptureModel, name: str, grants: list[Granted]) -> Case:
    rows = [one.row for one in grants]
    since, until = times_of(model.logs, rows)
    is_instant = _is_instant(model.logs, name, grants)
    facts = TakeOverFacts(
        id=name,
        producer_id=grants[0].producer_id,
        count=AtLeast(len(grants) - 1) if is_instant else Count(len(grants) - 1),
        lasted=Duration(model.logs.lasted(rows[0], rows[-1]) or 0),
        is_instant=is_instant,
        lines=event_refs(model, rows, 5),
        busy=event_refs(model, _busy(model.logs, name), 3),
        refused=event_refs(model, _refused(model, name, rows), 2),
    )
    return Case(
        facts=facts,
        verdict=Verdict.likely if facts.is_alive else Verdict.possible,
        severity=Severity.error if facts.is_alive else Severity.warning,
        transactional_id=name,
        producer_id=grants[0].producer_id,
        since=since,
        until=until,
        count=len(grants) - 1,
    )


TAKE_OVER_WORDS = Words(
    TakeOverFacts,
    title="taken over again and again",
    summary=pick(
        "is_alive",
        {
            True: "New producers took {id} over while a transaction was open, {count:time} within {lasted}. At least "
            "two producers[ {perhaps}] use the id at the same time."
        },
        "New producers took {id} over while a transaction was open, {count:time} within {lasted}. Either two "
        "producers use the id at the same time, or one fails in its transaction and starts again.",
    ),
    steps=(
        step(
            "New producers found a transaction open, or another one on its way to the id",
            "the coordinator answered CONCURRENT_TRANSACTIONS to InitProducerId",
            cites="busy",
            needs="busy",
        ),
        step(
            "Each new producer was granted an epoch two above the one before",
            "one of the two is the abort",
            cites="lines",
        ),
        step("Owners before them were refused", cites="refused", needs="refused"),
    ),
    considered=(
        ruled_out("transaction_timed_out", "the coordinator's log has no rollback in between"),
        ruled_out(CRASH_LOOP, "no process restarts within {lasted}", needs="is_instant"),
        left_open(
            "one process that makes one producer after the other",
            "the coordinator's log does not name who initialised",
            decided_by="the logs of all instances of {id}",
            needs="is_instant",
        ),
        left_open(
            CRASH_LOOP,
            "an instance that fails in its transaction and starts at once leaves the same",
            decided_by="the hosts and process ids of the instances of {id}",
            unless="is_instant",
        ),
    ),
    remedies=(id_of_its_own(needs="is_alive"), count_instances(unless="is_alive"), SENT_AGAIN),
)
