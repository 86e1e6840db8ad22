"""Producer ids were given out a second time: two producers may have the same one.

Mechanism    Brokers take producer ids in blocks of 1000, each once. A restored metadata log, a migration from
             ZooKeeper, or merged clusters can give a block out again. Two producers with one id refuse each other's
             sequences and epochs wherever they write to the same partition.
Evidence     the broker's "Producer ID block is not monotonic with current block"; "Next Producer ID from replayed
             record ... is not greater" of a controller. In `__transaction_state`: records of two transactional.ids with
             one producer id, written in the same time.
Against      a new producer id of the same transactional.id, which is a rotation or an expiry; records of one id that
             end before those of the other begin (a cluster that was made anew, or another cluster).
Look-alikes  transactional_id_expired, producer_epoch_exhausted (a new producer id for one id); evidence of two
             clusters.
Remedy       upgrade the brokers and controllers; restart producers with ids of that block, so that they get new ones.
Source       ProducerIdManager, RPCProducerIdManager, ProducerIdControlManager (3.0 to 4.3); KAFKA-15552.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import latest_row
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.values import Count, NameList, Refs, facts

_KNOWN = np.dtype([("producer_id", "i8"), ("id_code", "i4"), ("at", "i8")])


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
    """One case for all lines that tell of a block that went backwards; then each producer id of several ids."""
    yield from _told(model)
    several = _of_several(model)
    known = _known(model, several) if len(several) else np.zeros(0, _KNOWN)
    for producer_id in several.tolist():
        mine = known[known["producer_id"] == producer_id]
        spans = {int(code): mine["at"][mine["id_code"] == code] for code in np.unique(mine["id_code"])}
        first, last = max(times.min() for times in spans.values()), min(times.max() for times in spans.values())
        if first <= last:  # each of them was in use while the others were
            yield _shared(model, producer_id, list(spans), int(first), int(mine["at"].max()))


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


def _shared(model: CaptureModel, producer_id: int, codes: list[int], since: int, until: int) -> Case:
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

RULE = Rule(find=find, words=(WORDS, WORDS_OF_RECORDS), depth=1)
