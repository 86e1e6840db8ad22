"""A cluster to write down: producers, a coordinator and its partitions, as bytes of brokers' data directories.

Verbs append what a real coordinator and real leaders append (the epoch table of KIP-98, KIP-360, KIP-890); nothing
happens by itself,
so a scenario can also leave out what should have happened. The clock stands still until `wait`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from construct import Int16sb, Int64sb

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.formats.checkpoints import CLEANER_OFFSETS, LOG_START_OFFSETS, REPLICATION_OFFSETS
from kafkatx.formats.layout import Layout
from kafkatx.formats.primitives import TaggedField
from kafkatx.formats.transaction_log import TopicPartitions, TransactionLogValue
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.local.diagnosis import diagnose
from kafkatx.stages.models import build_models, open_captures
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.transaction_states import TransactionState
from tests.declared import build_key, build_value
from tests.rules.logs import Log, checkpoint

START = 1_795_255_200_000
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
LAST_EPOCH = 32_766
TWO_PHASE = 2_147_483_647
Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead, PrepareEpochFence = TransactionState


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the coordinator knows of a transactional.id; its rows are made of this."""

    producer_id: int
    epoch: int
    timeout_ms: int
    v2: bool
    state: TransactionState = Empty
    partitions: tuple[str, ...] = ()
    started_at: int = -1
    updated_at: int = -1
    version: int = 0
    next_producer_id: int = -1
    previous_producer_id: int = -1


def row_value(known: Metadata, value_version: int) -> TransactionLogValue:
    """Return the value of a row of `__transaction_state`, as brokers that write this version of it do."""
    topics: dict[str, list[int]] = {}
    for partition in known.partitions:
        topic, _, number = partition.rpartition("-")
        topics.setdefault(topic, []).append(int(number))
    listed = (
        None
        if known.state is Empty
        else tuple(TopicPartitions(topic, tuple(members)) for topic, members in topics.items())
    )
    tags = [
        (0, Int64sb, known.previous_producer_id, -1),
        (1, Int64sb, known.next_producer_id, -1),
        (2, Int16sb, known.version, 0),
    ]
    tagged = tuple(
        TaggedField(tag, Layout.of(kind).written(value)) for tag, kind, value, default in tags if value != default
    )
    return TransactionLogValue(
        value_version,
        known.producer_id,
        known.epoch,
        known.timeout_ms,
        int(known.state),
        listed,
        known.updated_at,
        known.started_at,
        tagged if value_version else (),
    )


@dataclass(slots=True, repr=False)
class Told:
    """A diagnosis, by rule. Every place that a finding cites was found in a file, with the right CRC."""

    diagnosis: Diagnosis

    def of(self, rule: str) -> list[Finding]:
        return [found.finding for found in self.diagnosis.findings if found.finding.rule == rule]

    def only(self, rule: str) -> Finding:
        found = self.of(rule)
        assert len(found) == 1, [(finding.rule, finding.summary) for finding in found] or self.rules
        return found[0]

    def cause_of(self, rule: str) -> str | None:
        by_id = {found.id: found.finding.rule for found in self.diagnosis.findings}
        causes = [found.caused_by for found in self.diagnosis.findings if found.finding.rule == rule]
        return by_id[causes[0]] if causes[0] else None

    def not_checkable(self, rule: str) -> list[NotCheckable]:
        return [entry for _, entry in self.diagnosis.not_checkable if entry.rule == rule]

    @property
    def rules(self) -> set[str]:
        return {found.finding.rule for found in self.diagnosis.findings}


