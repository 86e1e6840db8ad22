"""The transactional.id changes at every start, so no start fences the one before.

Mechanism    An id made of a UUID, a time or a pod's name is new each time: the zombie of the previous run keeps its
             producer id and epoch, may still commit, and what it left open waits for its timeout.
Evidence     three ids or more of one shape that differ in a random part only, each with a producer id of its own at
             epoch 0, one after the other, on the same partitions. Harm: one of them commits after the next has
             committed.
Against      ids that frameworks make (Kafka Streams, Flink, Connect, spring-kafka): their changing part is stable or
             their fencing is another; transactions with group offsets (fenced by the group's generation since 2.5,
             KIP-447); ids used side by side from the start.
Look-alikes  one-shot jobs, each with a purpose of its own; independent applications on one topic.
Remedy       an id that is the same at the next start: from the input partition or the ordinal of the instance.
Source       KIP-98, KIP-447.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.unstable_in_pages import found_in_pages
from kafkatx.terms.catalogue.random_ids import skeleton_of
from kafkatx.terms.times import clock
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Place, Remedy, Step
from kafkatx.words.places import begin_row, completion_row, plural

RULE = "unstable_transactional_id"
FEWEST, MANY = 3, 5


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
        members, succession = _unstable(story, family)
        if members:
            yield _finding(story, skeleton, members, succession)
    yield from found_in_pages(story, RULE)


def _lives(story: Story) -> list[_Life]:
    """Lifetimes of the ids that ran transactions, from arrays; objects only for ids whose name has a random part."""
    t = story.transactions
    chosen = [code for code in np.unique(t["id_code"]) if skeleton_of(story.transactional_id(code)) is not None]
    lives = []
    order = np.argsort(t["id_code"], kind="stable")
    codes = t["id_code"][order]
    inits = _first_inits(story)
    for code in chosen:  # of the type of `codes`, else all of them would be converted each time
        rows = t[order[np.searchsorted(codes, code) : np.searchsorted(codes, code, "right")]]
        lives.append(_life(story, int(code), rows, int(inits[code])))
    return lives


def _first_inits(story: Story) -> Array:
    """Time of each id's first initialisation, by id code: what is started together lives side by side from there on."""
    first = np.full(len(story.labels.transactional_ids), np.iinfo(np.int64).max)
    np.minimum.at(first, story.initialisations["id_code"], story.initialisations["timestamp"])
    return first


def _life(story: Story, code: int, rows: Array, init: int) -> _Life:
    starts = rows["started_at"][rows["started_at"] >= 0]
    ends = np.maximum(rows["completion_timestamp"], rows["decided_at"])
    lists = {int(value) for value in np.unique(rows["partitions_code"]) if value >= 0}
    return _Life(
        code,
        story.transactional_id(code),
        min(init, int(starts.min())) if len(starts) else -1,
        int(starts.max()) if len(starts) else -1,
        int(ends.max()),
        {member for number in lists for member in story.labels.partition_lists[number]},
        set(np.unique(rows["producer_id"]).tolist()),
        int(rows["producer_epoch"].max()),
    )


def _unstable(story: Story, family: list[_Life]) -> tuple[list[_Life], list[_Life]]:
    """Those of a family that follow one another on common partitions, and the longest succession among them.

    Each must have a producer id of its own and no group offsets; instances side by side have a succession each.
    """
    if len(family) < FEWEST or any(len(life.producer_ids) > 1 for life in family):
        return [], []
    if len(set().union(*(life.producer_ids for life in family))) < len(family):
        return [], []
    members: set[int] = set()
    longest: list[_Life] = []
    for code in sorted(set().union(*(life.partitions for life in family)), key=story.topic_partition):
        writers = [life for life in family if code in life.partitions and not _has_offsets(story, life)]
        chain = _succession(writers)
        if len(chain) >= FEWEST and len(writers) >= 2 * _most_at_once(writers):
            members |= {life.code for life in writers}
            longest = max(longest, chain, key=len)
    return [life for life in family if life.code in members], longest


def _has_offsets(story: Story, life: _Life) -> bool:
    return any(story.topic_partition(code)[0] == CONSUMER_OFFSETS for code in life.partitions)


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


def _overtaken(story: Story, succession: list[_Life]) -> tuple[_Life, _Life, int, int] | None:
    """An id that committed after the next had: (old, new, row of the late commit, row of the new one's first)."""
    t = story.transactions
    for old, new in pairwise(succession):
        theirs = np.flatnonzero((t["id_code"] == new.code) & (t["decision"] == 2))
        mine = np.flatnonzero((t["id_code"] == old.code) & (t["decision"] == 2))
        late = mine[t["decided_at"][mine] > t["decided_at"][theirs].min()] if len(theirs) else mine[:0]
        if len(late):
            return old, new, int(late[0]), int(theirs[np.argmin(t["decided_at"][theirs])])
    return None


def _finding(story: Story, skeleton: str, family: list[_Life], succession: list[_Life]) -> Finding:
    overtaken = _overtaken(story, succession)
    names = ", ".join(life.name for life in family[:3])
    verdict = Verdict.likely if overtaken or len(family) >= MANY else Verdict.possible
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning,
        summary=f"{plural(len(family), 'transactional.id')} of the shape "
        f"{skeleton} "
        f"({names}{', ...' if len(family) > 3 else ''}): a new one at "
        "each start fences nobody",
        since=family[0].first if family[0].first >= 0 else None,
        until=max(life.last for life in family),
        count=len(family),
        subjects=tuple(Subject(life.name, next(iter(life.producer_ids))) for life in _chosen(family)),
        actors=tuple(
            Actor(f"T{number}", f"{life.name}, producer id {next(iter(life.producer_ids))}, since {clock(life.first)}")
            for number, life in enumerate(family[:4], 1)
        ),
        steps=_steps(story, family, succession, overtaken),
        considered=(
            Considered("independent applications on the same partitions", "not refuted: only their deployment tells"),
        ),
        remedies=(
            Remedy(
                "give each instance an id that is the same at its next start; then "
                "a restart "
                "shows as "
                "the same producer id with a higher epoch",
                "application",
                "transactional.id",
                family[-1].name,
                skeleton.replace("<uuid>", "<ordinal>")
                .replace("<hex>", "<ordinal>")
                .replace("<number>", "<ordinal>")
                .replace("<pod>", "-<ordinal>"),
                f"{len(family)} ids of one shape, each at epoch {family[0].highest_epoch}",
                restart_needed=True,
            ),
        ),
    )


def _chosen(family: list[_Life]) -> list[_Life]:
    """First, typical and last."""
    return [family[number] for number in dict.fromkeys((0, len(family) // 2, len(family) - 1))]


def _steps(
    story: Story, family: list[_Life], succession: list[_Life], overtaken: tuple[_Life, _Life, int, int] | None
) -> tuple[Step, ...]:
    t = story.transactions
    places: list[Place] = []
    for life in succession[:3]:
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
            Step(
                f"{old.name} committed at "
                f"{clock(int(t['decided_at'][late]))}, after "
                f"{new.name} had "
                f"committed at {clock(int(t['decided_at'][first]))}",
                "with one id the first commit would have been refused",
                (*completion_row(t[first]), *completion_row(t[late])),
            )
        )
    return tuple(steps)
