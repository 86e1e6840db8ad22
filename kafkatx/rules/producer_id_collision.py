"""Producer ids were given out a second time: two producers may have the same one.

Mechanism    Brokers take producer ids in blocks of 1000, each once. A restored metadata log, a migration from
             ZooKeeper, or merged clusters can give a block out again. Two producers with one id refuse each other's
             sequences and epochs wherever they write to the same partition.
Evidence     the broker's "Producer ID block is not monotonic with current block"; "Next Producer ID from replayed
             record ... is not greater" of a controller. In `__transaction_state`: records of two transactional.ids with
             one producer id, written in the same time. Grants of one producer id to two transactional.ids, or of one
             epoch of it to two clients.
Against      a new producer id of the same transactional.id, which is a rotation or an expiry; records of one id that
             end before those of the other begin (a cluster that was made anew, or another cluster).
Look-alikes  transactional_id_expired, producer_epoch_exhausted (a new producer id for one id); evidence of two
             clusters.
Remedy       upgrade the brokers and controllers; restart producers with ids of that block, so that they get new ones.
Source       ProducerIdManager, RPCProducerIdManager, ProducerIdControlManager (3.0 to 4.3); KAFKA-15552.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.finding import Subject
from kafkatx.findings.grants import BLOCK, Granted, Series, series
from kafkatx.findings.one_failure import known_as, left
from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import latest_row
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Duration, JoinedValues, NameList, Refs, facts

REFUSED = ("OUT_OF_ORDER_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH", "DUPLICATE_SEQUENCE_NUMBER", "PRODUCER_FENCED")
"""What producers that share an id are answered where they meet."""


_KNOWN = np.dtype([("producer_id", "i8"), ("id_code", "i4"), ("at", "i8")])


@facts
class GrantedTwice:
    """A producer id that two were given, and how the later one was refused."""

    producer_id: int
    owners: JoinedValues[str]
    between: Duration | None
    grants: Refs
    refusals: Refs


@facts
class Shared:
    """Transactional.ids whose records carry one producer id in the same time; `latest` is the latest of each."""

    producer_id: int
    ids: NameList
    latest: Refs

    @property
    def count(self) -> Count:
        """How many ids."""
        return Count(len(self.ids))


def find(model: CaptureModel) -> Found:
    """One case for all lines that tell of a block that went backwards; then each producer id of several owners."""
    yield from _told(model)
    yield from _of_records(model)


def _of_records(model: CaptureModel) -> Iterator[Case]:
    """One case for each producer id that records of several transactional.ids carry."""
    several = _of_several(model)
    known = _known(model, several) if len(several) else np.zeros(0, _KNOWN)
    for producer_id in several.tolist():
        mine = known[known["producer_id"] == producer_id]
        spans = {int(code): mine["at"][mine["id_code"] == code] for code in distinct(mine["id_code"])}
        first, last = max(times.min() for times in spans.values()), min(times.max() for times in spans.values())
        if first <= last:  # each of them was in use while the others were
            yield _carried(model, producer_id, list(spans), int(first), int(mine["at"].max()))


def _of_several(model: CaptureModel) -> Array:
    """Producer ids that records of more than one transactional.id carry; one sort, whatever the number of records."""
    tables = (model.latest, model.initialisations, model.transactions)
    numbers = np.concatenate([table["producer_id"] for table in tables])
    codes = np.concatenate([table["id_code"] for table in tables])
    order = np.argsort(numbers, kind="stable")
    numbers, codes = numbers[order], codes[order]
    first = np.flatnonzero(np.r_[True, np.diff(numbers) != 0]) if len(numbers) else np.zeros(0, np.int64)
    if not len(first):
        return numbers
    is_several = np.minimum.reduceat(codes, first) != np.maximum.reduceat(codes, first)
    found: Array = numbers[first[is_several & (numbers[first] >= 0)]]
    return found


def _known(model: CaptureModel, several: Array) -> Array:
    """Producer id, transactional.id and time of what records tell of some producer ids."""
    parts = []
    for table, names in (
        (model.latest, ("timestamp",)),
        (model.initialisations, ("timestamp",)),
        (model.transactions, ("begin_timestamp", "decision_timestamp", "completion_timestamp")),
    ):
        for name in names:
            rows = table[np.isin(table["producer_id"], several) & (table[name] >= 0)]
            part = np.zeros(len(rows), _KNOWN)
            part["producer_id"], part["id_code"], part["at"] = rows["producer_id"], rows["id_code"], rows[name]
            parts.append(part)
    return np.concatenate(parts)


def _carried(model: CaptureModel, producer_id: int, codes: list[int], since: int, until: int) -> Case:
    latest = [row for code in codes if (row := model.latest_of(code)) is not None]
    names = [model.transactional_id(code) for code in codes]
    return Case(
        facts=Shared(producer_id, NameList(names), tuple(latest_row(row) for row in latest)),
        verdict=Verdict.likely,
        severity=Severity.error,
        producer_id=producer_id,
        since=since,
        until=until,
        count=len(codes),
        subjects=tuple(Subject(name, producer_id) for name in names[:3]),
    )


def _told(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    for subject, mine in by_producer(logs, logs.of_kind(EventKind.ids_went_back).tolist()):
        yield case_of(model, subject, mine, Verdict.likely, Severity.error, by_broker=True)
    yield from _granted_twice(model)


def _granted_twice(model: CaptureModel) -> Iterator[Case]:
    """Producer ids that two ids, or two clients without one, were given; what is refused then makes it likely.

    The first ids of a cluster are the same in all clusters, and a text may hold lines of two of them.
    """
    refusals = [row for told in left(model) if known_as(told, *REFUSED) for row in told.rows]
    for producer_id, owners in _owners(series(model)).items():
        for one, other in pairwise(owners) if producer_id >= BLOCK else ():
            if (shared := _shared(one, other, producer_id)) is not None:
                yield _case(model, (one, other), shared, refusals)


def _owners(found: list[Series]) -> dict[int, list[Series]]:
    """Who was given each producer id."""
    owners: dict[int, list[Series]] = {}
    for one in found:
        for producer_id in dict.fromkeys(grant.producer_id for grant in one.all):
            owners.setdefault(producer_id, []).append(one)
    return owners


def _shared(one: Series, other: Series, producer_id: int) -> tuple[Granted, Granted] | None:
    """Grants of a producer id to both: to two named ids, or one and the same epoch to two clients of other names."""
    are_named = one.transactional_id is not None and other.transactional_id is not None
    is_apart = are_named or (one.client_id != other.client_id and None not in (one.client_id, other.client_id))
    mine, its = ([grant for grant in which.all if grant.producer_id == producer_id] for which in (one, other))
    same = ((grant, rival) for grant in mine for rival in its if are_named or grant.epoch == rival.epoch)
    return next(same, None) if is_apart else None


def _case(
    model: CaptureModel, both: tuple[Series, Series], shared: tuple[Granted, Granted], refusals: list[int]
) -> Case:
    logs, rows = model.logs, [one.row for one in shared]
    between = logs.lasted(*rows)
    since, until = times_of(logs, [*rows, *refusals])
    return Case(
        facts=GrantedTwice(
            producer_id=shared[0].producer_id,
            owners=JoinedValues([one.transactional_id or one.client_id or "" for one in both]),
            between=lasting(abs(between)) if between is not None else None,
            grants=event_refs(model, rows),
            refusals=event_refs(model, refusals, 3),
        ),
        verdict=Verdict.likely if refusals else Verdict.possible,
        severity=Severity.error if refusals else Severity.warning,
        producer_id=shared[0].producer_id,
        since=since,
        until=until,
        subjects=tuple(Subject(one.transactional_id, shared[0].producer_id) for one in both),
    )


GRANTED_WORDS = Words(
    GrantedTwice,
    title="one producer id given to two producers",
    summary="Producer id {producer_id} was given to {owners: and }[ within {between}]. A cluster gives each id once: "
    "[{perhaps} ]a block of ids was handed out again.",
    steps=(
        step("Both were given producer id {producer_id}", cites="grants"),
        step("One of them was refused where they met", cites="refusals", needs="refusals"),
    ),
    considered=(
        ruled_out("fenced_by_new_instance", "the two are not instances of one transactional.id"),
        left_open(
            "two clusters",
            "each cluster counts its producer ids by itself",
            decided_by="the bootstrap addresses of both, and cluster.id in meta.properties",
        ),
    ),
    remedies=(
        remedy(
            "Find out whether the metadata log was restored or migrated, and upgrade controllers and brokers",
            "operator",
        ),
        remedy("Restart both producers, so that they get new ids", "application"),
    ),
)


WORDS = Words(
    RefusedWrites,
    title="producer ids given out twice",
    summary="A block of producer ids was given out that lies below the one in use:[ {perhaps}] two producers have the "
    "same id, and refuse each other where they meet.",
    steps=(step("The broker, or the controller, met a block that it had passed", cites="lines"),),
    considered=(
        left_open(
            "a block that nobody took before",
            "the line alone does not tell who has ids of that block",
            decided_by="producer ids of that block in __transaction_state and in the logs of data",
        ),
    ),
    remedies=(
        remedy(
            "Find out whether the metadata log was restored or migrated, and upgrade controllers and brokers",
            "operator",
        ),
        remedy("Restart producers whose ids lie in that block, so that they get new ones", "application"),
    ),
)

WORDS_OF_RECORDS = Words(
    Shared,
    title="one producer id of {count} transactional.ids",
    summary="{ids:3}[ {perhaps}] have the same producer id {producer_id} at the same time: they refuse each other's "
    "sequences and epochs where they write to the same partition, and a marker of one ends the other's data.",
    steps=(
        step(
            "__transaction_state has records of {count} ids with producer id {producer_id}",
            "a producer id is given out once",
            cites="latest",
        ),
    ),
    considered=(
        ruled_out("transactional_id_expired", "what an expired id had is never given to another"),
        left_open(
            "records of two clusters in one text",
            "each cluster counts its producer ids from 0",
            decided_by="cluster.id of the brokers that they were read from",
        ),
    ),
    remedies=(
        remedy("Stop the producers of {ids:3}, and start them once they get new producer ids", "application"),
        remedy(
            "Find out whether the metadata log was restored or migrated, and upgrade controllers and brokers",
            "operator",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS, GRANTED_WORDS, WORDS_OF_RECORDS), depth=1)
