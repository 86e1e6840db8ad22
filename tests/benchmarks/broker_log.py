"""Writes a broker's log of any size, in the shapes of real lines; the same arguments always give the same bytes.

    python -m tests.benchmarks.broker_log sparse FILE --size-mib 1024
    python -m tests.benchmarks.broker_log dense FILE --size-mib 1024

sparse  one line in a hundred says something of transactions; the others are what a busy broker writes all day.
dense   every line does (refused appends with the line of their exception, which belongs to them).
Names are few (40 transactional.ids, 50 partitions of `__transaction_state`, 3 brokers), numbers and times are not.
"""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

SEED = 20231114
STARTED_AT = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
IDS = 40
STATE_PARTITIONS = 50
MATTERS_EVERY = 100
LINES_AT_ONCE = 2_000

OF_TRANSACTIONS = (
    "INFO [TransactionCoordinator id=1] Initialized transactionalId {id} with producerId {pid} and producer epoch"
    " {epoch} on partition __transaction_state-{state} (kafka.coordinator.transaction.TransactionCoordinator)",
    "INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for transactionalId {id} due to"
    " timeout (kafka.coordinator.transaction.TransactionCoordinator)",
    "INFO [TransactionCoordinator id=1] Elected as the txn coordinator for partition {state} at epoch {epoch}"
    " (kafka.coordinator.transaction.TransactionCoordinator)",
    "INFO [Transaction State Manager 1]: Finished loading {number} transaction metadata from"
    " __transaction_state-{state} in {epoch} milliseconds, of which 2 milliseconds was spent in the scheduler."
    " (kafka.coordinator.transaction.TransactionStateManager)",
    "INFO [Transaction Marker Request Completion Handler 1]: Sending {id}'s transaction marker for partition"
    " orders-{partition} has failed with error NOT_LEADER_OR_FOLLOWER, retrying with current coordinator epoch {epoch}"
    " (kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler)",
    "INFO [ReplicaFetcher replicaId=1, leaderId={node}, fetcherId=0] Node {node} disconnected."
    " (org.apache.kafka.clients.NetworkClient)",
    "INFO [Partition orders-{partition} broker=1] Shrinking ISR from 1,2,3 to 1,3. Leader: (highWatermark: {offset},"
    " endOffset: {offset}). Out of sync replicas: (brokerId: 2, endOffset: {offset}). (kafka.cluster.Partition)",
    "ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-{partition}"
    " (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence"
    " number for producer {pid} at offset {offset} in partition orders-{partition}: {number} (incoming seq. number),"
    " {epoch} (current end sequence number)",
)
"""Lines that matter, without their time."""

OF_EVERY_DAY = (
    "INFO [GroupMetadataManager brokerId=1] Removed {number} expired offsets in {epoch} milliseconds."
    " (kafka.coordinator.group.GroupMetadataManager)",
    "INFO [GroupCoordinator 1]: Stabilized group orders-{partition} generation {number} (__consumer_offsets-{state})"
    " with 3 members (kafka.coordinator.group.GroupCoordinator)",
    "INFO [LocalLog partition=orders-{partition}, dir=/var/lib/kafka/data] Rolled new log segment at offset {offset} in"
    " {epoch} ms. (kafka.log.LocalLog)",
    "INFO [ProducerStateManager partition=orders-{partition}] Wrote producer snapshot at offset {offset} with {number}"
    " producer ids in {epoch} ms. (org.apache.kafka.storage.internals.log.ProducerStateManager)",
    "INFO [Admin Manager on Broker 1]: Updating topic orders-{partition} with configuration max.message.bytes={offset}"
    " (kafka.server.ZkAdminManager)",
    "INFO Deleted log /var/lib/kafka/data/orders-{partition}/{offset:020d}.log.deleted. (kafka.log.LogSegment)",
    "INFO Deleted offset index /var/lib/kafka/data/orders-{partition}/{offset:020d}.index.deleted."
    " (kafka.log.LogSegment)",
    "INFO [SocketServer listenerType=ZK_BROKER, nodeId=1] Failed to authenticate with /10.0.{node}.{partition}"
    " (channelId=10.0.0.1:9092-10.0.{node}.{partition}:{offset}-{number}) (org.apache.kafka.common.network.Selector)",
)
"""Lines of a broker that tell nothing of transactions."""


def write(path: Path, size_bytes: int, is_dense: bool) -> Path:
    """Write whole lines, at least `size_bytes` of them."""
    random, at, written = Random(SEED), STARTED_AT, 0
    with path.open("wb") as file:
        while written < size_bytes:
            text = "".join(_lines(random, at, is_dense)).encode()
            at += timedelta(seconds=LINES_AT_ONCE // 100)
            written += file.write(text)
    return path


def _lines(random: Random, at: datetime, is_dense: bool) -> Iterator[str]:
    for number in range(LINES_AT_ONCE):
        shapes = OF_TRANSACTIONS if is_dense or number % MATTERS_EVERY == 0 else OF_EVERY_DAY
        time = at + timedelta(milliseconds=10 * number)
        chosen = random.getrandbits(40)
        name = chosen % IDS
        line = shapes[(chosen >> 6) % len(shapes)].format(
            id=f"billing-eu-{name}",
            pid=4000 + name,
            state=name,
            partition=name % 12,
            node=2 + name % 2,
            epoch=(chosen >> 12) % 300,
            number=(chosen >> 20) % 5000,
            offset=chosen >> 8,
        )
        yield f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}] {line}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("sparse", "dense"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--size-mib", type=int, default=1024)
    chosen = parser.parse_args()
    print(write(chosen.file, chosen.size_mib << 20, chosen.kind == "dense"))