@dataclass(slots=True, repr=False)
class Cluster:
    """`v2`: the feature transaction.version is 2 (and clients are new, unless told otherwise); `value_version`: of
    the rows;
    `double_bump`: 4.0.0; `raises_epoch`: a timeout does, but on 0.11.0.0 and 0.11.0.1; `identified`: meta.properties
    carries a cluster.id."""

    folder: Path
    v2: bool = False
    value_version: int = -1
    brokers: int = 1
    state_partitions: int = 1
    double_bump: bool = False
    raises_epoch: bool = True
    identified: bool = True
    clock: int = START
    next_producer_id: int = 7_000
    coordinator_epoch: int = 0
    ids: dict[str, Metadata] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)
    times_written: int = 0

    def __post_init__(self) -> None:
        if self.value_version < 0:
            self.value_version = int(self.v2)
        for number in range(self.state_partitions):
            self.log(f"{TRANSACTION_STATE}-{number}")

    def wait(self, milliseconds: int) -> None:
        """Advance the clock."""
        self.clock += milliseconds

    def log(self, name: str) -> Log:
        """Return a partition (`orders-0`), made when first named: a copy on every broker."""
        if name not in self.logs:
            topic, _, partition = name.rpartition("-")
            self.logs[name] = Log(topic, int(partition), dict.fromkeys(range(1, self.brokers + 1)))
        return self.logs[name]

    def state_log(self, name: str) -> Log:
        """Return the partition of `__transaction_state` that an id belongs to."""
        return self.log(f"{TRANSACTION_STATE}-{partition_for(name, self.state_partitions)}")

    # What the coordinator does.

    def init(self, name: str, timeout_ms: int = MINUTE, v2: bool | None = None, retry_ms: int = 100) -> None:
        """Run initTransactions to its end: what is open is aborted first, and the client asks again after
        `retry_ms`.
        """
        known = self.ids.get(name)
        if known is not None and known.state is Ongoing:
            self.end(name, False, by_coordinator=True)
            self.wait(retry_ms)
        self.empty(name, timeout_ms, v2)

    def empty(self, name: str, timeout_ms: int | None = None, v2: bool | None = None) -> None:
        """Answer InitProducerId: an Empty row under the next epoch, or a new producer id."""
        known = self.ids.get(name)
        if known is None or known.epoch >= LAST_EPOCH:
            fresh = Metadata(self.new_producer_id(), 0, MINUTE, self.v2)
        else:
            fresh = replace(known, epoch=known.epoch + 1)
        timeout = timeout_ms if timeout_ms is not None else fresh.timeout_ms
        chosen = fresh.v2 if v2 is None else v2
        self.store(
            name, replace(fresh, timeout_ms=timeout, v2=chosen, state=Empty, partitions=(), started_at=-1, version=0)
        )

    def new_producer_id(self) -> int:
        self.next_producer_id += 1
        return self.next_producer_id - 1

    def ongoing(self, name: str, *partitions: str) -> None:
        """Add partitions to the id's transaction, beginning one if none is open."""
        known = self.ids[name]
        is_open = known.state is Ongoing
        members = (*known.partitions, *partitions) if is_open else partitions
        started = known.started_at if is_open else self.clock
        version = 2 if known.v2 else 0
        self.store(name, replace(known, state=Ongoing, partitions=members, started_at=started, version=version))

    def prepare(self, name: str, is_commit: bool, *, bump: int | None = None, by_coordinator: bool = False) -> None:
        """Decide the id's transaction: under transactions v2, or made by the coordinator, under a raised epoch."""
        known = self.ids[name]
        by_v2 = known.v2 or (by_coordinator and self.v2)
        raised = 1 + (by_coordinator and self.double_bump) if by_v2 else int(by_coordinator)
        epoch = known.epoch + (raised if bump is None else bump)
        rotated = self.new_producer_id() if known.v2 and not by_coordinator and known.epoch == LAST_EPOCH else -1
        started = known.started_at if known.state is Ongoing else self.clock
        members = known.partitions if known.state is Ongoing else ()
        state = PrepareCommit if is_commit else PrepareAbort
        decided = replace(
            known, epoch=epoch, state=state, started_at=started, partitions=members, next_producer_id=rotated
        )
        self.store(name, replace(decided, version=2 if by_v2 else 0))

    def markers(self, name: str, *partitions: str) -> None:
        """Write the markers of what was decided, in these partitions (none named: in all)."""
        for partition in partitions or self.ids[name].partitions:
            self.marker(name, partition)

    def marker(self, name: str, partition: str, *, is_commit: bool | None = None, epoch: int | None = None) -> int:
        known = self.ids[name]
        kind = known.state is PrepareCommit if is_commit is None else is_commit
        producer = (known.producer_id, known.epoch if epoch is None else epoch)
        return self.log(partition).marker(producer, kind, self.coordinator_epoch, self.clock)

    def complete(self, name: str) -> None:
        """Write the completion; after the last epoch of a producer id under transactions v2 it names the next."""
        known = self.ids[name]
        state = CompleteCommit if known.state is PrepareCommit else CompleteAbort
        done = replace(known, state=state, partitions=())
        if known.next_producer_id >= 0:
            previous = {"previous_producer_id": known.producer_id, "next_producer_id": -1}
            done = replace(done, producer_id=known.next_producer_id, epoch=0, **previous)
        self.store(name, done, updated_at=known.updated_at + 1)

    def end(self, name: str, is_commit: bool, *, by_coordinator: bool = False, bump: int | None = None) -> None:
        """Decide, mark and complete."""
        self.prepare(name, is_commit, by_coordinator=by_coordinator, bump=bump)
        self.wait(2)
        self.markers(name)
        self.wait(3)
        self.complete(name)
        self.wait(5)

    def end_in(self, name: str, is_commit: bool, *partitions: str) -> None:
        """Decide and complete at once, with markers in these partitions alone."""
        self.prepare(name, is_commit)
        self.markers(name, *partitions)
        self.complete(name)

    def commit(self, name: str) -> None:
        self.end(name, True)

    def abort(self, name: str) -> None:
        self.end(name, False)

    def time_out(self, name: str, over_ms: int = 5_000) -> None:
        """Wait until `over_ms` after the timeout; then the coordinator looks and aborts."""
        known = self.ids[name]
        self.clock = known.started_at + known.timeout_ms + over_ms
        self.end(name, False, by_coordinator=True, bump=None if self.raises_epoch else 0)

    def expire(self, name: str) -> None:
        """Forget the id: a tombstone."""
        self.state_log(name).row(build_key(name), None, self.clock)
        del self.ids[name]

    def store(self, name: str, known: Metadata, updated_at: int | None = None) -> int:
        """Append a row and remember it; also for rows that no coordinator writes. Returns its offset."""
        log = self.state_log(name)
        log.leader_epoch = self.coordinator_epoch
        self.ids[name] = replace(known, updated_at=self.clock if updated_at is None else updated_at)
        return log.row(build_key(name), build_value(row_value(self.ids[name], self.value_version)), self.clock)

    # What producers do.

    def data(
        self, name: str, partition: str, records: int = 1, *, epoch: int | None = None, at: int | None = None
    ) -> int:
        """Write a batch of the id's producer; returns its first offset. `at` is the client's time, `epoch` another
        than its own.
        """
        known = self.ids[name]
        return self.late_data(partition, known.producer_id, known.epoch if epoch is None else epoch, records, at)

    def late_data(self, partition: str, producer_id: int, epoch: int, records: int = 1, at: int | None = None) -> int:
        """Write a transactional batch of a producer that the coordinator need not know."""
        return self.log(partition).data((producer_id, epoch), [self.clock if at is None else at] * records)

    def plain(self, partition: str, records: int = 1) -> int:
        """Write records outside transactions."""
        return self.log(partition).data((-1, -1), [self.clock] * records, transactional=False)

    def begin(self, name: str, *partitions: str, records: int = 1) -> None:
        """Begin a transaction and write to its partitions."""
        self.ongoing(name, *partitions)
        self.wait(2)
        for partition in partitions:
            self.data(name, partition, records)
        self.wait(3)

    def run(self, name: str, *partitions: str, times: int = 1) -> None:
        """Run whole transactions that commit."""
        for _ in range(times):
            self.begin(name, *partitions)
            self.commit(name)

    def beat(self, name: str = "heartbeat-1", partition: str = "heartbeats-0") -> None:
        """Commit a transaction of a healthy id, so that the evidence goes on until now."""
        if name not in self.ids:
            self.init(name)
        self.run(name, partition)

    # What is left of it.

    def write(self) -> list[Path]:
        """Write the data directories of all brokers; each call writes new ones."""
        self.times_written += 1
        root = self.folder / f"evidence-{self.times_written}"
        return [self._write_broker(root / f"broker-{broker}", broker) for broker in range(1, self.brokers + 1)]

    def _write_broker(self, directory: Path, broker: int) -> Path:
        directory.mkdir(parents=True)
        lines = (
            ["version=1", f"node.id={broker}", "cluster.id=c1u2s3t4e5rAAAAAAAAAAA"]
            if self.identified
            else ["version=0", f"broker.id={broker}"]
        )
        (directory / "meta.properties").write_text("\n".join(lines) + "\n")
        mine = [log for log in self.logs.values() if broker in log.ends]
        for log in mine:
            log.write(broker, directory, self.identified)
        ends = [(log.topic, log.partition, log.watermark_of(broker)) for log in mine]
        (directory / REPLICATION_OFFSETS).write_text(checkpoint(ends))
        (directory / LOG_START_OFFSETS).write_text(
            checkpoint((log.topic, log.partition, log.log_start) for log in mine if log.log_start)
        )
        dirty = [(log.topic, log.partition, log.first_dirty) for log in mine if log.first_dirty >= 0]
        (directory / CLEANER_OFFSETS).write_text(checkpoint(dirty))
        return directory

    def tell(self, *brokers: int, as_of: int | None = None) -> Told:
        """Diagnose what these brokers (none named: all) have on disk."""
        written = self.write()
        told = Told(diagnose([written[broker - 1] for broker in brokers] or written, as_of=as_of))
        for found in told.diagnosis.findings:
            assert all(opened.source and opened.crc_valid for opened in found.evidence), (
                found.finding.rule,
                found.evidence,
            )
        return told

    def model(self) -> CaptureModel:
        """Return what the histories say of all brokers' disks."""
        (told,) = build_models(open_captures(self.write()))
        return told.model


def replace_epoch(cluster: Cluster, name: str, epoch: int) -> None:
    """Go on as if the id had come to this epoch before; its first row is then of that epoch."""
    cluster.state_log(name).batches.clear()
    cluster.store(name, replace(cluster.ids[name], epoch=epoch))
