"""The transactional.id changes at every start, so no start fences the one before.

Mechanism    An id made of a UUID, a time or a pod's name is new each time: the zombie of the previous run keeps its
             producer id and epoch, may still commit, and what it left open waits for its timeout.
Evidence     three ids or more of one shape that differ in a random part only, each with a producer id of its own at
             epoch 0, one after the other, on the same partitions. Harm: one of them commits after the next has
             committed.
             In texts: ids of one shape that differ in a UUID, of which none was taken up by a second start.
Against      ids that frameworks make (Kafka Streams, Flink, Connect, spring-kafka): their changing part is stable or
             their fencing is another; transactions with group offsets (fenced by the group's generation since 2.5,
             KIP-447); ids used side by side from the start.
Look-alikes  one-shot jobs, each with a purpose of its own; independent applications on one topic.
Remedy       an id that is the same at the next start: from the input partition or the ordinal of the instance.
Source       KIP-98, KIP-447.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.rules.unstable_in_lists import LIST_WORDS, found_in_lists
from kafkatx.rules.unstable_in_pages import PAGE_WORDS, found_in_pages
from kafkatx.terms.catalogue.random_ids import skeleton_of, with_ordinal
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, completion_row, data_of
from kafkatx.words.explanation import Words, actor, left_open, remedy, step
from kafkatx.words.facts import data
from kafkatx.words.template import pick
from kafkatx.words.values import MOST_RANGES, Count, Data, Instant, Refs, facts

FEWEST, MANY = 3, 5
MOST_ACTORS = 4


@dataclass(frozen=True, slots=True)
class Member:
    """An id of a family, as T1 and so on."""

    name: str
    id: str
    producer_id: int
    since: Instant


@dataclass(frozen=True, slots=True)
class Overtaken:
    """An id that committed after the one that followed it had."""

    old: str
    new: str
    at: Instant
    new_at: Instant
    wrote: Data
    new_wrote: Data
    rows: Refs


@facts
class Facts:
    """A family of ids of one shape; `last` is the one in use last."""

    shape: str
    count: Count
    last: str
    members: tuple[Member, ...]
    overtaken: Overtaken | None
    rows: Refs

    @property
    def stable_shape(self) -> str:
        """The shape with an ordinal for what is random."""
        return with_ordinal(self.shape)


@dataclass(slots=True)
class _Life:
    """What one id did."""

    code: int
    name: str
    first: int
    last_start: int
    last: int
    partitions: set[int] = field(default_factory=set)
    producer_ids: set[int] = field(default_factory=set)


def find(model: CaptureModel) -> Found:
    """One case for each family of ids."""
    families: dict[str, list[_Life]] = {}
    for life in _lives(model):
        skeleton = skeleton_of(life.name)
        if skeleton is not None:
            families.setdefault(skeleton, []).append(life)
    for skeleton in sorted(families):
        family = sorted(families[skeleton], key=lambda life: (life.first, life.name))
        members, succession = _unstable(model, family)
        if members:
            yield _case(model, skeleton, members, succession)
    yield from found_in_pages(model)
    yield from found_in_lists(model)


def _lives(model: CaptureModel) -> list[_Life]:
    """Lifetimes of the ids that ran transactions, from arrays; objects only for ids whose name has a random part."""
    t = model.transactions
    chosen = [code for code in distinct(t["id_code"]) if skeleton_of(model.transactional_id(code)) is not None]
    lives = []
    order = np.argsort(t["id_code"], kind="stable")
    codes = t["id_code"][order]
    inits = _first_inits(model)
    for code in chosen:  # of the type of `codes`, else all of them would be converted each time
        rows = t[order[np.searchsorted(codes, code) : np.searchsorted(codes, code, "right")]]
        lives.append(_life(model, int(code), rows, int(inits[code])))
    return lives


def _first_inits(model: CaptureModel) -> Array:
    """Time of each id's first initialisation, by id code: what is started together lives side by side from there on."""
    first = np.full(len(model.labels.transactional_ids), np.iinfo(np.int64).max)
    np.minimum.at(first, model.initialisations["id_code"], model.initialisations["timestamp"])
    return first


def _life(model: CaptureModel, code: int, rows: Array, init: int) -> _Life:
    starts = rows["started_at"][rows["started_at"] >= 0]
    ends = np.maximum(rows["completion_timestamp"], rows["decided_at"])
    lists = {int(value) for value in distinct(rows["partitions_code"]) if value >= 0}
    return _Life(
        code,
        model.transactional_id(code),
        min(init, int(starts.min())) if len(starts) else -1,
        int(starts.max()) if len(starts) else -1,
        int(ends.max()),
        {member for number in lists for member in model.labels.partition_lists[number]} | model.counted.listed_by(code),
        set(distinct(rows["producer_id"]).tolist()),
    )


def _unstable(model: CaptureModel, family: list[_Life]) -> tuple[list[_Life], list[_Life]]:
    """Those of a family that follow one another on common partitions, and the longest succession among them.

    Each must have a producer id of its own and no group offsets; instances side by side have a succession each.
    """
    members: set[int] = set()
    longest: list[_Life] = []
    if len(family) < FEWEST or not _have_own_producers(family):
        return [], []
    for writers in _writers(model, family):
        chain = _succession(writers)
        if len(chain) >= FEWEST and len(writers) >= 2 * _most_at_once(writers):
            members |= {life.code for life in writers}
            longest = max(longest, chain, key=len)
    return [life for life in family if life.code in members], longest


def _have_own_producers(family: list[_Life]) -> bool:
    """Whether each has one producer id, and none that of another."""
    shared = set().union(*(life.producer_ids for life in family))
    return len(shared) == len(family) and all(len(life.producer_ids) == 1 for life in family)


