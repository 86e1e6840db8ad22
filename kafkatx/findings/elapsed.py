"""Refusals of an old epoch whose lines name no transactional.id or no date: timeout or new instance, by the time alone.

A coordinator refuses the producer of a transaction past its timeout and that of a replaced instance by one error.
Where the same text shows when the transaction began (or when somebody was last given the id), and names no more than
one id, the time between decides: at or above the timeout it fits the timeout, at or below half of it no timeout can
have passed. Between the two time tells nothing (findings/told_by_people.py may). Without a printed timeout the
default counts (60 s; Kafka Streams 10 s), and excludes a timeout only within the few seconds that
nobody sets one below. Where a framework that takes a transaction up again names its age and its
timeout (Flink, after a restore), these decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from kafkatx.findings.ends import SAME_ERROR
from kafkatx.findings.one_failure import Alike, FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.log_endings import STOOD_STILL_MS
from kafkatx.histories.logs.begins import begins
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import told_timeout
from kafkatx.histories.logs.told_ages import ToldAge, told_age
from kafkatx.terms.clocks import DAY_MS, STREAMS_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS
from kafkatx.terms.error_codes import FENCED, error_code
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ConsideredWords, left_open, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Duration, Refs

OF_TRANSACTION = ("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "Produce")
"""Requests that are sent within a transaction."""
HOUR_MS = 3_600_000
GRANTS = (EventKind.producer_id_set, EventKind.initialized, EventKind.init_returned)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFacts(FailureFacts):
    """A refusal, how long before it the transaction began (or the id was granted), and the timeout it is held against.

    `is_set`: somebody says the timeout, else it is the default; `is_held`: `start` is the line of a request of the
    transaction that had been in flight since.
    """

    age: Duration
    timeout: Duration
    is_set: bool
    began: bool
    start: Refs
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """A refusal and who ended its transaction, by the time alone."""

    found: Alike
    ended_by: EndedBy
    facts: TimeFacts


def decided(model: CaptureModel) -> Iterator[Decided]:
    """Yield the refusals that no id is named for, and that the time decides."""
    logs = model.logs
    for found in alike(model, lambda told: is_unplaced(logs, told)):
        names = _named_before(logs, found.first.rows[0])
        if len(names) > 1:
            return
        if (one := _decided(model, found, next(iter(names), None))) is not None:
            yield one


def is_unplaced(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a refusal is one that no end of a transaction can be told of, since its id or its date is missing."""
    if told.is_brokers or (told.transactional_id is not None and logs.at(told.rows[0]) is not None):
        return False
    known = told.known.name if told.known is not None else told.error
    return error_code(known) in FENCED or error_code(told.error) in FENCED


def _named_before(logs: LogModel, refusal: int) -> set[str]:
    """Transactional ids that lines before a refusal name, two of several; those of unknown order count as well."""
    names: set[str] = set()
    for row in np.flatnonzero(logs.events["transactional_id_code"] >= 0).tolist():
        name = logs.string(row, "transactional_id")
        if name and name not in names and not logs.is_before(refusal, row):
            names.add(name)
            if len(names) > 1:
                break
    return names


def _decided(model: CaptureModel, found: Alike, name: str | None) -> Decided | None:
    logs, told = model.logs, found.first
    aged = told_age(logs, told.rows[0])
    if aged is not None and aged.is_over:
        return _by_age(model, found, aged)
    if (held := _held(model, found)) is not None:
        return held
    starts = _before(logs, told.rows[0]) or _by_clock(logs, told.rows[0], timeout_of_refusal(logs, told, name)[0])
    if not starts:
        return None
    age, start = min(starts, key=lambda one: (one[0], -one[1]))
    has_begun = logs.kind(start) not in GRANTS
    timeout, is_set = timeout_of_refusal(logs, told, name)
    if age >= timeout and has_begun:
        ended_by = EndedBy.timeout
    elif 2 * age <= timeout and not len(logs.of_kind(EventKind.init_bump)) and (is_set or age < STOOD_STILL_MS):
        ended_by = EndedBy.new_instance
    else:
        return None
    told_facts = TimeFacts(
        **failure_facts(model, found),
        age=Duration(age),
        timeout=Duration(timeout),
        is_set=is_set,
        began=has_begun,
        start=event_refs(model, [start]),
    )
    return Decided(found, ended_by, told_facts)


