"""Ids of one shape with a random part, as texts name them: lists of coordinators, rows of a page, grants in logs.

A list tells neither partitions nor times, a compacted page keeps the last row of an id only, so the succession that
rows on disk show is missing. What is left: ids that differ in a UUID alone, each with a producer id of its own that no
second start has taken up. Two in a log count where the later one was granted long after the first, so that they were
not started together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.testimony import MADE_RANDOM, first_of_each, statements_of
from kafkatx.terms.catalogue.random_ids import skeleton_of, with_ordinal
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import latest_row
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, NameList, Refs, facts

RANDOM = "<uuid>"
"""The random part that nobody sets by hand for each instance."""
FEWEST, FEWEST_IN_LOGS, APART_MS = 3, 2, 60_000
MOST_CITED = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """An id as a text names it: its producer id and epoch where told (None), since when (None), where; a log's row."""

    name: str
    producer_id: int | None
    epoch: int | None
    at: int | None
    is_open: bool
    told: Refs
    row: int | None = None


@facts
class ListFacts:
    """Ids of one shape; `open` are those with a transaction that nobody of another id ends.

    `is_own`: each is told with its producer id; `said` are words by which ids are random.
    """

    shape: str
    count: Count
    is_own: bool
    last: str
    open: NameList
    told: Refs
    said: Refs

    @property
    def stable_shape(self) -> str:
        """The shape with an ordinal for what is random."""
        return with_ordinal(self.shape)


def found_in_lists(model: CaptureModel) -> Iterator[Case]:
    """One case for each shape of ids of which only texts tell."""
    if not all(log_extent.is_printed for log_extent in model.state_log_extents.values()):
        return
    families: dict[str, dict[str, Seen]] = {}
    for seen in (*_in_rows(model), *_in_logs(model)):
        skeleton = skeleton_of(seen.name)
        if skeleton is not None and RANDOM in skeleton:
            families.setdefault(skeleton, {}).setdefault(seen.name, seen)
    for skeleton, family in families.items():
        ids = list(family.values())
        if _are_new_each_time(model, ids):
            yield _case(skeleton, ids, _said(model, ids))


def _in_rows(model: CaptureModel) -> Iterator[Seen]:
    for latest in model.latest:
        is_v2 = latest["client_transaction_version"] == 2  # each of its transactions takes an epoch
        epoch, at = -1 if is_v2 else int(latest["producer_epoch"]), int(latest["started_at"])
        producer_id = int(latest["producer_id"])
        yield Seen(
            model.transactional_id(int(latest["id_code"])),
            producer_id if producer_id >= 0 else None,
            epoch if epoch >= 0 else None,
            at if at >= 0 else None,
            bool(latest["state"] == TransactionState.Ongoing),
            (latest_row(latest),),
        )


def _in_logs(model: CaptureModel) -> Iterator[Seen]:
    logs = model.logs
    for row in logs.of_kind(EventKind.producer_id_set, EventKind.initialized).tolist():
        name = logs.transactional_id(row)
        if name is not None:
            epoch = logs.number(row, "producer_epoch")
            told = event_refs(model, [row])
            yield Seen(name, logs.number(row, "producer_id"), epoch, logs.at(row), False, told, row)


def _said(model: CaptureModel, ids: list[Seen]) -> tuple[EvidenceRef, ...]:
    """Where the page of such a log says that ids are made of random numbers."""
    paths = dict.fromkeys(model.logs.path(one.row) for one in ids if one.row is not None)
    found = ((path, statements_of(model.logs, path)) for path in paths)
    return tuple(ref for path, said in found for ref in testimony_refs(path, first_of_each(said, {MADE_RANDOM})))


def _are_new_each_time(model: CaptureModel, ids: list[Seen]) -> bool:
    """Whether none was taken up by a second start, none has the producer id of another, and they are enough."""
    producers = [one.producer_id for one in ids if one.producer_id is not None]
    is_own = len(set(producers)) == len(producers)
    is_first = all(one.epoch in (None, 0) for one in ids)
    return is_own and is_first and (len(ids) >= FEWEST or (len(ids) >= FEWEST_IN_LOGS and _are_apart(model, ids)))


def _are_apart(model: CaptureModel, ids: list[Seen]) -> bool:
    """Whether the last of them began long after the first."""
    rows = [one.row for one in ids if one.row is not None]
    if len(rows) == len(ids):
        return any((model.logs.lasted(one, other) or 0) > APART_MS for one, other in pairwise(rows))
    times = [one.at for one in ids if one.at is not None]
    return len(times) == len(ids) and max(times) - min(times) > APART_MS


def _case(skeleton: str, ids: list[Seen], said: tuple[EvidenceRef, ...]) -> Case:
    times = [one.at for one in ids if one.at is not None]
    return Case(
        facts=ListFacts(
            shape=skeleton,
            count=Count(len(ids)),
            is_own=all(one.producer_id is not None for one in ids),
            last=ids[-1].name,
            open=NameList(one.name for one in ids if one.is_open),
            told=tuple(place for one in ids[:MOST_CITED] for place in one.told),
            said=said,
        ),
        verdict=Verdict.likely if said or len(ids) >= FEWEST else Verdict.possible,
        severity=Severity.warning,
        since=min(times, default=None),
        until=max(times, default=None),
        count=len(ids),
        subjects=tuple(Subject(one.name, one.producer_id) for one in ids[:3]),
    )


LIST_WORDS = Words(
    ListFacts,
    who="{shape}",
    title="a new transactional.id at each start",
    summary=(
        "{count:transactional.id} of the shape {shape} occur here",
        pick("is_own", {True: ", each with a producer id of its own"}, ""),
        ": one application[ {perhaps}] makes a new id at each start, so no start fences the instance before it.",
    ),
    steps=(
        step(
            "{count:id} differ in a random part only, and none was taken up by a second start",
            "under one id a restart keeps the producer id and raises the epoch",
            cites="told",
        ),
        step("What is said beside these lines makes ids of random numbers", cites="said", needs="said"),
        step("{open:3} has a transaction open that only its own instance or its timeout ends", needs="open"),
    ),
    considered=(
        left_open(
            "instances that were given these ids once and keep them",
            "a coordinator shows them alike",
            decided_by="the code or configuration that makes these ids",
        ),
    ),
    remedies=(
        remedy(
            "Give each instance a transactional.id that stays the same when it restarts. Then a restart fences the "
            "instance before it and ends what it left open",
            "application",
            config="transactional.id",
            current="{last}",
            proposed="{stable_shape}",
            restart_needed=True,
        ),
        remedy("Ids that were left behind go by themselves after transactional.id.expiration.ms (7 days)", "operator"),
    ),
)
