"""Makes the logs of this folder: records of every type and version, and odd texts. Not a test; the logs are kept.

`python -m tests.dump_text.make FOLDER` writes them, `... FOLDER --with-tool` also what kafka-dump-log 4.3.1 prints of
them (it needs Java and a Kafka of that release: tests/benchmarks/peer.py).
"""

import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kafkatx.formats import record_batch
from kafkatx.formats.message_schemas import by_number, component
from kafkatx.formats.record import Record
from kafkatx.kernels.crc32c import crc32c
from tests.benchmarks import peer
from tests.formats.message_writing import random_message, uvarint

OPTIONS = {
    "__consumer_offsets-0": "--offsets-decoder",
    "__transaction_state-0": "--transaction-log-decoder",
    "__share_group_state-0": "--share-group-state-decoder",
    "__cluster_metadata-0": "--cluster-metadata-decoder",
    "__remote_log_metadata-0": "--remote-log-metadata-decoder",
    "texts-0": "--print-data-log",
}
COORDINATORS = {
    "__consumer_offsets-0": "group_coordinator",
    "__transaction_state-0": "transaction_coordinator",
    "__share_group_state-0": "share_coordinator",
}
TEXTS = (
    None, b"", b"plain", "schlüssel 日本 😀".encode(), b"line\nbaseOffset: 0 lastOffset: 9\r\n", b" payload: x key: y",
    b"\x00\x01\x1b[31m\x7f\x80\xff", b"\xed\xa0\x80 \xed\xbf\xbf \xc0\xaf \xe2\x82 \xf0\x9f\x98 \xf5\x80 \xe2\x28\xa1",
    b"\xf4\x90\x80\x80 \xe0\x80\x80 \xf0\x80\x80\x80 \xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xed\xa0",
    b"\xc2",
)  # fmt: skip


def batch(base_offset: int, records: list[dict[str, object]], **fields: int) -> bytes:
    """A batch with the right CRC."""
    content = b"".join(
        Record.build({"attributes": 0, "timestamp_delta": n, "offset_delta": n, "headers": [], "key": None, **record})
        for n, record in enumerate(records)
    )
    header = {
        "base_offset": base_offset,
        "batch_length": record_batch.MINIMUM_BATCH_LENGTH + len(content),
        "partition_leader_epoch": 3,
        "magic": 2,
        "crc": 0,
        "attributes": 0,
        "last_offset_delta": len(records) - 1,
        "base_timestamp": 1_700_000_000_000,
        "max_timestamp": 1_700_000_000_000 + len(records) - 1,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "records_count": len(records),
    }
    data = record_batch.RecordBatchHeader.build(header | fields) + content
    return data[:17] + crc32c.plain(data, 21, len(data), 0).to_bytes(4, "big") + data[21:]


def coordinator_records(name: str, dice: random.Random) -> Iterator[dict[str, object]]:
    for number, key in by_number(name, "key").items():
        value = by_number(name, "value")[number]
        key_data = number.to_bytes(2, "big") + random_message(key, 0, dice)[1]
        for version in range(value.versions.lowest, value.versions.highest + 1):
            for _ in range(3):
                yield {"key": key_data, "value": version.to_bytes(2, "big") + random_message(value, version, dice)[1]}
        yield {"key": key_data, "value": None}
    yield {"key": (99).to_bytes(2, "big") + b"x", "value": b"y"}


def metadata_records(dice: random.Random) -> Iterator[dict[str, object]]:
    """Records of all types but the one whose credentials we do not print."""
    for message in component("cluster_metadata"):
        if message.name == "UserScramCredentialRecord":
            continue
        for version in range(message.versions.lowest, message.versions.highest + 1):
            frame = uvarint(1) + uvarint(message.number or 0) + uvarint(version)
            for _ in range(3):
                yield {"value": frame + random_message(message, version, dice)[1]}


def remote_log_records(dice: random.Random) -> Iterator[dict[str, object]]:
    """Records of all types, most of which Kafka makes no object of: it says why in their place.

    No name of a topic holds a line break: the tool prints it as it is.
    """
    for message in component("remote_log_metadata"):
        frame = uvarint(1) + uvarint(message.number or 0) + uvarint(0)
        made = (random_message(message, 0, dice)[1] for _ in range(120))
        yield from ({"value": frame + data} for data in made if b"\n" not in data)


