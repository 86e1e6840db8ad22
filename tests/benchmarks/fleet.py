"""A fleet by its listing: directories of many brokers, segments that are holes, small files that are real.

    python -m tests.benchmarks.fleet FOLDER [BROKERS PARTITIONS IDS]

Real are the partitions of `__transaction_state`, the newest producer snapshots, .timeindex files, leader epochs,
checkpoints and identity. Segments of data are holes (os.truncate): 1 GiB that was rolled and the rest, which goes on.
What is wrong lies at known places: in some partitions a transaction hangs since long before the newest snapshot (its
data are real), and some ids wait in PrepareCommit, or are open, for an hour. Every tenth partition has a transaction
that was on its way when the log was rolled, as any busy partition has.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import google_crc32c

from tests.building import batch, record

START = 1_764_000_000_000
ROLLED, END = START + 3_600_000, START + 7_200_000
MINUTE = 60_000
EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 0, 1, 2, 4
ROLLED_BYTES, ACTIVE_BYTES = 1 << 30, 640 << 20
ACTIVE_BASE = 1_000_000
STATE_PARTITIONS, COPIES = 50, 3
TOPIC_SIZE = 40
HANGS_SINCE = 500_000


@dataclass(frozen=True, slots=True)
class Fleet:
    """How large it is, and what is wrong in it; partitions and ids by number."""

    brokers: int = 300
    partitions: int = 20_000
    ids: int = 5_000
    hanging: int = 8
    stuck: int = 4
    rolled_bytes: int = ROLLED_BYTES
    active_bytes: int = ACTIVE_BYTES

    @property
    def bytes(self) -> int:
        """Nominal bytes of all segments of data."""
        return self.partitions * self.copies * (self.rolled_bytes + self.active_bytes)

    @property
    def copies(self) -> int:
        """Replicas of a partition."""
        return min(COPIES, self.brokers)

    def place(self, partition: int) -> tuple[str, int]:
        """Topic and partition by number."""
        return f"topic-{partition // TOPIC_SIZE:04d}", partition % TOPIC_SIZE

    def partitions_of(self, one: int) -> list[int]:
        """What an id writes to."""
        return sorted({(one * 7 + step * 13) % self.partitions for step in range(3)})

    @property
    def hangs(self) -> list[int]:
        """Partitions in which a transaction hangs."""
        return [self.partitions - 1 - number for number in range(self.hanging)]

    @property
    def stuck_ids(self) -> list[int]:
        """Ids that wait: even ones in PrepareCommit, odd ones are open."""
        return [*range(self.stuck)]

    def suspects(self) -> set[tuple[str, int]]:
        """Partitions that deserve a look."""
        of_ids = {number for one in self.stuck_ids for number in self.partitions_of(one)}
        return {self.place(number) for number in {*self.hangs, *of_ids}}


def made(fleet: Fleet, folder: Path) -> list[Path]:
    """Make a fleet; returns the directories of its brokers."""
    shared = _Shared(folder / "shared")
    states = [b"".join(_states(fleet, number)) for number in range(STATE_PARTITIONS)]
    return [_broker(fleet, broker, folder / f"broker-{broker:03d}", shared, states) for broker in range(fleet.brokers)]


class _Shared:
    """Small files that are the same everywhere: each is written once for a broker and linked."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder

    def link(self, broker: int, name: str, content: bytes, path: Path) -> None:
        master = self.folder / f"{broker}-{name}"
        if not master.exists():
            master.write_bytes(content)
        os.link(master, path)


def _broker(fleet: Fleet, broker: int, directory: Path, shared: _Shared, states: list[bytes]) -> Path:
    directory.mkdir()
    (directory / "meta.properties").write_text(f"version=1\ncluster.id=fleet-of-a-simulation\nnode.id={broker}\n")
    marks: list[str] = []
    for number in _held(fleet.partitions, broker, fleet):
        _partition(fleet, number, broker, directory, shared)
        marks.append("{} {} {}".format(*fleet.place(number), ACTIVE_BASE))
    for number in _held(STATE_PARTITIONS, broker, fleet):
        folder = directory / f"__transaction_state-{number}"
        folder.mkdir()
        (folder / f"{0:020}.log").write_bytes(states[number])
    for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        (directory / name).write_text("\n".join(["0", str(len(marks)), *marks, ""]))
    return directory


def _held(count: int, broker: int, fleet: Fleet) -> Iterator[int]:
    """What of `count` a broker has a copy of."""
    for number in range(count):
        if (broker - number) % fleet.brokers < fleet.copies:
            yield number


