"""What is new of a log since a mark is what was never read, whatever brokers did to the files in between."""

import json
import random
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkatx.evidence.log_marks import NOTED, Mark, Newer, end_of, mark_of, since
from kafkatx.kernels.rows import BATCH
from kafkatx.segments.batches import Rows

SIZE = 100


@dataclass
class Log:
    """A log as a broker keeps it: segments by the offsets in their names, each a list of batches."""

    chance: random.Random
    segments: dict[int, list[Rows]] = field(default_factory=lambda: {0: []})
    epoch: int = 0
    made: int = 0
    stable: int = 0
    """What lies before this was cleaned or deleted, which is never done above the high watermark: it stays."""
    begun: list[tuple[int, int]] = field(default_factory=list)
    notes_epochs: bool = True

    def epochs(self) -> list[tuple[int, int]]:
        """What a broker notes of its epochs, if the note is at hand."""
        return self.begun if self.notes_epochs else []

    @property
    def bases(self) -> list[int]:
        return sorted(self.segments)

    @property
    def end(self) -> int:
        return max(end_of(self).end, 0)

    def rows(self, base: int) -> Rows:
        """The batches of a segment, one behind the other."""
        rows = np.concatenate([np.zeros(0, BATCH), *self.segments[base]])
        rows["position"] = np.arange(len(rows)) * SIZE
        return rows

    batches = rows

    def noted(self, base: int, position: int) -> tuple[int, int, int] | None:
        for row in self.rows(base):
            if row["position"] == position:
                return position, int(row["base_offset"]), int(row["crc"])
        return None

    def append(self) -> None:
        for _ in range(self.chance.randrange(1, 6)):
            first, row = self.end, np.zeros(1, BATCH)
            if self.epoch > max((epoch for epoch, _ in self.begun), default=-1):
                self.begun.append((self.epoch, first))
            self.made += 1
            row["base_offset"], row["last_offset"] = first, first + self.chance.randrange(3)
            row["size"], row["leader_epoch"], row["crc"] = SIZE, self.epoch, self.made
            self.segments[self.bases[-1]].append(row)

    def roll(self) -> None:
        self.segments.setdefault(self.end, [])

    def elect(self) -> None:
        self.epoch += 1

    def truncate(self, most: int | None = None) -> None:
        """Cut some of the last batches off."""
        count = len(self.all()) if most is None else min(most, len(self.all()))
        for _ in range(self.chance.randrange(count + 1)):
            while not self.segments[self.bases[-1]] and len(self.segments) > 1 and self.bases[-1] > self.stable:
                del self.segments[self.bases[-1]]
            last = self.segments[self.bases[-1]]
            if last and last[-1]["base_offset"][0] >= self.stable:
                last.pop()
        self.begun = [(epoch, start) for epoch, start in self.begun if start < self.end]

    def fail_over(self) -> None:
        """Truncate as a follower does that meets a later leader."""
        self.truncate()
        self.elect()
        self.append()

    def compact(self) -> None:
        """Take batches out of segments that are not active, write them anew and merge some."""
        self.stable = max(self.stable, self.bases[-1])
        for base in self.bases[:-1]:
            self.segments[base] = [row for row in self.segments[base] if self.chance.random() < 0.7]
        for one, other in zip(self.bases[:-2], self.bases[1:-1], strict=True):
            if self.chance.random() < 0.3 and one in self.segments:
                self.segments[other] = self.segments.pop(one) + self.segments[other]
                self.segments[one] = self.segments.pop(other)

    def retain(self) -> None:
        """Delete the oldest segments."""
        self.stable = max(self.stable, self.bases[0])
        for base in self.bases[: self.chance.randrange(len(self.bases))]:
            del self.segments[base]
        first = self.bases[0]
        ended = [epoch for (epoch, _), (_, stop) in pairwise(self.begun) if stop <= first]
        self.begun = [(epoch, max(start, first)) for epoch, start in self.begun if epoch not in ended]

    def all(self) -> dict[int, Rows]:
        return {int(row["crc"][0]): row for base in self.bases for row in self.segments[base]}


def read(log: Log, known: Mark | None) -> tuple[list[int], Mark]:
    """The batches that are new, by what makes them: as tasks read them that are given what is new as JSON."""
    end = end_of(log)
    assert end is not None
    end = mark_of(json.loads(json.dumps(end.told())))
    newer = since(known, end, log)
    found = [newer.within(newer.first, newer.stop).of(log.rows(base)) for base in log.bases]
    return [int(crc) for rows in found for crc in rows["crc"]], end