def control_batches(offset: int, dice: random.Random) -> Iterator[bytes]:
    """Control records of KRaft in version 0: the tool can read no other."""
    for number, name in ((2, "LeaderChangeMessage"), (3, "SnapshotHeaderRecord"), (4, "SnapshotFooterRecord"),
                         (5, "KRaftVersionRecord"), (6, "VotersRecord")):  # fmt: skip
        (message,) = [found for found in component("control_records") if found.name == name]
        _, data = random_message(message, 0, dice)
        key, value = b"\0\0" + number.to_bytes(2, "big"), b"\0\0" + data[2:]
        yield batch(offset + number, [{"key": key, "value": value}], attributes=0x20)


def text_batches() -> Iterator[bytes]:
    pairs = [{"key": key, "value": value} for key in TEXTS for value in TEXTS[:4]]
    pairs += [{"key": value, "value": key} for key, value in pairwise(TEXTS)]
    yield batch(5, pairs, producer_id=7, producer_epoch=2, base_sequence=2**31 - 3, attributes=0x10)
    odd = [
        {"key": "a,b]", "value": None},
        {"key": "", "value": b"\xff"},
        {"key": "\udcff\udced\udca0\udc80", "value": b""},
    ]
    headers = [{"value": b"v", "headers": odd}, {"value": None, "headers": odd[:1]}]
    at = 5 + len(pairs)
    yield batch(at, headers, attributes=0x08)
    yield batch(at + 9, [{"value": b"w"}], attributes=0x50, base_timestamp=1_800_000_000_000)
    yield batch(at + 10, [], attributes=0x10, last_offset_delta=4, producer_id=7, producer_epoch=2, base_sequence=11)
    yield batch(
        at + 15, [{"key": b"\0\0\0\1", "value": b"\0\0\0\0\0\x09"}], attributes=0x30, producer_id=7, producer_epoch=2
    )
    yield batch(
        at + 16, [{"key": b"\0\0\0\0", "value": b"\0\0\0\0\0\x0a"}], attributes=0x30, producer_id=7, producer_epoch=2
    )
    yield batch(at + 17, [{"key": b"\0\0\0\x63", "value": b"what"}], attributes=0x20)


def logs() -> Iterator[tuple[str, bytes]]:
    """Yield (partition, content of its segment); the same at every call."""
    for partition, name in COORDINATORS.items():
        yield partition, batch(0, list(coordinator_records(name, random.Random(partition))))
    dice = random.Random("metadata")
    records = list(metadata_records(dice))
    yield "__cluster_metadata-0", batch(0, records) + b"".join(control_batches(len(records), dice))
    yield "__remote_log_metadata-0", batch(0, list(remote_log_records(random.Random("remote"))))
    yield "texts-0", b"".join(text_batches())


def indexes() -> Iterator[tuple[str, bytes]]:
    """Yield (name below the folder, content): indexes as a killed broker leaves them, preallocated with zeros."""
    yield "preallocated-0/00000000000000000000.log", batch(0, [{"value": b"a"}, {"value": b"b"}])
    yield "preallocated-0/00000000000000000000.index", bytes(24)
    yield "preallocated-0/00000000000000000000.timeindex", struct.pack(">qi", 1_700_000_000_001, 1) + bytes(24)
    yield "preallocated-1/00000000000000000052.log", batch(52, [{"value": b"a"}])
    yield "preallocated-1/00000000000000000052.index", bytes(24)
    yield "preallocated-1/00000000000000000052.timeindex", bytes(24)


def main(folder: Path, with_tool: bool) -> None:
    """Write the logs and indexes, and their texts if the tool is at hand."""
    made = [(f"{partition}/00000000000000000000.log", content) for partition, content in logs()]
    for name, content in (*made, *indexes()):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        partition = place.parent.name
        if with_tool and (partition in OPTIONS or place.suffix != ".log"):
            command = peer.dump_log([place], *([OPTIONS[partition]] if partition in OPTIONS else []))
            done = subprocess.run(command, capture_output=True, check=True)
            text = done.stdout.replace(str(folder).encode(), b"/var/lib/kafka/data")
            place.with_name(f"{place.name}.txt").write_bytes(text)
            sys.stderr.write(done.stderr.decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), "--with-tool" in sys.argv)