def _writers(model: CaptureModel, family: list[_Life]) -> Iterator[list[_Life]]:
    """The ids without group offsets that wrote each partition."""
    for code in sorted(set().union(*(life.partitions for life in family)), key=model.topic_partition):
        yield [life for life in family if code in life.partitions and not _has_offsets(model, life)]


def _has_offsets(model: CaptureModel, life: _Life) -> bool:
    return any(model.topic_partition(code)[0] == CONSUMER_OFFSETS for code in life.partitions)


def _succession(lives: list[_Life]) -> list[_Life]:
    """The longest run of ids each of which began when the one before had begun its last transaction."""
    chain: list[_Life] = []
    for life in sorted(lives, key=lambda life: (life.last_start, life.first, life.name)):
        if not chain or life.first > chain[-1].last_start:
            chain.append(life)
    return chain


def _most_at_once(lives: list[_Life]) -> int:
    """How many of the ids were in use at the same time, at most."""
    begins, ends = np.sort([life.first for life in lives]), np.sort([life.last_start for life in lives])
    return int((np.arange(1, len(lives) + 1) - np.searchsorted(ends, begins)).max())


def _overtaken(model: CaptureModel, succession: list[_Life]) -> Overtaken | None:
    """An id that committed after the next had."""
    t = model.transactions
    for old, new in pairwise(succession):
        theirs = np.flatnonzero((t["id_code"] == new.code) & (t["decision"] == 2))
        mine = np.flatnonzero((t["id_code"] == old.code) & (t["decision"] == 2))
        late = mine[t["decided_at"][mine] > t["decided_at"][theirs].min()] if len(theirs) else mine[:0]
        if len(late):
            first, after = t[theirs[np.argmin(t["decided_at"][theirs])]], t[late[np.argmax(t["decided_at"][late])]]
            rows = (*completion_row(first), *completion_row(after))
            wrote = (_written(model, late), _written(model, theirs))
            return Overtaken(
                old.name, new.name, Instant(after["decided_at"]), Instant(first["decided_at"]), *wrote, rows
            )
    return None


def _written(model: CaptureModel, rows: Array) -> Data:
    """What transactions wrote, as far as their partitions are at hand."""
    return data(model, [span for row in rows.tolist() for span in data_of(model, row)][:MOST_RANGES])


def _case(model: CaptureModel, skeleton: str, family: list[_Life], succession: list[_Life]) -> Case:
    overtaken = _overtaken(model, succession)
    return Case(
        facts=_facts(model, skeleton, family, succession, overtaken),
        verdict=Verdict.likely if overtaken or len(family) >= MANY else Verdict.possible,
        severity=Severity.warning,
        since=family[0].first if family[0].first >= 0 else None,
        until=max(life.last for life in family),
        count=len(family),
        subjects=tuple(Subject(life.name, next(iter(life.producer_ids))) for life in _chosen(family)),
    )


def _chosen(family: list[_Life]) -> list[_Life]:
    """First, typical and last."""
    return [family[number] for number in dict.fromkeys((0, len(family) // 2, len(family) - 1))]


def _facts(
    model: CaptureModel, skeleton: str, family: list[_Life], succession: list[_Life], overtaken: Overtaken | None
) -> Facts:
    t = model.transactions
    firsts = (t[np.flatnonzero(t["id_code"] == life.code)[0]] for life in succession[:3])
    return Facts(
        shape=skeleton,
        count=Count(len(family)),
        last=family[-1].name,
        members=tuple(
            Member(f"T{number}", life.name, next(iter(life.producer_ids)), Instant(life.first))
            for number, life in enumerate(family[:MOST_ACTORS], 1)
        ),
        overtaken=overtaken,
        rows=tuple(place for first in firsts for place in begin_row(first) or completion_row(first)),
    )


WORDS = Words(
    Facts,
    title=pick(
        "overtaken",
        {None: "a new transactional.id at each start"},
        "a new id at each start; an old instance committed late",
    ),
    summary="One application[ {perhaps}] used {count:transactional.id} of the shape {shape}, a new one at each start. "
    "No start fenced the instance before it.[ An old instance committed after its successor had, at {overtaken.at}.]",
    who="{shape}",
    actors=(actor("{each.name}", "{each.id}, producer id {each.producer_id}, since {each.since}", each="members"),),
    steps=(
        step(
            "{count:id} of one shape began one after the other on the same partitions, and none fenced another",
            "each has a producer id of its own",
            cites="rows",
        ),
        step(
            "{overtaken.old} committed at {overtaken.at}, after {overtaken.new} had committed at {overtaken.new_at}; "
            "with one stable id the late commit would have been refused",
            cites="overtaken.rows",
        ),
    ),
    considered=(
        left_open(
            "independent applications on the same partitions",
            "they would look the same",
            decided_by="the code or configuration that makes these ids",
        ),
    ),
    remedies=(
        remedy(
            (
                "Stop the instance of {overtaken.old} if it still runs: no start fences it. Compare what it committed "
                "late",
                pick("overtaken.wrote", {(): ""}, " ({overtaken.wrote})"),
                " with what its successor committed",
                pick("overtaken.new_wrote", {(): ""}, " ({overtaken.new_wrote})"),
                ": equal records are duplicates that readers have got",
            ),
            "operator",
        ),
        remedy(
            "Give each instance a transactional.id that stays the same when it restarts. Then a restart fences the "
            "instance before it",
            "application",
            config="transactional.id",
            current="{last}",
            proposed="{stable_shape}",
            restart_needed=True,
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS, PAGE_WORDS, LIST_WORDS), depth=1)