def _partition(fleet: Fleet, number: int, broker: int, directory: Path, shared: _Shared) -> None:
    topic, partition = fleet.place(number)
    folder = directory / f"{topic}-{partition}"
    folder.mkdir()
    times = ((0, ROLLED, "rolled"), (ACTIVE_BASE, END, "active"))
    for base, newest, name in times:
        content = b"".join(t.to_bytes(8, "big") + (9).to_bytes(4, "big") for t in (newest - 59 * MINUTE, newest))
        shared.link(broker, f"{name}.timeindex", content, folder / f"{base:020}.timeindex")
        _hole(folder / f"{base:020}.index", b"", 2 << 20)
    hangs = number in fleet.hangs
    _hole(folder / f"{0:020}.log", _hanging(number) if hangs else b"", fleet.rolled_bytes)
    _hole(folder / f"{ACTIVE_BASE:020}.log", b"", fleet.active_bytes)
    entries = [(producer, ROLLED - MINUTE, -1) for producer in range(9_000, 9_004)]
    name = "quiet"
    if hangs:
        entries.append((8_000 + number, START + MINUTE, HANGS_SINCE))
        name = f"hangs-{number}"
    elif number % 10 == 0:
        entries.append((7_000, ROLLED - 20, ACTIVE_BASE - 4))
        name = "on-its-way"
    shared.link(broker, f"{name}.snapshot", _snapshot(entries), folder / f"{ACTIVE_BASE:020}.snapshot")
    shared.link(broker, "epochs", b"0\n1\n0 0\n", folder / "leader-epoch-checkpoint")
    shared.link(broker, "metadata", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n", folder / "partition.metadata")


def _hole(path: Path, content: bytes, size: int) -> None:
    """A file that begins with some bytes and goes on as a hole."""
    path.write_bytes(content)
    os.truncate(path, size)


def _hanging(number: int) -> bytes:
    """A transaction that nobody ends, and what other producers wrote behind it up to the next segment."""
    time = START + MINUTE
    at = {"base_timestamp": time, "max_timestamp": time}
    fields = {"attributes": 0x10, "producer_id": 8_000 + number, "producer_epoch": 0, "base_sequence": 0, **at}
    plain = {"last_offset_delta": ACTIVE_BASE - HANGS_SINCE - 2, "base_timestamp": ROLLED, "max_timestamp": ROLLED}
    return batch(HANGS_SINCE, b"value", **fields) + batch(HANGS_SINCE + 1, b"value", **plain)


def _snapshot(entries: list[tuple[int, int, int]]) -> bytes:
    """Entries are (producer id, time of its last batch, first offset of an open transaction or -1)."""
    rows = b"".join(
        producer.to_bytes(8, "big") + bytes(2) + (5).to_bytes(4, "big") + (ACTIVE_BASE - 2).to_bytes(8, "big")
        + bytes(4) + time.to_bytes(8, "big") + bytes(4) + since.to_bytes(8, "big", signed=True)
        for producer, time, since in entries
    )  # fmt: skip
    body = len(entries).to_bytes(4, "big") + rows
    return b"\0\1" + google_crc32c.value(body).to_bytes(4, "big") + body


def _states(fleet: Fleet, partition: int) -> Iterator[bytes]:
    """The rows of the ids that belong to a partition of `__transaction_state`, in order of their offsets."""
    from kafkatx.terms.topics import partition_for

    offset = 0
    for one in (7_000, *range(fleet.ids)):
        name = f"team-{one % 97}-app-{one}"
        if partition_for(name, STATE_PARTITIONS) != partition:
            continue
        producer = one if one == 7_000 else 10_000 + one
        began = (
            START + (one * 37) % (50 * MINUTE) if one in fleet.stuck_ids else END - 10 * MINUTE + (one * 37) % MINUTE
        )
        last = ONGOING if one % 2 else PREPARE_COMMIT
        path = [EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT]
        for step, state in enumerate(path[: path.index(last) + 1] if one in fleet.stuck_ids else path):
            yield _state_row(
                fleet, one, name, producer, state, offset, began - MINUTE if state == EMPTY else began, step
            )
            offset += 1


def _state_row(
    fleet: Fleet, one: int, name: str, producer: int, state: int, offset: int, began: int, step: int
) -> bytes:
    at = began + 100 * step
    listed = (
        [fleet.place(number) for number in fleet.partitions_of(one)] if state in (ONGOING, PREPARE_COMMIT) else None
    )
    value = b"\0\0" + producer.to_bytes(8, "big") + bytes(2) + MINUTE.to_bytes(4, "big") + bytes([state])
    if listed is None:
        value += b"\xff\xff\xff\xff" if state == EMPTY else bytes(4)
    else:
        value += len(listed).to_bytes(4, "big")
        for topic, number in listed:
            value += len(topic).to_bytes(2, "big") + topic.encode() + (1).to_bytes(4, "big") + number.to_bytes(4, "big")
    value += at.to_bytes(8, "big") + (-1 if state == EMPTY else began).to_bytes(8, "big", signed=True)
    key = b"\0\0" + len(name).to_bytes(2, "big") + name.encode()
    return batch(offset, content=record(0, value, key), records_count=1, base_timestamp=at, max_timestamp=at)


def main() -> None:
    """Make the fleet that the arguments ask for; says what it is."""
    folder, *sizes = sys.argv[1:]
    fleet = Fleet(*map(int, sizes))
    Path(folder).mkdir(parents=True)
    made(fleet, Path(folder))
    sys.stdout.write(json.dumps({"bytes": fleet.bytes, "suspects": sorted(fleet.suspects())}) + "\n")


if __name__ == "__main__":
    main()
