"""The transactional.id changes at every start, so no start fences the one before.

Mechanism    An id made of a UUID, a time or a pod's name is new each time: the zombie of the previous run keeps its
             producer id and
             epoch, may still commit, and what it left open waits for its timeout.
Evidence     three ids or more of one shape that differ in a random part only, each with a producer id of its own at
             epoch 0, one after the
             other, on the same partitions. Harm: one of them commits after the next has committed.
Against      ids that frameworks make (Kafka Streams, Flink, Connect, spring-kafka): their changing part is stable or
             their fencing is another;
             transactions with group offsets (fenced by the group's generation since 2.5, KIP-447); ids used side by
             side from the start.
Look-alikes  one-shot jobs, each with a purpose of its own; independent applications on one topic.
Remedy       an id that is the same at the next start: from the input partition or the ordinal of the instance.
Source       KIP-98, KIP-447.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Actor, Considered, Finding, Place, Remedy, Step, Subject
from kafkatx.rules.wording import begin_row, completion_row, plural
from kafkatx.terms.times import clock
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict

RULE = "unstable_transactional_id"
FEWEST, MANY = 3, 5
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_RANDOM = re.compile(
    rf"(?P<uuid>{_UUID})|(?P<pod>-[a-z0-9]{{8,10}}-[bcdfghjklmnpqrstvwxz2456789]{{5}}(?![a-z0-9]))"
    r"|(?P<hex>(?<![0-9a-zA-Z])(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{8,}(?![0-9a-zA-Z]))|(?P<number>[0-9]{6,})"
)
_STREAMS = re.compile(rf".+-{_UUID}-[0-9]+")
"""`application.id`-UUID-thread (exactly_once_v2): the UUID is kept in the state directory, lost with it
(StreamsProducer, 2.6 and later).
"""


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
    highest_epoch: int = 0


def check(story: Story) -> Iterator[Finding]:
    """One finding for each family of ids."""
    families: dict[str, list[_Life]] = {}
    for life in _lives(story):
        skeleton = skeleton_of(life.name)
        if skeleton is not None:
            families.setdefault(skeleton, []).append(life)
    for skeleton in sorted(families):
        family = sorted(families[skeleton], key=lambda life: (life.first, life.name))
        if _is_unstable(story, family):
            yield _finding(story, skeleton, family)


def skeleton_of(name: str) -> str | None:
    """The id with its random parts replaced by what they are; None where it has none, or a framework makes such ids."""
    if _STREAMS.fullmatch(name):
        return None
    skeleton = _RANDOM.sub(lambda found: f"<{found.lastgroup}>", name)
    return skeleton if skeleton != name else None


def _lives(story: Story) -> list[_Life]:
    """Lifetimes of the ids that ran transactions, from arrays; objects only for ids whose name has a random part."""
    t = story.transactions
    chosen = [
        code for code in np.unique(t["id_code"]).tolist() if skeleton_of(story.transactional_id(code)) is not None
    ]
    lives = []
    order = np.argsort(t["id_code"], kind="stable")
    codes = t["id_code"][order]
    for code in chosen:
        rows = t[order[np.searchsorted(codes, code) : np.searchsorted(codes, code, "right")]]
        lives.append(_life(story, code, rows))
    return lives


def _life(story: Story, code: int, rows: Array) -> _Life:
    starts = rows["started_at"][rows["started_at"] >= 0]
    ends = np.maximum(rows["completion_timestamp"], rows["decided_at"])
    lists = {int(value) for value in np.unique(rows["partitions_code"]) if value >= 0}
    return _Life(
        code,
        story.transactional_id(code),
        int(starts.min()) if len(starts) else -1,
        int(starts.max()) if len(starts) else -1,
        int(ends.max()),
        {member for number in lists for member in story.labels.partition_lists[number]},
        set(np.unique(rows["producer_id"]).tolist()),
        int(rows["producer_epoch"].max()),
    )


def _is_unstable(story: Story, family: list[_Life]) -> bool:
    """Enough ids, each of its own producer id, mostly one after the other, on common partitions, without group
    offsets.
    """
    if len(family) < FEWEST or any(len(life.producer_ids) > 1 for life in family):
        return False
    if len(set().union(*(life.producer_ids for life in family))) < len(family):
        return False
    shared = set.intersection(*(life.partitions for life in family))
    topics = {story.topic_partition(code)[0] for code in shared}
    if not shared or CONSUMER_OFFSETS in topics:
        return False
    return _successions(family) >= max(FEWEST - 1, (len(family) - 1) * 3 // 4)


def _successions(family: list[_Life]) -> int:
    """How often an id began when the one before had begun its last transaction: ids used side by side go on beginning
    new ones.
    """
    return sum(1 for before, after in pairwise(family) if after.first > before.last_start)


def _overtaken(story: Story, family: list[_Life]) -> tuple[_Life, _Life, int, int] | None:
    """An id that committed after the next one had committed: (old, new, row of the late commit, row of the new one's
    first commit).
    """
    t = story.transactions
    for old, new in pairwise(family):
        theirs = np.flatnonzero((t["id_code"] == new.code) & (t["decision"] == 2))
        mine = np.flatnonzero((t["id_code"] == old.code) & (t["decision"] == 2))
        late = mine[t["decided_at"][mine] > t["decided_at"][theirs].min()] if len(theirs) else mine[:0]
        if len(late):
            return old, new, int(late[0]), int(theirs[np.argmin(t["decided_at"][theirs])])
    return None


def _finding(story: Story, skeleton: str, family: list[_Life]) -> Finding:
    overtaken = _overtaken(story, family)
    names = ", ".join(life.name for life in family[:3])
    verdict = Verdict.likely if overtaken or len(family) >= MANY else Verdict.possible
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning,
        summary=f"{plural(len(family), 'transactional.id')} of the shape {skeleton} ({names}{', ...' if len(family) > 3 else ''}): a new one at each start fences nobody",
        since=family[0].first if family[0].first >= 0 else None,
        until=max(life.last for life in family),
        count=len(family),
        subjects=tuple(Subject(life.name, next(iter(life.producer_ids))) for life in _chosen(family)),
        actors=tuple(Actor(f"T{number}", f"{life.name}, producer id {next(iter(life.producer_ids))}, since {clock(life.first)}") for number, life in enumerate(family[:4], 1)),
        steps=_steps(story, family, overtaken),
        considered=(Considered("independent applications on the same partitions", "not refuted: only their deployment tells"),),
        remedies=(
            Remedy(
                "give each instance an id that is the same at its next start; then a restart shows as the same producer id with a higher epoch", "application",
                "transactional.id", family[-1].name, skeleton.replace("<uuid>", "<ordinal>").replace("<hex>", "<ordinal>").replace("<number>", "<ordinal>").replace("<pod>", "-<ordinal>"),
                f"{len(family)} ids of one shape, each at epoch {family[0].highest_epoch}", restart_needed=True,
            ),
        ),
    )  # fmt: skip


def _chosen(family: list[_Life]) -> list[_Life]:
    """First, typical and last."""
    return [family[number] for number in dict.fromkeys((0, len(family) // 2, len(family) - 1))]


def _steps(story: Story, family: list[_Life], overtaken: tuple[_Life, _Life, int, int] | None) -> tuple[Step, ...]:
    t = story.transactions
    places: list[Place] = []
    for life in family[:3]:
        first = int(np.flatnonzero(t["id_code"] == life.code)[0])
        places += [*begin_row(t[first])] or completion_row(t[first])
    steps = [
        Step(
            f"{plural(len(family), 'id')} of one shape began one after the other on the same partitions",
            "each has a producer id of its own: none took over from the one before",
            tuple(places),
        )
    ]
    if overtaken:
        old, new, late, first = overtaken
        steps.append(
            Step(f"{old.name} committed at {clock(int(t['decided_at'][late]))}, after {new.name} had committed at {clock(int(t['decided_at'][first]))}",
                 "with one id the first commit would have been refused", (*completion_row(t[first]), *completion_row(t[late])))
        )  # fmt: skip
    return tuple(steps)
