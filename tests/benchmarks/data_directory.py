"""A broker's data directory as a clean stop of Kafka 3.9 leaves it: partitions, snapshots, checkpoints and identity."""

import base64
import json
import random
from pathlib import Path

import numpy as np
from google_crc32c import value as crc32c

from tests.benchmarks.layouts import PRODUCER_STATE, Array
from tests.benchmarks.segment import Segment

AT_LOG_END = ("recovery-point-offset-checkpoint", "replication-offset-checkpoint")
WITHOUT_ENTRIES = ("cleaner-offset-checkpoint", "log-start-offset-checkpoint")
NO_PRODUCERS = np.zeros(0, dtype=PRODUCER_STATE)


class Partition:
    """Writes one partition in whole blocks of batches, rolling where the next block would not fit."""

    def __init__(self, directory: Path, name: str, segment_bytes: int) -> None:
        self.name = name
        self.folder = directory / name
        self.folder.mkdir(parents=True)
        self.segment_bytes = segment_bytes
        self.end_offset = 0
        self._segment = Segment(self.folder, 0)

    def append(self, blocks: Array, aborted: Array | None = None) -> None:
        """Append blocks of batches and the .txnindex entries that belong to the markers in them."""
        while len(blocks):
            fitting = (self.segment_bytes - self._segment.size) // blocks.dtype.itemsize
            if fitting == 0 and self._segment.size:
                self.roll()
                continue
            self._note(*self._segment.append(blocks[: max(fitting, 1)]), aborted)
            blocks = blocks[max(fitting, 1) :]

    def append_batches(self, raw: Array, starts: Array, aborted: Array | None = None) -> None:
        """Append bytes whose batches, of any sizes, begin at `starts`."""
        while len(starts):
            ends = np.append(starts[1:], len(raw))
            fitting = int(np.searchsorted(ends, self.segment_bytes - self._segment.size, side="right"))
            if fitting == 0 and self._segment.size:
                self.roll()
                continue
            taken = max(fitting, 1)
            self._note(*self._segment.append_batches(raw[: ends[taken - 1]], starts[:taken]), aborted)
            raw, starts = raw[ends[taken - 1] :], starts[taken:] - ends[taken - 1]

    def roll(self) -> None:
        """Begin a new segment."""
        self._segment.close()
        self._segment = Segment(self.folder, self.end_offset)

    def close(self, topic_id: str, producers: Array = NO_PRODUCERS) -> None:
        """Write what a clean stop writes: the last time index entry, the snapshot, the leader epochs, the topic id."""
        self._segment.close()
        body = len(producers).to_bytes(4, "big") + producers.astype(PRODUCER_STATE).tobytes()
        snapshot = b"\0\1" + crc32c(body).to_bytes(4, "big") + body
        (self.folder / f"{self.end_offset:020d}.snapshot").write_bytes(snapshot)
        (self.folder / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
        (self.folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}")

    def _note(self, first: int, last: int, aborted: Array | None) -> None:
        self.end_offset = last + 1
        if aborted is not None:
            here = (first <= aborted["last_offset"]) & (aborted["last_offset"] <= last)
            self._segment.append_aborted(aborted[here])


def finish(directory: Path, partitions: list[Partition], seed: int) -> None:
    """Write the files of the directory itself: identity, checkpoints, the mark of a clean stop."""
    lines = [f"{name} {number} {end}" for name, number, end in map(_log_end, partitions)]
    for file in AT_LOG_END:
        (directory / file).write_text("\n".join(["0", str(len(lines)), *lines, ""]))
    for file in WITHOUT_ENTRIES:
        (directory / file).write_text("0\n0\n")
    cluster, log_dir = uuid_text(seed, "cluster"), uuid_text(seed, "directory")
    identity = f"#\n#Tue Nov 14 22:13:20 UTC 2023\nnode.id=1\ndirectory.id={log_dir}\nversion=1\ncluster.id={cluster}\n"
    (directory / "meta.properties").write_text(identity)
    (directory / ".kafka_cleanshutdown").write_text(
        json.dumps({"version": 0, "brokerEpoch": 42}, separators=(",", ":"))
    )


def uuid_text(seed: int, what: str) -> str:
    """A Kafka uuid in its 22 characters, the same for the same seed and purpose."""
    return base64.urlsafe_b64encode(random.Random(f"{seed} {what}").randbytes(16)).decode().rstrip("=")


def _log_end(partition: Partition) -> tuple[str, str, int]:
    topic, _, number = partition.name.rpartition("-")
    return topic, number, partition.end_offset
