"""How programs print rows of `__transaction_state` and batches, by release, and how people shorten that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from tests.small_histories.tale import Batch, Log, Row

STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort")
Lines = Iterator[str]


def _set(row: Row, name: str) -> str:
    inner = (", " if name else ",").join(f"{topic}-{number}" for topic, number in row.places)
    return f"{name}({inner})" if name else f"[{inner}]"


def old_value(row: Row, name: str = "") -> str:
    if row.state is None:
        return "<DELETE>"
    return (
        f"producerId:{row.producer},producerEpoch:{row.epoch},state={row.state},partitions={_set(row, name)},"
        f"txnLastUpdateTimestamp={row.at},txnTimeoutMs={row.timeout}"
    )


def _data(row: Row) -> dict[str, object]:
    topics = [{"topic": topic, "partitionIds": [number]} for topic, number in row.places]
    found: dict[str, object] = {
        "producerId": row.producer, "previousProducerId": -1, "producerEpoch": row.epoch,
        "transactionTimeoutMs": row.timeout, "transactionStatus": STATES.index(row.state or "Empty"),
        "transactionPartitions": None if row.state == "Empty" else topics,
        "transactionLastUpdateTimestampMs": row.at, "transactionStartTimestampMs": row.since,
    }  # fmt: skip
    return found | ({"clientTransactionVersion": row.version} if row.version else {})


def json_value(row: Row) -> str:
    if row.state is None:
        return "<DELETE>"
    return json.dumps({"version": "1" if row.version else "0", "data": _data(row)}, separators=(",", ":"))


def _batch_line(offset: int, at: int, is_new: bool) -> str:
    horizon = "deleteHorizonMs: OptionalLong.empty " if is_new else ""
    return (
        f"baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 "
        f"producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false isControl: false {horizon}position: "
        f"{offset * 120} CreateTime: {at} size: 120 magic: 2 compresscodec: {'none' if is_new else 'NONE'} crc: "
        f"{(offset * 2654435761) % 2**32} isvalid: true"
    )


def _row_record(row: Row, value: str, key: str, is_new: bool) -> str:
    name = "keySize: {} valueSize: {}" if is_new else "keysize: {} valuesize: {}"
    sizes = name.format(len(row.id) + 4, -1 if row.state is None else 60)
    return (
        f"| offset: {row.offset} CreateTime: {row.at} {sizes} sequence: -1 headerKeys: [] key: {key} payload: {value}"
    )


def dumped(rows: Iterable[Row], is_new: bool = True) -> Lines:
    """Kafka-dump-log --transaction-log-decoder, 2.2 to 4.0."""
    for row in rows:
        yield _batch_line(row.offset, row.at, is_new)
        yield _row_record(
            row, old_value(row, "" if is_new else "Set"), f"transaction_metadata::transactionalId={row.id}", is_new
        )


def dumped_old(rows: Iterable[Row]) -> Lines:
    return dumped(rows, False)


def dumped_flat(rows: Iterable[Row]) -> Lines:
    """0.11 to 2.1: one line a record."""
    for row in rows:
        yield (
            f"offset: {row.offset} position: {row.offset * 120} CreateTime: {row.at} isvalid: true keysize: "
            f"{len(row.id) + 4} valuesize: 60 magic: 2 compresscodec: NONE producerId: -1 producerEpoch: -1 "
            "sequence: -1 "
            f"isTransactional: false headerKeys: [] key: transactionalId={row.id} payload: {old_value(row, 'Set')}"
        )


def dumped_json(rows: Iterable[Row]) -> Lines:
    """4.1 and later."""
    for row in rows:
        key = json.dumps({"type": "0", "data": {"transactionalId": row.id}}, separators=(",", ":"))
        yield _batch_line(row.offset, row.at, True)
        yield _row_record(row, json_value(row), key, True)


def records_only(rows: Iterable[Row]) -> Lines:
    return (line for line in dumped(rows) if line.startswith("|"))


def json_records_only(rows: Iterable[Row]) -> Lines:
    return (line for line in dumped_json(rows) if line.startswith("|"))


def cut_to_keys(rows: Iterable[Row]) -> Lines:
    return (line[line.index("key: ") :] for line in records_only(rows))


def cut_to_json_keys(rows: Iterable[Row]) -> Lines:
    return (line[line.index("key: ") :] for line in json_records_only(rows))


def cut_to_payloads(rows: Iterable[Row]) -> Lines:
    return (line[line.index("payload: ") + 9 :] for line in records_only(rows))


def cut_to_json_payloads(rows: Iterable[Row]) -> Lines:
    return (line[line.index("payload: ") + 9 :] for line in json_records_only(rows))


def elided(rows: Iterable[Row]) -> Lines:
    for row in rows:
        front = f"| offset: {row.offset} CreateTime: {row.at} ... "
        yield f"{front}key: transaction_metadata::transactionalId={row.id} payload: {old_value(row)}"


def grepped(rows: Iterable[Row]) -> Lines:
    return (f"{12 + 2 * n}:{line}" for n, line in enumerate(records_only(rows)))


def elided_values(rows: Iterable[Row]) -> Lines:
    return (f"... {value}" for value in map(old_value, rows) if value.startswith("p"))


def consumed(rows: Iterable[Row]) -> Lines:
    """kafka-console-consumer with TransactionLogMessageFormatter, 0.11 to 3.8."""
    for row in rows:
        if row.state is None:
            yield f"{row.id}::NULL"
        else:
            yield (
                f"{row.id}::TransactionMetadata(transactionalId={row.id}, producerId={row.producer}, producerEpoch="
                f"{row.epoch}, txnTimeoutMs={row.timeout}, state={row.state}, pendingState=None, topicPartitions="
                f"{_set(row, 'Set')}, txnStartTimestamp={row.since}, txnLastUpdateTimestamp={row.at})"
            )


def consumed_new(rows: Iterable[Row]) -> Lines:
    """2.5 to 3.8: lastProducerId and lastProducerEpoch beside them."""
    for line in consumed(rows):
        yield line.replace(", txnTimeoutMs", ", lastProducerId=-1, lastProducerEpoch=-1, txnTimeoutMs").replace(
            "=Set(", "=HashSet("
        )


def consumed_json(rows: Iterable[Row]) -> Lines:
    """3.9 and later."""
    for row in rows:
        key = {"version": 0, "data": {"transactionalId": row.id}}
        value = None if row.state is None else {"version": 1 if row.version else 0, "data": _data(row)}
        yield json.dumps({"key": key, "value": value}, separators=(",", ":"))


ROW_TEXTS: tuple[Callable[[Iterable[Row]], Lines], ...] = (
    dumped, dumped_old, dumped_flat, dumped_json, records_only, json_records_only, cut_to_keys, cut_to_json_keys,
    cut_to_payloads, cut_to_json_payloads, elided, elided_values, grepped, consumed, consumed_new, consumed_json,
)  # fmt: skip


def _header(batch: Batch, is_new: bool, counts: bool = True) -> str:
    last = -1 if batch.sequence < 0 else (batch.sequence + batch.count - 1) % (1 << 31)
    control = f"isControl: {'true' if batch.marker else 'false'} " if counts else ""
    return (
        f"baseOffset: {batch.offset} lastOffset: {batch.offset + batch.count - 1} "
        f"{f'count: {batch.count} ' if counts else ''}baseSequence: {batch.sequence} lastSequence: {last} producerId: "
        f"{batch.producer} producerEpoch: {batch.epoch} partitionLeaderEpoch: 3 isTransactional: "
        f"{'true' if batch.producer >= 0 else 'false'} {control}"
        f"{'deleteHorizonMs: OptionalLong.empty ' if is_new else ''}position: {batch.position} CreateTime: "
        f"{batch.at} size: {batch.size} magic: 2 compresscodec: {'none' if is_new else 'NONE'} crc: "
        f"{(batch.offset * 2654435761) % 2**32} isvalid: true"
    )


def _marked(batch: Batch) -> str:
    return f"endTxnMarker: {batch.marker} coordinatorEpoch: {batch.coordinator}"


def deep(batches: Iterable[Batch], is_new: bool = True) -> Lines:
    """--deep-iteration --print-data-log, 2.2 and later."""
    sizes = "keySize: {} valueSize: {}" if is_new else "keysize: {} valuesize: {}"
    for batch in batches:
        yield _header(batch, is_new)
        for number in range(batch.count):
            sequence = -1 if batch.sequence < 0 else (batch.sequence + number) % (1 << 31)
            front = f"| offset: {batch.offset + number} CreateTime: {batch.at} "
            if batch.marker:
                yield f"{front}{sizes.format(4, 6)} sequence: -1 headerKeys: [] {_marked(batch)}"
            else:
                content = f"payload: row-{batch.offset + number}"
                yield f"{front}{sizes.format(-1, 5)} sequence: {sequence} headerKeys: [] {content}"


def deep_old(batches: Iterable[Batch]) -> Lines:
    return deep(batches, False)


def shallow_with_markers(batches: Iterable[Batch]) -> Lines:
    """The records of data left out, those of markers kept."""
    return (line for line in deep(batches) if "payload: " not in line)


def flat(batches: Iterable[Batch]) -> Lines:
    """0.11.0.2 to 2.1."""
    for batch in batches:
        for number in range(batch.count):
            sequence = -1 if batch.sequence < 0 else (batch.sequence + number) % (1 << 31)
            yield (
                f"offset: {batch.offset + number} position: {batch.position} CreateTime: {batch.at} isvalid: true "
                f"keysize: {4 if batch.marker else -1} valuesize: 6 magic: 2 compresscodec: NONE producerId: "
                f"{batch.producer} producerEpoch: {batch.epoch} sequence: {sequence} isTransactional: "
                f"{'true' if batch.producer >= 0 else 'false'} headerKeys: [] "
                f"{_marked(batch) if batch.marker else f'payload: row-{batch.offset + number}'}"
            )


def elided_batches(batches: Iterable[Batch]) -> Lines:
    for batch in batches:
        last = -1 if batch.sequence < 0 else (batch.sequence + batch.count - 1) % (1 << 31)
        yield (
            f"baseOffset: {batch.offset} lastOffset: {batch.offset + batch.count - 1} ... "
            f"baseSequence: {batch.sequence} lastSequence: {last} producerId: {batch.producer} "
            f"producerEpoch: {batch.epoch} ... isTransactional: "
            f"{'true' if batch.producer >= 0 else 'false'} isControl: "
            f"{'true' if batch.marker else 'false'} ... CreateTime: {batch.at} ..."
        )
        if batch.marker:
            yield f"| offset: {batch.offset} CreateTime: {batch.at} ... {_marked(batch)}"


def elided_lines(batches: Iterable[Batch]) -> Lines:
    """Of each record what matters."""
    for batch in batches:
        for number in range(batch.count):
            sequence = -1 if batch.sequence < 0 else (batch.sequence + number) % (1 << 31)
            yield (
                f"offset: {batch.offset + number} ... CreateTime: {batch.at} ... producerId: {batch.producer} "
                f"producerEpoch: {batch.epoch} sequence: {sequence} ... "
                f"{_marked(batch) if batch.marker else 'payload: row'}"
            )


DATA_TEXTS: tuple[Callable[[Iterable[Batch]], Lines], ...] = (
    deep, deep_old, shallow_with_markers, flat, elided_batches, elided_lines,
)  # fmt: skip


KEYLESS = (cut_to_payloads, cut_to_json_payloads, elided_values)
"""Rows whose keys were cut away: whose they are shows in the producer id alone."""
PAIRS = (
    (dumped, deep), (dumped_flat, flat), (dumped_json, deep), (consumed, deep_old), (cut_to_keys, elided_batches),
    (dumped, shallow_with_markers), (elided, elided_lines),
)  # fmt: skip
"""Rows and data that are shown together."""


def both(log: Log, rows: Callable[[Iterable[Row]], Lines], batches: Callable[[Iterable[Batch]], Lines]) -> str:
    is_dump = rows not in (consumed, cut_to_keys)
    title = "Dumping /var/lib/kafka/data/__transaction_state-7/00000000000000000000.log\n" if is_dump else ""
    return f"{title}{chr(10).join(rows(log.rows))}\n\n{data_text(log, batches)}"


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def fenced(text: str) -> str:
    return f"what does this tell?\n\n```\n{text}\n```\n\nthanks"


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("[", r"\[").replace("]", r"\]")


PASTINGS: tuple[Callable[[str], str], ...] = (str, quoted, fenced, indented, escaped)


def data_text(log: Log, style: Callable[[Iterable[Batch]], Lines]) -> str:
    """Every partition under its own name, as the tool prints it."""
    lines: list[str] = []
    for topic, number in sorted({batch.place for batch in log.batches}):
        lines += [
            f"Dumping /var/lib/kafka/data/{topic}-{number}/00000000000000000000.log",
            *style(batch for batch in log.batches if batch.place == (topic, number)),
        ]
    return "\n".join(lines)
