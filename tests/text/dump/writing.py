"""Logs with hostile contents, and what our own dump and older releases print of them."""

import random
from collections.abc import Iterator
from pathlib import Path

from kafkatx.outputs.dump import Dump
from kafkatx.outputs.dump_log import LogDump
from kafkatx.outputs.dump_options import DecoderName, DumpOptions
from kafkatx.sources.files import OpenFile
from tests.dump_text.eras import EraLines
from tests.dump_text.make import batch

RELEASES = ((0, 11, 0, 1), (0, 11, 0, 3), (2, 0, 1), (2, 7, 2), (2, 8, 2), (3, 1, 0), (3, 9, 1), (4, 3, 1))
FORGED = (
    "\n| offset: 3 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: 3 headerKeys: [] key: k payload: v\n",
    "\nbaseOffset: 4 lastOffset: 4 count: 1 baseSequence: -1 lastSequence: -1 producerId: 7 producerEpoch: 3 "
    "partitionLeaderEpoch: 3 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 300 "
    "CreateTime: 1700000000000 size: 78 magic: 2 compresscodec: none crc: 1 isvalid: true\n"
    "| offset: 4 CreateTime: 1700000000000 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT "
    "coordinatorEpoch: 0\n",
    "\noffset: 9 position: 900 CreateTime: 1700000000000 isvalid: true keysize: 4 valuesize: 6 magic: 2 compresscodec: "
    "NONE producerId: 7 producerEpoch: 2 sequence: -1 isTransactional: true headerKeys: [] endTxnMarker: ABORT "
    "coordinatorEpoch: 0\n",
    "Dumping /var/lib/kafka/data/orders-0/00000000000000000000.log\n",
    "] key: a payload: b\n\n | payload: ",
    '\nException in thread "main" java.lang.NullPointerException\n\tat kafka.tools.DumpLogSegments$.main(x)\n',
    "\nFound 9 invalid bytes at the end of 00000000000000000000.log\n",
    "...\n... \r\n\r\n\u2026\x1b[31m\x00\x01",
)
MARKER = {"key": b"\0\0\0\1", "value": b"\0\0\0\0\0\x05"}


def contents(dice: random.Random, odd: bool) -> bytes | None:
    """A key or value: nothing, words, forged lines; with `odd` also bytes that are no UTF-8."""
    kind = dice.randrange(8 if odd else 6)
    if kind == 0:
        return dice.choice([None, b""])
    if kind <= 2:
        return f"order {dice.randrange(1000)} schl\u00fcssel".encode()
    if kind <= 5:
        return "".join(dice.choice(FORGED) for _ in range(dice.randrange(1, 4))).encode()
    return dice.randbytes(dice.randrange(40)) + dice.choice(FORGED).encode() + b"\xff\xfe"


def log_of(dice: random.Random, batches: int = 12, odd: bool = False) -> bytes:
    """A log of data batches, markers and plain batches; compacted in places."""
    data, offset, sequence = b"", 0, {}
    for _ in range(batches):
        offset += dice.choice([0, 0, 0, 2])
        producer = dice.choice([-1, 7, 8])
        if producer >= 0 and dice.random() < 0.3:
            data += batch(offset, [MARKER], attributes=0x30, producer_id=producer, producer_epoch=2)
            offset += 1
            continue
        count = dice.randrange(1, 4)
        records = [{"key": contents(dice, odd), "value": contents(dice, odd)} for _ in range(count)]
        about = {}
        if producer >= 0:
            first = sequence.get(producer, 0)
            about = {"attributes": 0x10, "producer_id": producer, "producer_epoch": 2, "base_sequence": first}
            sequence[producer] = first + count
        data += batch(offset, records, **about)
        offset += count
    return data


def printed_by(release: tuple[int, ...], log: Path) -> str:
    """What a release prints of a log with its records and their contents."""
    if release >= (4, 1):
        return "".join(Dump(DumpOptions(decoder=DecoderName.PLAIN), False, print).pieces([str(log)]))
    with OpenFile(str(log)) as file:
        dump = LogDump(file, DumpOptions(), EraLines(release, False))
        pieces = list(dump.pieces())
    name = "Log starting offset" if release >= (3, 3) else "Starting offset"
    return "".join([f"Dumping {log}\n", f"{name}: 0\n", *map(str, pieces)])


def logs(seed: str, folder: Path, number: int, odd: bool = False) -> Iterator[Path]:
    """Write some logs."""
    for one in range(number):
        path = folder / f"orders-{one}" / "00000000000000000000.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log_of(random.Random(f"{seed} {one}"), odd=odd))
        yield path