def _by_age(model: CaptureModel, found: Alike, told: ToldAge) -> Decided:
    """The refusal of a transaction whose framework had named an age past its timeout."""
    told_facts = TimeFacts(
        **failure_facts(model, found),
        age=Duration(told.age_ms),
        timeout=Duration(told.timeout_ms),
        is_set=True,
        began=True,
        start=event_refs(model, [told.row]),
    )
    return Decided(found, EndedBy.timeout, told_facts)


def _held(model: CaptureModel, found: Alike) -> Decided | None:
    """Decide by a request of the transaction that had been in flight for longer than the timeout."""
    logs, told = model.logs, found.first
    timeout, is_set = timeout_of_refusal(logs, told, None)
    for row in logs.of_kind(EventKind.request_timed_out).tolist():
        waited, since = logs.number(row, "number"), logs.lasted(row, told.rows[0])
        is_of_it = (logs.string(row, "api") or "") in OF_TRANSACTION
        if is_of_it and waited is not None and timeout <= waited and since is not None and since >= 0:
            told_facts = TimeFacts(
                **failure_facts(model, found),
                age=Duration(since + waited),
                timeout=Duration(timeout),
                is_set=is_set,
                began=False,
                start=event_refs(model, [row]),
                is_held=True,
            )
            return Decided(found, EndedBy.timeout, told_facts)
    return None


def _before(logs: LogModel, refusal: int) -> list[tuple[int, int]]:
    """Lines that tell of a begin or a grant at or before a refusal, in whatever text, each behind its age."""
    grants = [row for row in logs.of_kind(*GRANTS).tolist() if not _is_own_bump(logs, row)]
    rows = [*begins(logs), *grants]
    ages = ((logs.lasted(row, refusal), row) for row in rows)
    return [(age, row) for age, row in ages if age is not None and age >= 0]


def _by_clock(logs: LogModel, refusal: int, timeout: int) -> list[tuple[int, int]]:
    """Begins that print a time of day, before a refusal in seconds since 1970, behind the age they have at least.

    Read as UTC they are less than an hour apart; in any other zone the transaction was older by that. So it tells that
    a timeout had passed, never that none had.
    """
    at, found = logs.at(refusal), list[tuple[int, int]]()
    for row in logs.of_kind(EventKind.begin_called).tolist():
        of_day = logs.number(row, "of_day")
        if at is not None and of_day is not None and logs.at(row) is None and logs.path(row) == logs.path(refusal):
            found.append(((at - of_day) % DAY_MS, row))
    nearest = min(found, default=None)
    return [nearest] if nearest is not None and timeout <= nearest[0] < HOUR_MS else []


def _is_own_bump(logs: LogModel, row: int) -> bool:
    """Whether a client raised its epoch itself (idempotent, librdkafka): nobody granted it."""
    return logs.kind(row) is EventKind.producer_id_set and "bumped" in (logs.string(row, "detail") or "")


def timeout_of_refusal(logs: LogModel, told: ToldFailure, name: str | None) -> tuple[int, bool]:
    """The transaction.timeout.ms that a refusal is held against, and whether somebody says it."""
    found = logs.settings.value("producer", "transaction.timeout.ms", told.client or name)
    if found.is_known and found.number:
        return found.number, True
    if (said := told_timeout(logs, logs.path(told.rows[0]))) is not None:
        return said, True
    is_streams = any("StreamThread" in (logs.string(row, "thread") or "") for row in told.rows)
    return STREAMS_TIMEOUT_MS if is_streams else TRANSACTION_TIMEOUT_MS, False


def decided_cases(model: CaptureModel, ended_by: EndedBy, kind: type[TimeFacts]) -> Iterator[Case]:
    """Yield the cases of one of both rules; a time alone makes it likely, never proved."""
    for one in decided(model):
        if one.ended_by is ended_by:
            told = kind(**{field.name: getattr(one.facts, field.name) for field in fields(TimeFacts)})
            yield failure_case(model, one.found, told, Verdict.likely, Severity.error)


TIME_STEPS = (
    step("The transaction began", cites="start", needs="began"),
    step("The transactional.id was granted", cites="start", unless="began is_held"),
    step("A request of the transaction had no answer for so long", cites="start", needs="is_held"),
    step("{age} later the client was refused: its epoch was stale", cites="lines"),
)
WHO_DECIDES = "the coordinator's log, or the records of the id in __transaction_state"


def seen_alike(other: str) -> ConsideredWords:
    """Return another mechanism as one that is left open: who was refused is told the same by both."""
    return left_open(other, SAME_ERROR, decided_by=WHO_DECIDES)


OTHER = seen_alike("an abort by an operator")
