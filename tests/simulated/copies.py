"""Takes evidence of a cluster: whole, live, of one broker or all, after the cleaner and after retention."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafkatx.formats.aborted_txn import AbortedTxn
from kafkatx.formats.checkpoints import CLEANER_OFFSETS, REPLICATION_OFFSETS
from kafkatx.terms.topics import TRANSACTION_STATE
from tests import declared
from tests.declared import build_snapshot
from tests.rules.logs import TOPIC_ID, Batch, checkpoint
from tests.simulated.cluster import Partition
from tests.simulated.producers import SECOND
from tests.simulated.scenarios import Scenario


@dataclass(frozen=True, slots=True)
class Copy:
    """How evidence was taken. `taken_at` is the true time by partition; what is not in it was not copied."""

    taken_at: dict[str, int]
    brokers: tuple[int, ...] = (1,)
    is_live: bool = False
    is_compacted: bool = False
    is_retained: bool = False
    has_logs: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing was taken away and all was copied when the cluster stood still."""
        return not (self.is_live or self.is_compacted or self.is_retained)


def choose(made: Scenario) -> Copy:
    """Choose how a scenario's evidence is taken."""
    random = made.random
    kind = random.choice(["whole"] * 5 + ["live", "compacted", "retained"])
    names = list(made.cluster.partitions)
    spread = random.choice([SECOND, 10 * SECOND, 60 * SECOND]) if kind == "live" else 0
    return Copy(
        {name: made.end - random.randint(0, spread) for name in names},
        brokers=random.choice([(1,), (1,), (1,), (1, 2)]),
        is_live=kind == "live",
        is_compacted=kind == "compacted",
        is_retained=kind == "retained",
        has_logs=random.random() < 0.25,
    )


def taken(made: Scenario, copy: Copy, folder: Path) -> list[Path]:
    """Write the evidence and return the paths to give."""
    if copy.is_compacted:
        for number in range(made.cluster.state_partitions):
            clean(made, made.cluster.partitions[f"{TRANSACTION_STATE}-{number}"])
    if copy.is_retained:
        for partition in made.cluster.data_partitions():
            expire_segments(made, partition)
    paths = [_broker(made, copy, folder / f"broker-{number}", number) for number in copy.brokers]
    if copy.has_logs:
        paths += [_log(made, folder / f"server-{number}.log", number) for number in made.cluster.brokers]
    return paths


def clean(made: Scenario, partition: Partition) -> None:
    """Let the cleaner keep the last row of each id below the active segment."""
    dirty = made.random.choice(partition.segments)
    below = [batch for batch in partition.batches if batch.base_offset < dirty]
    last = {key: batch.base_offset for batch in below for key in _keys(batch)}
    partition.keep(lambda batch: batch.base_offset >= dirty or batch.base_offset in last.values())
    partition.first_dirty = dirty


def _keys(batch: Batch) -> list[bytes]:
    return [record.key or b"" for record in declared.records(batch.data)]


def expire_segments(made: Scenario, partition: Partition) -> None:
    """Let retention take the first segments."""
    start = made.random.choice(partition.segments)
    partition.delete_before(start)
    partition.segments = [base for base in partition.segments if base >= start]


def _log(made: Scenario, path: Path, broker: int) -> Path:
    path.write_text(made.truth.log_of(broker, made.end + made.cluster.brokers[broker].ahead))
    return path


def _broker(made: Scenario, copy: Copy, directory: Path, number: int) -> Path:
    directory.mkdir(parents=True)
    lines = ["version=1", f"node.id={number}", "cluster.id=c1u2s3t4e5rAAAAAAAAAAA"]
    (directory / "meta.properties").write_text("\n".join(lines) + "\n")
    mine = [made.cluster.partitions[name] for name in copy.taken_at]
    ends = [(one.topic, one.partition, _partition(one, directory, copy)) for one in mine]
    (directory / REPLICATION_OFFSETS).write_text(checkpoint(ends))
    dirty = [(one.topic, one.partition, one.first_dirty) for one in mine if one.first_dirty >= 0]
    (directory / CLEANER_OFFSETS).write_text(checkpoint(dirty))
    return directory


def _partition(partition: Partition, directory: Path, copy: Copy) -> int:
    """Write the copy of a partition, by segments; returns its end."""
    folder = directory / partition.name
    folder.mkdir()
    batches = partition.until(copy.taken_at[partition.name])
    end = batches[-1].next_offset if batches else partition.log_start
    bases = [base for base in partition.segments if base <= end] or [partition.log_start]
    for base, behind in zip(bases, [*bases[1:], end + 1], strict=True):
        inside = [batch.data for batch in batches if base <= batch.base_offset < behind]
        (folder / f"{base:020d}.log").write_bytes(b"".join(inside))
        entries = [
            entry for entry in partition.aborted if base <= AbortedTxn.parse(entry).last_offset < min(behind, end)
        ]
        if entries:
            (folder / f"{base:020d}.txnindex").write_bytes(b"".join(entries))
        if base in partition.snapshots and partition.topic != TRANSACTION_STATE:
            (folder / f"{base:020d}.snapshot").write_bytes(partition.snapshots[base])
    if not copy.is_live and partition.producers:
        (folder / f"{partition.next_offset:020d}.snapshot").write_bytes(build_snapshot(partition._entries()))
    epochs = [f"{epoch} {start}" for epoch, start in partition.epochs if start < end]
    (folder / "leader-epoch-checkpoint").write_text("\n".join(["0", str(len(epochs)), *epochs]) + "\n")
    (folder / "partition.metadata").write_text(f"version: 0\n{TOPIC_ID}")
    return end