STEPS = st.lists(st.sampled_from(["append", "roll", "elect", "fail_over", "compact", "retain", "read"]), max_size=60)


CLEANED = "retain retain append append roll append retain read compact fail_over retain roll compact"
MADE_ANEW = "append append append append fail_over retain roll append read fail_over roll"


TAKEN_EPOCH = "append read fail_over roll compact compact"
TAKEN_EPOCHS = "fail_over append fail_over retain retain fail_over roll compact fail_over append append append read "
TAKEN_EPOCHS += "fail_over roll compact compact compact"


@given(STEPS, st.integers(0, 2**32))
@example(CLEANED.split(), 11935826)  # a segment that was truncated, rolled and cleaned
@example(MADE_ANEW.split(), 3575960624)  # one that went with those before it, and was made anew by its name
@example(TAKEN_EPOCH.split(), 947429505)  # all batches of the epoch that truncated were taken by a cleaner
@example(TAKEN_EPOCHS.split(), 614412917)
def test_each_batch_that_is_there_when_a_log_is_read_is_read_once(steps, seed):
    log, known, seen = Log(random.Random(seed)), None, set[int]()
    for step in [*steps, "read"]:
        if step != "read":
            getattr(log, step)()
            continue
        there, (new, known) = set(log.all()), read(log, known)
        assert len(new) == len(set(new))
        assert set(new) == there - seen
        seen |= there


@given(STEPS, st.integers(0, 2**32))
@example(TAKEN_EPOCH.split(), 947429505)
def test_nothing_is_lost_where_nobody_notes_epochs(steps, seed):
    log, known, seen = Log(random.Random(seed), notes_epochs=False), None, set[int]()
    for step in [*steps, "read"]:
        if step != "read":
            getattr(log, step)()
            continue
        there, (new, known) = set(log.all()), read(log, known)
        assert len(new) == len(set(new))
        assert there - seen <= set(new) <= there
        seen |= there


@given(st.integers(0, 2**32), st.booleans())
def test_what_is_lost_and_written_again_in_one_epoch_is_read_once(seed, is_read_between):
    """A broker that lost what it had not flushed goes on under its epoch; few batches, or it is looked at meanwhile."""
    log = Log(random.Random(seed))
    for _ in range(5):
        log.append()
    _, known = read(log, None)
    log.truncate(NOTED - 1)
    if is_read_between:
        new, known = read(log, known)
        assert not new
    there = set(log.all())
    log.append()
    new, known = read(log, known)
    assert set(new) == set(log.all()) - there
    assert read(log, known) == ([], known)


def test_what_was_lost_farther_back_in_one_epoch_comes_again_rather_than_not_at_all():
    log = Log(random.Random(1))
    for _ in range(40):
        log.append()
    _, known = read(log, None)
    assert len(known.noted) < len(log.all()) / 2
    while len(log.all()) > 20:
        log.segments[0].pop()
    kept = set(log.all())
    for _ in range(40):
        log.append()
    new, _ = read(log, known)
    assert set(new) >= set(log.all()) - kept
    assert len(new) == len(set(new))


def test_a_log_without_batches_is_read_up_to_the_name_of_its_segment():
    log = Log(random.Random(1), segments={70: []})
    new, known = read(log, None)
    assert (new, known.end, known.base) == ([], 70, 70)
    log.append()
    assert len(read(log, known)[0]) == len(log.all())


def test_no_log_has_no_mark():
    assert end_of(Log(random.Random(1), segments={})) is None


@pytest.mark.parametrize("count", [1, NOTED - 1, NOTED, NOTED + 1, 100, 70_000])
def test_a_mark_is_small(count):
    rows = np.zeros(count, BATCH)
    rows["base_offset"] = rows["last_offset"] = rows["position"] = np.arange(count)
    log = Log(random.Random(1), segments={0: [rows]})
    known = end_of(log)
    assert known is not None
    assert known.noted[0][1] == 0
    assert len(known.noted) <= NOTED + 16
    assert mark_of(known.told()) == known


def test_rows_of_the_coordinator_are_new_by_their_offsets():
    rows = np.zeros(3, [("offset", "i8"), ("leader_epoch", "i4")])
    rows["offset"] = [3, 4, 5]
    assert Newer(Mark(4, 0, 0, 0), Mark(5, 0, 0, 0)).of(rows)["offset"].tolist() == [4]
